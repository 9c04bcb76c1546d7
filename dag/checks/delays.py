"""Checks times that contradict each other: a longest delay below the first, all attempts together below one."""

from dag.checks.findings import Findings
from dag.checks.outline import Outline, StepOutline
from dag.definition import RetryConfig
from dag.problems import Path
from dag.values import Json

FIRST_DELAY: float = RetryConfig().initial_delay
"""Of a step that does not say otherwise."""


def check_delays(defaults: Json, outline: Outline, findings: Findings) -> None:
    """Report each step whose `max_delay` is less than its `initial_delay`, wherever it has them from, and such totals.

    Temporal would refuse such delays only when a run is at the step.
    """
    common = defaults.get("retry_config") if isinstance(defaults, dict) else None
    for step in outline.steps:
        _check_total(step, findings)
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


def _check_total(step: StepOutline, findings: Findings) -> None:
    one, total = step.fields.get("timeout_seconds"), step.fields.get("total_timeout_seconds")
    if isinstance(one, int | float) and isinstance(total, int | float) and total < one:
        message = (
            f"'total_timeout_seconds' is {total:g} s, less than 'timeout_seconds', {one:g} s: "
            f"no attempt is given its {one:g} s"
        )
        findings.warning("never-used", (*step.path, "total_timeout_seconds"), message)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
