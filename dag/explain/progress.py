"""Report the state of every step of a run in few words, for lists and drawings of it.

Unlike a report it has no outputs and explains nothing, so that it is small and quick for thousands of steps.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from docrail.dag.engine.map_items import ItemCounts, counts_of
from docrail.dag.engine.plan import Plan
from docrail.dag.engine.state import RunState, StepError, StepState
from docrail.dag.explain.graph import Drawn, Group, node_id
from docrail.dag.explain.report import RunReport, StepReport
from docrail.dag.language.statuses import SETTLED, RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import shortened

LONGEST_MESSAGE = 120
"""Characters of a step's error message."""

INTEREST = (
    *(StepStatus.FAILED, StepStatus.PARKED, StepStatus.WAITING, StepStatus.RUNNING, StepStatus.CANCELLED),
    *(StepStatus.QUEUED, StepStatus.PENDING, StepStatus.COMPLETED, StepStatus.SKIPPED),
)
"""Statuses in the order in which they are looked for: a group has that of its most interesting step."""


class StepProgress(BaseModel):
    """How far one step is. Times are seconds since the epoch."""

    model_config = ConfigDict(frozen=True)

    status: StepStatus = StepStatus.PENDING
    reason: SkipReason | None = None
    error: StepError | None = None
    attempts: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    branch: str | None = None
    cached: bool = False
    items: ItemCounts | None = None
    compensation: StepStatus | None = None


class RunProgress(BaseModel):
    """How far a run is: its steps in plan order."""

    model_config = ConfigDict(frozen=True)

    status: RunStatus
    stopping: RunStatus | None = None
    ending: RunStatus | None = None
    """The status with which it ends after what it did was undone."""
    reason: str = ""
    overdue: bool = False
    started_at: float | None = None
    ended_at: float | None = None
    steps: tuple[StepProgress, ...] = ()


def progress_of(plan: Plan, run: RunState) -> RunProgress:
    """Return how far a run is, from its state."""
    states = (run.steps[step.index] for step in plan.steps)
    return RunProgress(
        status=run.status,
        stopping=run.stopping if run.outcome is None else None,
        ending=run.ending if run.outcome is None else None,
        reason=shortened(run.stop_reason),
        overdue=run.overdue,
        started_at=run.started_at,
        ended_at=run.ended_at,
        steps=tuple(_progress(state, None if state.fan is None else counts_of(state.fan)) for state in states),
    )


def progress_of_report(plan: Plan, report: RunReport) -> RunProgress:
    """Return how far a run is, from its last report; without steps if the report has none."""
    steps = [report.steps[step.id] for step in plan.steps] if len(report.steps) == len(plan.steps) else []
    return RunProgress(
        status=report.status,
        stopping=report.stopping,
        reason=report.reason,
        overdue=report.overdue,
        started_at=report.started_at,
        ended_at=report.ended_at,
        steps=tuple(_progress(step, step.items) for step in steps),
    )


def _progress(step: StepState | StepReport, items: ItemCounts | None) -> StepProgress:
    return StepProgress(
        status=step.status,
        reason=step.reason,
        error=_brief(step.error),
        attempts=step.attempts,
        started_at=step.started_at,
        ended_at=step.ended_at,
        branch=step.branch,
        cached=step.cached,
        items=items,
        compensation=step.compensation,
    )


def _brief(error: StepError | None) -> StepError | None:
    return None if error is None else StepError(error.type, shortened(error.message, LONGEST_MESSAGE))


class NodeState(Drawn):
    """The state of a node of a drawing. Times are seconds since the epoch."""

    status: StepStatus
    """Status of the step; of a group that of its most interesting step, a failed one first."""
    counts: dict[StepStatus, int]
    """How many steps of a group have each status; empty for a step."""
    attempts: int
    """How often the step was tried; in a group all its steps together."""
    error: str | None
    """The type of the step's error; null if it did not fail, and for a group."""
    reason: SkipReason | None
    """Why the step was skipped; null if it was not, and for a group."""
    branch: str | None
    """The branch that the step has taken; null if there is none."""
    items: ItemCounts | None
    """Progress of a step over a list; null for any other node."""
    compensation: StepStatus | None
    """How far the step's compensation is; null if none began."""
    started_at: float | None
    """When it began; of a group the first of its steps."""
    ended_at: float | None
    """When it ended; of a group the last of its steps; null before."""


def node_states(plan: Plan, progress: RunProgress, shown: Sequence[Group]) -> dict[str, NodeState]:
    """Return the states of the drawn nodes by id; empty if the states of the steps are not known."""
    if not progress.steps:
        return {}
    return {node_id(plan, group): _node_state(progress.steps[group.first : group.last + 1]) for group in shown}


def _node_state(steps: Sequence[StepProgress]) -> NodeState:
    counts = Counter(step.status for step in steps)
    one = steps[0] if len(steps) == 1 else None
    starts = [step.started_at for step in steps if step.started_at is not None]
    ends = [step.ended_at for step in steps if step.ended_at is not None]
    return NodeState(
        status=most_interesting(counts),
        counts={} if one else {status: counts[status] for status in StepStatus if counts[status]},
        attempts=sum(step.attempts for step in steps),
        error=one.error.type if one and one.error else None,
        reason=one and one.reason,
        branch=one and one.branch,
        items=one and one.items,
        compensation=one and one.compensation,
        started_at=min(starts, default=None),
        ended_at=max(ends, default=None) if SETTLED.issuperset(counts) else None,
    )


def most_interesting(counts: Mapping[StepStatus, int]) -> StepStatus:
    """Return the most interesting status among those that occur."""
    return next(status for status in INTEREST if counts.get(status))


def focus_of(progress: RunProgress) -> int | None:
    """Return the position of the step to look at first: the first failed one, else one that waits or runs."""
    for status in (StepStatus.FAILED, StepStatus.PARKED, StepStatus.WAITING, StepStatus.RUNNING):
        if (found := next((at for at, step in enumerate(progress.steps) if step.status is status), None)) is not None:
            return found
    return None
