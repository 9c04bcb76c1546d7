"""The trigger rules as functions of how a step's parents ended.

Whether a step runs: judged once, when its last parent settles. Trigger rule first, then condition.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import RunScope
from docrail.dag.engine.state import RunState, StepError, StepState
from docrail.dag.engine.value_transfer import note_wants, reads_of, wanted
from docrail.dag.language.definition import TriggerRule
from docrail.dag.language.expressions.expression import Expression, Scope
from docrail.dag.language.expressions.expression_errors import show
from docrail.dag.language.expressions.templates import Template
from docrail.dag.language.statuses import SETTLED, SkipReason, StepStatus
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json, size_of
from docrail.dag.values.stored import ForStep, Path


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


DEPENDENCY_FAILED = StepError("DependencyFailed", "Dependency failed")
"""The error of a step that is skipped because something upstream failed (the seeds' words)."""


MAX_TURN_WORK = 200_000
"""Work (dag.values.cost) that the expressions of a turn may take before the rest waits for the next: about 0.2 s.
Temporal gives a turn two seconds, also on a busy machine, and one more template may come on top of it."""


def judge(plan: Plan, run: RunState, step: Step) -> StepStatus:
    """Decide whether a step runs (QUEUED), is SKIPPED, or cannot be decided (FAILED). Writes why into its state.

    PENDING: stored values must be loaded first; then it is judged again.
    """
    state = run.steps[step.index]
    state.decided_by = str(step.definition.trigger_rule)
    state.reason = RULES[step.definition.trigger_rule](_outcomes(run, step))
    if state.reason is not None:
        state.error = DEPENDENCY_FAILED if state.reason is SkipReason.UPSTREAM_FAILED else None
        return StepStatus.SKIPPED
    if run.turn.spent >= MAX_TURN_WORK:
        run.turn.deferred.append(step.index)
        return StepStatus.PENDING
    if step.condition is None:
        return _with_reads(plan, run, step, reads_of(step, is_edited=state.edited is not None))
    if _with_reads(plan, run, step, step.condition.paths) is StepStatus.PENDING:
        return StepStatus.PENDING
    return _by_condition(plan, run, step, step.condition)


def _by_condition(plan: Plan, run: RunState, step: Step, condition: Expression) -> StepStatus:
    state = run.steps[step.index]
    state.decided_by = "condition"
    try:
        answer = condition.evaluate(RunScope(plan, run))
    except ExpressionError as error:
        return refuse(state, "ConditionError", error.message)
    if not isinstance(answer, bool):
        return refuse(state, "ConditionError", f"`{condition.text}` gave {show(answer)}, expected true or false")
    if not answer:
        state.reason = SkipReason.CONDITION_FALSE
        return StepStatus.SKIPPED
    return _with_reads(plan, run, step, reads_of(step, is_edited=state.edited is not None))


def _with_reads(plan: Plan, run: RunState, step: Step, reads: Iterable[Path]) -> StepStatus:
    """Return QUEUED if all that is to be read is at hand; else PENDING, and what to load is noted."""
    if run.counters.has_stored and note_wants(run, ForStep(step.id), wanted(plan.index, run, reads)):
        return StepStatus.PENDING
    return StepStatus.QUEUED


def refuse(state: StepState, error_type: str, message: str) -> StepStatus:
    """Write down why the step fails without having run."""
    state.error = StepError(error_type, message)
    return StepStatus.FAILED


def resolve(template: Template, scope: Scope, most_bytes: int = MAX_VALUE_BYTES) -> Json:
    """Return the template's value. Raises ExpressionError, also for what Temporal could not carry."""
    value = template.resolve(scope)
    if template.references and (size := size_of(value)) > most_bytes:
        raise ExpressionError(f"takes {size} bytes as JSON, more than {most_bytes}; pass a reference instead")
    return value


def choose(plan: Plan, run: RunState, step: Step) -> str:
    """Return the branch that a switch takes. Raises ExpressionError."""
    scope = RunScope(plan, run)
    for condition, branch in step.cases:
        answer = True if condition is None else condition.evaluate(scope)
        if not isinstance(answer, bool):
            text = condition.text if condition else "else"
            raise ExpressionError(f"`{text}` gave {show(answer)}, expected true or false")
        if answer:
            return branch
    raise ExpressionError("no case is true, and there is no else")


def skip_if(run: RunState, step: Step, *, well: bool) -> SkipReason | None:
    """Return why the step's trigger rule skips it if all parents that are still to end do so well, or all badly.

    None: then it does not. One that is to end with a reason already is sure to be skipped, if not for that reason.
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
        branches = step.branches.get(parent)
        completed += state.status is StepStatus.COMPLETED and (branches is None or state.branch in branches)
        bad += state.status is StepStatus.FAILED or state.reason is SkipReason.UPSTREAM_FAILED
    return Outcomes(completed=completed, bad=bad, skipped=len(step.parents) - completed - bad)
