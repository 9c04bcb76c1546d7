"""Store quotas, and count what is used of those that a day renews."""

from typing import Any

from docrail.adapters.postgres.pool import Database, delete_all
from docrail.services.quotas.models import Quota, SetQuota

LOAD = """
SELECT quota, value::float8 AS value, tenant_id AS tenant, nullif(key_id, '') AS key_id, changed_by, changed_at
  FROM quotas WHERE tenant_id = $1
 ORDER BY key_id, quota"""

SET = """
INSERT INTO quotas (tenant_id, key_id, quota, value, changed_by) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, key_id, quota) DO UPDATE
   SET value = excluded.value, changed_by = excluded.changed_by, changed_at = now()
RETURNING quota, value::float8 AS value, tenant_id AS tenant, nullif(key_id, '') AS key_id, changed_by, changed_at"""

RESET = "DELETE FROM quotas WHERE tenant_id = $1 AND key_id = $2 AND quota = $3"

# One statement: of two processes that use the last one, the second waits for the first and finds none left.
USE = """
INSERT INTO quota_days AS today (tenant_id, key_id, quota, day, used)
SELECT $1, $2, $3, (now() AT TIME ZONE 'UTC')::date, $5::bigint WHERE $4::float8 >= $5::bigint
ON CONFLICT (tenant_id, key_id, quota) DO UPDATE
   SET used = CASE WHEN today.day = excluded.day THEN today.used ELSE 0 END + $5, day = excluded.day
 WHERE today.day < excluded.day OR today.used + $5 <= $4::float8
RETURNING used"""

GIVE_BACK = """
UPDATE quota_days SET used = used - $4
 WHERE tenant_id = $1 AND key_id = $2 AND quota = $3 AND used >= $4 AND day = (now() AT TIME ZONE 'UTC')::date"""


DELETE_PAST_DAYS = """
DELETE FROM quota_days WHERE (tenant_id, key_id, quota) IN (
       SELECT tenant_id, key_id, quota FROM quota_days WHERE day < (now() AT TIME ZONE 'UTC')::date LIMIT $1)
   AND day < (now() AT TIME ZONE 'UTC')::date"""


async def load_quotas(db: Database, tenant_id: str) -> list[SetQuota]:
    """Return what was set for a tenant and its keys."""
    return [_quota_of(row) for row in await db.fetch(LOAD, tenant_id)]


async def set_quota(
    db: Database, tenant_id: str, key_id: str | None, quota: Quota, value: float, *, changed_by: str
) -> SetQuota:
    """Set a quota."""
    return _quota_of(await db.fetchrow(SET, tenant_id, key_id or "", quota, value, changed_by))


async def reset_quota(db: Database, tenant_id: str, key_id: str | None, quota: Quota) -> bool:
    """Remove a quota, and return whether one was set."""
    return bool((await db.execute(RESET, tenant_id, key_id or "", quota)).endswith(" 1"))


async def use(db: Database, tenant_id: str, key_id: str, quota: Quota, *, limit: float, count: int) -> bool:
    """Count so many of today's `limit`; return False, and count nothing, if fewer are left."""
    return await db.fetchval(USE, tenant_id, key_id, quota, limit, count) is not None


async def give_back(db: Database, tenant_id: str, key_id: str, quota: Quota, *, count: int) -> None:
    """Take back what `use` has counted today."""
    await db.execute(GIVE_BACK, tenant_id, key_id, quota, count)


async def delete_past_days(db: Database) -> int:
    """Delete what was used before today, and return how many rows."""
    return await delete_all(db, DELETE_PAST_DAYS)


def _quota_of(row: Any) -> SetQuota:
    return SetQuota(**{**row, "quota": Quota(row["quota"])})
