"""Whether a step runs: judged once, when its last parent settles. Trigger rule first, then condition."""

from dag.expressions import Scope
from dag.plan import RULES, Outcomes, Plan, Step
from dag.sandbox import show
from dag.scope import RunScope
from dag.state import RunState, SkipReason, StepError, StepState, StepStatus
from dag.templates import Template
from dag.values import MAX_VALUE_BYTES, Json, size_of
from dag.work import ExpressionError

DEPENDENCY_FAILED = StepError("DependencyFailed", "Dependency failed")
"""The error of a step that is skipped because something upstream failed (the seeds' words)."""


def judge(plan: Plan, run: RunState, step: Step) -> StepStatus:
    """Decide whether a step runs (QUEUED), is SKIPPED, or cannot be decided (FAILED). Writes why into its state."""
    state = run.steps[step.index]
    state.decided_by = str(step.definition.trigger_rule)
    state.reason = RULES[step.definition.trigger_rule](_outcomes(run, step))
    if state.reason is not None:
        state.error = DEPENDENCY_FAILED if state.reason is SkipReason.UPSTREAM_FAILED else None
        return StepStatus.SKIPPED
    if step.condition is None:
        return StepStatus.QUEUED
    state.decided_by = "condition"
    try:
        answer = step.condition.evaluate(RunScope(plan, run))
    except ExpressionError as error:
        return refuse(state, "ConditionError", error.message)
    if not isinstance(answer, bool):
        return refuse(state, "ConditionError", f"`{step.condition.text}` gave {show(answer)}, expected true or false")
    if not answer:
        state.reason = SkipReason.CONDITION_FALSE
        return StepStatus.SKIPPED
    return StepStatus.QUEUED


def refuse(state: StepState, error_type: str, message: str) -> StepStatus:
    """Write down why the step fails without having run."""
    state.error = StepError(error_type, message)
    return StepStatus.FAILED


def resolve(template: Template, scope: Scope) -> Json:
    """Return the template's value. Raises ExpressionError, also for what Temporal could not carry."""
    value = template.resolve(scope)
    if template.references and (size := size_of(value)) > MAX_VALUE_BYTES:
        raise ExpressionError(f"takes {size} bytes as JSON, more than {MAX_VALUE_BYTES}; pass a reference instead")
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


def _outcomes(run: RunState, step: Step) -> Outcomes:
    completed = bad = 0
    for parent in step.parents:
        state = run.steps[parent]
        branches = step.branches.get(parent)
        completed += state.status is StepStatus.COMPLETED and (branches is None or state.branch in branches)
        bad += state.status is StepStatus.FAILED or state.reason is SkipReason.UPSTREAM_FAILED
    return Outcomes(completed=completed, bad=bad, skipped=len(step.parents) - completed - bad)
