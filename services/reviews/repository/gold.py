"""Documents that people approved (not what passed by itself), for whoever wants to learn from what people say."""

import datetime as dt
from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database
from docrail.services.reviews.models import PASSED_BY

LIST_APPROVED = f"""
SELECT d.document_id, d.sha256, d.media_type, r.decided_by AS approved_by, r.closed_at AS approved_at, r.first_approval,
       r.decided_invoice::text AS decided
  FROM reviews r JOIN documents d ON d.tenant_id = r.tenant_id AND d.document_id = r.document_id
 WHERE r.tenant_id = $1 AND r.status = 'approved' AND r.decided_by <> '{PASSED_BY}' AND r.closed_at IS NOT NULL
   AND ($2::timestamptz IS NULL OR (r.closed_at, d.document_id) > ($2, $3))
 ORDER BY r.closed_at, d.document_id
 LIMIT $4"""  # noqa: S608  # a constant


@dataclass(frozen=True, slots=True)
class Approved:
    """An approved document. `first_approval` is who approved before, where two people had to."""

    document_id: str
    sha256: str
    media_type: str
    approved_by: str
    approved_at: dt.datetime
    first_approval: dict[str, str] | None
    decided: str | None
    """The document as it was approved, as JSON; None: it was approved by a release that did not keep it."""


async def list_approved(db: Database, tenant_id: str, *, after: Approved | None, limit: int) -> list[Approved]:
    """Return the tenant's approved documents, longest approved first; `after` is the last one of the page before."""
    place = (None, None) if after is None else (after.approved_at, after.document_id)
    return [Approved(**row) for row in await db.fetch(LIST_APPROVED, tenant_id, *place, limit)]
