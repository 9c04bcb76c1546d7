# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Totals of what reviewers do, kept with each act, for dashboards."""

from dataclasses import dataclass

from storage.db import Database

COLUMNS = "review_counts AS c (tenant_id, name, label, total)"
OR_ADD = "ON CONFLICT (tenant_id, name, label) DO UPDATE SET total = c.total + excluded.total"
COUNT = f"INSERT INTO {COLUMNS} VALUES ($1, $2, $3, $4) {OR_ADD}"
LOAD = "SELECT name, label, sum(total) AS total FROM review_counts GROUP BY name, label ORDER BY name, label"

DECISIONS, TOUCHED, SECONDS, REVIEWED = "decisions", "touched", "seconds", "reviewed"
CORRECTIONS, STRAIGHT_THROUGH, SAMPLED, SLA = "corrections", "straight_through", "sampled", "sla"
"""Decisions by outcome; those among them with a correction; seconds from claim to decision, and of how many; values
corrected, by field; documents by what straight-through said of them; how decisions of its audit sample came out; SLA
events by percent."""


@dataclass(frozen=True, slots=True)
class ReviewCount:
    """One total."""

    name: str
    label: str
    total: float


async def count_review(db: Database, tenant_id: str, name: str, label: str = "", by: float = 1) -> None:
    """Add to a total, inside the caller's transaction."""
    await db.execute(COUNT, tenant_id, name, label, by)


async def load_review_counts(db: Database) -> list[ReviewCount]:
    """Return the totals of ALL tenants together, for the operator's dashboards. Never for a caller."""
    return [ReviewCount(**row) for row in await db.fetch(LOAD)]
