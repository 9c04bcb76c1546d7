"""Delete data beyond its retention period that no run, person or reader still needs."""

import asyncio
import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import asyncpg
from temporalio.client import Client, WorkflowExecution
from temporalio.service import RPCError, RPCStatusCode

from docrail.adapters.store.blobs import RENEWED_AFTER, blob_path
from docrail.adapters.store.folders import Folder
from docrail.adapters.store.renewal import BLOBS, VALUES, turns_in
from docrail.adapters.store.values import folder_of
from docrail.adapters.temporal.codec import decrypt
from docrail.services.access.service import delete_old_sessions
from docrail.services.documents.service import load_old_originals, mark_original_removed, remove_images
from docrail.services.extraction.single_flight import delete_forgotten_leases
from docrail.services.maintenance.repository import (
    documents_in,
    marked_in,
    needed_of,
    old_files,
    put_before,
    remove_if_old,
)
from docrail.services.quotas.service import delete_past_days
from docrail.services.reviews.standing import load_open_documents
from docrail.services.runs.service import (
    delete_ended_runs,
    delete_expired_outputs,
    delete_explanations,
    forget_stored_outputs,
)
from docrail.services.tools import Tools

OPEN = "ExecutionStatus NOT IN ('Completed', 'Failed', 'Canceled', 'Terminated', 'ContinuedAsNew', 'TimedOut')"
"""Everything that has not ended is open, including runs that Temporal itself has paused."""
OPEN_RUNS = f"WorkflowType IN ('Run', 'Chunk', 'DocumentChunk') AND {OPEN}"
OPEN_RUN_OF = f"DocrailDocument = '{{}}' AND {OPEN}"
"""Document ids are generated here and contain no quotes."""
TENANT = "DocrailTenant"
BATCH = 1000
"""Number of originals loaded at once."""


async def remove_values(tools: Tools, client: Client) -> int:
    """Delete stored values whose retention has passed and that no open run refers to. Return how many.

    A run's history contains all its references, so a value in no open history is not needed. The histories are read
    after the cache has dropped its references: a run can then only refer to such a value by putting it, which renews
    it.
    """
    days = tools.keeping.values_days
    if days is None:
        return 0
    before = put_before(days, dt.datetime.now(dt.UTC))
    old = await asyncio.to_thread(_old_values, tools.values.folder, before)
    if not old:
        return 0
    await forget_stored_outputs(tools.db, before + RENEWED_AFTER)
    referred = await referred_to(client)
    return sum([await _sweep(tools, name, paths, referred, before) for name, paths in old.items()])


async def remove_expired_rows(db: asyncpg.Pool, runs_days: float | None) -> int:
    """Delete rows of all tenants that have expired, and return how many. `runs_days`: None keeps copies of ended runs.

    Busy tenants delete some whenever they add one; this finds those of tenants that do nothing any more.
    """
    removals = (delete_expired_outputs, delete_forgotten_leases, delete_old_sessions, delete_past_days)
    removed = sum([await remove(db) for remove in removals])
    if runs_days is not None:
        before = dt.datetime.now(dt.UTC) - dt.timedelta(days=runs_days)
        removed += await delete_ended_runs(db, before) + await delete_explanations(db, before)
    return removed


async def remove_originals(tools: Tools, client: Client) -> int:
    """Delete bytes whose documents are all old enough, have no open review, and are in no open run. Return how many.

    Their rows stay. A run refers to its own document, and to those in its inputs, answers and outputs.
    """
    days = tools.keeping.originals_days
    if days is None:
        return 0
    before, removed = dt.datetime.now(dt.UTC) - dt.timedelta(days=days), 0
    batch = await load_old_originals(tools.db, before, BATCH)
    named = await _named_by_open_runs(client) if batch else set()
    while batch:
        kept = named | await load_open_documents(tools.db, [each for one in batch for each in one.document_ids])
        for original in batch:
            if kept.isdisjoint(original.document_ids) and not await _has_open_run(client, original.document_ids):
                removed += await remove_original(tools, original.sha256, before)
        batch = await load_old_originals(tools.db, before, BATCH, after=batch[-1])
    return removed


async def remove_original(tools: Tools, sha256: str, before: dt.datetime) -> bool:
    """Delete the bytes and their page images, then record it: a process killed in between repeats it the next time."""
    folder, path = tools.blobs.folder, blob_path(sha256)
    async with turns_in(tools.db, BLOBS)(path):
        gone = await asyncio.to_thread(remove_if_old, folder, path, before - RENEWED_AFTER)
    if gone or await asyncio.to_thread(folder.stat, path) is None:
        await asyncio.to_thread(remove_images, folder, sha256)
        await mark_original_removed(tools.db, sha256, before)
        return True
    return False


def _old_values(values: Folder, before: dt.datetime) -> dict[str, list[str]]:
    found = {name: [info.path for info in old_files(values.sub(name), before)] for name in values.folders()}
    return {name: paths for name, paths in found.items() if paths}


async def _sweep(
    tools: Tools, name: str, paths: list[str], referred: Mapping[str, set[str]], before: dt.datetime
) -> int:
    folder, turn, removed = tools.values.folder.sub(name), turns_in(tools.db, VALUES), 0
    needed = await asyncio.to_thread(needed_of, folder, referred.get(name, set()))
    for path in paths:
        if path.rpartition("/")[2] not in needed:
            async with turn(f"{name}/{path}"):
                removed += await asyncio.to_thread(remove_if_old, folder, path, before)
    return removed


async def referred_to(client: Client) -> Mapping[str, set[str]]:
    """Return the stored values that open runs refer to, by their tenant's folder."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    async for execution in client.list_workflows(OPEN_RUNS):
        tenant = execution.search_attributes.get(TENANT, [""])[0]
        found[folder_of(str(tenant))] |= await _found_in_history(marked_in, client, execution)
    return found


async def _named_by_open_runs(client: Client) -> set[str]:
    """Return the ids of all documents that open runs refer to."""
    found: set[str] = set()
    async for execution in client.list_workflows(OPEN_RUNS):
        found |= await _found_in_history(documents_in, client, execution)
    return found


async def _found_in_history(
    find: Callable[[bytes], frozenset[str]], client: Client, execution: WorkflowExecution
) -> set[str]:
    handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
    found: set[str] = set()
    try:
        async for event in handle.fetch_history_events():
            await decrypt(event, client.data_converter)
            found |= find(event.SerializeToString())
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:  # it ended, and Temporal's retention has passed meanwhile
            raise
    return found


async def _has_open_run(client: Client, document_ids: Sequence[str]) -> bool:
    for document_id in document_ids:
        if (await client.count_workflows(OPEN_RUN_OF.format(document_id))).count:
            return True
    return False
