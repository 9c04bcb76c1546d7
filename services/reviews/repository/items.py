# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Store review items: one per document and one per human step, most urgent first; and totals for dashboards.

The share of its SLA that a document has used is computed on reading, so its priority and its band rise with time.
"""

import json
from collections.abc import Mapping

import asyncpg

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.invoices.assessment.priority import NEARLY_DUE, WEIGHTS, Band
from docrail.services.reviews.models import (
    STRAIGHT_THROUGH,
    Appearance,
    FullReview,
    OpenReviews,
    Question,
    Review,
    ReviewCount,
    review_id_of,
)

AS_OF = f"""
reviews AS r,
LATERAL (SELECT CASE WHEN r.sla_from IS NOT NULL THEN
                least(1, greatest(0, extract(epoch FROM coalesce(r.closed_at, %(now)s) - r.sla_from)
                / greatest(extract(epoch FROM r.due_at - r.sla_from), 0.001)))::float8 END) AS used (sla),
LATERAL (SELECT round((r.priority + coalesce({WEIGHTS["sla"]} * sla, 0))::numeric, 3)::float8,
                greatest(r.band, CASE WHEN sla >= 1 THEN {Band.OVERDUE} WHEN sla >= {NEARLY_DUE} THEN {Band.URGENT}
                                      ELSE {Band.NORMAL} END),
                review_status(r.status, r.postponed_until, %(now)s)) AS live (priority, band, status)"""


LIVE = AS_OF % {"now": "now()"}


ORDER = "-live.band, -live.priority, coalesce(r.due_at, 'infinity'), r.created_at, r.review_id"


_COLUMNS = """
r.tenant_id, r.review_id, coalesce(r.document_id, r.run_document_id) AS document_id, r.file_name, r.run_id, r.step_id,
r.queue, r.title AS question, live.status, live.band, live.priority,
CASE WHEN sla IS NULL THEN r.parts ELSE r.parts || jsonb_build_object('sla', round(sla::numeric, 4)) END AS parts,
r.reasons, r.summary, r.assignee_group AS "group", r.may_not_decide, r.assigned_to,
CASE WHEN r.claimed_until > now() THEN r.claimed_by END AS claimed_by,
CASE WHEN r.claimed_until > now() THEN r.claimed_until END AS claimed_until, r.claimed_at, r.claim_token,
r.shown_digest AS digest, r.postponed_until, r.first_approval, r.straight_through, r.audit_sample, r.touched,
r.decided_by, r.due_at, r.created_at, r.updated_at, r.closed_at, r.document_review_id,
CASE WHEN r.first_approval IS NULL THEN r.approvals_needed ELSE 2 END AS approvals_needed,
CASE WHEN r.first_approval IS NOT NULL THEN json_build_array(r.first_approval)"""


COLUMNS = f"""{_COLUMNS}
     ELSE (SELECT coalesce(json_agg(json_build_object('by', made -> 'by', 'at', made -> 'at',
                                                      'digest', made -> 'digest')), '[]')
             FROM json_array_elements(r.decided_so_far) AS made) END AS decided_so_far"""
"""All columns except the possibly large ones: form, show and decisions."""


FULL_COLUMNS = f"""{_COLUMNS} ELSE r.decided_so_far END AS decided_so_far,
coalesce(r.form, '{{}}') AS form, coalesce(r.show, '{{}}') AS show, r.decision"""


COUNT_COLUMNS = "review_counts AS c (tenant_id, name, label, total)"


OR_ADD = "ON CONFLICT (tenant_id, name, label) DO UPDATE SET total = c.total + excluded.total"


# The new row is named `reviews`, because the table does not show it yet within the statement.
UPSERT_REVIEWS = f"""
WITH reviews AS (
    INSERT INTO reviews AS r (tenant_id, review_id, document_id, run_id, band, priority, parts, reasons, summary,
                              due_at, shown_digest, approvals_needed, sla_from, straight_through, audit_sample,
                              file_name)
    SELECT $1, review_id, document_id, run_id, band, priority, parts::jsonb, reasons::jsonb, summary::jsonb, due_at,
           shown_digest, approvals_needed, sla_from, straight_through, audit_sample, file_name
      FROM unnest($2::text[], $3::text[], $4::text[], $5::smallint[], $6::float8[], $7::text[], $8::text[], $9::text[],
                  $10::timestamptz[], $11::text[], $12::integer[], $13::timestamptz[], $14::boolean[], $15::boolean[],
                  $16::text[])
           AS asked (review_id, document_id, run_id, band, priority, parts, reasons, summary, due_at, shown_digest,
                     approvals_needed, sla_from, straight_through, audit_sample, file_name)
     ORDER BY document_id -- concurrent statements lock in this order
    ON CONFLICT (document_id) DO UPDATE
       SET run_id = EXCLUDED.run_id, band = EXCLUDED.band, priority = EXCLUDED.priority, parts = EXCLUDED.parts,
           reasons = EXCLUDED.reasons, summary = EXCLUDED.summary, due_at = EXCLUDED.due_at,
           shown_digest = EXCLUDED.shown_digest, approvals_needed = EXCLUDED.approvals_needed,
           sla_from = EXCLUDED.sla_from, straight_through = EXCLUDED.straight_through,
           audit_sample = EXCLUDED.audit_sample, status = 'open',
           first_approval = CASE WHEN r.first_approval ->> 'digest' = EXCLUDED.shown_digest THEN r.first_approval END,
           closed_at = NULL, updated_at = now()
     WHERE r.tenant_id = EXCLUDED.tenant_id AND r.status IN ('open', 'closed')
    RETURNING r.*, r.xmax = 0 AS is_new),
