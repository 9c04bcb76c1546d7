"""The trigger rules as functions of how a step's parents ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dag.definition import TriggerRule
from dag.state import SkipReason


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How a step's settled parents ended. `bad`: failed, or skipped because something upstream failed."""

    completed: int
    bad: int
    skipped: int
    """Skipped by choice: a condition, a trigger rule, or parents that were themselves skipped by choice."""


def _blocked(outcomes: Outcomes) -> SkipReason:
    return SkipReason.UPSTREAM_FAILED if outcomes.bad else SkipReason.UPSTREAM_SKIPPED


def _none_failed(of: Outcomes) -> SkipReason | None:
    runs = not of.bad and (of.completed or not of.skipped)
    return None if runs else _blocked(of)


def _all_success(of: Outcomes) -> SkipReason | None:
    return _blocked(of) if of.bad or of.skipped else None


def _one_success(of: Outcomes) -> SkipReason | None:
    return None if of.completed else _blocked(of)


def _one_failed(of: Outcomes) -> SkipReason | None:
    return None if of.bad else SkipReason.RULE_NOT_MET


def _all_failed(of: Outcomes) -> SkipReason | None:
    return SkipReason.RULE_NOT_MET if of.completed or of.skipped else None


RULES: Mapping[TriggerRule, Callable[[Outcomes], SkipReason | None]] = {
    TriggerRule.NONE_FAILED: _none_failed,
    TriggerRule.ALL_SUCCESS: _all_success,
    TriggerRule.ALL_DONE: lambda _: None,
    TriggerRule.ONE_SUCCESS: _one_success,
    TriggerRule.ONE_FAILED: _one_failed,
    TriggerRule.ALL_FAILED: _all_failed,
}
"""For each rule: why a step with such parents is skipped, None if it runs (the language's truth table)."""
