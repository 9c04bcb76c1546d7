"""Store reading leases: which attempt reads which bytes with a model, so that equal work is paid for once.

The call holds a lease but no lock: no transaction is open while a model thinks. A holder that dies stops renewing, and
another attempt takes over. Times are the database's: workers' clocks differ.
"""

from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database, delete_all
from docrail.dag.values.json_values import Json

REMOVED_AT_ONCE = 20
"""Expired leases removed with each claim: more than a claim adds."""
KEPT_SECONDS = 86_400.0

# `died` counts consecutive holders that never came back; a holder that leaves the lease writes a note without it.
# A claim takes only expired leases: of two concurrent claims the second waits for the first's row and finds it taken.
# A refusal ends with its lease: while the new holder asks, it is not an answer for those who wait. The remaining time
# uses the wall clock: by now(), a lease that began a moment later would last longer than any, as one left for long
# does.
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
# SKIP LOCKED: two concurrent claims remove different rows and do not wait.
REMOVE_FORGOTTEN = """
DELETE FROM reading_leases
 WHERE tenant_id = $1 AND work_key IN (
       SELECT work_key FROM reading_leases
        WHERE tenant_id = $1 AND expires_at < now() - make_interval(secs => $2)
        ORDER BY expires_at
        LIMIT $3
          FOR UPDATE SKIP LOCKED)"""


DELETE_FORGOTTEN = """
DELETE FROM reading_leases WHERE (tenant_id, work_key) IN (
       SELECT tenant_id, work_key FROM reading_leases WHERE expires_at < now() - make_interval(secs => $2) LIMIT $1)
   AND expires_at < now() - make_interval(secs => $2)"""


@dataclass(frozen=True, slots=True)
class Lease:
    """A tenant's unit of work and the attempt that wants it. `holder` is unique per attempt."""

    tenant_id: str
    work_key: str
    holder: str


@dataclass(frozen=True, slots=True)
class Claim:
    """The result of a claim: whether this attempt now holds the work, and the note of the last holder."""

    mine: bool
    note: dict[str, Json]
    free_in_seconds: float = 0.0
    """Seconds until the lease expires unless it is renewed."""
    died: bool = False
    """Whether the lease was acquired because the previous holder neither left nor released it."""


async def claim_lease(db: Database, lease: Lease, seconds: float) -> Claim:
    """Take the work for `seconds` if it is free."""
    row = await db.fetchrow(CLAIM, lease.tenant_id, lease.work_key, lease.holder, seconds)
    if row is None:  # released between the two halves of the statement
        return Claim(mine=False, note={})
    if row["mine"]:
        await db.execute(REMOVE_FORGOTTEN, lease.tenant_id, KEPT_SECONDS, REMOVED_AT_ONCE)
    return Claim(**row)


async def delete_forgotten_leases(db: Database) -> int:
    """Delete all tenants' leases that no one renewed or released, and return how many."""
    return await delete_all(db, DELETE_FORGOTTEN, KEPT_SECONDS)


async def renew_lease(db: Database, lease: Lease, seconds: float) -> None:
    """Extend the lease to `seconds` from now, if this attempt still holds it."""
    await db.execute(RENEW, lease.tenant_id, lease.work_key, lease.holder, seconds)


async def leave_lease(db: Database, lease: Lease, seconds: float, note: dict[str, Json]) -> None:
    """Stop working and block the work for `seconds`; the next holder finds `note`."""
    await db.execute(LEAVE, lease.tenant_id, lease.work_key, lease.holder, max(seconds, 0.0), note)


async def release_lease(db: Database, lease: Lease) -> None:
    """Release the work: it is done, or the attempt needs no record."""
    await db.execute(RELEASE, lease.tenant_id, lease.work_key, lease.holder)
