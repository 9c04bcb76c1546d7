"""Hold the quota of open runs, of a tenant and of its keys, also for starts at the same moment.

Temporal counts open runs, but lists a run about a second after its start. Until then the start itself counts, as a row
that is written under a lock before the workflow is started. Nothing has to be given back: a row counts until Temporal
lists the run, whatever became of it, or for STARTS_SECONDS, if the run was never started.
"""

import asyncio
import datetime as dt
from collections.abc import Sequence

from docrail.adapters.postgres.pool import transaction
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.engine import RPC_TIMEOUT, engine_errors
from docrail.services.quotas.models import Quota
from docrail.services.quotas.service import Allowed, exceeded
from docrail.services.runs.recent_starts import (
    RecentStart,
    count_unlisted,
    has_noted,
    insert_start,
    list_unlisted,
    lock_starts,
    note_listed,
)
from docrail.workflows.contract.names import KEY, TENANT, WORKFLOW_TYPE, run_id_of, workflow_id

FIRST_START = dt.datetime.fromtimestamp(0, dt.UTC)
"""In place of the start of an earlier execution, for a run that has none."""

RETRY_SECONDS = 60.0
"""After which a refused caller is asked to try again."""

IDS_AT_ONCE = 50
"""Workflow ids in one query to Temporal."""

COUNTS = 3
"""How often a start is counted before it is refused: one that Temporal lists meanwhile has counted twice."""


async def take_room(app: App, principal: Principal, run_id: str, after: dt.datetime = FIRST_START) -> None:
    """Count one more open run of the tenant, and of the key that causes it. The same start again counts once.

    `after`: start of the execution that it continues, by Temporal's clock. Raises: QuotaExceeded, Unavailable.
    """
    tenant_id, start = principal.tenant_id, RecentStart(run_id, after)
    limits = await app.quotas.limits_of(app.db, tenant_id, Quota.RUNS, principal.key_id)
    if not limits:
        return
    noted, counted = await _note_listed(app, tenant_id), 1
    while full := await _insert_or_full(app, principal, start, limits, noted):
        before, noted = noted, await _note_listed(app, tenant_id)
        if counted == COUNTS or not await has_noted(app.db, tenant_id, before):
            raise exceeded(full, RETRY_SECONDS)
        counted += 1


async def _insert_or_full(
    app: App, principal: Principal, start: RecentStart, limits: Sequence[Allowed], noted: dt.datetime
) -> Allowed | None:
    """Insert the start, or return the limit that it would exceed. `noted`: as `_note_listed` returns it."""
    tenant_id = principal.tenant_id
    counts = await asyncio.gather(*(count_listed(app, tenant_id, each.key_id) for each in limits))
    async with app.quotas.turn_of(tenant_id), transaction(app.db) as tx:
        await lock_starts(tx, tenant_id)
        for each, listed in zip(limits, counts, strict=True):
            coming = await count_unlisted(tx, tenant_id, each.key_id or None, noted, but=start)
            if listed + coming >= each.value:
                return each
        await insert_start(tx, tenant_id, start, principal.key_id)
    return None


async def _note_listed(app: App, tenant_id: str) -> dt.datetime:
    """Record which of the recent starts Temporal lists by now, and return when, by the database's clock.

    A start that is found later may be missing in a count that begins now.
    """
    starts = await list_unlisted(app.db, tenant_id)
    found = list[RecentStart]()
    for first in range(0, len(starts), IDS_AT_ONCE):
        found += await _listed_of(app, tenant_id, starts[first : first + IDS_AT_ONCE])
    return await note_listed(app.db, tenant_id, found)


async def _listed_of(app: App, tenant_id: str, starts: Sequence[RecentStart]) -> list[RecentStart]:
    ids = ", ".join(f'"{workflow_id(tenant_id, start.run_id)}"' for start in starts)
    with engine_errors("tenant", tenant_id):
        listed = app.temporal.list_workflows(f"WorkflowId IN ({ids})", rpc_timeout=RPC_TIMEOUT)
        seen = [(run_id_of(each.id), each.start_time) async for each in listed]
    return [start for start in starts if any(id_ == start.run_id and at > start.after for id_, at in seen)]


async def count_listed(app: App, tenant_id: str, key_id: str) -> int:
    """Count the open runs that Temporal lists, of one key or, if it is empty, of the tenant. Raises: Unavailable."""
    query = f'WorkflowType = "{WORKFLOW_TYPE}" AND {TENANT.name} = "{tenant_id}" AND ExecutionStatus = "Running"'
    if key_id:
        query += f' AND {KEY.name} = "{key_id}"'
    with engine_errors("tenant", tenant_id):
        return (await app.temporal.count_workflows(query, rpc_timeout=RPC_TIMEOUT)).count
