"""The fates of a run as the language reference describes them: slow, obvious, and independent of the scheduler.

For `on_failure: continue` without an abort from outside. Nothing here knows an order in which work ends, so a scheduler
that agrees with it cannot depend on one.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from docrail.dag.language.definition import Definition, Step, TriggerRule
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import ForEach, Human, Then, Wait, WaitFor
from docrail.dag.values.json_values import Json

BREAKS = {"value": "{{ inputs.missing }}"}
"""A config that cannot be resolved."""

READS_ITEM = {"value": "{{ item.n }}"}
"""A config that can only be resolved for an item that has an `n`."""

BY_NUMBER = "item.n"
"""A key that can only be read of an item that has an `n`."""


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

DURATIONS: Mapping[Json, bool] = {5: True, "{{ 2 + 3 }}": True, 0: False, "{{ 'soon' }}": False, "{{ none }}": False}
"""The times of timers that the specification knows, and whether they are durations."""


def watches(parent: str) -> str:
    """Return a condition that is true if `parent` completed, and false however else it ended."""
    return f'steps.{parent}.status == "completed"'


def work_name(step: str, item: int | None) -> str:
    """Return the name of what runs: a step, or one item of it."""
    return step if item is None else f"{step}[{item}]"


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """A step's fate, and the way out that it took."""

    fate: Fate
    branch: str | None = None


RAN = Fate(StepStatus.COMPLETED)
FELL = Fate(StepStatus.FAILED)
ENDED = Fate(StepStatus.CANCELLED)
"""The fate of a step whose lateness ends the run."""
NOT_TAKEN = Fate(StepStatus.SKIPPED, SkipReason.CONDITION_FALSE)
"""What a step looks like to those that follow it into a branch it did not take."""


def specify(
    definition: Definition,
    failing: AbstractSet[str],
    overdue: AbstractSet[str] = frozenset(),
    *,
    fixed: bool = False,
    ended_late: AbstractSet[str] = frozenset(),
) -> Specified:
    """Return how every step and the run end if exactly the work in `failing` fails and no one answers `overdue`.

    `ended_late`: the steps that waited when the deadline of the run passed, or came to wait after it.
    `fixed`: a person gives the output of each step that fails, but for the optional ones.
    Of a run that is ABORTED by one of its steps, only that is meant: how the other steps end depends on the order.
    """
    steps = {step.id: step for step in definition.steps}
    known: dict[str, Outcome] = {}

    def outcome_of(step_id: str) -> Outcome:
        if step_id not in known:
            step = steps[step_id]
            shown = _outcome(step, {parent: outcome_of(parent) for parent in step.parents}, failing, overdue)
            if step_id in ended_late and shown.fate == RAN and definition.on_deadline is not None:
                shown = Outcome(RAN, definition.on_deadline.branch)
            known[step_id] = Outcome(RAN) if fixed and shown.fate == FELL and not step.optional else shown
        return known[step_id]

    fates = {step_id: outcome_of(step_id).fate for step_id in steps}
    if any(fates[step.id] == ENDED or (step.abort and fates[step.id] == RAN) for step in definition.steps):
        return Specified(fates, RunStatus.ABORTED)
    lost = any(fates[step.id].status is StepStatus.FAILED and not step.optional for step in definition.steps)
    return Specified(fates, RunStatus.FAILED if lost else RunStatus.COMPLETED)


def _outcome(
    step: Step, parents: Mapping[str, Outcome], failing: AbstractSet[str], overdue: AbstractSet[str]
) -> Outcome:
    """Trigger rule first, then the condition, then what the kind of step does."""
    fates = {parent: shown.fate for parent, shown in parents.items()}
    if parents or step.trigger_rule in NEEDS_A_PARENT:
        reason = TABLE[step.trigger_rule]([_seen(step, parent, shown) for parent, shown in parents.items()])
        if reason is not None:
            return Outcome(Fate(StepStatus.SKIPPED, reason))
    truth = _truth(step.condition, fates)
    if truth is not True:
        return Outcome(FELL if truth is None else Fate(StepStatus.SKIPPED, SkipReason.CONDITION_FALSE))
    if step.for_each:
        return Outcome(_over_items(step, step.for_each, fates, failing))
    if step.switch:
        return _switched(step, fates)
    if waiting := step.wait or step.human:
        return _waited(step, waiting, fates, step.id in failing, step.id in overdue)
    fails = step.id in failing and step.abort is None  # an abort has no work that fails
    return Outcome(FELL if fails or _unreadable(step, fates) else RAN)


def _seen(step: Step, parent: str, shown: Outcome) -> Fate:
    """Return what `step` sees of a parent: one that took none of the branches it follows is skipped by choice."""
    edges = [edge.partition(".") for edge in step.depends_on]
    branches = {branch for name, _, branch in edges if name == parent}
    return NOT_TAKEN if shown.fate == RAN and "" not in branches and shown.branch not in branches else shown.fate


def _unreadable(step: Step, parents: Mapping[str, Fate]) -> bool:
    """Return whether what the step's kind takes cannot be resolved."""
    if step.wait:
        return step.wait.for_ is WaitFor.TIMER and not DURATIONS[step.wait.seconds]
    config: Json = step.config
    if step.human:
        config = step.human.show
    elif step.workflow:
        config = step.workflow.inputs
    elif step.abort:
        config = {"value": step.abort.reason}
    return config == BREAKS or any(config == reads(parent) and fate != RAN for parent, fate in parents.items())


def _switched(step: Step, parents: Mapping[str, Fate]) -> Outcome:
    """Take the first way whose condition is true."""
    for case in step.switch or ():
        truth = _truth(case.when, parents)
        if truth is not False:
            return Outcome(FELL) if truth is None else Outcome(RAN, case.name)
    return Outcome(FELL)


def _waited(step: Step, waiting: Wait | Human, parents: Mapping[str, Fate], fails: bool, late: bool) -> Outcome:
    if fails or _unreadable(step, parents):
        return Outcome(FELL)
    if not late or (isinstance(waiting, Wait) and waiting.for_ is WaitFor.TIMER):
        return Outcome(RAN)
    rule = waiting.on_timeout
    if rule is None or rule.then is Then.FAIL:
        return Outcome(FELL)
    return Outcome(ENDED if rule.then is Then.ABORT else RAN, rule.branch)


def _over_items(step: Step, for_each: ForEach, parents: Mapping[str, Fate], failing: AbstractSet[str]) -> Fate:
    """Every item runs, or enough of them fail: either way the step's fate is the same."""
    if not isinstance(for_each.items, list):
        return FELL  # the specification knows only lists, and what is none
    numbers = [item.get("n") for item in for_each.items]
    if for_each.key == BY_NUMBER and (None in numbers or len(set(numbers)) < len(numbers)):
        return FELL
    return FELL if len(failed_items(step, parents, failing)) > for_each.max_failures else RAN


def failed_items(step: Step, parents: Mapping[str, Fate], failing: AbstractSet[str]) -> set[int]:
    """Return the places of the items that fail if all of them run."""
    assert step.for_each is not None, "only a step with for_each has items"
    config = step.workflow.inputs if step.workflow else step.config
    unreadable = _unreadable(step, parents)
    return {
        place
        for place, item in enumerate(step.for_each.items)
        if unreadable or (config == READS_ITEM and "n" not in item) or work_name(step.id, place) in failing
    }


def _truth(condition: str | None, parents: Mapping[str, Fate]) -> bool | None:
    for parent, fate in parents.items():
        if condition == watches(parent):
            return fate == RAN
    return TRUTHS[condition]


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
