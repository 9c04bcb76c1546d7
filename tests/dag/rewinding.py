"""Continue a run as a retry of the same version does."""

from dataclasses import replace

from docrail.dag.engine.plan import Plan
from docrail.dag.engine.retry import Who, plan_retry
from docrail.dag.engine.saved_state import save
from docrail.dag.engine.state import RunState


def rewind(plan: Plan, run: RunState) -> RunState:
    """Return the state that a retry of `run` starts from, without the failures that it is to record as resolved."""
    return replace(plan_retry(plan, plan, save(plan, run), {}, Who("", 0.0)).state, fallen=[])
