"""Enforce quotas, and show and change them.

A caller must be within the quota of the tenant, which has a default in the settings, and within that of the API key.
Requests are counted in the memory of each process; documents and models' cost in the database, runs by Temporal, for
all processes.
"""

import asyncio
import datetime as dt
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import asyncpg
from limits import RateLimitItemPerSecond
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from docrail.adapters.postgres.pool import DATABASE_ERRORS, Database, transaction
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json
from docrail.services.access.models import DEFAULT_TENANT, Principal
from docrail.services.audit.models import Act
from docrail.services.audit.service import append_event
from docrail.services.errors import InvalidInput, QuotaExceeded, TooLarge
from docrail.services.quotas import repository
from docrail.services.quotas.models import A_PRIORITY, OF_OTHERS, OF_TENANTS, PRIORITIES, Quota, SetQuota

log = logging.getLogger(__name__)

LOAD_SECONDS = 3.0
"""Timeout of the query: a hanging database must not hold every request for long."""
KNOWN_SECONDS = 5.0
"""How long a process uses the quotas that it has read: a change counts everywhere after that time."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A quota that applies to a caller. `key_id`: empty if it is the whole tenant's."""

    quota: Quota
    value: float
    key_id: str = ""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose quota it is: a tenant's, or that of one of its keys."""

    tenant_id: str
    key_id: str | None = None


@dataclass(slots=True)
class Quotas:
    """The quotas of one process: the defaults of the settings, what it has read, and the requests that it has seen."""

    defaults: Mapping[Quota, float] = field(default_factory=dict)
    _read: dict[str, tuple[float, list[SetQuota]]] = field(default_factory=dict)
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    _requests: MovingWindowRateLimiter = field(default_factory=lambda: MovingWindowRateLimiter(MemoryStorage()))

    async def limits_of(self, db: Database, tenant_id: str, quota: Quota, key_id: str | None) -> list[Allowed]:
        """Return the tenant's value, and that of the key, as far as there are any."""
        return [*_applying(await self._known(db, tenant_id), self.defaults_of(tenant_id), key_id, quota)]

    async def _known(self, db: Database, tenant_id: str) -> list[SetQuota]:
        until, known = self._read.get(tenant_id, (0.0, []))
        if time.monotonic() > until:
            known = await _load(db, tenant_id, known)
            self._read[tenant_id] = time.monotonic() + KNOWN_SECONDS, known
        return known

    def defaults_of(self, tenant_id: str) -> Mapping[Quota, float]:
        """Return the quotas of a tenant for which the operator has set none."""
        return ({} if tenant_id == DEFAULT_TENANT else {Quota.PRIORITY: OF_OTHERS}) | dict(self.defaults)

    async def check_request(self, db: Database, who: Principal, body_bytes: int) -> None:
        """Count a request. Raises: QuotaExceeded, TooLarge."""
        for each in await self.limits_of(db, who.tenant_id, Quota.BODY, who.key_id):
            if body_bytes > each.value:
                raise TooLarge(int(each.value))
        for each in await self.limits_of(db, who.tenant_id, Quota.REQUESTS, who.key_id):
            item = RateLimitItemPerSecond(max(int(each.value), 1))
            if each.value < 1 or not await self._requests.hit(item, who.tenant_id, each.key_id):
                raise exceeded(each, 1.0)

    async def use_documents(self, db: Database, who: Principal, count: int = 1) -> None:
        """Count uploaded documents. Raises: QuotaExceeded, and then nothing is counted."""
        used: list[Allowed] = []
        for each in await self.limits_of(db, who.tenant_id, Quota.DOCUMENTS, who.key_id):
            if not await repository.use(db, who.tenant_id, each.key_id, each.quota, limit=each.value, count=count):
                for other in used:
                    await repository.give_back(db, who.tenant_id, other.key_id, other.quota, count=count)
                raise exceeded(each, _until_midnight())
            used.append(each)

    async def return_documents(self, db: Database, who: Principal, count: int) -> None:
        """Take back what `use_documents` has counted today."""
        for each in await self.limits_of(db, who.tenant_id, Quota.DOCUMENTS, who.key_id):
            await repository.give_back(db, who.tenant_id, each.key_id, each.quota, count=count)

    async def limits_runs(self, db: Database, tenant_id: str) -> bool:
        """Return whether the open runs of the tenant, or of one of its keys, are limited."""
        known = await self._known(db, tenant_id)
        return Quota.RUNS in self.defaults or any(each.quota is Quota.RUNS for each in known)

    async def model_budget(self, db: Database, tenant_id: str) -> float | None:
        """Return what models' answers may cost the tenant a day; None if nothing was set for it."""
        return next((each.value for each in await self.limits_of(db, tenant_id, Quota.BUDGET, None)), None)

    async def key_model_budget(self, db: Database, tenant_id: str, key_id: str) -> float | None:
        """Return what models' answers may cost a key of the tenant a day; None if nothing was set for it."""
        limits = await self.limits_of(db, tenant_id, Quota.BUDGET, key_id)
        return next((each.value for each in limits if each.key_id), None)

    async def highest_priority(self, db: Database, tenant_id: str) -> int:
        """Return the most urgent priority that the tenant's runs may have; 1 goes first."""
        return next((int(each.value) for each in await self.limits_of(db, tenant_id, Quota.PRIORITY, None)), 1)

    def turn_of(self, tenant_id: str) -> asyncio.Lock:
        """Return the lock under which the tenant's starts of runs are counted.

        Without it they would take all of the process's connections to the database, and wait there for each other.
        """
        return self._turns.setdefault(tenant_id, asyncio.Lock())

    def forget(self) -> None:
        """Read the quotas anew: they were changed here."""
        self._read.clear()


