"""Where a run begins: from nothing, from a saved state, or rewound to try its failed steps again."""

from dataclasses import asdict

from pydantic import TypeAdapter

from dag.plan import Plan
from dag.state import SETTLED, RunState, SkipReason, StepState, StepStatus
from dag.values import Json

_STEP_STATES = TypeAdapter(dict[str, StepState])
_DERIVED = ("unsettled_parents", "unsettled_in_layer", "ready", "open_layer", "running", "unsettled", "failures")
_REDO = frozenset({StepStatus.FAILED, StepStatus.CANCELLED})
_REDO_REASONS = frozenset({SkipReason.UPSTREAM_FAILED, SkipReason.ABORTED})


def begin(plan: Plan, inputs: dict[str, Json], context: dict[str, Json]) -> RunState:
    """Return the state of a run that has not started."""
    return _derive(plan, RunState([StepState() for _ in plan.steps], inputs, context))


def save(plan: Plan, run: RunState) -> dict[str, Json]:
    """Return a run's state as JSON, by step id: it can be loaded under another plan that has the same steps."""
    saved = {name: value for name, value in asdict(run).items() if name not in _DERIVED}
    steps = dict(zip((step.id for step in plan.steps), run.steps, strict=True))
    return saved | {"steps": _STEP_STATES.dump_python(steps, mode="json")}


def load(plan: Plan, saved: dict[str, Json]) -> RunState:
    """Return a saved state, ready to go on. Raises pydantic.ValidationError; steps it does not know are pending."""
    states = _STEP_STATES.validate_python(saved["steps"])
    steps = [states.get(step.id) or StepState() for step in plan.steps]
    return _derive(plan, TypeAdapter(RunState).validate_python(saved | {"steps": steps}))


def rewind(plan: Plan, run: RunState) -> RunState:
    """Return the state a retry starts from: finished work kept, the rest pending again.

    The rest is what failed, was cancelled, or was skipped because of that, and all that follows it.
    """
    redo = [_is_to_redo(state) for state in run.steps]
    for step in plan.steps:
        redo[step.index] = redo[step.index] or any(redo[parent] for parent in step.parents)
    steps = [StepState() if again else state for again, state in zip(redo, run.steps, strict=True)]
    return _derive(plan, RunState(steps, run.inputs, run.context))


def _is_to_redo(state: StepState) -> bool:
    return state.status not in SETTLED or state.status in _REDO or state.reason in _REDO_REASONS


def _derive(plan: Plan, run: RunState) -> RunState:
    """Fill in the counters that `advance` keeps, from the statuses."""
    settled = [state.status in SETTLED for state in run.steps]
    run.unsettled_parents = [sum(not settled[parent] for parent in step.parents) for step in plan.steps]
    run.unsettled_in_layer = [sum(not settled[index] for index in layer) for layer in plan.layers]
    run.ready = [index for index, state in enumerate(run.steps) if state.status is StepStatus.QUEUED]
    run.running = sum(state.status is StepStatus.RUNNING for state in run.steps)
    run.unsettled = settled.count(False)
    run.failures = sum(
        state.status is StepStatus.FAILED and not step.definition.optional
        for step, state in zip(plan.steps, run.steps, strict=True)
    )
    return run
