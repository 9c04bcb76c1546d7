"""API keys for tests in which several people act."""

from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.postgres.tenants import rows_of
from docrail.services.access.models import DEFAULT_TENANT, Principal, Scope
from docrail.services.access.service import create_key

_KEYS: dict[tuple[str, str], str] = {}


async def key_of(dsn: str, name: str) -> str:
    """Return a key of this person, with all scopes; the same each time, also while the database is unavailable."""
    if (dsn, name) not in _KEYS:
        pool = await open_pool(dsn, min_size=1, max_size=1, rows=rows_of(DEFAULT_TENANT))
        made = await create_key(pool, Principal(DEFAULT_TENANT, "tests", frozenset(Scope)), name, Scope)
        await pool.close()
        _KEYS[dsn, name] = made.key
    return _KEYS[dsn, name]