async def _load(db: Database, tenant_id: str, known: list[SetQuota]) -> list[SetQuota]:
    """Return the tenant's quotas; those known before if the database is unavailable, as it must not end all work."""
    try:
        async with asyncio.timeout(LOAD_SECONDS):
            return await repository.load_quotas(db, tenant_id)
    except (OSError, TimeoutError, *DATABASE_ERRORS) as error:
        log.warning("cannot read the quotas, the last known ones apply: %r", error)
        return known


def _applying(
    known: list[SetQuota], defaults: Mapping[Quota, float], key_id: str | None, quota: Quota
) -> Iterator[Allowed]:
    values = {each.key_id: each.value for each in known if each.quota is quota}
    tenants = values.get(None, defaults.get(quota))
    if tenants is not None:
        yield Allowed(quota, tenants)
    if key_id is not None and key_id in values:
        yield Allowed(quota, values[key_id], key_id)


def exceeded(allowed: Allowed, retry_after_seconds: float) -> QuotaExceeded:
    """Return the refusal of what would be more than a quota allows."""
    whose = f"the key {allowed.key_id}" if allowed.key_id else "the tenant"
    return QuotaExceeded(allowed.quota, allowed.value, whose, retry_after_seconds)


def _until_midnight() -> float:
    now = dt.datetime.now(dt.UTC)
    midnight = (now + dt.timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - now).total_seconds()


async def list_quotas(db: Database, quotas: Quotas, tenant_id: str) -> list[SetQuota]:
    """Return the quotas of a tenant and its keys, and the defaults of the settings that apply to it."""
    known = await repository.load_quotas(db, tenant_id)
    own = {each.quota for each in known if each.key_id is None}
    rest = {quota: value for quota, value in quotas.defaults_of(tenant_id).items() if quota not in own}
    return [*(SetQuota(quota, value, tenant_id, None, None, None) for quota, value in rest.items()), *known]


async def set_quota(
    db: asyncpg.Pool, quotas: Quotas, who: Principal, owner: Owner, quota: Quota, value: float
) -> SetQuota:
    """Set a quota of a tenant, or of one of its keys. Raises: InvalidInput."""
    tenant_id, key_id = owner.tenant_id, owner.key_id
    if key_id is not None and quota in OF_TENANTS:
        raise InvalidInput([InputProblem("key_id", f"{quota} is a quota of tenants: expected none")])
    if (tenant_id, key_id, quota) == (DEFAULT_TENANT, None, Quota.REQUESTS) and value < 1:
        raise InvalidInput([InputProblem("value", "would keep the operator out for ever: expected at least 1")])
    if quota is Quota.PRIORITY and value not in PRIORITIES:
        raise InvalidInput([InputProblem("value", f"expected {A_PRIORITY}, found {value:g}")])
    async with transaction(db) as tx:
        found = await repository.set_quota(tx, tenant_id, key_id, quota, value, changed_by=who.name)
        await _record(tx, who, owner, "quota_set", quota=quota, value=value)
    quotas.forget()
    return found


async def reset_quota(db: asyncpg.Pool, quotas: Quotas, who: Principal, owner: Owner, quota: Quota) -> None:
    """Remove a quota, if one was set: that of the settings applies again. Safe to repeat."""
    async with transaction(db) as tx:
        if await repository.reset_quota(tx, owner.tenant_id, owner.key_id, quota):
            await _record(tx, who, owner, "quota_reset", quota=quota)
    quotas.forget()


async def delete_past_days(db: Database) -> int:
    """Delete what all tenants used before today, and return how many rows."""
    return await repository.delete_past_days(db)


async def _record(tx: Database, who: Principal, owner: Owner, act: str, **facts: Json) -> None:
    """Add a change to the audit log of the tenant that it concerns. Comes last: it locks the log."""
    detail: dict[str, Json] = (
        facts | ({"key_id": owner.key_id} if owner.key_id else {}) | {"tenant_of_actor": who.tenant_id}
    )
    await append_event(tx, owner.tenant_id, Act(who.name, act, None, None, detail))
