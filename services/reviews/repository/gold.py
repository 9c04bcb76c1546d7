"""Load documents that people approved (not straight-through ones), to learn from their decisions."""

import datetime as dt
from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database
from docrail.services.access.models import PASSED_BY

LIST_APPROVED = f"""
SELECT document_id, decided_by AS approved_by, closed_at AS approved_at, first_approval,
       decided_invoice::text AS decided
  FROM reviews
 WHERE tenant_id = $1 AND status = 'approved' AND decided_by <> '{PASSED_BY}' AND closed_at IS NOT NULL
   AND document_id IS NOT NULL AND ($2::timestamptz IS NULL OR (closed_at, document_id) > ($2, $3))
 ORDER BY closed_at, document_id
 LIMIT $4"""  # noqa: S608  # a constant


@dataclass(frozen=True, slots=True)
class Approved:
    """An approved document. `first_approval`: the first approver, where two were required."""

    document_id: str
    approved_by: str
    approved_at: dt.datetime
    first_approval: dict[str, str] | None
    decided: str | None
    """The document as approved, as JSON; None: approved by a release that did not store it."""


async def list_approved(db: Database, tenant_id: str, *, after: Approved | None, limit: int) -> list[Approved]:
    """Return the tenant's approved documents, earliest approval first; `after` is the last one of the previous page."""
    place = (None, None) if after is None else (after.approved_at, after.document_id)
    return [Approved(**row) for row in await db.fetch(LIST_APPROVED, tenant_id, *place, limit)]
