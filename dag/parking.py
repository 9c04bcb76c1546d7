"""`on_failure: park`: a step that failed waits for a person, who has it tried again, skipped, or given an output."""

from dag.fan import unfinished
from dag.inputs import InputProblem
from dag.item_edits import item_problems, shape_problem, with_items
from dag.kinds import StepKind
from dag.messages import Resolution, ResolutionKind
from dag.plan import Plan, Step
from dag.progress import admit, note_stored, settle
from dag.state import RunState, SkipReason, StepState, StepStatus
from dag.stored import has_parts, parts_in
from dag.values import MAX_VALUE_BYTES, Json, size_of


def resolve_parked(plan: Plan, run: RunState, step: Step, resolution: Resolution, at: float) -> None:
    """Do with a parked step what a person decided; for a step that is not parked, nothing."""
    state = run.steps[step.index]
    if state.status is not StepStatus.PARKED or run.stopping:
        return
    run.counters.leave(StepStatus.PARKED)
    run.fallen.append(step.index)
    by = resolution.by
    match resolution.kind:
        case ResolutionKind.RETRY:
            edited = state.edited if resolution.value is None else resolution.value
            run.steps[step.index] = StepState(fan=unfinished(state.fan), edited=edited, resolved_by=by)
            admit(plan, run, step, at)
        case ResolutionKind.ITEMS:
            left = StepState(fan=unfinished(state.fan), edited=state.edited, resolved_by=by)
            run.steps[step.index] = with_items(left, resolution.value or {})
            admit(plan, run, step, at)
        case ResolutionKind.SKIP:
            state.resolved_by, state.decided_by, state.reason = by, "operator", SkipReason.OPERATOR
            settle(plan, run, step, StepStatus.SKIPPED, at)
        case ResolutionKind.OUTPUT:
            state.resolved_by, state.decided_by, state.output, state.error = by, "operator", resolution.value, None
            note_stored(run, state)
            settle(plan, run, step, StepStatus.COMPLETED, at)


def resolution_problems(run: RunState, step: Step, kind: str, value: Json) -> list[InputProblem]:
    """Return why a parked step cannot be resolved so, each with the item that it is about, or `value`."""
    if problem := resolution_problem(step, kind, value):
        return [InputProblem("value", problem)]
    return list(item_problems(run.steps[step.index].fan, value)) if kind == ResolutionKind.ITEMS else []


def resolution_problem(step: Step, kind: str, value: Json) -> str | None:
    """Return why no step like this can be resolved so, whatever became of it; None if it can."""
    if kind not in tuple(ResolutionKind):
        return f"a parked step takes {', '.join(ResolutionKind)}, not {kind[:64]!r}"
    if (size := size_of(value)) > MAX_VALUE_BYTES:
        return f"takes {size} bytes as JSON, more than {MAX_VALUE_BYTES}"
    if has_parts(value) and any(parts_in(value)):
        return "holds what stands for a stored value, which only what steps give may"
    return _value_problem(step, kind, value)


def _value_problem(step: Step, kind: str, value: Json) -> str | None:
    if kind == ResolutionKind.RETRY and value is not None:
        if step.items is not None:
            return "a step over a list takes no config of its own: give it to the items that need another one"
        if step.kind not in (StepKind.HANDLER, StepKind.WORKFLOW):
            return "only a step that runs one handler or one nested run takes another config"
        if not isinstance(value, dict):
            return "a config is an object"
    if kind == ResolutionKind.SKIP and value is not None:
        return "a step that is skipped takes no value"
    if kind == ResolutionKind.ITEMS:
        return shape_problem(step, value)
    return None
