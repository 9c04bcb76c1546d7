"""Look up the output of earlier equal work before a cached step's handler runs, and store new outputs.

The cache only saves work: if it cannot be read or written, the step works as if it had none. So an
outage of PostgreSQL fails no step that does not otherwise need it, and no handler that has just run is run again
because its output could not be stored.
"""

import asyncio
import logging

from docrail.adapters.postgres.pool import DATABASE_ERRORS, StorageError
from docrail.dag.values.json_values import Json
from docrail.services.runs.models import CachedOutput
from docrail.services.runs.service import load_cached, save_cached
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import AttemptRequest, CacheUse

LONGEST_SECONDS = 5.0
"""Timeout of a cache access. It takes milliseconds, or the database is unavailable."""

_UNAVAILABLE = (OSError, StorageError, *DATABASE_ERRORS)
"""OSError includes TimeoutError."""

log = logging.getLogger(__name__)


async def find_output(call: AttemptRequest, cache: CacheUse, handler: str, tools: Tools) -> CachedOutput | None:
    """Return the cached output; None if the handler has to run."""
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            found = await load_cached(tools.db, call.tenant_id, cache.key, cache.ttl_seconds)
    except _UNAVAILABLE as error:
        _warn("read", call, handler, error)
        tools.metrics.cache_lookups.labels(handler, "error").inc()
        return None
    tools.metrics.cache_lookups.labels(handler, "miss" if found is None else "hit").inc()
    return found


async def keep_output(call: AttemptRequest, cache: CacheUse, handler: str, output: Json, tools: Tools) -> None:
    """Store the output of a successful attempt as the run carries it: a large one as its reference."""
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            await save_cached(tools.db, call.tenant_id, cache.key, handler, output, ttl_seconds=cache.ttl_seconds)
    except (*_UNAVAILABLE, ValueError) as error:  # ValueError: NaN is not valid JSON, but runs can carry it
        _warn("write", call, handler, error)


def _warn(verb: str, call: AttemptRequest, handler: str, error: Exception) -> None:
    reason = f"{type(error).__name__}: {error}"
    log.warning("could not %s the cache of %s for step %s of %s: %s", verb, handler, call.step_id, call.run_id, reason)
