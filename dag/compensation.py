"""Undoes what a run has done, when it ends without success: newest first, one after the other."""

from dag.fate import resolve
from dag.messages import Command, Start, Undo
from dag.moving import must_load
from dag.plan import Plan, Step
from dag.progress import Ending, close_undoing
from dag.scope import RunScope
from dag.state import RunState, StepError, StepStatus
from dag.stored import ForUndo
from dag.work import ExpressionError


def compensate(plan: Plan, run: RunState, commands: list[Command]) -> bool:
    """Tell whether something is still being undone; begin the next compensation if none runs."""
    if any(run.steps[step.index].compensation is StepStatus.RUNNING for step in plan.compensated):
        return True
    while (step := _next(plan, run)) is not None and not run.paused:
        state = run.steps[step.index]
        assert step.compensation is not None, "only such steps are in `compensated`"
        if must_load(plan, run, ForUndo(step.id), step.compensation.computed):
            return True
        try:
            config = resolve(step.compensation, RunScope(plan, run, by_reference=True))
        except ExpressionError as error:
            close_undoing(run, step, StepStatus.FAILED, StepError("TemplateError", error.message))
            continue
        state.compensation = StepStatus.RUNNING
        commands.append(Start(step.id, config, Undo()))
        return True
    return step is not None


def end_compensation(run: RunState, step: Step, ending: Ending) -> None:
    """Close a compensation; one that failed is told, and keeps no other from being tried."""
    if run.steps[step.index].compensation is StepStatus.RUNNING:
        close_undoing(run, step, ending.status, ending.error)


def _next(plan: Plan, run: RunState) -> Step | None:
    """Return the step that completed last among those still to be undone."""
    left = [
        step
        for step in plan.compensated
        if run.steps[step.index].status is StepStatus.COMPLETED and run.steps[step.index].compensation is None
    ]
    return max(left, key=lambda step: (run.steps[step.index].ended_at or 0.0, step.index), default=None)
