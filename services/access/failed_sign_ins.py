"""Record failed sign-ins in the audit log: of a known key or person in that tenant's, all others in the operator's.

Anyone can fail to sign in as often as they like, and every event stays for ever. So a process records one failure a
minute for each key or person, and one for all that it does not know; the next event says how many were left out.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncpg

from docrail.adapters.postgres.pool import transaction
from docrail.adapters.postgres.tenants import of_tenant
from docrail.dag.values.json_values import Json
from docrail.services.access.models import DEFAULT_TENANT, system_principal
from docrail.services.audit.models import Act
from docrail.services.audit.service import append_event
from docrail.services.errors import Claimed, NotAdmitted, Unauthenticated

SECONDS = 60.0
"""How long further failures of the same key or person are only counted."""
MOST_KNOWN = 10_000
"""Number of keys and people whose last failure a process remembers."""


@dataclass(slots=True)
class _Last:
    at: float
    left_out: int = 0


@dataclass(slots=True)
class FailedSignIns:
    """The failed sign-ins that one process has seen."""

    _last: dict[Claimed, _Last] = field(default_factory=dict)

    @asynccontextmanager
    async def recorded(self, db: asyncpg.Pool, address: str) -> AsyncIterator[None]:
        """Record what the block refuses, with the caller's address."""
        try:
            yield
        except (Unauthenticated, NotAdmitted) as refused:
            await self._record(db, refused, address)
            raise

    async def _record(self, db: asyncpg.Pool, refused: Unauthenticated | NotAdmitted, address: str) -> None:
        claimed, now = refused.claimed, time.monotonic()
        last = self._last.get(claimed)
        if last is not None and now < last.at + SECONDS:
            last.left_out += 1
            return
        if len(self._last) >= MOST_KNOWN:
            self._last.clear()
        self._last[claimed] = _Last(now)
        facts: dict[str, Json] = {"why": str(refused), "address": address, "left_out": last.left_out if last else 0}
        known: dict[str, Json] = {"name": claimed.name, "key_id": claimed.key_id}
        detail = facts | {name: value for name, value in known.items() if value}
        tenant_id = claimed.tenant_id or DEFAULT_TENANT
        with of_tenant(tenant_id):
            async with transaction(db) as tx:
                act = Act(system_principal(tenant_id).name, "sign_in_failed", None, None, detail)
                await append_event(tx, tenant_id, act)
