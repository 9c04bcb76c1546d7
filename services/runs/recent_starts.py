"""Store the starts of runs that Temporal does not list yet, where open runs are limited."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database

STARTS_SECONDS = 60.0
"""How long a start counts that Temporal does not list: it has failed, or its process has died before it."""

LOCK_STARTS = "SELECT pg_advisory_xact_lock(hashtext('recent_starts'), hashtext($1))"

LIST_UNLISTED = """
SELECT run_id, after FROM recent_starts
 WHERE tenant_id = $1 AND listed_at IS NULL AND started_at > now() - make_interval(secs => $2)"""

# The first time counts: a count of listed runs that began later has this one.
NOTE_LISTED = """
WITH found AS (
    UPDATE recent_starts AS r SET listed_at = clock_timestamp()
      FROM unnest($2::text[], $3::timestamptz[]) AS f (run_id, after)
     WHERE r.tenant_id = $1 AND r.run_id = f.run_id AND r.after = f.after AND r.listed_at IS NULL
    RETURNING r.listed_at)
SELECT greatest(clock_timestamp(), max(listed_at)) FROM found"""

HAS_NOTED = "SELECT EXISTS (SELECT FROM recent_starts WHERE tenant_id = $1 AND listed_at > $2)"

COUNT_UNLISTED = """
SELECT count(*) FROM recent_starts
 WHERE tenant_id = $1 AND ($2::text IS NULL OR key_id = $2) AND (listed_at IS NULL OR listed_at > $3)
   AND started_at > now() - make_interval(secs => $4) AND (run_id, after) <> ($5, $6)"""

INSERT_START = """
INSERT INTO recent_starts (tenant_id, run_id, after, key_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"""

DELETE_PAST_STARTS = """
DELETE FROM recent_starts WHERE tenant_id = $1 AND started_at <= now() - make_interval(secs => $2)"""


@dataclass(frozen=True, slots=True)
class RecentStart:
    """A start of a run: of its first execution, or of one that continues the execution that began at `after`."""

    run_id: str
    after: dt.datetime


async def lock_starts(db: Database, tenant_id: str) -> None:
    """Let no one else count and insert starts of the tenant until the transaction ends."""
    await db.execute(LOCK_STARTS, tenant_id)


async def list_unlisted(db: Database, tenant_id: str) -> list[RecentStart]:
    """Return the recent starts that Temporal was not seen to list."""
    return [RecentStart(**row) for row in await db.fetch(LIST_UNLISTED, tenant_id, STARTS_SECONDS)]


async def note_listed(db: Database, tenant_id: str, starts: Sequence[RecentStart]) -> dt.datetime:
    """Record that Temporal lists these starts, and return the time."""
    ids, after = [start.run_id for start in starts], [start.after for start in starts]
    found: dt.datetime = await db.fetchval(NOTE_LISTED, tenant_id, ids, after)
    return found


async def has_noted(db: Database, tenant_id: str, since: dt.datetime) -> bool:
    """Return whether a start of the tenant was seen to be listed after that time."""
    return bool(await db.fetchval(HAS_NOTED, tenant_id, since))


async def count_unlisted(
    db: Database, tenant_id: str, key_id: str | None, listed_until: dt.datetime, *, but: RecentStart
) -> int:
    """Count the tenant's recent starts, of one key or of all, that Temporal did not list at that time."""
    values = (key_id, listed_until, STARTS_SECONDS, but.run_id, but.after)
    return int(await db.fetchval(COUNT_UNLISTED, tenant_id, *values))


async def insert_start(db: Database, tenant_id: str, start: RecentStart, key_id: str | None) -> None:
    """Record a start, once, and delete those that count no longer."""
    await db.execute(DELETE_PAST_STARTS, tenant_id, STARTS_SECONDS)
    await db.execute(INSERT_START, tenant_id, start.run_id, start.after, key_id)
