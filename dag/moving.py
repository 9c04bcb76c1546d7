"""What becomes of steps whose values are loaded or stored outside the run, once they are, or cannot be."""

from collections.abc import Iterable
from typing import assert_never

from dag.lists import end_storing
from dag.loading import found_of, note_wants, wanted
from dag.messages import Command, Load, Loaded, Moved, NotLoaded, NotStored, Stored
from dag.plan import Plan, Step
from dag.progress import admit, close_undoing, settle
from dag.state import RunState, RunStatus, StepError, StepStatus
from dag.stored import ForOutputs, ForStep, ForUndo, Path, Reader
from dag.templates import Template
from dag.values import shortened

MOST_LOADS = 50
"""Loads at one time. Temporal lets a run have 2,000 activities, and what begins in a turn travels in one message."""


def must_load_outputs(plan: Plan, run: RunState, outputs: Template) -> bool:
    """Tell whether the run's outputs must read stored values first; note which. What is large and alone may stay."""
    computed = wanted(plan.index, run, outputs.computed)
    places = [want.place for want in computed]
    alone = [want for want in wanted(plan.index, run, outputs.alone, may_stay=True) if want.place not in places]
    return ForOutputs() in run.transfers.loading or note_wants(run, ForOutputs(), [*computed, *alone])


def must_load(plan: Plan, run: RunState, reader: ForUndo, paths: Iterable[Path]) -> bool:
    """Tell whether what undoes a step must read stored values first; note which."""
    return reader in run.transfers.loading or note_wants(run, reader, wanted(plan.index, run, paths))


def begin_loading(run: RunState, commands: list[Command]) -> None:
    """Ask for what steps, or the run's outputs, must read before they can be judged."""
    while run.transfers.unread and len(run.transfers.loading) - len(run.transfers.unread) < MOST_LOADS:
        reader = run.transfers.unread.pop(0)
        wants = run.transfers.loading[reader].wants
        may_stay = tuple(number for number, want in enumerate(wants) if want.may_stay)
        commands.append(Load(reader, tuple(want.part for want in wants), may_stay))


def end_moving(plan: Plan, run: RunState, event: Moved) -> None:
    """Fold in that values were loaded or stored, or could not be. A late or repeated event changes nothing."""
    match event:
        case Loaded() | NotLoaded():
            _end_loading(plan, run, event)
        case Stored(step, mark, at):
            end_storing(plan, run, plan.step(step), at, mark, None)
        case NotStored(step, error, at):
            end_storing(plan, run, plan.step(step), at, None, error)
        case _:
            assert_never(event)


def _end_loading(plan: Plan, run: RunState, event: Loaded | NotLoaded) -> None:
    loading = run.transfers.loading.pop(event.reader, None)
    if loading is None:
        return
    if isinstance(event, Loaded):
        for want, piece in zip(loading.wants, event.parts, strict=True):
            run.transfers.loaded[want.place] = found_of(want, piece)
    for each in (event.reader, *loading.followers):
        _go_on(plan, run, each, event)


def _go_on(plan: Plan, run: RunState, reader: Reader, event: Loaded | NotLoaded) -> None:
    """Judge the step that was to read, or fail it; or let its undoing, or the run's end, go on or fail."""
    error = event.error if isinstance(event, NotLoaded) else None
    match reader:
        case ForStep(step):
            _go_on_with_step(plan, run, plan.step(step), error, event.at)
        case ForUndo(step):
            if error is not None:
                close_undoing(run, plan.step(step), StepStatus.FAILED, error)
        case ForOutputs():
            if error is not None:
                run.ending, run.stop_reason = RunStatus.FAILED, shortened(f"outputs: {error.message}")
        case _:
            assert_never(reader)


def _go_on_with_step(plan: Plan, run: RunState, step: Step, error: StepError | None, at: float) -> None:
    state = run.steps[step.index]
    if state.status is not StepStatus.PENDING:
        return
    if error is None:
        admit(plan, run, step, at)
    else:
        state.error = error
        settle(plan, run, step, StepStatus.FAILED, at)
