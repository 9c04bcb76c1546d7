"""Checks what Temporal would refuse only when a run is at the step: a longest delay that is less than the first."""

from dag.checks.findings import Findings
from dag.checks.outline import Outline
from dag.definition import RetryConfig
from dag.problems import Path
from dag.values import Json

FIRST_DELAY: float = RetryConfig().initial_delay
"""Of a step that does not say otherwise."""


def check_delays(defaults: Json, outline: Outline, findings: Findings) -> None:
    """Report each step whose `max_delay` is less than its `initial_delay`, wherever it has them from."""
    common = defaults.get("retry_config") if isinstance(defaults, dict) else None
    for step in outline.steps:
        retry = step.part("retry_config")
        first, most = retry.get("initial_delay", FIRST_DELAY), retry.get("max_delay")
        if not _is_number(first) or not _is_number(most) or most >= first:
            continue  # what is no number at all is told with the fields
        is_common = isinstance(common, dict) and retry == common
        path: Path = ("defaults", "retry_config") if is_common else (*step.path, "retry_config")
        message = (
            f"'max_delay' is {most:g} s, less than 'initial_delay', {first:g} s: the first delay would be the longest"
        )
        findings.error("wrong-value", (*path, "max_delay"), message)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
