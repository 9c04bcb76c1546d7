"""What becomes of steps whose values are loaded or stored outside the run, once they are, or cannot be."""

from dag.lists import end_storing
from dag.loading import missing_at, wanted
from dag.messages import Command, Load, Loaded, NotMoved, Stored
from dag.plan import Plan
from dag.progress import admit, settle
from dag.sandbox import NOTHING
from dag.state import OUTPUTS, RunState, RunStatus, StepStatus
from dag.stored import Path
from dag.values import shortened


def must_load(plan: Plan, run: RunState, reader: int, paths: tuple[Path, ...]) -> bool:
    """Tell whether the run's outputs, or what undoes a step, must read stored values first; note which."""
    if reader in run.loading:
        return True
    parts = wanted(plan.index, run, paths)
    if parts:
        run.loading[reader] = parts
        run.unread.append(reader)
    return bool(parts)


def begin_loading(plan: Plan, run: RunState, commands: list[Command]) -> None:
    """Ask for what steps, or the run's outputs, must read before they can be judged."""
    for reader in run.unread:
        name = "" if reader == OUTPUTS else plan.steps[reader].id
        commands.append(Load(name, tuple(part for _, part in run.loading[reader])))
    run.unread.clear()


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
    parts = run.loading.pop(reader, None)
    if parts is None:
        return
    if isinstance(event, Loaded):
        for number, ((place, part), value) in enumerate(zip(parts, event.values, strict=True)):
            if number in event.missing:
                run.loaded[missing_at(place, part, event.missing[number])] = NOTHING
            else:
                run.loaded[place] = value
    if reader == OUTPUTS:
        if isinstance(event, NotMoved):
            run.ending, run.stop_reason = RunStatus.FAILED, shortened(f"outputs: {event.error.message}")
        return
    _go_on(plan, run, reader, event)


def _go_on(plan: Plan, run: RunState, reader: int, event: Loaded | NotMoved) -> None:
    """Judge the step that was to read, or fail it; or let what undoes it begin."""
    state = run.steps[reader]
    error = event.error if isinstance(event, NotMoved) else None
    if state.status is StepStatus.PENDING and error is not None:
        state.error = error
        settle(plan, run, plan.steps[reader], StepStatus.FAILED, event.at)
    elif state.status is StepStatus.PENDING:
        admit(plan, run, plan.steps[reader], event.at)
    elif error is not None and state.compensation is None:
        state.compensation, state.compensation_error = StepStatus.FAILED, error
