"""What a retry of an ended run keeps, does again and does for the first time: edits, and a newer definition version."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum

from dag.alike import works_alike
from dag.inputs import InputProblem
from dag.kinds import WaitFor
from dag.messages import ResolutionKind
from dag.parking import resolution_problem
from dag.plan import Plan
from dag.rewind import again, derive, is_stuck, is_to_redo, is_undone, left_failed, load, stands
from dag.state import RunState, SkipReason, StepState, StepStatus
from dag.values import Json


@dataclass(frozen=True, slots=True)
class Edit:
    """What a person wants of a step: RETRY with another config (`value`), SKIP, or OUTPUT: `value` is its output."""

    kind: ResolutionKind
    value: Json = None


class Fate(StrEnum):
    """What a retry does with a step. NEW: what the run never had, a step of the newer version or what a person gave.

    SKIPPED: it has nothing to keep, and is sure not to run (dag.foresight). UNDONE: what it did could not be undone,
    and that is tried again (dag.undoing).
    """

    REUSED = "reused"
    RERUN = "rerun"
    NEW = "new"
    SKIPPED = "skipped"
    DROPPED = "dropped"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class StepFate:
    """What becomes of one step, and why, in words."""

    fate: Fate
    why: str


@dataclass(frozen=True, slots=True)
class Retry:
    """The state that a retry starts from, and what it means for each step: those of the plan, then those dropped."""

    state: RunState
    fates: dict[str, StepFate]


@dataclass(frozen=True, slots=True)
class Who:
    """Who asks for a retry, and when: seconds since the epoch."""

    by: str
    at: float


def edit_problems(plan: Plan, edits: Mapping[str, Edit]) -> Iterator[InputProblem]:
    """Yield what is wrong with `edits` for a retry under `plan`."""
    for step_id, edit in edits.items():
        path = f"steps.{step_id[:64]}"
        if step_id not in plan.index:
            near = get_close_matches(step_id[:64], plan.index, n=1)
            yield InputProblem(path, "the definition has no such step", near[0] if near else None)
        elif problem := resolution_problem(plan.step(step_id), edit.kind, edit.value):
            yield InputProblem(f"{path}.{_FIELDS[edit.kind]}", problem)


def skip_problems(plan: Plan, saved: dict[str, Json], edits: Mapping[str, Edit]) -> Iterator[InputProblem]:
    """Yield which steps of a run of `plan`, saved at its end, cannot be skipped: nobody would undo what they did."""
    skipped = [id_ for id_, edit in edits.items() if edit.kind is ResolutionKind.SKIP and id_ in plan.index]
    run = load(plan, saved) if skipped else None
    for step_id in skipped:
        if run is not None and is_stuck(run.steps[plan.index[step_id]]):
            told = (
                "what it did stands, for it could not be undone, so it cannot count as skipped: undo it first, give it "
                "an output, or retry the run without this"
            )
            yield InputProblem(f"steps.{step_id}.skip", told)


_FELL = (StepStatus.FAILED, StepStatus.PARKED)
_FIELDS = {ResolutionKind.RETRY: "config", ResolutionKind.SKIP: "skip", ResolutionKind.OUTPUT: "output"}


def plan_retry(old: Plan, new: Plan, saved: dict[str, Json], edits: Mapping[str, Edit], who: Who) -> Retry:
    """Return how a run of `old`, saved at its end, goes on under `new`; `edits` were checked before.

    What completed is kept, unless its work, its config or a parent changed, or it was undone; what could not be undone
    is kept whatever changed, unless a person says so. Of a run that completed, what failed all the same is done again.
    `fallen` names the steps whose failure is dealt with so, for the run to tell the dead-letter inbox.
    Raises: pydantic.ValidationError.
    """
    ran = load(old, saved)
    steps: list[StepState] = []
    fates: dict[str, StepFate] = {}
    for step in new.steps:
        before = old.steps[old.index[step.id]] if step.id in old.index else None
        state = None if before is None else ran.steps[before.index]
        kept = state if before is not None and works_alike(before.definition, step.definition) else None
        names = (new.steps[parent].id for parent in step.parents)
        follows = next((name for name in names if fates[name].fate is not Fate.REUSED), None)
        edit = edits.get(step.id)
        fates[step.id] = fate = _fate(edit, state, _Before(kept, follows, left_failed(ran, state)))
        if state is not None and fate.fate is Fate.REUSED:
            steps.append(stands(state))
        else:
            steps.append(_edited(edit, who) or (StepState() if follows or kept is None else again(kept)))
    dropped = StepFate(Fate.DROPPED, "the version to go on with has no such step")
    fates |= {step.id: dropped for step in old.steps if step.id not in new.index}
    run = derive(new, RunState(steps, ran.inputs, ran.context))
    fell = {step.id for step in old.steps if ran.steps[step.index].status in _FELL}
    run.fallen = [step.index for step in new.steps if step.id in fell]
    for index in run.fallen:
        run.steps[index].resolved_by = who.by
    return Retry(run, fates)


@dataclass(frozen=True, slots=True)
class _Before:
    """What a step's fate depends on. `kept`: its state if its work is as before; `follows`: a changed parent.

    `left`: how many of its items failed, and are to be done again although the step completed.
    """

    kept: StepState | None
    follows: str | None
    left: int


def _fate(edit: Edit | None, state: StepState | None, before: _Before) -> StepFate:
    """Say what becomes of a step."""
    if edit is not None and edit.kind is not ResolutionKind.RETRY:
        is_skip = edit.kind is ResolutionKind.SKIP
        return StepFate(Fate.NEW, "skipped by hand" if is_skip else "takes an output given by hand")
    if state is None:
        return StepFate(Fate.NEW, "the version that ran has no such step")
    if edit is not None and edit.value is not None:
        return StepFate(Fate.RERUN, "takes a config given by hand")
    if is_stuck(state):
        return StepFate(Fate.REUSED, "completed, and could not be undone: what it did stands")
    if why := _why_again(state, before):
        return StepFate(Fate.RERUN, why)
    return StepFate(Fate.REUSED, f"skipped: {state.reason}" if state.reason else str(state.status))


def _why_again(state: StepState, before: _Before) -> str:
    if before.kept is None:
        return "its definition has changed"
    if is_to_redo(state):
        return _how_it_ended(state) + _kept_items(state, before)
    if before.follows:
        return f"follows {before.follows}, which is not reused"
    if before.left and state.fan is not None:
        return f"{before.left} of its {len(state.fan.items)} items failed, and only these run again"
    return ""


def _kept_items(state: StepState, before: _Before) -> str:
    if state.fan is None or before.follows or is_undone(state):
        return ""
    kept = sum(item.status is StepStatus.COMPLETED for item in state.fan.items)
    return f"; {kept} of its {len(state.fan.items)} items completed, and are kept" if kept else ""


def _how_it_ended(state: StepState) -> str:
    if is_undone(state):
        return "completed, but what it did was undone"
    if state.status in _FELL:
        return f"failed: {state.error.type}" if state.error else "failed"
    if state.reason is not None:
        return f"skipped: {state.reason}"
    return "cancelled" if state.status is StepStatus.CANCELLED else "had not ended"


def _edited(edit: Edit | None, who: Who) -> StepState | None:
    """Return how a step begins that a person edited, None for any other."""
    match edit:
        case Edit(kind=ResolutionKind.SKIP):
            skipped = StepState(StepStatus.SKIPPED, "operator", SkipReason.OPERATOR)
            return replace(skipped, resolved_by=who.by, ended_at=who.at)
        case Edit(kind=ResolutionKind.OUTPUT, value=output):
            given = StepState(StepStatus.COMPLETED, "operator", output=output)
            return replace(given, resolved_by=who.by, ended_at=who.at)
        case Edit(value=config) if config is not None:
            return StepState(edited=config, resolved_by=who.by)
    return None


def renew_context(context: Mapping[str, Json], plan: Plan, version: int, nonce: str) -> dict[str, Json]:
    """Return the run's context under another version: its number, and a stand-in for each webhook's URL.

    `nonce` is the random part of the stand-ins, used where the run has none yet (workflows/driver.py).
    """
    run = context["run"]
    callbacks: dict[str, str] = dict(run["callbacks"])
    known = next(iter(callbacks.values()), f"callback://{nonce}/").rpartition("/")[0]
    for step in plan.steps:
        if step.definition.wait and step.definition.wait.for_ is WaitFor.WEBHOOK:
            callbacks.setdefault(step.id, f"{known}/{step.id}")
    workflow = {**context["workflow"], "version": version}
    return {**context, "run": {**run, "callbacks": callbacks}, "workflow": workflow}
