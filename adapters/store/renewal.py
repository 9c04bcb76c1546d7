"""Serialise the renewal and the deletion of a file, so that a renewed file is never deleted as old."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

import asyncpg

from docrail.adapters.postgres.pool import transaction

Turn = Callable[[str], AbstractAsyncContextManager[None]]
"""Opens a context that holds the lock on the file at a path."""

BLOBS, VALUES = "blobs", "values"
"""The stores that use locks."""
TAKE_TURN = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"


def turns_in(pool: asyncpg.Pool, place: str) -> Turn:
    """Return the locks on the files of a store, shared by all processes with this database."""

    @asynccontextmanager
    async def turn(path: str) -> AsyncIterator[None]:
        async with transaction(pool) as connection:  # the lock also ends with the process
            await connection.execute(TAKE_TURN, f"{place}/{path}")
            yield

    return turn


def no_turns(_path: str) -> AbstractAsyncContextManager[None]:
    """Take no lock: for stores without deletion by age."""
    return nullcontext()
