"""Decide what a retry of an ended run keeps, repeats and runs for the first time.

A retry may follow a newer definition version and include a person's edits. A step's result is kept only if both
versions of the step do the same work. A retry of only the compensations keeps the run as it is and repeats the
compensations that failed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from docrail.dag.engine.counters import derive
from docrail.dag.engine.events import ResolutionKind
from docrail.dag.engine.map_items import unfinished
from docrail.dag.engine.park import describe_edits, item_problems, resolution_problem, with_items
from docrail.dag.engine.plan import Plan
from docrail.dag.engine.rerun import NOTHING, Rerun
from docrail.dag.engine.saved_state import load
from docrail.dag.engine.state import RunState, StepState
from docrail.dag.language.definition import Step
from docrail.dag.language.inputs import InputProblem, InvalidValueError
from docrail.dag.language.statuses import SETTLED, RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.suggestions import closest

_MANNER = {
    *("title", "cache", "compensate", "optional"),
    *("max_retries", "retry_config", "timeout_seconds", "total_timeout_seconds", "heartbeat_seconds"),
    *("resource_tag", "priority"),
}
"""How a step is shown, retried, limited and compensated: changing these fields does not change a finished step's
result. All other fields can."""

_MANNER_OF_ITEMS = {"max_concurrency", "on_item_error", "max_failures"}

_MANNER_OF_ASKING = {"queue", "priority", "timeout_seconds"}
"""Excludes who may decide and how many must agree: a decision made before may not be valid now."""


def _work(step: Step) -> str:
    """Return what decides a step's result: equal for two versions that do the same work on the same values."""
    parts: dict[str, Json] = {"for_each": _MANNER_OF_ITEMS, "human": _MANNER_OF_ASKING, "wait": {"timeout_seconds"}}
    present = {name: manner for name, manner in parts.items() if getattr(step, name) is not None}
    return canonical(step.model_dump(mode="json", exclude={**dict.fromkeys(_MANNER, True), **present}))


_REDO = frozenset({StepStatus.FAILED, StepStatus.CANCELLED})

_REDO_REASONS = frozenset({SkipReason.UPSTREAM_FAILED, SkipReason.ABORTED})


def again(state: StepState) -> StepState:
    """Return a step to run again on the same inputs, keeping its finished items and an answer not used yet."""
    if is_undone(state):  # its items were compensated with it
        return StepState(edited=state.edited)
    return StepState(fan=unfinished(state.fan), answer=state.answer, edited=state.edited)


def is_to_redo(state: StepState) -> bool:
    """Return whether a retry runs the step again, whatever its parents' results. Compensated steps are included."""
    is_open = state.status not in SETTLED or state.status in _REDO or state.reason in _REDO_REASONS
    return is_open or is_undone(state)


def left_failed(run: RunState, state: StepState | None) -> int:
    """Return how many failed items a completed run tolerated: only these are run again.

    0 for a run that did not complete: it has other steps to run again, and leaves these as they are.
    """
    is_tolerated = run.outcome is RunStatus.COMPLETED and state is not None and state.status is StepStatus.COMPLETED
    return state.fan.failed if is_tolerated and state is not None and state.fan is not None else 0


def is_undone(state: StepState) -> bool:
    """Return whether the step was compensated."""
    return state.compensation is StepStatus.COMPLETED


def is_stuck(state: StepState) -> bool:
    """Return whether the step's compensation was begun and failed, so that running it again would do its work twice."""
    return is_left(state.compensation)


def is_left(compensation: StepStatus | None) -> bool:
    """Return whether a compensation was begun and did not complete."""
    return compensation not in (None, StepStatus.COMPLETED)


def stands(state: StepState) -> StepState:
    """Return a step whose result is kept: if the run fails again, its compensation is tried again."""
    return replace(state, compensation=None, compensation_error=None) if is_stuck(state) else state


@dataclass(frozen=True, slots=True)
class Edit:
    """A person's edit of a step: RETRY with another config (`value`), SKIP, or OUTPUT, with its output as `value`.

    ITEMS: retry its list, with edits for some items (dag/engine/park.py).
    """

    kind: ResolutionKind
    value: Json = None


class Fate(StrEnum):
    """What a retry does with a step. NEW: a step that only the newer version has, or a result that a person gave.

    SKIPPED: has no result to keep, and is sure not to run (dag/explain/retry_preview.py). UNDONE: its compensation
    failed and is tried again.
    """

    REUSED = "reused"
    RERUN = "rerun"
    NEW = "new"
    SKIPPED = "skipped"
    DROPPED = "dropped"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class StepFate:
    """What happens to one step, and why, in words."""

    fate: Fate
    why: str


@dataclass(frozen=True, slots=True)
class Retry:
    """The state a retry starts from, and the fate of each step: those of the plan, then those dropped."""

    state: RunState
    fates: dict[str, StepFate]


@dataclass(frozen=True, slots=True)
class Who:
    """The person who requests a retry, and when: seconds since the epoch."""

    by: str
    at: float


