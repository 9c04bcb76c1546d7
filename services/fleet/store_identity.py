"""Keep processes from working on another store than the one that belongs to their database.

A store has an id, in PostgreSQL and in a file of its own. A worker with another data folder would otherwise split the
lake, and a volume that is not mounted would look like an empty store (ADR 41).
"""

import asyncio
import secrets

import asyncpg

from docrail.adapters.postgres.pool import Database, transaction
from docrail.adapters.store.folders import Folder
from docrail.services.errors import OperationError
from docrail.services.fleet.repository import add_identity, load_identity, lock_identity, set_written

FILE = "store-id"
"""In the root of the store."""
ANOTHER = "this is not the store of this database, or it is not mounted: `docrail server start` says what to do"
"""What strangers may read of a wrong store: neither its path nor its id."""


class WrongStore(OperationError):  # noqa: N818  # named for its reason, like every refusal
    """The store does not belong to this database."""

    def __init__(self, store: Folder, wanted: str, found: str | None) -> None:
        what = f"has the id {found}" if found else f"has no file {FILE!r}: it is not mounted, or it is another folder"
        super().__init__(
            f"the store {store} {what}. This database belongs to the store {wanted}: correct DOCRAIL_STORE or "
            f"DOCRAIL_DATA_DIR (or DOCRAIL_DATABASE_URL). To use this store from now on, write {wanted} into its file "
            f"{FILE!r}"
        )


async def claim_store(db: asyncpg.Pool, store: Folder) -> None:
    """Return if the store belongs to this database; give both a common id if neither has one.

    Safe to repeat and to interrupt. Raises: WrongStore; OSError of the store, errors of the database.
    """
    if (own := await load_identity(db)) is not None and own.is_written:
        await _compare(store, own.store_id)
        return
    async with transaction(db) as tx:
        await add_identity(tx, f"store_{secrets.token_hex(13)}")
        own = await lock_identity(tx)
        if not own.is_written:
            await asyncio.to_thread(store.create, FILE, f"{own.store_id}\n".encode())
        await _compare(store, own.store_id)
        await set_written(tx)


async def check_store(db: Database, store: Folder) -> None:
    """Return if the store belongs to this database, or no process has claimed one. Raises: as `claim_store`."""
    own = await load_identity(db)
    if own is not None and own.is_written:
        await _compare(store, own.store_id)


async def _compare(store: Folder, wanted: str) -> None:
    found = await asyncio.to_thread(_read, store)
    if found != wanted:
        raise WrongStore(store, wanted, found)


def _read(store: Folder) -> str | None:
    found = store.read_tagged(FILE)
    return None if found is None else found.data.decode(errors="replace").strip()[:100]
