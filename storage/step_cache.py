"""The step_cache table: outputs of cached steps, for equal work of the same tenant until they are too old."""

import json
from dataclasses import dataclass

from dag.values import Json
from storage.db import Database

REMOVED_AT_ONCE = 20
"""Expired rows that one write removes: more than it adds, so they become fewer as long as anybody writes."""

# A definition that shortened its `ttl_seconds` gets no output that is older than it now allows.
LOAD = """
SELECT output FROM step_cache
 WHERE tenant_id = $1 AND cache_key = $2 AND expires_at > now() AND made_at > now() - make_interval(secs => $3)"""
# Of two workers that did the same work at once the later write stays: its output is the younger one.
SAVE = """
INSERT INTO step_cache (tenant_id, cache_key, handler, output, expires_at)
VALUES ($1, $2, $3, $4::text::json, now() + make_interval(secs => $5))
ON CONFLICT (tenant_id, cache_key) DO UPDATE
   SET output = excluded.output, made_at = excluded.made_at, expires_at = excluded.expires_at"""
# SKIP LOCKED: two writes at once remove different rows, and wait for nobody.
REMOVE_EXPIRED = """
DELETE FROM step_cache
 WHERE (tenant_id, cache_key) IN (
       SELECT tenant_id, cache_key FROM step_cache
        WHERE expires_at <= now()
        ORDER BY expires_at
        LIMIT $1
          FOR UPDATE SKIP LOCKED)"""


@dataclass(frozen=True, slots=True)
class CachedOutput:
    """An output that was found; `output` may be null, which is an output too."""

    output: Json


async def load_cached(db: Database, tenant_id: str, cache_key: str, ttl_seconds: float) -> CachedOutput | None:
    """Return the output of equal work that is at most `ttl_seconds` old, None if there is none."""
    row = await db.fetchrow(LOAD, tenant_id, cache_key, ttl_seconds)
    return CachedOutput(row["output"]) if row else None


async def save_cached(
    db: Database, tenant_id: str, cache_key: str, handler: str, output: Json, ttl_seconds: float
) -> None:
    """Keep an output for `ttl_seconds`, and remove some of what has expired. Raises: ValueError (no JSON value)."""
    text = json.dumps(output, allow_nan=False)  # not left to the column's codec: null would be no value
    await db.execute(SAVE, tenant_id, cache_key, handler, text, ttl_seconds)
    await db.execute(REMOVE_EXPIRED, REMOVED_AT_ONCE)
