# ruff: noqa: S608  # only constants of this code are formatted into statements
"""The queue as people look at it: which items, and which of them come first."""

import datetime as dt
from dataclasses import astuple, dataclass
from enum import StrEnum

from storage.db import Database
from storage.reviews import COLUMNS, LIVE, OPEN, ORDER, Review


class Sort(StrEnum):
    """What comes first: the most urgent items, or those of which one part of the priority is greatest."""

    PRIORITY = "priority"
    UNCERTAINTY = "uncertainty"
    SLA = "sla"
    VALUE = "value"
    COMPLEXITY = "complexity"


_PARTS = {sort: f"(r.parts ->> '{sort}')::float8" for sort in Sort if sort is not Sort.PRIORITY} | {Sort.SLA: "sla"}
ORDERS = {Sort.PRIORITY: ORDER} | {sort: f"-coalesce({part}, 0), {ORDER}" for sort, part in _PARTS.items()}
# A step's question about a document is listed as the document's item, which stands for it.
_WANTED = f"""
SELECT {COLUMNS} FROM {LIVE}
 WHERE r.tenant_id = $1
   AND r.document_review_id IS NULL
   AND ($4::text IS NULL OR (r.status = CASE $4 WHEN 'postponed' THEN 'open' ELSE $4 END AND live.status = $4))
   AND ($5::text IS NULL OR r.queue = $5)
   AND ($6::text IS NULL OR (r.step_id IS NOT NULL) = ($6 = 'step'))
   AND ($7::text IS NULL OR r.assignee_group = $7)
   AND ($8::text IS NULL OR (r.claimed_until > now() AND r.claimed_by = $8))
   AND ($9::text IS NULL OR strpos(lower(r.summary ->> 'vendor'), lower($9)) > 0)
   AND ($10::int IS NULL OR live.band = $10)
   AND ($11::timestamptz IS NULL OR r.due_at <= $11)
   AND ($12::text IS NULL OR r.assigned_to = $12)"""
LIST_REVIEWS = {
    sort: f"""{_WANTED}
   AND ($3::text IS NULL OR ({order}) >
        (SELECT {order} FROM {LIVE} WHERE r.tenant_id = $1 AND r.review_id = $3))
 ORDER BY {order}
 LIMIT $2"""
    for sort, order in ORDERS.items()
}

LIST_VALUES = {
    name: f"SELECT {column} FROM reviews WHERE tenant_id = $1 AND {column} IS NOT NULL "
    f"GROUP BY {column} ORDER BY {column} = $2 DESC, count(*) DESC, {column} LIMIT $3"
    for name, column in {"queue": "queue", "group": "assignee_group"}.items()
}
"""By a filter's name."""


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Which items to list; None: all. `vendor` is a part of the vendor's name, `due` the latest time that counts."""

    status: str | None = OPEN
    queue: str | None = None
    kind: str | None = None
    group: str | None = None
    claimed_by: str | None = None
    vendor: str | None = None
    band: int | None = None
    due: dt.datetime | None = None
    assigned_to: str | None = None


async def list_reviews(
    db: Database,
    tenant_id: str,
    wanted: ReviewFilter | None = None,
    *,
    sort: Sort = Sort.PRIORITY,
    limit: int = 100,
    after: str | None = None,
) -> list[Review]:
    """Return the tenant's review items in the order of `sort`; `after` is the last review id of the page before.

    Items rise while pages are read, so one may be met twice; none is left out that stayed open.
    """
    found = await db.fetch(LIST_REVIEWS[sort], tenant_id, limit, after, *astuple(wanted or ReviewFilter()))
    return [Review(**row) for row in found]


async def list_values(db: Database, tenant_id: str, name: str, value: str, *, limit: int) -> list[str]:
    """Return what review items, decided ones too, have of `queue` or `group`: `value` first if one has it.

    Then the most frequent.
    """
    return [row[0] for row in await db.fetch(LIST_VALUES[name], tenant_id, value, limit)]
