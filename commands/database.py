"""How a command speaks to the database itself, and what it says where the database is away."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from storage.db import DATABASE_ERRORS, open_pool


@asynccontextmanager
async def small_pool(url: str) -> AsyncIterator[asyncpg.Pool]:
    """Give a pool of one connection, closed at the end. Raises: SystemExit if the database cannot be reached."""
    try:
        pool = await open_pool(url, min_size=1, max_size=1)
    except (OSError, *DATABASE_ERRORS) as error:
        raise SystemExit(unreachable(error)) from None
    try:
        yield pool
    finally:
        await pool.close()


def unreachable(error: Exception) -> str:
    """Return what to say of a database that did not let us in, or that nobody answers for."""
    hint = "; is it running? `docrail up` says where its own is" if isinstance(error, OSError) else ""
    return f"cannot reach the database of DOCRAIL_DATABASE_URL: {error}{hint}"
