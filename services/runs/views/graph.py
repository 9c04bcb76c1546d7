"""Show runs as drawings and lists of steps: what is drawn comes from the definition, the states from the run.

The definition is stored, so a run can be drawn without a worker. The states of a running run come from its worker, and
those of an ended one from its result.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from pydantic.dataclasses import dataclass as pydantic_dataclass
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus

from docrail.dag.engine.map_items import ItemCounts
from docrail.dag.engine.plan import Plan, Step, plan_of
from docrail.dag.engine.state import StepError
from docrail.dag.explain.graph import Graph, graph_of, groups_around, groups_around_all, open_groups, shown_groups
from docrail.dag.explain.progress import (
    NodeState,
    RunProgress,
    StepProgress,
    focus_of,
    node_states,
    progress_of_report,
)
from docrail.dag.language.statuses import SETTLED, RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.services.access.models import Principal
from docrail.services.actions import Action
from docrail.services.app import App
from docrail.services.definitions import service as definitions
from docrail.services.documents.service import load_file_names
from docrail.services.engine import WORKER, history_url, status_of, worker_answers
from docrail.services.errors import NotFound, Unavailable
from docrail.services.model_config import SHOWN
from docrail.services.paging import not_a_page
from docrail.services.runs.ended_runs import load_ended
from docrail.services.runs.executing import describe
from docrail.services.runs.models import EndedRun
from docrail.services.runs.service import checked_run_id
from docrail.services.runs.views.permitted import Situation, run_actions, situation_of
from docrail.services.runs.views.recorded import recorded_report
from docrail.services.runs.views.reports import report_in, show_run
from docrail.workflows.contract.names import DOCUMENT, OVERDUE, PROGRESS, outer_run_id, tenant_of

ANSWER_TIMEOUT = timedelta(seconds=3.5)
"""Timeout of a worker's answer: without it a run is still drawn, so people need not wait longer."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class RunHead:
    """A run as a whole. Times are seconds since the epoch."""

    run_id: str
    """Id of the run."""
    definition_id: str
    """Id of the definition."""
    version: int
    """The version that it follows."""
    digest: str
    """SHA-256 of that version: drawings of the same version are alike."""
    document_id: str | None
    """The document that it is about; null if there is none."""
    file_name: str | None
    """The document's file name; null if there is none."""
    outer_run_id: str | None
    """The run that it is a part of; null if it is none."""
    status: RunStatus
    """How far it is."""
    stopping: RunStatus | None
    """The status with which it is being stopped; null if it is not."""
    reason: str
    """Why it was aborted or failed; empty otherwise."""
    overdue: bool
    """Whether it exceeded its deadline."""
    started_at: float | None
    """When it started."""
    ended_at: float | None
    """When it ended; null before."""
    steps: int
    """How many steps it has."""
    settled: int
    """How many of them have ended or were skipped."""
    counts: dict[StepStatus, int]
    """How many steps have each status; empty if that is not known."""
    actions: list[Action]
    """What the caller may do with it now, and why not."""
    history_url: str
    """The run's history in Temporal's web UI."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class RunStates:
    """The states of a run and of the nodes of its drawing."""

    run: RunHead
    """The run as a whole."""
    states: dict[str, NodeState]
    """The state of each node that is drawn, by its id; empty if they are not known."""
    unknown: str
    """Why the states of the steps are not known; empty if they are."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class RunGraph:
    """A run, drawn: its nodes and arrows, and the states of the nodes."""

    run: RunHead
    """The run as a whole."""
    graph: Graph
    """The drawing. It depends only on the version and on the open groups."""
    focus: str | None
    """The step to look at first: the first failed one, else one that waits or runs; null if there is none."""
    states: dict[str, NodeState]
    """The state of each node that is drawn, by its id; empty if they are not known."""
    unknown: str
    """Why the states of the steps are not known; empty if they are."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class StepLine:
    """A step of a run in a list or on a timeline. Times are seconds since the epoch."""

    step_id: str
    """Id of the step."""
    title: str
    """The step's title; empty if it has none."""
    kind: StepKind
    """What it does."""
    handler: str | None
    """Its handler; null if it has none."""
    layer: int
    """Its layer, from 0."""
    groups: list[str]
    """The groups to open so that the step is drawn, outermost first."""
    status: StepStatus
    """How far it is."""
    reason: SkipReason | None
    """Why it was skipped; null if it was not."""
    error: StepError | None
    """Why it failed, shortened; null if it did not."""
    attempts: int
    """How often it was tried."""
    items: ItemCounts | None
    """Progress of a step over a list; null for any other."""
    started_at: float | None
    """When it began; null before."""
    ended_at: float | None
    """When it ended; null before."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class StepPage:
    """A page of the steps of a run, in plan order."""

    steps: list[StepLine]
    """The steps."""
    found: int
    """How many steps match, on all pages."""
    after: str | None
    """Pass this as `after` to get the next page; null on the last page."""


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run with its plan, and how far it is. Without `progress.steps` the reason is in `unknown`."""

    version: int
    digest: str
    plan: Plan
    progress: RunProgress
    unknown: str = ""
    outer_run_id: str | None = None
    document_id: str | None = None
    file_name: str | None = None
    is_deleted: bool = False
    """Whether Temporal has deleted it."""

    @property
    def situation(self) -> Situation:
        """Return what decides about the actions on it."""
        is_nested = self.outer_run_id is not None
        return situation_of(self.progress, is_nested=is_nested, is_deleted=self.is_deleted)

    def step(self, step_id: str) -> Step:
        """Return one of its steps. Raises: NotFound."""
        if step_id not in self.plan.index:
            raise NotFound("step", step_id, known=[*self.plan.index])
        return self.plan.step(step_id)

    def state_of(self, step: Step) -> StepProgress:
        """Return how far a step is. Raises: Unavailable, if that is not known."""
        if not self.progress.steps:
            raise Unavailable(WORKER, self.unknown)
        return self.progress.steps[step.index]


