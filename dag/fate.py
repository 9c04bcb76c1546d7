"""Whether a step runs: judged once, when its last parent settles. Trigger rule first, then condition."""

from collections.abc import Iterable

from dag.expressions import Expression, Scope
from dag.loading import note_wants, reads_of, wanted
from dag.misfits import show
from dag.plan import Plan, Step
from dag.scope import RunScope
from dag.state import SETTLED, RunState, SkipReason, StepError, StepState, StepStatus
from dag.stored import ForStep, Path
from dag.templates import Template
from dag.trigger_rules import RULES, Outcomes
from dag.values import MAX_VALUE_BYTES, Json, size_of
from dag.work import ExpressionError

DEPENDENCY_FAILED = StepError("DependencyFailed", "Dependency failed")
"""The error of a step that is skipped because something upstream failed (the seeds' words)."""


MAX_TURN_WORK = 200_000
"""Steps of work (dag.work) that the expressions of a turn may take before the rest waits for the next: about 0.2 s.
Temporal gives a turn two seconds, also on a busy machine, and one more template may come on top of it (dag.work)."""


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
