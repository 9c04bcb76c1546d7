# ruff: noqa: S608  # the only thing formatted into a statement is a constant list of columns
"""The table of routing rules: every list that was ever in force; the newest is."""

import datetime as dt
from dataclasses import dataclass

from dag.values import Json
from storage.db import Database

_COLUMNS = "revision, rules, source, set_by, set_at"

LOAD_RULES = f"SELECT {_COLUMNS} FROM routing_rules WHERE tenant_id = $1 ORDER BY revision DESC LIMIT 1"
INSERT_RULES = f"""
INSERT INTO routing_rules (tenant_id, revision, rules, source, set_by) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
RETURNING {_COLUMNS}"""


@dataclass(frozen=True, slots=True)
class StoredRules:
    """A tenant's rules in force: normalised, and as their author wrote them."""

    revision: int
    rules: list[dict[str, Json]]
    source: str
    set_by: str
    set_at: dt.datetime


async def load_rules(db: Database, tenant_id: str) -> StoredRules | None:
    """Return the tenant's rules in force, None if it never had any."""
    row = await db.fetchrow(LOAD_RULES, tenant_id)
    return StoredRules(**row) if row else None


async def insert_rules(
    db: Database, tenant_id: str, revision: int, rules: list[dict[str, Json]], source: str, *, by: str
) -> StoredRules | None:
    """Put a list of rules into force under the next revision; None if that revision is taken by somebody else's."""
    row = await db.fetchrow(INSERT_RULES, tenant_id, revision, rules, source, by)
    return StoredRules(**row) if row else None