async def show_graph(app: App, principal: Principal, run_id: str, wanted: Sequence[str] | None) -> RunGraph:
    """Return the drawing of a run with the `wanted` groups open, by default those around its focus.

    Raises: NotFound, Unavailable (Temporal).
    """
    known = await load_run(app, principal, run_id)
    plan, focus = known.plan, focus_of(known.progress)
    if wanted is None:
        wanted = [] if focus is None else groups_around(plan, focus)
    graph = await asyncio.to_thread(graph_of, plan, wanted)
    return RunGraph(
        run=_head(app, principal, run_id, known),
        graph=graph,
        focus=None if focus is None else plan.steps[focus].id,
        states=node_states(plan, known.progress, shown_groups(plan, open_groups(plan, graph.open))),
        unknown=known.unknown,
    )


async def show_states(app: App, principal: Principal, run_id: str, wanted: Sequence[str]) -> RunStates:
    """Return the states of the nodes of a drawing. Raises: NotFound, Unavailable (Temporal)."""
    known = await load_run(app, principal, run_id)
    shown = shown_groups(known.plan, open_groups(known.plan, wanted))
    return RunStates(
        run=_head(app, principal, run_id, known),
        states=node_states(known.plan, known.progress, shown),
        unknown=known.unknown,
    )


async def list_steps(
    app: App,
    principal: Principal,
    run_id: str,
    *,
    search: str = "",
    status: StepStatus | None = None,
    limit: int = 100,
    after: str | None = None,
) -> StepPage:
    """Return a page of the steps whose id, title or handler contains `search`.

    Raises: NotFound, InvalidInput (an unknown `after`), Unavailable.
    """
    known = await load_run(app, principal, run_id)
    if after is not None and after not in known.plan.index:
        raise not_a_page()
    first = 0 if after is None else known.plan.index[after] + 1
    found = [step for step in known.plan.steps if _matches(step, known.state_of(step), search.casefold(), status)]
    page = [step for step in found if step.index >= first]
    around = await asyncio.to_thread(groups_around_all, known.plan)
    lines = [line_of(known, step, around[step.index]) for step in page[:limit]]
    return StepPage(lines, len(found), lines[-1].step_id if len(page) > limit else None)


def _matches(step: Step, state: StepProgress, search: str, status: StepStatus | None) -> bool:
    if status not in (None, state.status):
        return False
    texts = (step.id, step.definition.title, step.definition.handler or "")
    return not search or any(search in text.casefold() for text in texts)


def line_of(known: KnownRun, step: Step, groups: list[str]) -> StepLine:
    """Return a step as a line of a list; `groups`: those around it. Raises: Unavailable, if its state is not known."""
    state = known.state_of(step)
    return StepLine(
        step_id=step.id,
        title=step.definition.title,
        kind=step.kind,
        handler=step.definition.handler,
        layer=step.layer,
        groups=groups,
        status=state.status,
        reason=state.reason,
        error=state.error,
        attempts=state.attempts,
        items=state.items,
        started_at=state.started_at,
        ended_at=state.ended_at,
    )


