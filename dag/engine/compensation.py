"""Choose the next step to compensate when a run ends without success: newest first, one at a time."""

from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.state import RunState
from docrail.dag.language.statuses import StepStatus


def is_undoing(plan: Plan, run: RunState) -> bool:
    """Return whether a compensation is running."""
    return any(run.steps[step.index].compensation is StepStatus.RUNNING for step in plan.compensated)


def next_undo(plan: Plan, run: RunState) -> Step | None:
    """Return the most recently completed step that is not compensated yet, None if there is none left."""
    left = [
        step
        for step in plan.compensated
        if run.steps[step.index].status is StepStatus.COMPLETED and run.steps[step.index].compensation is None
    ]
    return max(left, key=lambda step: (run.steps[step.index].ended_at or 0.0, step.index), default=None)
