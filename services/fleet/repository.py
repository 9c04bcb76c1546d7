"""Store the id of the installation's file store."""

from dataclasses import dataclass

from docrail.adapters.postgres.pool import Database

ADD = "INSERT INTO store_identity (store_id) VALUES ($1) ON CONFLICT DO NOTHING"
LOAD = "SELECT store_id, is_written FROM store_identity"
LOCK = "SELECT store_id, is_written FROM store_identity FOR UPDATE"
SET_WRITTEN = "UPDATE store_identity SET is_written = true WHERE NOT is_written"


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """The id that the store must have; `is_written`: the store has had it."""

    store_id: str
    is_written: bool


async def add_identity(db: Database, store_id: str) -> None:
    """Store the id, unless there is one."""
    await db.execute(ADD, store_id)


async def load_identity(db: Database) -> StoreIdentity | None:
    """Return the id of the store that belongs to this database; None if it has none yet."""
    row = await db.fetchrow(LOAD)
    return None if row is None else StoreIdentity(**row)


async def lock_identity(db: Database) -> StoreIdentity:
    """Return the id, which the caller's transaction holds: of two first processes one gives it to its store."""
    row = await db.fetchrow(LOCK)
    assert row is not None, "no one deletes it"
    return StoreIdentity(**row)


async def set_written(db: Database) -> None:
    """Record that the store has the id."""
    await db.execute(SET_WRITTEN)


PING = "SELECT 1"


async def ping(db: Database) -> None:
    """Return once the database has answered."""
    await db.execute(PING)
