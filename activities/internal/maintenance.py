"""Activities of the nightly file maintenance. Definitions cannot name them."""

import asyncio
import datetime as dt
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal, TypeVar

from temporalio import activity
from temporalio.client import Client

from docrail.activities.heartbeat import beating
from docrail.adapters.postgres.tenants import all_tenants
from docrail.adapters.store.folders import Folder
from docrail.services.fleet.store_identity import check_store
from docrail.services.maintenance.retention import remove_expired_rows, remove_originals, remove_values
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import Compacted, LookedAfter

BEAT_SECONDS = 10.0
"""At most a third of the heartbeat timeout: the workflow requests 60 s."""

T = TypeVar("T")


class StoppedError(Exception):
    """The activity was cancelled, or its worker is stopping: the work ends at its next file."""


def maintenance_activities(tools: Tools, store: Folder) -> list[Callable[..., Any]]:
    """Return the activities for the files of `store`. All are safe to repeat, and to stop at any point.

    Each refuses a store that is not this database's (WrongStore): a volume may have been unmounted since the worker
    started, and documents whose files are missing would be recorded as deleted.
    """

    @activity.defn(name="list_lake_tenants")
    async def list_lake_tenants() -> list[str]:
        await check_store(tools.db, store)
        return await asyncio.to_thread(tools.lake.tenants)

    @activity.defn(name="look_after_lake")
    async def look_after_lake(tenant_id: str) -> LookedAfter:
        await check_store(tools.db, store)
        tenant, began = tools.lake.of(tenant_id), time.monotonic()
        with beating(BEAT_SECONDS, activity.heartbeat):
            done = await _in_thread(lambda beat: _look_after(tenant, tools.keeping.grace, beat))
        tools.metrics.record_compaction(done.compacted, time.monotonic() - began)
        tools.metrics.removed.labels("lake").inc(done.removed)
        return done

    @activity.defn(name="remove_expired_rows")
    async def remove_rows() -> int:
        with beating(BEAT_SECONDS, activity.heartbeat), all_tenants():
            return await remove_expired_rows(tools.db, tools.keeping.runs_days)

    return [
        list_lake_tenants,
        look_after_lake,
        remove_rows,
        _removal(tools, store, "value", remove_values),
        _removal(tools, store, "original", remove_originals),
    ]


def _removal(
    tools: Tools, store: Folder, kind: Literal["value", "original"], remove: Callable[[Tools, Client], Awaitable[int]]
) -> Callable[[], Awaitable[int]]:
    @activity.defn(name=f"remove_old_{kind}s")
    async def remove_old() -> int:
        await check_store(tools.db, store)
        with beating(BEAT_SECONDS, activity.heartbeat), all_tenants():
            removed = await remove(tools, activity.client())
        tools.metrics.removed.labels(kind).inc(removed)
        return removed

    return remove_old


def _look_after(tenant: Folder, grace: dt.timedelta, beat: Callable[[], None]) -> LookedAfter:
    from docrail.services.lake.compaction import compact, tidy  # noqa: PLC0415  # pyarrow: only workers that compact need its memory

    now = dt.datetime.now(dt.UTC)
    compacted: Compacted = compact(tenant, now=now, beat=beat)
    return LookedAfter(compacted=compacted, removed=tidy(tenant, now=now, grace=grace, beat=beat))


async def _in_thread(work: Callable[[Callable[[], None]], T]) -> T:
    """Return the result of `work`. Cancellation waits until it has stopped: nothing may continue in the background."""
    stopped = threading.Event()

    def beat() -> None:
        if stopped.is_set():
            raise StoppedError

    running = asyncio.create_task(asyncio.to_thread(work, beat))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stopped.set()
        with suppress(StoppedError):
            await running
        raise
