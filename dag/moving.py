"""What becomes of steps whose values are loaded or stored outside the run, once they are, or cannot be."""

from collections.abc import Iterable

from dag.lists import end_storing
from dag.loading import found_of, note_wants, wanted
from dag.messages import Command, Load, Loaded, NotMoved, Stored
from dag.plan import Plan
from dag.progress import admit, close_undoing, settle
from dag.state import OUTPUTS, RunState, RunStatus, StepStatus
from dag.stored import Path
from dag.templates import Template
from dag.values import shortened

MOST_LOADS = 50
"""Loads at one time. Temporal lets a run have 2,000 activities, and what begins in a turn travels in one message."""


def must_load_outputs(plan: Plan, run: RunState, outputs: Template) -> bool:
    """Tell whether the run's outputs must read stored values first; note which. What is large and alone may stay."""
    computed = wanted(plan.index, run, outputs.computed)
    places = [want.place for want in computed]
    alone = [want for want in wanted(plan.index, run, outputs.alone, may_stay=True) if want.place not in places]
    return OUTPUTS in run.loading or note_wants(run, OUTPUTS, [*computed, *alone])


def must_load(plan: Plan, run: RunState, reader: int, paths: Iterable[Path]) -> bool:
    """Tell whether what undoes a step must read stored values first; note which."""
    return reader in run.loading or note_wants(run, reader, wanted(plan.index, run, paths))


def begin_loading(plan: Plan, run: RunState, commands: list[Command]) -> None:
    """Ask for what steps, or the run's outputs, must read before they can be judged."""
    while run.unread and len(run.loading) - len(run.unread) < MOST_LOADS:
        reader = run.unread.pop(0)
        wants = run.loading[reader].wants
        may_stay = tuple(number for number, want in enumerate(wants) if want.may_stay)
        name = "" if reader == OUTPUTS else plan.steps[reader].id
        commands.append(Load(name, tuple(want.part for want in wants), may_stay))


def end_moving(plan: Plan, run: RunState, event: Loaded | Stored | NotMoved) -> None:
    """Fold in that values were loaded or stored, or could not be. What is late or repeated changes nothing."""
    reader = plan.index[event.step] if event.step else OUTPUTS
    match event:
        case Stored(mark=mark, at=at):
            end_storing(plan, run, plan.steps[reader], at, mark, None)
        case NotMoved() if reader not in run.loading:
            end_storing(plan, run, plan.steps[reader], event.at, None, event.error)
        case Loaded() | NotMoved():
            _end_loading(plan, run, reader, event)


def _end_loading(plan: Plan, run: RunState, reader: int, event: Loaded | NotMoved) -> None:
    loading = run.loading.pop(reader, None)
    if loading is None:
        return
    if isinstance(event, Loaded):
        for want, piece in zip(loading.wants, event.parts, strict=True):
            run.loaded[want.place] = found_of(want, piece)
    for each in (reader, *loading.followers):
        _go_on(plan, run, each, event)


def _go_on(plan: Plan, run: RunState, reader: int, event: Loaded | NotMoved) -> None:
    """Judge the step that was to read, or fail it; or let what undoes it, or the run's end, begin."""
    error = event.error if isinstance(event, NotMoved) else None
    if reader == OUTPUTS:
        if error is not None:
            run.ending, run.stop_reason = RunStatus.FAILED, shortened(f"outputs: {error.message}")
        return
    state, step = run.steps[reader], plan.steps[reader]
    if state.status is StepStatus.PENDING and error is not None:
        state.error = error
        settle(plan, run, step, StepStatus.FAILED, event.at)
    elif state.status is StepStatus.PENDING:
        admit(plan, run, step, event.at)
    elif error is not None and state.status is StepStatus.COMPLETED and step.compensation is not None:
        close_undoing(run, step, StepStatus.FAILED, error)
