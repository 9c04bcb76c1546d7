"""The fates of a run as the language reference tells them: slow, obvious, and written without looking at the scheduler.

For `on_failure: continue` without an abort. Nothing here knows an order in which work ends, so a scheduler that agrees
with it cannot depend on one.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from dag.definition import Definition, Step, TriggerRule
from dag.state import RunStatus, SkipReason, StepStatus

BREAKS = {"value": "{{ inputs.missing }}"}
"""A config that cannot be resolved."""


def reads(parent: str) -> dict[str, str]:
    """Return a config that can only be resolved if `parent` completed."""
    return {"value": "{{ " + parent + " }}"}


TRUTHS: Mapping[str | None, bool | None] = {
    None: True,
    "true": True,
    "1 > 2": False,
    "inputs.missing": None,
    "'yes'": None,
}
"""The conditions that the specification knows; None stands for an error."""


def watches(parent: str) -> str:
    """Return a condition that is true if `parent` completed, and false however else it ended."""
    return f'steps.{parent}.status == "completed"'


@dataclass(frozen=True, slots=True)
class Fate:
    """How one step ends."""

    status: StepStatus
    reason: SkipReason | None = None


@dataclass(frozen=True, slots=True)
class Specified:
    """How a run ends."""

    steps: dict[str, Fate]
    run: RunStatus


RAN = Fate(StepStatus.COMPLETED)
FELL = Fate(StepStatus.FAILED)


def specify(definition: Definition, failing: AbstractSet[str]) -> Specified:
    """Return how every step and the run end if exactly the handlers of the steps in `failing` fail."""
    steps = {step.id: step for step in definition.steps}
    known: dict[str, Fate] = {}

    def fate_of(step_id: str) -> Fate:
        if step_id not in known:
            step = steps[step_id]
            known[step_id] = _fate(step, {parent: fate_of(parent) for parent in step.depends_on}, failing)
        return known[step_id]

    fates = {step_id: fate_of(step_id) for step_id in steps}
    lost = any(fates[step.id].status is StepStatus.FAILED and not step.optional for step in definition.steps)
    return Specified(fates, RunStatus.FAILED if lost else RunStatus.COMPLETED)


def _fate(step: Step, parents: Mapping[str, Fate], failing: AbstractSet[str]) -> Fate:
    """Trigger rule first, then the condition, then the config, then the handler."""
    if parents or step.trigger_rule in NEEDS_A_PARENT:
        reason = TABLE[step.trigger_rule](list(parents.values()))
        if reason is not None:
            return Fate(StepStatus.SKIPPED, reason)
    truth = _truth(step, parents)
    if truth is None:
        return FELL
    if truth is False:
        return Fate(StepStatus.SKIPPED, SkipReason.CONDITION_FALSE)
    unreadable = step.config == BREAKS or any(
        step.config == reads(parent) and fate != RAN for parent, fate in parents.items()
    )
    return FELL if unreadable or step.id in failing else RAN


def _truth(step: Step, parents: Mapping[str, Fate]) -> bool | None:
    for parent, fate in parents.items():
        if step.condition == watches(parent):
            return fate == RAN
    return TRUTHS[step.condition]


def _completed(parents: list[Fate]) -> bool:
    return any(fate == RAN for fate in parents)


def _bad(fate: Fate) -> bool:
    return fate == FELL or fate.reason is SkipReason.UPSTREAM_FAILED


def _why(parents: list[Fate]) -> SkipReason:
    return SkipReason.UPSTREAM_FAILED if any(map(_bad, parents)) else SkipReason.UPSTREAM_SKIPPED


def _none_failed(parents: list[Fate]) -> SkipReason | None:
    return None if not any(map(_bad, parents)) and _completed(parents) else _why(parents)


def _all_success(parents: list[Fate]) -> SkipReason | None:
    return None if all(fate == RAN for fate in parents) else _why(parents)


def _all_done(parents: list[Fate]) -> SkipReason | None:
    return None


def _one_success(parents: list[Fate]) -> SkipReason | None:
    return None if _completed(parents) else _why(parents)


def _one_failed(parents: list[Fate]) -> SkipReason | None:
    return None if any(map(_bad, parents)) else SkipReason.RULE_NOT_MET


def _all_failed(parents: list[Fate]) -> SkipReason | None:
    return None if all(map(_bad, parents)) else SkipReason.RULE_NOT_MET


TABLE: Mapping[TriggerRule, Callable[[list[Fate]], SkipReason | None]] = {
    TriggerRule.NONE_FAILED: _none_failed,
    TriggerRule.ALL_SUCCESS: _all_success,
    TriggerRule.ALL_DONE: _all_done,
    TriggerRule.ONE_SUCCESS: _one_success,
    TriggerRule.ONE_FAILED: _one_failed,
    TriggerRule.ALL_FAILED: _all_failed,
}
NEEDS_A_PARENT = frozenset({TriggerRule.ONE_SUCCESS, TriggerRule.ONE_FAILED})
"""Rules that ask for one parent of a kind: a step without parents cannot have it."""
