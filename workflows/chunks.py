"""How a run has a chunk of a long list done: by a workflow of its own, which hears when the run is paused."""

import asyncio
from collections.abc import Callable
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import FailureError

from dag.kinds import StepKind
from dag.messages import StartChunk
from dag.plan import Step
from dag.values import Json
from workflows.contract import (
    CHUNK_TYPE,
    DEFINITION,
    PAUSE,
    RESUME,
    TENANT,
    ChunkReport,
    ChunkRequest,
    RunRequest,
    child_run_id,
    chunk_workflow_id,
)
from workflows.travel import KEPT, check_travels


async def run_chunk(
    request: RunRequest,
    step: Step,
    command: StartChunk,
    inline_bytes: int,
    is_paused: Callable[[], bool],
) -> ChunkReport:
    """Start a chunk and return how its items ended. Cancelling stops the items, and tells how far they came."""
    run = of_items(request, step, command)
    chunk = ChunkRequest(
        run=run,
        step_id=step.id,
        items=command.items,
        width=command.width,
        stop_after=command.stop_after,
        inline_bytes=inline_bytes,
    )
    definitions = [run.definition, *(each.definition for each in run.nested.values())]
    configs = [item.config for item in command.items]
    check_travels(chunk, "a chunk", {"definitions": definitions, "configs": configs, KEPT: run.resumed_inner})
    attributes = [
        SearchAttributePair(TENANT, request.tenant_id),
        SearchAttributePair(DEFINITION, request.definition["id"]),
    ]
    first, last = command.items[0].place, command.items[-1].place
    handle = await workflow.start_child_workflow(
        CHUNK_TYPE,
        chunk,
        id=chunk_workflow_id(request.tenant_id, request.run_id, step.id, first),
        result_type=ChunkReport,
        parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL,
        cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        search_attributes=TypedSearchAttributes(attributes),
        static_summary=f"{step.definition.title or step.id}: items {first} to {last}",
    )
    await _keep_told(handle, is_paused)
    report: ChunkReport = await handle
    return report


async def _keep_told(handle: workflow.ChildWorkflowHandle[Any, ChunkReport], is_paused: Callable[[], bool]) -> None:
    """Return when the chunk has ended; until then pass on pauses, and being cancelled."""
    told = False
    while not handle.done():
        try:
            await workflow.wait_condition(lambda told=told: handle.done() or is_paused() is not told)  # type: ignore[misc]
            if not handle.done():
                told = is_paused()
                await handle.signal(PAUSE if told else RESUME)
        except asyncio.CancelledError:
            handle.cancel()
        except FailureError:
            pass  # it has ended at that very moment


def of_items(request: RunRequest, step: Step, command: StartChunk) -> RunRequest:
    """Return as much of the run's request as these items of one of its steps need: a chunk carries it along."""
    own: dict[str, Json] = next(each for each in request.definition["steps"] if each["id"] == step.id)
    alone = {name: value for name, value in own.items() if name not in ("condition", "compensate")}
    definition = {"id": request.definition["id"], "steps": [{**alone, "depends_on": []}]}
    is_nested = step.kind is StepKind.WORKFLOW
    return request.model_copy(
        update={
            "definition": definition,
            "inputs": {},
            "resumed": None,
            "nested": request.nested if is_nested else {},
            "resumed_inner": _left_of(request, step, command) if request.resumed_inner else {},
        }
    )


def _left_of(request: RunRequest, step: Step, command: StartChunk) -> dict[str, dict[str, Json]]:
    """Return what is kept of the items' runs, and of those inside them."""
    own = {child_run_id(request.run_id, step.id, item.key) for item in command.items}
    depth = next(iter(own)).count("~")
    return {name: left for name, left in request.resumed_inner.items() if "~".join(name.split("~")[: depth + 1]) in own}
