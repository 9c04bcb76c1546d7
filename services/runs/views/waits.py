"""List what a run waits for: its own steps and those of its nested runs, which are queried separately."""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowQueryFailedError

from docrail.dag.explain.facts import OpenWait, RunExplanation, StepExplanation
from docrail.dag.explain.words import wait_words
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.engine import WORKER_TIMEOUT, worker_answers
from docrail.services.errors import NotFound, OperationError, Unavailable
from docrail.services.model_config import SHOWN
from docrail.services.runs.executing import describe, handle_of
from docrail.services.runs.service import checked_run_id
from docrail.services.runs.views.inner_runs import (
    Inside,
    Place,
    count_inside,
    keys_of,
    list_inside,
    place_of,
    tenant_and_run,
)
from docrail.workflows.contract.names import EXPLAIN

PAGE = 500
"""Number of steps requested from a run at once."""

ASKED_AT_ONCE = 8
"""Number of nested runs queried in parallel: a worker replays each that is not in its cache."""

MOST_STEPS = 10
"""Maximum number of steps in an explanation whose nested runs are described."""

MOST_NAMED = 5
"""Maximum number of nested runs per step that are queried; the rest are counted."""

_WAITS = (StepStatus.WAITING, StepStatus.PARKED)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A run's answer; `steps` None: it did not answer."""

    run_id: str
    steps: Mapping[str, StepExplanation] | None
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class WaitPage:
    """The open waits of a run: first its own, then those of nested runs, page by page."""

    __pydantic_config__: ClassVar[ConfigDict] = SHOWN

    waits: list[OpenWait]
    """Each is answered at its run and step: POST /v1/runs/{run_id}/waits/{step_id}. One without `waiting` has failed,
    and waits for POST /v1/runs/{run_id}/steps/{step_id}/resolve."""
    unanswered: list[str]
    """Nested runs that did not report what they wait for."""
    paused: list[str]
    """Runs of this page, including the run itself, that are paused: they accept an answer, but start nothing after it
    until POST /v1/runs/{run_id}/resume."""
    after: str | None


@dataclass(frozen=True, slots=True)
class InnerWaits:
    """The number of waiting runs inside a list, and the waits of the first ones."""

    runs: int
    waits: tuple[OpenWait, ...]

    def words(self, run_id: str) -> Iterator[str]:
        """Describe the waits of a step of the run `run_id`."""
        are = "runs inside it wait" if self.runs > 1 else "run inside it waits"
        yield f"{self.runs} {are}; `docrail run waits {run_id}` lists all waits"
        for each in self.waits:
            item = "" if each.item is None else f"item {each.item}: "
            yield f"{item}{each.step_id} of {each.run_id}: {wait_words(each.waiting)}"


async def list_waits(
    app: App, principal: Principal, run_id: str, *, limit: int = 100, after: str | None = None
) -> WaitPage:
    """Return the waits of the run, and on each page of at most `limit` nested runs, latest start first.

    Raises: NotFound, InvalidInput, Unavailable if no worker answers for the run itself.
    """
    description = await describe(app, principal.tenant_id, checked_run_id(run_id))
    own = await _ask(app, principal.tenant_id, run_id)
    steps = own.steps or {}
    page = await list_inside(app, Inside(principal.tenant_id, run_id), limit=limit, after=after)
    answers = await _ask_all(app, principal.tenant_id, page.run_ids)
    waits = [] if after is not None else [*_open(run_id, steps, None)]
    waits += await _inner(
        app, description, answers, {step_id: step.items is not None for step_id, step in steps.items()}
    )
    unanswered = [inner.run_id for inner in answers if inner.steps is None]
    paused = [run.run_id for run in (*([own] if after is None else []), *answers) if run.is_paused]
    return WaitPage(waits, unanswered, paused, page.after)


async def inner_waits(
    app: App, description: WorkflowExecutionDescription, steps: Mapping[str, StepExplanation]
) -> dict[str, InnerWaits]:
    """Return the waits of nested runs, by step, for those of `steps` that run a nested run per item of a list.

    If they cannot be determined, return nothing.
    """
    lists = [step_id for step_id, step in steps.items() if _runs_inner_list(step)][:MOST_STEPS]
    if description.status is not WorkflowExecutionStatus.RUNNING:
        return {}
    try:
        answers = await asyncio.gather(*(_inside_list(app, description, step_id) for step_id in lists))
    except OperationError:  # the rest can be shown without it
        return {}
    return {step_id: found for step_id, found in zip(lists, answers, strict=True) if found.runs}


def _runs_inner_list(step: StepExplanation) -> bool:
    return step.kind is StepKind.WORKFLOW and step.status is StepStatus.RUNNING and step.items is not None


async def _inside_list(app: App, description: WorkflowExecutionDescription, step_id: str) -> InnerWaits:
    tenant_id, run_id = tenant_and_run(description)
    wanted = Inside(tenant_id, run_id, step_id, waiting=True)
    runs = await count_inside(app, wanted)
    if not runs:
        return InnerWaits(0, ())
    page = await list_inside(app, wanted, limit=MOST_NAMED)
    answers = await _ask_all(app, tenant_id, page.run_ids)
    return InnerWaits(runs, tuple(await _inner(app, description, answers, {step_id: True}))[:MOST_NAMED])


async def _inner(
    app: App, description: WorkflowExecutionDescription, answers: Iterable[_Answer], lists: Mapping[str, bool]
) -> list[OpenWait]:
    """Return the waits of nested runs, with their items' keys."""
    _, run_id = tenant_and_run(description)
    placed = [(each.run_id, each.steps, place_of(run_id, each.run_id, lists)) for each in answers if each.steps]
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


async def _ask_all(app: App, tenant_id: str, run_ids: Iterable[str]) -> list[_Answer]:
    """Query the runs; one that does not answer does not stop the others."""
    turns = asyncio.Semaphore(ASKED_AT_ONCE)

    async def ask(run_id: str) -> _Answer:
        async with turns:
            try:
                return await _ask(app, tenant_id, run_id)
            except (NotFound, Unavailable, WorkflowQueryFailedError):
                return _Answer(run_id, None)

    asked: Iterable[Awaitable[_Answer]] = map(ask, run_ids)
    return await asyncio.gather(*asked)


async def _ask(app: App, tenant_id: str, run_id: str) -> _Answer:
    """Return a run's answer with all its steps explained. Raises: NotFound, Unavailable."""
    handle = await handle_of(app, tenant_id, run_id)
    steps: dict[str, StepExplanation] = {}
    after: str | None = None
    async with worker_answers(app, tenant_id, run_id):
        while True:
            page: RunExplanation = await handle.query(
                EXPLAIN, args=[None, after, PAGE], result_type=RunExplanation, rpc_timeout=WORKER_TIMEOUT
            )
            steps |= page.steps
            after = page.after
            if after is None:
                return _Answer(run_id, steps, is_paused=page.status is RunStatus.PAUSED)