counted AS (
    INSERT INTO {COUNT_COLUMNS}
    SELECT tenant_id, '{STRAIGHT_THROUGH}', CASE WHEN straight_through THEN 'passes' ELSE 'held' END AS label, count(*)
      FROM reviews WHERE is_new AND straight_through IS NOT NULL
     GROUP BY tenant_id, label
     ORDER BY label
    {OR_ADD})
SELECT {COLUMNS}, r.is_new FROM {LIVE}"""


UPDATE_APPEARANCE = """
UPDATE reviews SET band = $3, priority = $4::float8, parts = $5, reasons = $6, summary = $7, shown_digest = $8,
       approvals_needed = $9,
       first_approval = CASE WHEN first_approval ->> 'digest' = $8 THEN first_approval END, -- else it is void
       revision = revision + 1, updated_at = now()
 WHERE tenant_id = $1 AND review_id = $2"""


LOAD_REVIEW = f"SELECT {COLUMNS} FROM {LIVE} WHERE r.tenant_id = $1 AND r.review_id = $2"


LOCK_REVIEW = f"{LOAD_REVIEW} FOR UPDATE OF r"


LOAD_FULL_REVIEW = f"SELECT {FULL_COLUMNS} FROM {LIVE} WHERE r.tenant_id = $1 AND r.review_id = $2"


async def open_or_renew(db: Database, tenant_id: str, document_id: str, question: Question) -> tuple[Review, bool]:
    """Open or renew one document's item as `open_or_renew_all` does."""
    return (await open_or_renew_all(db, tenant_id, {document_id: question}))[document_id]


async def open_or_renew_all(
    db: Database, tenant_id: str, questions: Mapping[str, Question]
) -> dict[str, tuple[Review, bool]]:
    """Open the documents' review items, or renew the open ones; return each, and whether this call created it, by id.

    A decided item stays unchanged. A new one is counted by its straight-through result, if that was evaluated.
    Raises: NotStored if the tenant does not have one of the documents.
    """
    columns = zip(*(_row(tenant_id, *each) for each in questions.items()), strict=True)
    try:
        rows = await db.fetch(UPSERT_REVIEWS, tenant_id, *map(list, columns))
    except asyncpg.ForeignKeyViolationError:
        raise NotStored("document", ", ".join(questions), tenant_id) from None
    opened = {}
    for row in rows:
        is_new = (values := dict(row)).pop("is_new")
        opened[row["document_id"]] = (Review(**values), is_new)
    for document_id in questions:
        if document_id not in opened:
            stored = await load_review(db, tenant_id, review_id_of(tenant_id, document_id))
            if stored is None:
                raise NotStored("document", document_id, tenant_id)
            opened[document_id] = (stored, False)
    return opened


def _row(tenant_id: str, document_id: str, question: Question) -> tuple[object, ...]:
    """Return the values of UPSERT_REVIEWS from $2 on."""
    look = question.appearance
    place = (review_id_of(tenant_id, document_id), document_id, question.run_id)
    shown = (look.band, look.priority, *(json.dumps(each) for each in (look.parts, look.reasons, look.summary)))
    passing = (look.approvals, question.sla_from, question.straight_through, question.audit_sample)
    return (*place, *shown, question.due_at, look.digest, *passing, question.file_name)


async def update_appearance(db: Database, tenant_id: str, review_id: str, look: Appearance) -> None:
    """Update the item's appearance after a change to the document's fields."""
    values = (look.band, look.priority, look.parts, look.reasons, look.summary, look.digest, look.approvals)
    await db.execute(UPDATE_APPEARANCE, tenant_id, review_id, *values)


async def load_review(db: Database, tenant_id: str, review_id: str) -> Review | None:
    """Return the tenant's review item, or None."""
    row = await db.fetchrow(LOAD_REVIEW, tenant_id, review_id)
    return Review(**row) if row else None


async def lock_review(db: Database, tenant_id: str, review_id: str) -> Review | None:
    """Return the item as `load_review` does, and lock it until the caller's transaction ends."""
    row = await db.fetchrow(LOCK_REVIEW, tenant_id, review_id)
    return Review(**row) if row else None


async def load_full_review(db: Database, tenant_id: str, review_id: str) -> FullReview | None:
    """Return the tenant's review item with its form, context and decisions, or None."""
    row = await db.fetchrow(LOAD_FULL_REVIEW, tenant_id, review_id)
    return FullReview(**row) if row else None


COUNT = f"INSERT INTO {COUNT_COLUMNS} VALUES ($1, $2, $3, $4) {OR_ADD}"


COUNT_ALL_OPEN = """
SELECT count(*) AS open, count(*) FILTER (WHERE due_at < now()) AS overdue FROM reviews
 WHERE status = 'open' AND document_review_id IS NULL"""

LOAD = "SELECT name, label, sum(total) AS total FROM review_counts GROUP BY name, label ORDER BY name, label"


async def count_all_open(db: Database) -> OpenReviews:
    """Count the open items of all tenants."""
    row = await db.fetchrow(COUNT_ALL_OPEN)
    assert row is not None, "an aggregate has one row"
    return OpenReviews(**row)


async def count_review(db: Database, tenant_id: str, name: str, label: str = "", by: float = 1) -> None:
    """Add to a total, inside the caller's transaction."""
    await db.execute(COUNT, tenant_id, name, label, by)


async def load_review_counts(db: Database) -> list[ReviewCount]:
    """Return the totals of ALL tenants together, for the operator's dashboards. For internal use only."""
    return [ReviewCount(**row) for row in await db.fetch(LOAD)]
