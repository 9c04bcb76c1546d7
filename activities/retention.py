"""Deletes what is older than an operator wants to keep it, and nothing that a run, a person or a reader still needs."""

import asyncio
import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence

from temporalio.client import Client, WorkflowExecution
from temporalio.service import RPCError, RPCStatusCode

from activities.tools import Tools
from storage.blobs import RENEWED_AFTER, blob_path
from storage.folders import Folder
from storage.retention import (
    forget_stored_outputs,
    load_old_originals,
    mark_original_removed,
    marked_in,
    needed_of,
    old_files,
    put_before,
    remove_if_old,
)
from storage.values import folder_of

OPEN_RUNS = "WorkflowType IN ('Run', 'Chunk') AND ExecutionStatus = 'Running'"
OPEN_RUN_OF = "DocrailDocument = '{}' AND ExecutionStatus = 'Running'"
"""Document ids are ours, and hold no quotes."""
TENANT = "DocrailTenant"
BATCH = 1000


async def remove_values(tools: Tools, client: Client) -> int:
    """Delete stored values that nobody has put for as long as they are kept, and that no open run refers to.

    A run's history holds all that it refers to, so what is left out of every open one is needed by none. It is read
    after the cache has forgotten them: no run can come to refer to one meanwhile but by putting it, which renews it.
    """
    days = tools.keeping.values_days
    if days is None:
        return 0
    before = put_before(days, dt.datetime.now(dt.UTC))
    old = await asyncio.to_thread(_old_values, tools.values.folder, before)
    if not old:
        return 0
    await forget_stored_outputs(tools.db, before + RENEWED_AFTER)
    referred = await _referred_to(client)
    return sum([await asyncio.to_thread(_sweep, tools, name, paths, referred, before) for name, paths in old.items()])


async def remove_originals(tools: Tools, client: Client) -> int:
    """Delete the bytes of documents that all are old enough, have no open run, and no open review. Rows stay."""
    days = tools.keeping.originals_days
    if days is None:
        return 0
    now, removed = dt.datetime.now(dt.UTC), 0
    before = put_before(days, now)
    for sha256, document_ids in (await load_old_originals(tools.db, now - dt.timedelta(days=days), BATCH)).items():
        if await _has_open_run(client, document_ids):
            continue
        path = blob_path(sha256)
        if await asyncio.to_thread(remove_if_old, tools.blobs.folder, path, before) or not await asyncio.to_thread(
            tools.blobs.folder.stat, path
        ):
            await mark_original_removed(tools.db, sha256)
            removed += 1
    return removed


def _old_values(values: Folder, before: dt.datetime) -> dict[str, list[str]]:
    found = {name: [info.path for info in old_files(values.sub(name), before)] for name in values.folders()}
    return {name: paths for name, paths in found.items() if paths}


def _sweep(tools: Tools, name: str, paths: list[str], referred: Mapping[str, set[str]], before: dt.datetime) -> int:
    folder = tools.values.folder.sub(name)
    needed = needed_of(folder, referred.get(name, set()))
    return sum(remove_if_old(folder, path, before) for path in paths if path.rpartition("/")[2] not in needed)


async def _referred_to(client: Client) -> Mapping[str, set[str]]:
    """Return which stored values open runs refer to, by the folder of their tenant."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    async for execution in client.list_workflows(OPEN_RUNS):
        tenant = execution.search_attributes.get(TENANT, [""])[0]
        found[folder_of(str(tenant))] |= await _marks_of(client, execution)
    return found


async def _marks_of(client: Client, execution: WorkflowExecution) -> set[str]:
    handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
    marks: set[str] = set()
    try:
        async for event in handle.fetch_history_events():
            marks |= marked_in(event.SerializeToString())
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:  # it ended, and Temporal's retention has passed meanwhile
            raise
    return marks


async def _has_open_run(client: Client, document_ids: Sequence[str]) -> bool:
    for document_id in document_ids:
        if (await client.count_workflows(OPEN_RUN_OF.format(document_id))).count:
            return True
    return False
