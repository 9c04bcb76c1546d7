"""Print the admin key of a new installation: without it no one could call the API."""

import asyncio
import sys

import asyncpg

from docrail.adapters.postgres.pool import DATABASE_ERRORS
from docrail.services.access.service import create_first_key

RETRY_SECONDS = 1.0
"""Pause while the database is unavailable, or not migrated yet."""


async def print_first_key(db: asyncpg.Pool) -> None:
    """Print an admin key if the database has never had a key. Of several processes, one prints it."""
    while True:
        try:
            made = await create_first_key(db)
        except (OSError, TimeoutError, *DATABASE_ERRORS):
            await asyncio.sleep(RETRY_SECONDS)
        else:
            break
    if made:
        sys.stderr.write(f"admin key of this installation, shown only this once: {made.key}\n")
        sys.stderr.flush()
