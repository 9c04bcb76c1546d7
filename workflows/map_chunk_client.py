"""Start a chunk of a long list as a workflow of its own, and exchange pauses and free slots with it."""

import asyncio
from collections.abc import Callable
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import FailureError

from docrail.dag.engine.events import Chunk, ChunkThinned, StartChunk
from docrail.dag.engine.map_items import inline_bytes
from docrail.dag.engine.plan import Step
from docrail.dag.engine.state import FanState, RunState
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import (
    CHUNK_THINNED,
    CHUNK_TYPE,
    DEFINITION,
    PAUSE,
    RESUME,
    TENANT,
    WIDEN,
    ChunkReport,
    ChunkRequest,
    RunRequest,
    child_run_id,
    chunk_workflow_id,
)
from docrail.workflows.start_step import KEPT, check_travels


async def run_chunk(
    request: RunRequest, step: Step, command: StartChunk, state: RunState, add: Callable[[ChunkThinned], None]
) -> ChunkReport:
    """Start a chunk and return how its items ended. Cancelling stops the items, and still returns their ends."""
    fan = state.steps[step.index].fan
    assert fan is not None, "only lists run in chunks"
    _listen(add)
    run = of_items(request, step, command)
    chunk = ChunkRequest(
        run=run,
        step_id=step.id,
        items=command.items,
        width=command.width,
        stop_after=command.stop_after,
        inline_bytes=inline_bytes(len(fan.items)),
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
    await _forward(handle, command, state, fan)
    report: ChunkReport = await handle
    return report


def _listen(add: Callable[[ChunkThinned], None]) -> None:
    """Receive the progress of the run's chunks. Setting the same handler again changes nothing."""

    def receive(step_id: str, first: int, running: int, completed: int, failed: int) -> None:
        add(ChunkThinned(step_id, Chunk(first), running, completed, failed, workflow.time()))

    workflow.set_signal_handler(CHUNK_THINNED, receive)


async def _forward(
    handle: workflow.ChildWorkflowHandle[Any, ChunkReport], command: StartChunk, state: RunState, fan: FanState
) -> None:
    """Return when the chunk has ended; until then forward pauses, additional slots and cancellation."""
    sent = (False, command.width)

    def now(sent: tuple[bool, int]) -> tuple[bool, int]:
        chunk = fan.chunks.get(command.chunk.first)
        return state.paused, sent[1] if chunk is None else max(
            chunk.width, sent[1]
        )  # the chunk counts the slots that it released

    while not handle.done():
        try:
            await workflow.wait_condition(lambda sent=sent: handle.done() or now(sent) != sent)  # type: ignore[misc]
            if not handle.done():
                before, sent = sent, now(sent)
                if sent[0] is not before[0]:
                    await handle.signal(PAUSE if sent[0] else RESUME)
                if sent[1] > before[1]:
                    await handle.signal(WIDEN, sent[1])
        except asyncio.CancelledError:
            handle.cancel()
        except FailureError:
            pass  # it has just ended


def of_items(request: RunRequest, step: Step, command: StartChunk) -> RunRequest:
    """Return the part of the run's request that these items of a step need, to be sent with the chunk."""
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
    """Return the kept states of the items' runs, and of runs nested in them."""
    own = {child_run_id(request.run_id, step.id, item.key) for item in command.items}
    depth = next(iter(own)).count("~")
    return {name: left for name, left in request.resumed_inner.items() if "~".join(name.split("~")[: depth + 1]) in own}
