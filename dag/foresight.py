"""What is sure before a retry begins: the steps that will not run, whatever becomes of those that do."""

from collections.abc import Iterator

from dag.fate import skip_if
from dag.messages import RunStarted
from dag.plan import Plan
from dag.retry import Fate, Retry, StepFate
from dag.rewind import load, save
from dag.scheduler import advance
from dag.state import SETTLED, SkipReason, StepStatus


def foretold(plan: Plan, retry: Retry, at: float) -> dict[str, StepFate]:
    """Return what becomes of each step, those included that are sure to be skipped. Leaves `retry` as it is."""
    skips = {step_id: StepFate(Fate.SKIPPED, str(reason)) for step_id, reason in _sure_skips(plan, retry, at)}
    return retry.fates | skips


def _sure_skips(plan: Plan, retry: Retry, at: float) -> Iterator[tuple[str, SkipReason]]:
    """Yield the steps that the run will skip, and why, as the scheduler decides it.

    It takes the run's first turn. What then waits for others is skipped where its trigger rule says so both if they all
    end well and if they all fail: no rule asks for anything between (dag.trigger_rules). What fails may change why.
    """
    ahead = load(plan, save(plan, retry.state))
    advance(plan, ahead, RunStarted(at))
    if ahead.stopping:  # what it skips for that depends on what ends first
        return
    for step in plan.steps:
        state = ahead.steps[step.index]
        if state.status is StepStatus.PENDING:
            best, worst = skip_if(ahead, step, well=True), skip_if(ahead, step, well=False)
            if best and worst:
                state.reason = best
                state.status = StepStatus.SKIPPED if best is worst else state.status
        if state.reason is not None and retry.state.steps[step.index].status not in SETTLED:
            yield step.id, state.reason
