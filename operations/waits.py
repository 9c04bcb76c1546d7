"""What a run waits for: its own steps, and those of the runs inside it, which are each asked by themselves."""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowQueryFailedError

from dag.explain_words import wait_words
from dag.explanation import OpenWait, RunExplanation, StepExplanation
from dag.kinds import StepKind
from dag.state import StepStatus
from operations.app import App
from operations.engine import WORKER_TIMEOUT, describe, engine_errors, worker_errors
from operations.errors import NotFound, OperationError, Unavailable
from operations.inner_runs import Inside, Place, count_inside, keys_of, list_inside, place_of, tenant_and_run
from operations.principal import Principal
from operations.runs import checked_run_id
from workflows.contract import EXPLAIN, workflow_id

PAGE = 500
"""Steps of a run that are asked for at once."""

ASKED_AT_ONCE = 8
"""Runs inside one: a worker replays each that it does not have at hand."""

MOST_STEPS = 10
"""Steps of one explanation of whose inner runs it tells."""

MOST_NAMED = 5
"""Runs inside a step that are asked what they wait for; the rest are counted."""

_WAITS = (StepStatus.WAITING, StepStatus.PARKED)

Told = tuple[str, Mapping[str, StepExplanation] | None]
"""A run's id and its steps; None: it did not answer."""


@dataclass(frozen=True, slots=True)
class WaitPage:
    """What a run waits for, and some of the runs inside it. `unanswered`: runs that did not tell.

    `after` is what to ask for to get what the next ones wait for; None at the end.
    """

    waits: list[OpenWait]
    unanswered: list[str]
    after: str | None


@dataclass(frozen=True, slots=True)
class InnerWaits:
    """How many runs inside a list wait, and what the first ones wait for."""

    runs: int
    waits: tuple[OpenWait, ...]

    def words(self, run_id: str) -> Iterator[str]:
        """Say it of a step of the run `run_id`."""
        are = "runs inside it wait" if self.runs > 1 else "run inside it waits"
        yield f"{self.runs} {are}; `docrail waits {run_id}` tells all that is waited for"
        for each in self.waits:
            item = "" if each.item is None else f"item {each.item}: "
            yield f"{item}{each.step_id} of {each.run_id}: {wait_words(each.waiting)}"


async def list_waits(
    app: App, principal: Principal, run_id: str, *, limit: int = 100, after: str | None = None
) -> WaitPage:
    """Return what the run waits for, and on each page at most `limit` runs inside it, those started last first.

    Raises: NotFound, InvalidInput, Unavailable if no worker tells of the run itself.
    """
    description = await describe(app, principal.tenant_id, checked_run_id(run_id))
    own = await _steps_of(app, principal.tenant_id, run_id)
    page = await list_inside(app, Inside(principal.tenant_id, run_id), limit=limit, after=after)
    told = await _ask_all(app, principal.tenant_id, page.run_ids)
    waits = [] if after is not None else [*_open(run_id, own, None)]
    waits += await _inner(app, description, told, {step_id: step.items is not None for step_id, step in own.items()})
    return WaitPage(waits, [inner for inner, steps in told if steps is None], page.after)


async def inner_waits(
    app: App, description: WorkflowExecutionDescription, steps: Mapping[str, StepExplanation]
) -> dict[str, InnerWaits]:
    """Return what inner runs wait for, by step: of those of `steps` that run a nested run for each item of a list.

    Where it cannot be told, nothing is.
    """
    lists = [step_id for step_id, step in steps.items() if _runs_inner_list(step)][:MOST_STEPS]
    if description.status is not WorkflowExecutionStatus.RUNNING:
        return {}
    try:
        told = await asyncio.gather(*(_inside_list(app, description, step_id) for step_id in lists))
    except OperationError:  # the rest can be told without it
        return {}
    return {step_id: found for step_id, found in zip(lists, told, strict=True) if found.runs}


def _runs_inner_list(step: StepExplanation) -> bool:
    return step.kind is StepKind.WORKFLOW and step.status is StepStatus.RUNNING and step.items is not None


async def _inside_list(app: App, description: WorkflowExecutionDescription, step_id: str) -> InnerWaits:
    tenant_id, run_id = tenant_and_run(description)
    wanted = Inside(tenant_id, run_id, step_id, waiting=True)
    runs = await count_inside(app, wanted)
    if not runs:
        return InnerWaits(0, ())
    page = await list_inside(app, wanted, limit=MOST_NAMED)
    told = await _ask_all(app, tenant_id, page.run_ids)
    return InnerWaits(runs, tuple(await _inner(app, description, told, {step_id: True}))[:MOST_NAMED])


async def _inner(
    app: App, description: WorkflowExecutionDescription, told: Iterable[Told], lists: Mapping[str, bool]
) -> list[OpenWait]:
    """Return what inner runs wait for, with their items' keys."""
    _, run_id = tenant_and_run(description)
    placed = [(inner, steps, place_of(run_id, inner, lists)) for inner, steps in told if steps is not None]
    keys = await keys_of(app, description, (place for _, _, place in placed))
    waits: list[OpenWait] = []
    for inner, steps, place in placed:
        key = None if place.item is None else keys.get((place.step_id, place.item), place.item)
        waits += _open(inner, steps, Place(place.step_id, key))
    return waits


def _open(run_id: str, steps: Mapping[str, StepExplanation], place: Place | None) -> Iterator[OpenWait]:
    for step_id, step in steps.items():
        if step.status in _WAITS:
            yield OpenWait(
                run_id=run_id,
                step_id=step_id,
                title=step.title,
                outer_step_id=place and place.step_id,
                item=place and place.item,
                waiting=step.waiting,
            )


async def _ask_all(app: App, tenant_id: str, run_ids: Iterable[str]) -> list[Told]:
    """Return the steps of runs; one that does not answer keeps no other from it."""
    turns = asyncio.Semaphore(ASKED_AT_ONCE)

    async def ask(run_id: str) -> Told:
        async with turns:
            try:
                return run_id, await _steps_of(app, tenant_id, run_id)
            except (NotFound, Unavailable, WorkflowQueryFailedError):
                return run_id, None

    asked: Iterable[Awaitable[Told]] = map(ask, run_ids)
    return await asyncio.gather(*asked)


async def _steps_of(app: App, tenant_id: str, run_id: str) -> dict[str, StepExplanation]:
    """Return all steps of a run, explained. Raises: NotFound, Unavailable."""
    handle = app.temporal.get_workflow_handle(workflow_id(tenant_id, run_id))
    steps: dict[str, StepExplanation] = {}
    after: str | None = None
    with engine_errors("run", run_id), worker_errors():
        while True:
            page: RunExplanation = await handle.query(
                EXPLAIN, args=[None, after, PAGE], result_type=RunExplanation, rpc_timeout=WORKER_TIMEOUT
            )
            steps |= page.steps
            after = page.after
            if after is None:
                return steps
