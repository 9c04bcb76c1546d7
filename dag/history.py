"""How long a run's history may become: Temporal ends a run whose history is too long, without asking anybody."""

from dag.kinds import StepKind
from dag.plan import Plan
from dag.state import RunState, StepStatus

MAX_HISTORY_EVENTS = 45_000
"""Temporal ends a workflow at 51,200 events. The rest is for the run's end, and for what people ask of it meanwhile."""

MAX_HISTORY_BYTES = 45_000_000
"""Temporal ends a workflow whose history has 50 MB."""

EVENTS_OF_AN_END = 6
"""To stop something that runs, to undo a step or to tell the inbox of a failure: as much as a handler's step costs."""


def overlong(plan: Plan, run: RunState) -> str | None:
    """Say why the run must end before Temporal ends it; None if it need not."""
    ends = _ends(plan, run) * EVENTS_OF_AN_END
    if run.traffic.history_events + ends > MAX_HISTORY_EVENTS:
        found = f"{run.traffic.history_events} events, which with {ends} for its end are more than {MAX_HISTORY_EVENTS}"
    elif run.traffic.history_bytes > MAX_HISTORY_BYTES:
        found = f"{run.traffic.history_bytes} bytes, more than {MAX_HISTORY_BYTES}"
    else:
        return None
    return f"the run's history has {found}: retry it, what completed is kept and a new run has a fresh history"


def _ends(plan: Plan, run: RunState) -> int:
    """Return how much has to be stopped, undone or told of if the run is ended now, at most."""
    nested = (run.steps[step.index] for step in plan.lists if step.kind is StepKind.WORKFLOW)
    items = sum(state.fan.running for state in nested if state.fan is not None and state.status is StepStatus.RUNNING)
    of = run.counters
    return of.slots_used + of.running + of.waiting + of.parked + len(plan.compensated) + items
