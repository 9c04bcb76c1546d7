"""Who renews a file and who deletes it for its age take turns: what was put again is never deleted as old."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

import asyncpg

from docrail.adapters.postgres.pool import transaction

Turn = Callable[[str], AbstractAsyncContextManager[None]]
"""Gives a turn at the file of a path, until the block ends."""

BLOBS, VALUES = "blobs", "values"
"""The places."""
TAKE_TURN = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"


def turns_in(pool: asyncpg.Pool, place: str) -> Turn:
    """Return turns at the files of a place among all processes of this database."""

    @asynccontextmanager
    async def turn(path: str) -> AsyncIterator[None]:
        async with transaction(pool) as connection:  # ends with its process, too
            await connection.execute(TAKE_TURN, f"{place}/{path}")
            yield

    return turn


def no_turns(_path: str) -> AbstractAsyncContextManager[None]:
    """Take no turns: for stores of which nothing is deleted for its age."""
    return nullcontext()
