"""Undoes what a run has done, when it ends without success: newest first, one after the other."""

from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.state import RunState
from docrail.dag.language.statuses import StepStatus


def next_undo(plan: Plan, run: RunState) -> Step | None:
    """Return the step that completed last among those still to be undone."""
    left = [
        step
        for step in plan.compensated
        if run.steps[step.index].status is StepStatus.COMPLETED and run.steps[step.index].compensation is None
    ]
    return max(left, key=lambda step: (run.steps[step.index].ended_at or 0.0, step.index), default=None)