def edit_problems(plan: Plan, edits: Mapping[str, Edit]) -> Iterator[InputProblem]:
    """Yield the problems of `edits` for a retry under `plan`."""
    for step_id, edit in edits.items():
        path = f"steps.{step_id[:64]}"
        if step_id not in plan.index:
            yield InputProblem(path, "the definition has no such step", closest(step_id, plan.index))
        elif problem := resolution_problem(plan.step(step_id), edit.kind, edit.value):
            yield InputProblem(f"{path}.{FIELDS[edit.kind]}", problem)


def skip_problems(plan: Plan, saved: dict[str, Json], edits: Mapping[str, Edit]) -> Iterator[InputProblem]:
    """Yield which steps of an ended run cannot be skipped, because their effects would never be compensated."""
    skipped = [id_ for id_, edit in edits.items() if edit.kind is ResolutionKind.SKIP and id_ in plan.index]
    run = load(plan, saved) if skipped else None
    for step_id in skipped:
        if run is not None and is_stuck(run.steps[plan.index[step_id]]):
            message = (
                "its effects remain because its compensation failed, so it cannot count as skipped: undo it first, "
                "give it an output, or retry the run without this edit"
            )
            yield InputProblem(f"steps.{step_id}.skip", message)


_WORDS = {ResolutionKind.SKIP: "skipped by hand", ResolutionKind.OUTPUT: "takes an output given by hand"}

_FELL = (StepStatus.FAILED, StepStatus.PARKED)

FIELDS = {kind: "config" if kind is ResolutionKind.RETRY else str(kind) for kind in ResolutionKind}
"""How callers name the value of an edit."""


def plan_retry(
    old: Plan, new: Plan, saved: dict[str, Json], edits: Mapping[str, Edit], who: Who, *, rerun: Rerun = NOTHING
) -> Retry:
    """Return how an ended run of `old` continues under `new`; `edits` were checked before.

    A completed step is kept unless its work, its config, an input that it reads or a parent changed, or it was
    compensated. A step whose compensation failed is kept whatever changed, unless a person edits it or has it run
    again (`rerun`). In a completed run, the failures it tolerated are run again. `fallen` names the steps whose
    failures the retry resolves, for the dead-letter table.

    Raises: pydantic.ValidationError; InvalidValueError if edits do not fit their items.
    """
    ran = load(old, saved)
    problems: list[InputProblem] = []
    steps: list[StepState] = []
    fates: dict[str, StepFate] = {}
    for step in new.steps:
        before = old.steps[old.index[step.id]] if step.id in old.index else None
        state = None if before is None else ran.steps[before.index]
        kept = state if before is not None and _work(before.definition) == _work(step.definition) else None
        names = (new.steps[parent].id for parent in step.parents)
        follows = next((name for name in names if fates[name].fate is not Fate.REUSED), None)
        edit, of = edits.get(step.id), _Before(kept, follows, left_failed(ran, state), *rerun.whys(step))
        if edit is not None and edit.kind is ResolutionKind.ITEMS:
            problems += _items_problems(f"steps.{step.id}.", edit, state, of)
        fates[step.id] = fate = _fate(edit, state, of)
        if state is not None and fate.fate is Fate.REUSED:
            steps.append(stands(state))
        else:
            steps.append(_edited(edit, left := _left(of), who) or left)
    if problems:
        raise InvalidValueError(problems)
    dropped = StepFate(Fate.DROPPED, "the version to continue with has no such step")
    fates |= {step.id: dropped for step in old.steps if step.id not in new.index}
    run = derive(new, RunState(steps, ran.inputs, ran.context))
    fell = {step.id for step in old.steps if ran.steps[step.index].status in _FELL}
    run.fallen = [step.index for step in new.steps if step.id in fell]
    for index in run.fallen:
        run.steps[index].resolved_by = who.by
    return Retry(run, fates)


@dataclass(frozen=True, slots=True)
class _Before:
    """What a step's fate depends on. `kept`: its state if its work is unchanged; `follows`: a parent not reused.

    `left`: number of failed items to run again although the step completed.
    """

    kept: StepState | None
    follows: str | None
    left: int
    asked: str = ""
    """Why a person has it run again, whatever its state; empty if no one does."""
    changed: str = ""
    """Which of its inputs has changed; empty if none has."""


def _left(before: _Before) -> StepState:
    """Return what a step that runs again keeps: a config given by hand, and what it had done if nothing has changed."""
    if before.kept is None or before.follows:
        return StepState()
    return StepState(edited=before.kept.edited) if before.asked or before.changed else again(before.kept)


def _fate(edit: Edit | None, state: StepState | None, before: _Before) -> StepFate:
    if edit is not None and edit.kind in _WORDS:
        return StepFate(Fate.NEW, _WORDS[edit.kind])
    if state is None:
        return StepFate(Fate.NEW, "the version that ran has no such step")
    if edit is not None and edit.value is not None:
        by_hand = StepFate(Fate.RERUN, "takes a config given by hand")
        return _fate_of_items(edit, state) if edit.kind is ResolutionKind.ITEMS else by_hand
    if why := before.asked or ("" if is_stuck(state) else _why_again(state, before)):
        return StepFate(Fate.RERUN, why)
    if is_stuck(state):
        return StepFate(Fate.REUSED, "completed, and its effects remain: its compensation failed")
    return StepFate(Fate.REUSED, f"skipped: {state.reason}" if state.reason else str(state.status))


