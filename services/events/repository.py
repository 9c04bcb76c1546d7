"""Read and forget events. Triggers write them, in the transaction of the change (adapters/postgres/migrations).

A reader remembers a snapshot, not a number: ids and times do not commit in order, so that "all after the last one"
would miss what commits late. New is what the last snapshot did not see.
"""

import datetime as dt

import asyncpg

from docrail.adapters.postgres.pool import Database
from docrail.services.events.models import ACCESS, Change, Happened, Kind, Position, Read
from docrail.services.events.seals import Seal, new_key

MOST_READ = 5_000
"""Maximum rows of one look. A reader who is that far behind had better read the objects themselves."""

NOW = "SELECT pg_current_snapshot()::text AS snapshot, extract(epoch FROM now())::bigint AS read_at"

# One row at least, for the snapshot: it is that of this very statement.
READ_ALL = """
SELECT pg_current_snapshot()::text AS snapshot, extract(epoch FROM now())::bigint AS read_at,
       e.tenant_id, e.kind, e.object_id, e.run_id, (extract(epoch FROM e.recorded_at) * 1000000)::bigint AS version
  FROM (SELECT 1) AS always
  LEFT JOIN events e ON e.txid >= pg_snapshot_xmin($1::text::pg_snapshot)
                    AND NOT pg_visible_in_snapshot(e.txid, $1::text::pg_snapshot)
 ORDER BY e.txid, e.event_id
 LIMIT $2"""

READ_TENANT = """
SELECT pg_current_snapshot()::text AS snapshot, extract(epoch FROM now())::bigint AS read_at,
       e.tenant_id, e.kind, e.object_id, e.run_id, (extract(epoch FROM e.recorded_at) * 1000000)::bigint AS version
  FROM (SELECT 1) AS always
  LEFT JOIN events e ON e.txid >= pg_snapshot_xmin($2::text::pg_snapshot)
                    AND NOT pg_visible_in_snapshot(e.txid, $2::text::pg_snapshot)
                    AND e.tenant_id = $1
 ORDER BY e.txid, e.event_id
 LIMIT $3"""

# A snapshot with transactions that are still to come is another database's, or from after a restored backup.
IS_KNOWN = """
SELECT pg_snapshot_xmax($1::text::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
   AND to_timestamp($2::bigint) BETWEEN now() - $3::interval AND now() + interval '1 minute'"""

ADD_SEAL = "INSERT INTO event_seals (tenant_id, key) VALUES ($1, $2) ON CONFLICT DO NOTHING"
LOAD_SEAL = "SELECT key FROM event_seals WHERE tenant_id = $1"

FORGET = "DELETE FROM events WHERE recorded_at < now() - $1::interval"


async def load_position(db: Database) -> Position:
    """Return the present position."""
    row = await db.fetchrow(NOW)
    assert row is not None, "the statement returns one row"
    return Position(row["snapshot"], row["read_at"])


async def read_all(db: Database, since: Position) -> Read:
    """Return what happened to anyone since the position."""
    return _read(await db.fetch(READ_ALL, since.snapshot, MOST_READ + 1))


async def read_tenant(db: Database, tenant_id: str, since: Position) -> Read:
    """Return what happened to one tenant since the position."""
    return _read(await db.fetch(READ_TENANT, tenant_id, since.snapshot, MOST_READ + 1))


async def is_known(db: Database, position: Position, kept: dt.timedelta) -> bool:
    """Return whether everything since the position is still there."""
    try:
        return bool(await db.fetchval(IS_KNOWN, position.snapshot, position.read_at, kept))
    except asyncpg.DataError:  # looks like a snapshot, and is none
        return False


async def load_seal(db: Database, tenant_id: str) -> Seal:
    """Return the seal of the tenant's events; of several processes that make its first one, one does."""
    key = await db.fetchval(LOAD_SEAL, tenant_id)
    if key is None:
        await db.execute(ADD_SEAL, tenant_id, new_key())
        key = await db.fetchval(LOAD_SEAL, tenant_id)
    return Seal(key)


async def delete_old(db: Database, kept: dt.timedelta) -> int:
    """Delete events older than that and return their number."""
    return int((await db.execute(FORGET, kept)).rpartition(" ")[2])


def _read(rows: list[asyncpg.Record]) -> Read:
    found = [row for row in rows if row["kind"] is not None]
    return Read(
        [_happened(row) for row in found[:MOST_READ] if row["kind"] != ACCESS],
        Position(rows[0]["snapshot"], rows[0]["read_at"]),
        has_more=len(found) > MOST_READ,
        suspects=frozenset(row["tenant_id"] for row in found if row["kind"] == ACCESS),
    )


def _happened(row: asyncpg.Record) -> Happened:
    change = Change(Kind(row["kind"]), row["object_id"], row["version"])
    return Happened(row["tenant_id"], change, row["run_id"])
