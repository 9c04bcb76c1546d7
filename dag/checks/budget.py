"""Checks that a run of a definition fits into Temporal: steps, predicted history events, bytes of the definition."""

from dag.checks.findings import Findings
from dag.checks.outline import Outline
from dag.definition import Definition

MAX_STEPS = 5_000
"""Beyond it a run's picture, its state and its history are of no use to anybody."""

EVENTS_OF_A_RUN = 10
EVENTS_OF_A_STEP = 6
"""Measured: an activity costs three events, the workflow task that starts it three more."""

MAX_EVENTS = 40_000
"""Temporal ends a workflow at 51,200 events; the rest is for signals, updates and timers."""

MAX_BYTES = 1_500_000
"""Temporal's limit for one payload is 2 MB, and the definition travels in one with the run's inputs."""


def check_steps(outline: Outline, findings: Findings) -> bool:
    """Tell whether there are few enough steps for the other checks to be worth their time; report if not."""
    count = len(outline.steps)
    if count > MAX_STEPS:
        findings.error("too-many-steps", ("steps",), f"the definition has {count} steps, more than {MAX_STEPS}")
    events = EVENTS_OF_A_RUN + EVENTS_OF_A_STEP * count
    if events > MAX_EVENTS:
        message = f"a run would write about {events} history events, more than {MAX_EVENTS}"
        findings.error("too-many-events", ("steps",), message)
    return count <= MAX_STEPS


def check_size(definition: Definition, findings: Findings) -> None:
    """Report a definition that is too large for one payload."""
    size = len(definition.model_dump_json().encode())
    if size > MAX_BYTES:
        message = f"the definition has {size} bytes as JSON, every default written out, more than {MAX_BYTES}"
        findings.error("too-large", (), message)
