"""Decide which actions a caller may take on a run and its steps, from their state and the caller's scopes.

The actions check the state again; what is refused here is refused there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from docrail.dag.engine.events import ResolutionKind
from docrail.dag.engine.park import resolution_problem
from docrail.dag.engine.plan import Step
from docrail.dag.engine.retry import is_left
from docrail.dag.explain.progress import RunProgress, StepProgress
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Principal, Scope
from docrail.services.actions import Action, Refusal, RefusalCode, permitted


class RunAction(StrEnum):
    """What a person may do with a run. RERUN: run it again from a step, or with other inputs."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    ABORT = "abort"
    RETRY = "retry"
    RERUN = "rerun"
    UNDO = "undo"


class StepAction(StrEnum):
    """What a person may do with a step. EDIT: retry it with another config. RERUN: run it although it completed."""

    ANSWER = "answer"
    RETRY = "retry"
    EDIT = "edit"
    SKIP = "skip"
    OUTPUT = "output"
    RERUN = "rerun"


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides about the actions on a run. Facts that only its steps know are False if they are not known."""

    status: RunStatus
    is_stopping: bool = False
    is_nested: bool = False
    has_failed_items: bool = False
    has_work_to_undo: bool = False
    is_deleted: bool = False
    """Whether Temporal has deleted it."""


_OPEN = (RunStatus.RUNNING, RunStatus.WAITING, RunStatus.PAUSED)
_RETRYABLE = (RunStatus.FAILED, RunStatus.CANCELLED)
_IN: dict[RunAction, tuple[RunStatus, ...]] = {
    RunAction.PAUSE: (RunStatus.RUNNING, RunStatus.WAITING),
    RunAction.RESUME: (RunStatus.PAUSED,),
    RunAction.CANCEL: _OPEN,
    RunAction.ABORT: _OPEN,
    RunAction.RETRY: _RETRYABLE,
    RunAction.RERUN: (*_RETRYABLE, RunStatus.COMPLETED),
    RunAction.UNDO: (RunStatus.FAILED, RunStatus.ABORTED),
}
"""The statuses in which a run takes each action."""

_OF_OUTER = (RunAction.CANCEL, RunAction.RETRY, RunAction.RERUN, RunAction.UNDO)
"""Actions that a nested run takes only as a part of its outer run."""


def situation_of(progress: RunProgress, *, is_nested: bool, is_deleted: bool = False) -> Situation:
    """Return the situation of a run whose steps are known."""
    return Situation(
        status=progress.status,
        is_stopping=progress.stopping is not None or progress.ending is not None,
        is_nested=is_nested,
        has_failed_items=any(step.items is not None and step.items.failed for step in progress.steps),
        has_work_to_undo=any(is_left(step.compensation) for step in progress.steps),
        is_deleted=is_deleted,
    )


def run_actions(who: Principal, of: Situation) -> list[Action]:
    """Return the actions on a run, each with the reason if the caller may not take it now."""
    return [permitted(who, Scope.OPERATE, action, _refusal(action, of)) for action in RunAction]


_STOPPING = Refusal(RefusalCode.RUN_STOPPING, "the run is being stopped")


def _not_while(status: RunStatus | StepStatus) -> Refusal:
    if isinstance(status, RunStatus):
        return Refusal(RefusalCode.RUN_STATUS, f"the run is {status}")
    return Refusal(RefusalCode.STEP_STATUS, f"the step is {status}")


def _refusal(action: RunAction, of: Situation) -> Refusal | None:
    return next(_refusals(action, of), None)


def _refusals(action: RunAction, of: Situation) -> Iterator[Refusal]:
    if of.is_deleted:
        yield Refusal(RefusalCode.RUN_DELETED, "Temporal has deleted the run")
    retries_items = action is RunAction.RETRY and of.status is RunStatus.COMPLETED and of.has_failed_items
    if retries_items and not of.is_nested:
        return
    if of.status not in _IN[action]:
        yield _not_while(of.status)
    if of.is_stopping and of.status in _OPEN:
        yield _STOPPING
    if of.is_nested and action in _OF_OUTER:
        yield Refusal(RefusalCode.NESTED, "the run is a part of another run: use that one")
    if action is RunAction.UNDO and not of.has_work_to_undo:
        yield Refusal(RefusalCode.NOTHING_TO_UNDO, "nothing is left to undo")


def step_actions(who: Principal, run: Situation, step: Step, state: StepProgress) -> list[Action]:
    """Return the actions on a step, each with the reason if the caller may not take it now."""
    return [permitted(who, Scope.OPERATE, action, _step_refusal(action, run, step, state)) for action in StepAction]


def _step_refusal(action: StepAction, run: Situation, step: Step, state: StepProgress) -> Refusal | None:
    if action is StepAction.ANSWER:
        if step.is_timer or state.status is not StepStatus.WAITING:
            return Refusal(RefusalCode.NO_ANSWER, "the step waits for no answer")
        return _STOPPING if run.is_stopping else None
    if action is StepAction.RERUN:
        return next(_rerun_refusals(run, state), None)
    return next(_resolution_refusals(action, run, step, state), None)


def _rerun_refusals(run: Situation, state: StepProgress) -> Iterator[Refusal]:
    yield from _refusals(RunAction.RERUN, run)
    if state.status is not StepStatus.COMPLETED:
        yield _not_while(state.status)


_KINDS: dict[StepAction, tuple[ResolutionKind, Json]] = {
    StepAction.RETRY: (ResolutionKind.RETRY, None),
    StepAction.EDIT: (ResolutionKind.RETRY, {}),
    StepAction.SKIP: (ResolutionKind.SKIP, None),
    StepAction.OUTPUT: (ResolutionKind.OUTPUT, {}),
}


def _resolution_refusals(action: StepAction, run: Situation, step: Step, state: StepProgress) -> Iterator[Refusal]:
    if run.status in _OPEN:
        if run.is_stopping:
            yield _STOPPING
        if state.status is not StepStatus.PARKED:
            yield _not_while(state.status)
    elif run.is_nested:
        yield Refusal(RefusalCode.NESTED, "the run is a part of another run: retry that one")
    elif run.status is RunStatus.COMPLETED:
        if action is not StepAction.RETRY or state.items is None or not state.items.failed:
            yield _not_while(run.status)
    elif run.status not in _RETRYABLE:
        yield _not_while(run.status)
    elif state.status is StepStatus.COMPLETED or not _is_to_run(state):
        yield Refusal(RefusalCode.STEP_KEPT, f"the step is {state.status}, and its result is kept")
    kind, value = _KINDS[action]
    if problem := resolution_problem(step, kind, value):
        yield Refusal(RefusalCode.STEP_KIND, problem)


def _is_to_run(state: StepProgress) -> bool:
    """Return whether a retry of the run would run the step."""
    passed_over = (SkipReason.UPSTREAM_FAILED, SkipReason.ABORTED)
    return state.status is not StepStatus.SKIPPED or state.reason in passed_over
