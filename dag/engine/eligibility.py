"""Decide whether a step runs, once its last parent settles: first its trigger rule, then its condition.

A trigger rule is a function of how the step's parents ended.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import Meter, RunScope
from docrail.dag.engine.state import COMPLETED, FAILED, RunState, StepError
from docrail.dag.engine.value_transfer import reads_of, wanted
from docrail.dag.language.definition import TriggerRule
from docrail.dag.language.expressions.expression import Expression, Scope
from docrail.dag.language.expressions.expression_errors import show
from docrail.dag.language.expressions.templates import Template
from docrail.dag.language.statuses import SETTLED, SkipReason
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json, size_of
from docrail.dag.values.stored import Want


class Outcomes(NamedTuple):
    """How a step's settled parents ended. `bad`: failed, or skipped because something upstream failed."""

    completed: int
    bad: int
    skipped: int
    """Skipped by choice: by a condition, a trigger rule, or parents that were skipped by choice themselves."""


def _blocked(outcomes: Outcomes) -> SkipReason:
    return SkipReason.UPSTREAM_FAILED if outcomes.bad else SkipReason.UPSTREAM_SKIPPED


RULES: Mapping[TriggerRule, Callable[[Outcomes], SkipReason | None]] = {
    TriggerRule.NONE_FAILED: lambda of: _blocked(of) if of.bad or (of.skipped and not of.completed) else None,
    TriggerRule.ALL_SUCCESS: lambda of: _blocked(of) if of.bad or of.skipped else None,
    TriggerRule.ALL_DONE: lambda _: None,
    TriggerRule.ONE_SUCCESS: lambda of: None if of.completed else _blocked(of),
    TriggerRule.ONE_FAILED: lambda of: None if of.bad else SkipReason.RULE_NOT_MET,
    TriggerRule.ALL_FAILED: lambda of: SkipReason.RULE_NOT_MET if of.completed or of.skipped else None,
}
"""For each rule: why a step with such parents is skipped, None if it runs (the language's truth table)."""

DEPENDENCY_FAILED = StepError("DependencyFailed", "Dependency failed")
"""The error of a step that is skipped because something upstream failed, with a fixed text."""

MAX_TURN_WORK = 100_000
"""Units of work (dag/values/cost.py) that expressions may use in one turn, about 0.1 s; the rest waits for the next
turn. Temporal allows a turn two seconds, also on a busy machine, and one more template may come on top of this limit. A
turn that takes longer is tried again with all turns before it, which takes longer still.
"""


@dataclass(frozen=True, slots=True)
class Admit:
    """The step may begin."""

    decided_by: str


@dataclass(frozen=True, slots=True)
class Skip:
    """The step is skipped."""

    decided_by: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Refuse:
    """The step fails without beginning: its condition cannot be evaluated."""

    decided_by: str
    error: StepError


@dataclass(frozen=True, slots=True)
class Defer:
    """The step is judged in a later turn: this one has used up its work."""

    decided_by: str


@dataclass(frozen=True, slots=True)
class NeedsValues:
    """The step is judged again once these stored values are loaded."""

    decided_by: str
    wants: tuple[Want, ...]


Eligibility = Admit | Skip | Refuse | Defer | NeedsValues

_ADMITTED: Mapping[TriggerRule, Admit] = {rule: Admit(str(rule)) for rule in TriggerRule}


def judge(plan: Plan, run: RunState, step: Step, meter: Meter) -> Eligibility:
    """Decide whether a step runs whose parents are settled. `meter`: the work that the turn has used."""
    rule = step.definition.trigger_rule
    reason = RULES[rule](_outcomes(run, step))
    if reason is not None:
        return Skip(str(rule), reason)
    if meter.used >= MAX_TURN_WORK:
        return Defer(str(rule))
    if step.condition is None:
        return _with_reads(plan, run, step, _ADMITTED[rule])
    if wants := wanted(plan.index, run, step.condition.paths):
        return NeedsValues(str(rule), tuple(wants))
    return _by_condition(plan, run, step, step.condition, meter)


def _by_condition(plan: Plan, run: RunState, step: Step, condition: Expression, meter: Meter) -> Eligibility:
    try:
        answer = condition.evaluate(RunScope(plan, run, meter))
    except ExpressionError as error:
        return Refuse(_CONDITION, StepError("ConditionError", error.message))
    if not isinstance(answer, bool):
        message = f"`{condition.text}` gave {show(answer)}, expected true or false"
        return Refuse(_CONDITION, StepError("ConditionError", message))
    if not answer:
        return Skip(_CONDITION, SkipReason.CONDITION_FALSE)
    return _with_reads(plan, run, step, Admit(_CONDITION))


_CONDITION = "condition"


def _with_reads(plan: Plan, run: RunState, step: Step, admitted: Admit) -> Admit | NeedsValues:
    """Return `admitted`, unless a value that the step reads must be loaded first."""
    if not run.counters.has_stored:
        return admitted
    reads = reads_of(step, is_edited=run.steps[step.index].edited is not None)
    wants = wanted(plan.index, run, reads)
    return NeedsValues(admitted.decided_by, tuple(wants)) if wants else admitted


def resolve(template: Template, scope: Scope, most_bytes: int = MAX_VALUE_BYTES) -> Json:
    """Return the template's value. Raises ExpressionError, also for a value too large for Temporal."""
    value = template.resolve(scope)
    if template.references and (size := size_of(value)) > most_bytes:
        raise ExpressionError(f"takes {size} bytes as JSON, more than {most_bytes}; pass a reference instead")
    return value


def choose(plan: Plan, run: RunState, step: Step, meter: Meter) -> str:
    """Return the branch that a switch takes. Raises ExpressionError."""
    scope = RunScope(plan, run, meter)
    for condition, branch in step.cases:
        answer = True if condition is None else condition.evaluate(scope)
        if not isinstance(answer, bool):
            text = condition.text if condition else "else"
            raise ExpressionError(f"`{text}` gave {show(answer)}, expected true or false")
        if answer:
            return branch
    raise ExpressionError("no case is true, and there is no else")


def skip_if(run: RunState, step: Step, *, well: bool) -> SkipReason | None:
    """Return why the trigger rule skips the step if its remaining parents all succeed (`well`) or all fail, else None.

    A parent that is not settled but already has a skip reason counts as skipped, though perhaps for another reason.
    """
    of = _outcomes(run, step)
    left = [state for state in (run.steps[parent] for parent in step.parents) if state.status not in SETTLED]
    completed, bad = (sum(state.reason is None for state in left), 0) if well else (0, len(left))
    skipped = len(step.parents) - of.completed - of.bad - completed - bad
    outcomes = Outcomes(completed=of.completed + completed, bad=of.bad + bad, skipped=skipped)
    return RULES[step.definition.trigger_rule](outcomes)


def _outcomes(run: RunState, step: Step) -> Outcomes:
    completed = bad = 0
    for parent in step.parents:
        state = run.steps[parent]
        if state.status is COMPLETED:
            branches = step.branches.get(parent)
            completed += branches is None or state.branch in branches
        else:
            bad += state.status is FAILED or state.reason is SkipReason.UPSTREAM_FAILED
    return Outcomes(completed=completed, bad=bad, skipped=len(step.parents) - completed - bad)
