"""The reading_leases table: who reads which bytes with a model just now, so that equal work is paid for once.

A lease is held over the call, a lock is not: no transaction is open while a model thinks. Who dies stops renewing, and
somebody else takes over. Times are the database's: workers' clocks differ.
"""

from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database
from docrail.dag.values.json_values import Json

REMOVED_AT_ONCE = 20
"""Rows of holders that never came back, removed with each claim: more than it adds."""
KEPT_SECONDS = 86_400.0

# `died` counts holders of whom nobody heard again, one after the other: who leaves it leaves a note without.
# Taken only from nobody: of two claims at once the second waits for the first's row, and finds it taken. A refusal ends
# with its lease: while the new holder asks, it is no answer for those who wait. What is left is
# told by the clock: by now(), a lease that began a moment later would last longer than any, as one left for long does.
CLAIM = """
WITH claimed AS (
    INSERT INTO reading_leases AS lease (tenant_id, work_key, holder, expires_at, note)
    VALUES ($1, $2, $3, now() + make_interval(secs => $4), '{"died": 0}')
    ON CONFLICT (tenant_id, work_key) DO UPDATE
       SET holder = excluded.holder, expires_at = excluded.expires_at,
           note = lease.note - 'refused' || jsonb_build_object('died', coalesce((lease.note ->> 'died')::int + 1, 0))
     WHERE lease.expires_at <= now()
    RETURNING note)
SELECT true AS mine, note - 'died' AS note, 0::float8 AS free_in_seconds, (note ->> 'died')::int > 0 AS died
  FROM claimed
UNION ALL
SELECT false, note - 'died', greatest(extract(epoch FROM expires_at - clock_timestamp())::float8, 0), false
  FROM reading_leases
 WHERE tenant_id = $1 AND work_key = $2 AND NOT EXISTS (SELECT FROM claimed)"""
RENEW = """
UPDATE reading_leases SET expires_at = now() + make_interval(secs => $4)
 WHERE tenant_id = $1 AND work_key = $2 AND holder = $3"""
LEAVE = """
UPDATE reading_leases SET expires_at = now() + make_interval(secs => $4), note = $5
 WHERE tenant_id = $1 AND work_key = $2 AND holder = $3"""
RELEASE = "DELETE FROM reading_leases WHERE tenant_id = $1 AND work_key = $2 AND holder = $3"
# SKIP LOCKED: two claims at once remove different rows, and wait for nobody.
REMOVE_FORGOTTEN = """
DELETE FROM reading_leases
 WHERE (tenant_id, work_key) IN (
       SELECT tenant_id, work_key FROM reading_leases
        WHERE expires_at < now() - make_interval(secs => $1)
        ORDER BY expires_at
        LIMIT $2
          FOR UPDATE SKIP LOCKED)"""


@dataclass(frozen=True, slots=True)
class Lease:
    """A piece of work of a tenant, and who wants it. `holder` is another for each attempt."""

    tenant_id: str
    work_key: str
    holder: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim gave: whether the work is `mine` now, and what its last holder left."""

    mine: bool
    note: dict[str, Json]
    free_in_seconds: float = 0.0
    """When somebody may take it, unless it is renewed."""
    died: bool = False
    """Whether it is ours because the holder before us neither left it nor gave it back."""


async def claim_lease(db: Database, lease: Lease, seconds: float) -> Claim:
    """Take the work for `seconds` if nobody has it."""
    row = await db.fetchrow(CLAIM, lease.tenant_id, lease.work_key, lease.holder, seconds)
    if row is None:  # given back between the two halves of the statement
        return Claim(mine=False, note={})
    if row["mine"]:
        await db.execute(REMOVE_FORGOTTEN, KEPT_SECONDS, REMOVED_AT_ONCE)
    return Claim(**row)


async def renew_lease(db: Database, lease: Lease, seconds: float) -> None:
    """Keep the work for `seconds` from now, if it is still ours."""
    await db.execute(RENEW, lease.tenant_id, lease.work_key, lease.holder, seconds)


async def leave_lease(db: Database, lease: Lease, seconds: float, note: dict[str, Json]) -> None:
    """Stop, and let nobody have the work for `seconds`: whoever has it then finds `note`."""
    await db.execute(LEAVE, lease.tenant_id, lease.work_key, lease.holder, max(seconds, 0.0), note)


async def release_lease(db: Database, lease: Lease) -> None:
    """Give the work back: it is done, or nobody need know that it was tried."""
    await db.execute(RELEASE, lease.tenant_id, lease.work_key, lease.holder)