async def load_run(app: App, principal: Principal, run_id: str) -> KnownRun:
    """Return a run with its plan, and how far it is. Raises: NotFound, Unavailable (Temporal)."""
    checked_run_id(run_id)
    try:
        description = await describe(app, principal.tenant_id, run_id)
    except NotFound:
        if (copied := await load_ended(app.db, principal.tenant_id, run_id)) is None:
            raise
        return await _load_copied(app, principal, copied)
    memo = await description.memo()
    stored = await definitions.load(app, principal, memo["definition"], memo["version"])
    plan = await asyncio.to_thread(plan_of, stored.body)
    try:
        progress = await _progress(app, principal, run_id, description, plan)
    except Unavailable as error:
        if error.service == "Temporal":
            raise
        progress, unknown = await _recorded(app, description, plan, error), str(error)
    else:
        unknown = "" if progress.steps else progress.reason
    parent, document_id = description.parent_id, description.typed_search_attributes.get(DOCUMENT)
    return KnownRun(
        version=stored.version,
        digest=stored.digest,
        plan=plan,
        progress=progress,
        unknown=unknown,
        outer_run_id=None if parent is None else outer_run_id(parent),
        document_id=document_id,
        file_name=await _file_name(app, principal, document_id),
    )


async def _load_copied(app: App, principal: Principal, copied: EndedRun) -> KnownRun:
    report = report_in(copied)
    stored = await definitions.load(app, principal, report.definition_id, report.version)
    plan = await asyncio.to_thread(plan_of, stored.body)
    return KnownRun(
        version=stored.version,
        digest=stored.digest,
        plan=plan,
        progress=progress_of_report(plan, report),
        unknown="" if report.steps else report.reason,
        outer_run_id=copied.outer_run_id,
        document_id=copied.document_id,
        file_name=await _file_name(app, principal, copied.document_id),
        is_deleted=True,
    )


async def _file_name(app: App, principal: Principal, document_id: str | None) -> str | None:
    if document_id is None:
        return None
    return (await load_file_names(app.db, principal.tenant_id, [document_id])).get(document_id)


async def _progress(
    app: App, principal: Principal, run_id: str, description: WorkflowExecutionDescription, plan: Plan
) -> RunProgress:
    if description.status is not WorkflowExecutionStatus.RUNNING:
        return progress_of_report(plan, await show_run(app, principal, run_id))
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
    async with worker_answers(app, tenant_of(description.id), run_id):
        found: RunProgress = await handle.query(PROGRESS, result_type=RunProgress, rpc_timeout=ANSWER_TIMEOUT)
    return found


async def _recorded(app: App, description: WorkflowExecutionDescription, plan: Plan, error: Unavailable) -> RunProgress:
    """Return what Temporal has recorded of a running run whose worker does not answer."""
    if error.service != WORKER or description.status is not WorkflowExecutionStatus.RUNNING:
        return _bare(description)
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
    return progress_of_report(plan, await recorded_report(app, handle, description))


def _bare(description: WorkflowExecutionDescription) -> RunProgress:
    """Return what Temporal's server alone knows."""
    ended = description.close_time
    return RunProgress(
        status=status_of(description),
        overdue=description.typed_search_attributes.get(OVERDUE) is not None,
        started_at=description.start_time.timestamp(),
        ended_at=None if ended is None else ended.timestamp(),
    )


def _head(app: App, principal: Principal, run_id: str, known: KnownRun) -> RunHead:
    progress = known.progress
    counts = Counter(step.status for step in progress.steps)
    return RunHead(
        run_id=run_id,
        definition_id=known.plan.id,
        version=known.version,
        digest=known.digest,
        document_id=known.document_id,
        file_name=known.file_name,
        outer_run_id=known.outer_run_id,
        status=progress.status,
        stopping=progress.stopping,
        reason=progress.reason,
        overdue=progress.overdue,
        started_at=progress.started_at,
        ended_at=progress.ended_at,
        steps=len(known.plan.steps),
        settled=sum(counts[status] for status in SETTLED),
        counts={status: counts[status] for status in StepStatus if counts[status]},
        actions=run_actions(principal, known.situation),
        history_url=history_url(app, principal.tenant_id, run_id),
    )