def _items_problems(prefix: str, edit: Edit, state: StepState | None, before: _Before) -> Iterator[InputProblem]:
    """Yield why a step's items cannot be edited: edits apply only to the list as it was."""
    why = "its definition has changed" if before.kept is None else ""
    if state is None:
        why = "the version that ran has no such step"
    elif before.follows:
        why = f"it follows {before.follows}, which is not reused"
    elif is_undone(state):
        why = "its effects were undone"
    if why:
        message = f"its list is computed again, because {why}: edits apply to the items of the earlier list only"
        yield InputProblem(f"{prefix}items", message)
    elif state is not None and state.status is StepStatus.COMPLETED and not (state.fan and state.fan.failed):
        yield InputProblem(f"{prefix}items", "the step has completed, and none of its items failed")
    elif state is not None:
        yield from item_problems(state.fan, edit.value, prefix)


def _fate_of_items(edit: Edit, state: StepState) -> StepFate:
    fan = with_items(again(state), edit.value).fan
    is_new = fan is not None and fan.next >= len(fan.items)
    why = _how_it_ended(state) if is_to_redo(state) else str(state.status)
    return StepFate(Fate.NEW if is_new else Fate.RERUN, f"{why}{kept_items(state)}; {describe_edits(edit.value)}")


def _why_again(state: StepState, before: _Before) -> str:
    if before.kept is None:
        return "its definition has changed"
    if is_to_redo(state):
        return _how_it_ended(state) + ("" if before.follows or is_undone(state) else kept_items(state))
    if before.follows:
        return f"follows {before.follows}, which is not reused"
    if before.changed:
        return before.changed
    if before.left and state.fan is not None:
        return f"{before.left} of its {len(state.fan.items)} items failed, and only these run again"
    return ""


def kept_items(state: StepState) -> str:
    """Describe how many of a step's items a retry keeps; empty for a step without a list."""
    if state.fan is None:
        return ""
    kept = sum(item.status is StepStatus.COMPLETED for item in state.fan.items)
    return f"; {kept} of its {len(state.fan.items)} items completed, and are kept" if kept else ""


def _how_it_ended(state: StepState) -> str:
    if is_undone(state):
        return "completed, but its effects were undone"
    if state.status in _FELL:
        return f"failed: {state.error.type}" if state.error else "failed"
    if state.reason is not None:
        return f"skipped: {state.reason}"
    return "cancelled" if state.status is StepStatus.CANCELLED else "had not ended"


def _edited(edit: Edit | None, left: StepState, who: Who) -> StepState | None:
    """Return the state with which an edited step begins, None for any other. `left`: what is kept of it."""
    match edit:
        case Edit(kind=ResolutionKind.ITEMS, value=given):
            return replace(with_items(left, given), resolved_by=who.by)
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
    """Return the run's context under another version: the new version number, and a placeholder for each webhook's URL.

    `nonce` is the random part of the placeholders, used if the run has none yet (workflows/driver.py).
    """
    run = context["run"]
    callbacks: dict[str, str] = dict(run["callbacks"])
    known = next(iter(callbacks.values()), f"callback://{nonce}/").rpartition("/")[0]
    for step in plan.webhooks:
        callbacks.setdefault(step.id, f"{known}/{step.id}")
    workflow = {**context["workflow"], "version": version}
    return {**context, "run": {**run, "callbacks": callbacks}, "workflow": workflow}


UNDOABLE = frozenset({RunStatus.FAILED, RunStatus.ABORTED})
"""Statuses of runs whose compensations can be retried. Not CANCELLED, which only Temporal can set."""


def plan_undoing(plan: Plan, saved: dict[str, Json]) -> Retry:
    """Return how an ended run continues to retry its failed compensations, and then ends as before.

    Its steps, its ending and its reason are kept, so the scheduler finds nothing else to do. If no step has the fate
    UNDONE, there is nothing to compensate and the run must not be started again. Raises: pydantic.ValidationError.
    """
    run = load(plan, saved)
    may_go_on = run.ending in UNDOABLE and not run.counters.unsettled
    fates = {step.id: _undo_of(state, may_go_on=may_go_on) for step, state in zip(plan.steps, run.steps, strict=True)}
    run.steps = [stands(state) for state in run.steps]
    run.outcome, run.ended_at, run.paused = None, None, False
    return Retry(derive(plan, run), fates)


def _undo_of(state: StepState, *, may_go_on: bool) -> StepFate:
    if is_undone(state):
        return StepFate(Fate.REUSED, "was undone, and is not undone again")
    if may_go_on and is_stuck(state):
        error = state.compensation_error
        return StepFate(Fate.UNDONE, f"could not be undone: {error.type if error else state.compensation}")
    return StepFate(Fate.REUSED, f"stays as it is: {state.status}")
