"""Check that a run of a definition fits Temporal's limits: steps, predicted history events, definition size.

Also refuses placeholders of stored values, which only runs may contain.
"""

import json
from collections.abc import Mapping, Sequence

from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.step_kinds import CHUNK_ITEMS, StepKind
from docrail.dag.validation.document.outline import Outline, StepOutline
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_parts import walk
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import STORED

MAX_STEPS = 5_000
"""Largest number of steps: beyond it a run's graph, state and history are unusable."""

EVENTS_OF_A_RUN = 10

EVENTS: Mapping[StepKind, int] = {
    # Measured: an activity costs three events, the workflow task that starts it three more.
    StepKind.HANDLER: 6,
    # A timer is started and fires or is cancelled, an answer is accepted and completed, a workflow task or two.
    StepKind.WAIT: 8,
    # The question is opened, escalated and closed by activities, and waits twice.
    StepKind.HUMAN: 28,
    # A child is initiated, started and completed, with a workflow task for two of these.
    StepKind.WORKFLOW: 9,
    StepKind.ABORT: 0,
    StepKind.SWITCH: 0,
}
"""History events of a step that is not retried, by its kind."""

MAX_EVENTS = 40_000
"""Temporal ends a workflow at 51,200 events; the rest is for signals, updates and timers."""

MOST_NAMED = 3
"""Steps that a message lists."""

MAX_BYTES = 1_500_000
"""Temporal's limit for one payload is 2 MB, and the definition shares one with the run's inputs."""


def check_length(document: dict[str, Json], findings: Findings) -> bool:
    """Return whether the list of steps is not so long that looking at each would take seconds; report if it is."""
    steps = document.get("steps")
    if isinstance(steps, list) and len(steps) > 2 * MAX_STEPS:
        message = f"the definition has {len(steps)} steps, more than {MAX_STEPS}; nothing else was checked"
        findings.error("too-many-steps", ("steps",), message)
        return False
    return True


def check_steps(outline: Outline, findings: Findings) -> bool:
    """Return whether there are few enough steps to continue with the other checks; report if not."""
    count = len(outline.steps)
    if count > MAX_STEPS:
        findings.error("too-many-steps", ("steps",), f"the definition has {count} steps, more than {MAX_STEPS}")
    costs = [_events_of(step) for step in outline.steps]
    events = EVENTS_OF_A_RUN + sum(costs)
    if events > MAX_EVENTS:
        message = f"a run could write about {events} history events, more than {MAX_EVENTS}{_lists(outline, costs)}"
        findings.error("too-many-events", ("steps",), message)
    return count <= MAX_STEPS


def _events_of(step: StepOutline) -> int:
    undone = EVENTS[StepKind.HANDLER] if step.fields.get("compensate") is not None else 0
    return EVENTS[step.kind or StepKind.HANDLER] * _items_of(step) + undone


def _items_of(step: StepOutline) -> int:
    """Return how many items the run itself may execute: longer lists run in chunks, which cost it less."""
    if step.fields.get("for_each") is None:
        return 1
    items = step.part("for_each").get("items")
    return min(len(items), CHUNK_ITEMS) if isinstance(items, list) else CHUNK_ITEMS


def _lists(outline: Outline, costs: Sequence[int]) -> str:
    """Return the end of a message that lists the most expensive lists, with advice."""
    repeated = [(-cost, step) for cost, step in zip(costs, outline.steps, strict=True) if step.fields.get("for_each")]
    if not repeated:
        return ""
    largest = sorted(repeated, key=lambda entry: entry[0])[:MOST_NAMED]
    names = ", ".join(f"{step.name} {-cost}" for cost, step in largest)
    rest = ", …" if len(repeated) > MOST_NAMED else ""
    advice = "move some of them into other definitions and run those with 'workflow'"
    return f": because of the lists of {names}{rest}; {advice}"


def check_size(definition: Definition, findings: Findings) -> None:
    """Report a definition that is too large for one payload."""
    size = len(json.dumps(to_json(definition), ensure_ascii=False).encode())
    if size > MAX_BYTES:
        message = f"the definition has {size} bytes as JSON with all defaults, more than {MAX_BYTES}"
        findings.error("too-large", (), message)


_MESSAGE = f"the key '{STORED}' is reserved for references to stored values; write {{{{ STEP }}}} to pass one on"


def check_reserved_keys(document: Json, findings: Findings) -> None:
    """Report each key of `document`, as its author wrote it, that is reserved for stored values.

    Tests may use it: mocked results count as external data, and no run sees them.
    """
    for path, _ in walk(document):
        if path[-1:] == (STORED,) and path[0] != "tests":
            findings.error("reserved-key", path, _MESSAGE, STORED.removeprefix("$"), at_key=True)
