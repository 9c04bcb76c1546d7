"""Predict what a retry or a resolution does, including the steps that are sure not to run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from docrail.dag.engine.eligibility import skip_if
from docrail.dag.engine.events import Resolution, ResolutionKind, Resolved, RunStarted
from docrail.dag.engine.park import describe_edits, item_problems
from docrail.dag.engine.plan import Plan
from docrail.dag.engine.retry import Edit, Fate, Retry, StepFate, kept_items
from docrail.dag.engine.saved_state import load, save
from docrail.dag.engine.state import RunState
from docrail.dag.engine.transitions import advance
from docrail.dag.language.inputs import InputProblem, InvalidValueError
from docrail.dag.language.statuses import SETTLED, SkipReason, StepStatus
from docrail.dag.values.json_values import Json

_WORDS = {StepStatus.SKIPPED: "skipped by hand", StepStatus.COMPLETED: "takes an output given by hand"}
"""For a step whose resolution settles it; every other one is retried."""


@dataclass(frozen=True, slots=True)
class Resolving:
    """The immediate effect of resolving parked steps on each step, and how the run then ends, if it does."""

    fates: dict[str, StepFate]
    end: str


def resolved(plan: Plan, saved: dict[str, Json], edits: Mapping[str, Edit], by: str, at: float) -> Resolving:
    """Return the effect of resolving the parked steps of a waiting run as `edits` say.

    Steps that are not parked keep their state. Raises: pydantic.ValidationError; InvalidValueError if edits do not fit
    their items.
    """
    run, ahead = load(plan, saved), load(plan, saved)
    if problems := [*_items_problems(plan, run, edits)]:
        raise InvalidValueError(problems)
    for step_id, edit in edits.items():
        advance(plan, ahead, Resolved(step_id, Resolution(edit.kind, edit.value, by), at))
    if not ahead.stopping:
        ahead = _with_sure_skips(plan, ahead)
    fates = {step.id: _fate_of(run, ahead, step.index, edits.get(step.id)) for step in plan.steps}
    is_ending = ahead.ending is not None and run.ending is None
    return Resolving(fates, f"ends {ahead.ending}: {ahead.stop_reason}".rstrip(": ") if is_ending else "")


def _items_problems(plan: Plan, run: RunState, edits: Mapping[str, Edit]) -> Iterator[InputProblem]:
    for step_id, edit in edits.items():
        if edit.kind is ResolutionKind.ITEMS:
            yield from item_problems(run.steps[plan.index[step_id]].fan, edit.value, f"steps.{step_id}.")


def _fate_of(run: RunState, ahead: RunState, index: int, edit: Edit | None) -> StepFate:
    before, after = run.steps[index], ahead.steps[index]
    if edit is not None:
        kind = Fate.RERUN if after.status not in SETTLED else Fate.NEW
        if edit.kind is ResolutionKind.ITEMS:
            return StepFate(kind, f"{kept_items(before)}; {describe_edits(edit.value)}".removeprefix("; "))
        return StepFate(kind, _WORDS.get(after.status, "is tried again"))
    if after.reason is not None and before.reason is None:
        return StepFate(Fate.SKIPPED, str(after.reason))
    if before.status is StepStatus.PENDING:
        return StepFate(Fate.RERUN, "begins" if after.status is not StepStatus.PENDING else "has not begun")
    return StepFate(Fate.REUSED, f"stays as it is: {before.status}")


def foretold(plan: Plan, retry: Retry, at: float) -> dict[str, StepFate]:
    """Return the fate of each step, including those that are sure to be skipped. Does not change `retry`."""
    skips = {step_id: StepFate(Fate.SKIPPED, str(reason)) for step_id, reason in _sure_skips(plan, retry, at)}
    return retry.fates | skips


def _sure_skips(plan: Plan, retry: Retry, at: float) -> Iterator[tuple[str, SkipReason]]:
    """Yield the steps that the run will skip, and why, as the scheduler decides it.

    Simulates the run's first turn. A step that then waits is skipped if its trigger rule skips it both if all remaining
    parents complete and if they all fail: no rule depends on anything in between. Failures may change the reason.
    """
    ahead = load(plan, save(plan, retry.state))
    advance(plan, ahead, RunStarted(at))
    if ahead.stopping:  # the skipped steps depend on what ends first
        return
    ahead = _with_sure_skips(plan, ahead)
    for step in plan.steps:
        reason = ahead.steps[step.index].reason
        if reason is not None and retry.state.steps[step.index].status not in SETTLED:
            yield step.id, reason


def _with_sure_skips(plan: Plan, run: RunState) -> RunState:
    """Return the run with the reason of each step that is sure to be skipped."""
    steps = [*run.steps]
    ahead = replace(run, steps=steps)
    for step in plan.steps:
        state = steps[step.index]
        if state.status is StepStatus.PENDING:
            best, worst = skip_if(ahead, step, well=True), skip_if(ahead, step, well=False)
            if best and worst:
                status = StepStatus.SKIPPED if best is worst else state.status
                steps[step.index] = replace(state, reason=best, status=status)
    return ahead
