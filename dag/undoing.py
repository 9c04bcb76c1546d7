"""What a retry of just the undoing does: an ended run stays as it is, and what could not be undone is tried again."""

from dag.plan import Plan
from dag.retry import Fate, Retry, StepFate
from dag.rewind import derive, is_stuck, is_undone, load, stands
from dag.state import RunStatus, StepState
from dag.values import Json

UNDOABLE = frozenset({RunStatus.FAILED, RunStatus.ABORTED})
"""How a run must have ended. One that was cancelled cannot end so again: only Temporal can say that of a run."""


def plan_undoing(plan: Plan, saved: dict[str, Json]) -> Retry:
    """Return how a run, saved at its end, goes on to undo what it could not undo, and then to end as it did before.

    Its steps, its ending and the reason for it are kept, so the scheduler finds nothing to do but that. No step has the
    fate UNDONE where nothing is to be undone: the run must not be started again then. Raises: pydantic.ValidationError.
    """
    run = load(plan, saved)
    may_go_on = run.ending in UNDOABLE and not run.counters.unsettled
    fates = {step.id: _fate(state, may_go_on=may_go_on) for step, state in zip(plan.steps, run.steps, strict=True)}
    run.steps = [stands(state) for state in run.steps]
    run.outcome, run.ended_at, run.paused = None, None, False
    return Retry(derive(plan, run), fates)


def _fate(state: StepState, *, may_go_on: bool) -> StepFate:
    if is_undone(state):
        return StepFate(Fate.REUSED, "was undone, and is not undone again")
    if may_go_on and is_stuck(state):
        error = state.compensation_error
        return StepFate(Fate.UNDONE, f"could not be undone: {error.type if error else state.compensation}")
    return StepFate(Fate.REUSED, f"stays as it is: {state.status}")
