"""Report the state of a list's started items: only Temporal's server knows which a worker is processing."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus

from docrail.dag.explain.facts import ItemsAtWork, StepExplanation
from docrail.dag.explain.words import SAID_KEYS, named
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.services.app import App
from docrail.services.engine import RPC_TIMEOUT, engine_errors
from docrail.services.errors import NotFound, Unavailable
from docrail.services.runs.views.inner_runs import Place, keys_of
from docrail.services.runs.views.pending_activities import state_of
from docrail.workflows.contract.names import CHUNK_TYPE, GROUPED

MOST_CHUNKS = 40
"""Maximum number of chunks of one run that are described, one call each."""

MOST_NAMED = 5
"""Maximum number of queued items that are named."""

_QUEUED = "queued"


async def items_at_work(
    app: App, description: WorkflowExecutionDescription, steps: Mapping[str, StepExplanation]
) -> dict[str, ItemsAtWork]:
    """Return the states of started items, by step, for those of `steps` that run a handler over a list."""
    lists = [id_ for id_, step in steps.items() if step.items and step.kind is StepKind.HANDLER and _runs(step)]
    if not lists or description.status is not WorkflowExecutionStatus.RUNNING:
        return {}
    activities = [*description.raw_description.pending_activities, *await _of_chunks(app, description)]
    activities.sort(key=lambda activity: activity.scheduled_time.ToNanoseconds())
    states = [(*_place(id_), state_of(each)) for each in activities for id_ in each.activity_id.split(GROUPED)]
    queued = [Place(step, item) for step, item, state in states if state == _QUEUED and step in lists]
    first = [place for step in lists for place in [each for each in queued if each.step_id == step][:MOST_NAMED]]
    keys = await keys_of(app, description, first)
    return {step_id: _of_step(step_id, states, first, keys) for step_id in lists}


def at_work_words(of: ItemsAtWork, resource_tag: str | None) -> Iterator[str]:
    """Describe the states of a list's started items."""
    turn = f" or their turn of {resource_tag}" if resource_tag else ""
    keys = named(of.queued_items, SAID_KEYS, of=of.queued)
    counts = (
        (of.running, "with a worker"),
        (of.queued, f"waiting for a worker{turn} ({keys})"),
        (of.backing_off, "waiting for the delay before the next attempt"),
        (of.stopping, "asked to stop"),
    )
    if words := ", ".join(f"{count} {what}" for count, what in counts if count):
        yield f"of the items that have begun, {words}"


def _runs(step: StepExplanation) -> bool:
    return step.status is StepStatus.RUNNING


def _place(activity_id: str) -> tuple[str, str]:
    """Return the step's id and the item's part of an activity's id (contract.child_run_id)."""
    step_id, _, item = activity_id.partition("~")
    return step_id, item


def _of_step(
    step_id: str, states: Iterable[tuple[str, str, str]], places: Iterable[Place], keys: Mapping[tuple[str, str], str]
) -> ItemsAtWork:
    counts = Counter(state for step, _, state in states if step == step_id)
    items = [place.item for place in places if place.step_id == step_id and place.item]
    return ItemsAtWork(**counts, queued_items=tuple(keys.get((step_id, item), item) for item in items))


async def _of_chunks(app: App, description: WorkflowExecutionDescription) -> list[PendingActivityInfo]:
    """Return the pending activities of the chunks of the run's long lists."""
    children = description.raw_description.pending_children
    chunks = [child.workflow_id for child in children if child.workflow_type_name == CHUNK_TYPE][:MOST_CHUNKS]
    found = await asyncio.gather(*(_of_chunk(app, chunk) for chunk in chunks))
    return [activity for activities in found for activity in activities]


async def _of_chunk(app: App, chunk: str) -> list[PendingActivityInfo]:
    try:
        with engine_errors("run", chunk):
            described = await app.temporal.get_workflow_handle(chunk).describe(rpc_timeout=RPC_TIMEOUT)
    except (NotFound, Unavailable):  # it is about to start, or the rest can be shown without it
        return []
    return [*described.raw_description.pending_activities]
