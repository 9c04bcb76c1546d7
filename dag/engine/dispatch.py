"""Choose which ready steps and items begin: in plan order, while slots are free and the run's limits allow.

Also computes the cache key of a step's work. Work is equal within a tenant if the handler, the config as written in the
definition and the resolved key are equal. A changed config therefore never finds an old output, whatever the key leaves
out, and steps of several definitions with the same config share outputs.

A run is stopped before its history reaches the limit at which Temporal terminates the workflow.
"""

from dataclasses import replace

from docrail.dag.engine import events
from docrail.dag.engine.eligibility import resolve
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import RunScope
from docrail.dag.engine.state import Answer, RunState, StepError
from docrail.dag.language.definition import Dispatch
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import LONGEST_WAIT_SECONDS, SHORTEST_SECONDS, StepKind
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import Json, digest, size_of

MAX_CARRIED_BYTES = 30_000_000
"""Limit for a run's configs and outputs together, in bytes. Temporal ends a workflow whose history has 50 MB; the rest
is for the events around them, a few hundred bytes each, and for the run's own start and end."""

MAX_BEGUN_BYTES = 2_000_000
"""Limit for the configs of everything that begins at one moment, in bytes. They are sent to Temporal in one message of
at most 4 MB; a larger one would end the run. The rest begins in the next turn."""


def may_dispatch(plan: Plan, run: RunState) -> bool:
    """Return whether a step is ready and the run is neither paused nor stopping."""
    return not run.paused and not run.stopping and next_ready(plan, run) is not None


def next_ready(plan: Plan, run: RunState) -> Step | None:
    """Return the first step in plan order that may begin, or begin one more item; None if there is none."""
    counters = run.counters
    ready = counters.ready if counters.slots_used < plan.max_concurrency else ()
    if ready and counters.ready_free:
        step = plan.steps[min(ready[0], counters.ready_free[0])]
    elif ready or counters.ready_free:
        step = plan.steps[(ready or counters.ready_free)[0]]
    else:
        return None
    return step if plan.dispatch is Dispatch.READY or step.layer <= counters.open_layer else None


def sent_bytes(plan: Plan, run: RunState, command: events.Command) -> int:
    """Return how many bytes of JSON a command sends that starts something; 0 for any other one."""
    if isinstance(command, events.Start):
        size = size_of(command.config)
    elif isinstance(command, events.StartChunk):
        size = sum(size_of(item.config) for item in command.items)
    else:
        return 0
    nested = run.traffic.nested_bytes
    return size + nested if nested and plan.step(command.step).kind is StepKind.WORKFLOW else size


def received_bytes(event: events.Event) -> int:
    """Return how many bytes of JSON an event brings."""
    match event:
        case events.StepCompleted(output=carried) | events.Answered(answer=Answer(value=carried)):
            return size_of(carried)
        case events.Loaded(parts=pieces):
            return sum(size_of(piece.value) for piece in pieces)
        case events.ChunkEnded(ends=ends):
            return sum(size_of(ended.output) for ended in ends)
        case events.StepFailed(error=StepError(message=carried)):
            return len(carried)
        case _:
            return 0


def is_duration(seconds: Json) -> bool:
    """Return whether `seconds` is a number that a wait accepts."""
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return is_number and SHORTEST_SECONDS <= seconds <= LONGEST_WAIT_SECONDS


def cache_key_of(step: Step, scope: RunScope, config: Json, edited: Json = None) -> str | None:
    """Return the digest (64 hex digits) of the work that a step, or one of its items, is about to do.

    None for steps without `cache`. `config` is the handler's resolved config; `edited` is a config that a person gave
    instead of the definition's. Raises: ExpressionError, if the key cannot be computed.
    """
    definition = step.definition
    if definition.cache is None:
        return None
    says = definition.config if edited is None else edited
    try:
        key = config if step.cache_key is None else resolve(step.cache_key, replace(scope, by_reference=False))
        return digest([definition.handler, says, key])
    except ExpressionError as error:
        raise error.within("cache.key") from error
    except ValueError as error:  # a number that JSON cannot represent, or a lone surrogate
        raise ExpressionError(f"cache.key: cannot be written as JSON: {error}") from error


MAX_HISTORY_EVENTS = 45_000
"""Temporal ends a workflow at 51,200 events. The rest is for the run's end and for requests that arrive meanwhile."""

MAX_HISTORY_BYTES = 45_000_000
"""Temporal ends a workflow whose history has 50 MB."""

EVENTS_OF_AN_END = 6
"""Events for cancelling a step, compensating a step or recording a failure: as many as a handler's step takes."""


def excess(plan: Plan, run: RunState) -> str | None:
    """Return why the run must end before Temporal ends it, None if it need not."""
    carried = run.traffic.carried_bytes
    if carried > MAX_CARRIED_BYTES:
        found = f"the configs and outputs of the run take {carried} bytes as JSON together"
        return f"{found}, more than {MAX_CARRIED_BYTES}: let its steps pass references"
    ends = _ends(plan, run) * EVENTS_OF_AN_END
    if run.traffic.history_events + ends > MAX_HISTORY_EVENTS:
        found = f"{run.traffic.history_events} events, which with {ends} for its end are more than {MAX_HISTORY_EVENTS}"
    elif run.traffic.history_bytes > MAX_HISTORY_BYTES:
        found = f"{run.traffic.history_bytes} bytes, more than {MAX_HISTORY_BYTES}"
    else:
        return None
    return f"the run's history has {found}: retry it, what completed is kept and a new run has a fresh history"


def _ends(plan: Plan, run: RunState) -> int:
    """Return an upper bound for the steps to cancel, compensate or record if the run ends now."""
    of = run.counters
    ends = of.slots_used + of.running + of.waiting + of.parked + len(plan.compensated)
    for step in plan.lists:
        state = run.steps[step.index]
        if step.kind is StepKind.WORKFLOW and state.fan is not None and state.status is StepStatus.RUNNING:
            ends += state.fan.running
    return ends
