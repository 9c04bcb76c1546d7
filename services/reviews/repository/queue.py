# ruff: noqa: S608  # only constants of this code are formatted into statements
"""List review items for people, filtered and sorted."""

import datetime as dt
from dataclasses import astuple

from docrail.adapters.postgres.pool import Database
from docrail.services.reviews.models import PARTS, Place, Review, ReviewFilter, Sort
from docrail.services.reviews.repository.items import AS_OF, COLUMNS, ORDER

ORDERS = {Sort.PRIORITY: ORDER} | {sort: f"-coalesce({part}, 0), {ORDER}" for sort, part in PARTS.items()}


# A step's question about a document is listed as the document's item.
_WANTED = f"""
SELECT {COLUMNS} FROM {AS_OF % {"now": "$14::timestamptz"}}
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
   AND ($12::text IS NULL OR r.assigned_to = $12)
   AND ($13::text IS NULL OR r.run_id = $13 OR starts_with(r.run_id, $13 || '~'))"""


_AFTER = "-$15::int, -$16::float8, coalesce($17::timestamptz, 'infinity'), $18::timestamptz, $3::text"


LIST_REVIEWS = {
    sort: f"""{_WANTED}
   AND ($3::text IS NULL OR ({order}) > ({_AFTER if sort is Sort.PRIORITY else f"-$19::float8, {_AFTER}"}))
 ORDER BY {order}
 LIMIT $2"""
    for sort, order in ORDERS.items()
}


LIST_VALUES = {
    name: f"SELECT {column} FROM reviews WHERE tenant_id = $1 AND {column} IS NOT NULL "
    f"GROUP BY {column} ORDER BY {column} = $2 DESC, count(*) DESC, {column} LIMIT $3"
    for name, column in {"queue": "queue", "group": "assignee_group"}.items()
}
"""By filter name."""


def place_of(last: Review, sort: Sort, as_of: dt.datetime) -> Place:
    """Return the position after an item that was listed."""
    return Place(
        as_of, last.review_id, last.band, last.priority, last.due_at, last.created_at, last.parts.get(sort, 0.0)
    )


async def list_reviews(
    db: Database,
    tenant_id: str,
    wanted: ReviewFilter | None = None,
    *,
    sort: Sort = Sort.PRIORITY,
    limit: int = 100,
    as_of: dt.datetime | None = None,
    after: Place | None = None,
) -> list[Review]:
    """Return the tenant's review items in the order of `sort`, starting after the end of the previous page.

    All pages show the priorities of one moment: `as_of` (now), then that of `after`. So each item is listed exactly
    once, unless it changes meanwhile.
    """
    moment = after.as_of if after else as_of or dt.datetime.now(dt.UTC)
    filters = astuple(wanted or ReviewFilter())
    place = (after.band, after.priority, after.due_at, after.created_at) if after else (0, 0.0, None, moment)
    values = (tenant_id, limit, after and after.review_id, *filters, moment, *place)
    part = () if sort is Sort.PRIORITY else (after.part if after else 0.0,)
    found = await db.fetch(LIST_REVIEWS[sort], *values, *part)
    return [Review(**row) for row in found]


async def list_values(db: Database, tenant_id: str, name: str, value: str, *, limit: int) -> list[str]:
    """Return the values of `queue` or `group` in review items, decided ones included: `value` first if it exists.

    The others follow by frequency.
    """
    return [row[0] for row in await db.fetch(LIST_VALUES[name], tenant_id, value, limit)]
