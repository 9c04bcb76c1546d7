"""Explains a run: which rule decided of each step, on what, with the values it read. Decides nothing.

The outputs of settled steps never change, so what a condition read is read again at the time of asking.
"""

import json
from collections.abc import Iterator, Sequence

from pydantic_core import to_json

from dag.assignees import approvals_of, missing_of
from dag.explain_words import RULE_WORDS, run_words, step_words
from dag.explanation import (
    AnswerPart,
    AttemptsPart,
    FailedItem,
    ItemsPart,
    ParentPart,
    ParentsPart,
    ReadPart,
    RulePart,
    RunExplanation,
    Standing,
    StepExplanation,
    TestPart,
    Verdict,
    WaitPart,
)
from dag.expressions import Expression, read_path, values_of
from dag.holds import MOST_NAMED, hold_of
from dag.kinds import OnTimeout, StepKind
from dag.plan import Plan, Step
from dag.report import counts_of
from dag.scope import RunScope
from dag.state import SETTLED, FanState, RunState, SkipReason, StepState, StepStatus
from dag.values import Json
from dag.work import ExpressionError

MOST_CHARACTERS = 200
"""Of a value that is told."""

MAX_PAGE_BYTES = 1_500_000
"""Of the steps of one page, as JSON: Temporal takes 2 MiB as a query's answer. One step alone is far smaller."""

_RULE_REFUSED = frozenset({SkipReason.RULE_NOT_MET, SkipReason.UPSTREAM_FAILED, SkipReason.UPSTREAM_SKIPPED})


def explain_run(
    plan: Plan, run: RunState, run_id: str, *, step_id: str | None = None, after: str | None = None, limit: int = 100
) -> RunExplanation:
    """Explain one step, or a page of at most `limit` steps in plan order, those behind the step `after`.

    A step that the plan does not have is in no page; behind one, the first page begins.
    """
    if step_id is None:
        first = 0 if after is None or after not in plan.index else plan.index[after] + 1
        wanted: Sequence[Step] = plan.steps[first : first + limit]
    else:
        wanted = [plan.step(step_id)] if step_id in plan.index else []
    steps: dict[str, StepExplanation] = {}
    size = 0
    for step in wanted:
        explained = explain_step(plan, run, step)
        size += len(to_json(explained))
        if steps and size > MAX_PAGE_BYTES:
            break
        steps[step.id] = explained
    last = next(reversed(steps), None)
    more = step_id is None and last is not None and plan.index[last] + 1 < len(plan.steps)
    words = tuple(run_words(plan, run))
    told = RunExplanation(run_id=run_id, status=run.status, overdue=run.overdue, words=words, steps=steps)
    return told.model_copy(update={"after": last}) if more else told


def explain_step(plan: Plan, run: RunState, step: Step) -> StepExplanation:
    """Explain one step, whatever its status."""
    state, definition = run.steps[step.index], step.definition
    rule = _rule_verdict(state)
    explained = StepExplanation(
        title=definition.title,
        kind=step.kind,
        handler=definition.handler,
        resource_tag=definition.resource_tag,
        status=state.status,
        decided_by=state.decided_by,
        reason=state.reason,
        rule=RulePart(name=definition.trigger_rule, says=RULE_WORDS[definition.trigger_rule], verdict=rule),
        parents=_parents(plan, run, step),
        condition=_condition(plan, run, step, rule),
        cases=tuple(_cases(plan, run, step)),
        branch=state.branch,
        hold=hold_of(plan, run, step),
        waiting=_waiting(plan, run, step),
        answer=None if state.answer is None else AnswerPart(by=state.answer.by, value=brief(state.answer.value)),
        items=None if state.fan is None else _items(step, state.fan),
        attempts=_attempts(step, state),
        cached=state.cached,
        error=state.error,
        compensation=state.compensation,
        compensation_error=state.compensation_error,
        resolved_by=state.resolved_by or None,
        started_at=state.started_at,
        ended_at=state.ended_at,
    )
    return explained.model_copy(update={"words": tuple(step_words(explained, run.stopping))})


def brief(value: Json) -> str:
    """Return the beginning of `value` as JSON. Costs what it returns, however large the value is."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value[:MOST_CHARACTERS] if _is_long(value) else value):
        text += piece
        if len(text) > MOST_CHARACTERS:
            return text[: MOST_CHARACTERS - 1] + "…"
    return text


def _is_long(value: Json) -> bool:
    return isinstance(value, str) and len(value) > MOST_CHARACTERS


def _rule_verdict(state: StepState) -> Verdict:
    """Tell what the trigger rule said. Of a step that was stopped before it began, nobody knows if it was asked."""
    if state.status is StepStatus.PENDING or state.reason is SkipReason.ABORTED:
        return Verdict.NOT_ASKED
    return Verdict.NO if state.reason in _RULE_REFUSED else Verdict.YES


def _parents(plan: Plan, run: RunState, step: Step) -> ParentsPart:
    """Return the parents: of so many that only some are named, first those that did not simply complete."""
    standings = [_standing(run.steps[parent], step.branches.get(parent, ())) for parent in step.parents]
    told = list(zip(step.parents, standings, strict=True))
    if len(told) > MOST_NAMED:
        told.sort(key=lambda parent: parent[1] is Standing.COMPLETED)
    return ParentsPart(
        total=len(standings),
        completed=standings.count(Standing.COMPLETED),
        failed=standings.count(Standing.FAILED),
        skipped=standings.count(Standing.SKIPPED),
        unsettled=standings.count(Standing.UNSETTLED),
        named=tuple(_parent(plan, run, step, parent, standing) for parent, standing in told[:MOST_NAMED]),
    )


def _parent(plan: Plan, run: RunState, step: Step, parent: int, standing: Standing) -> ParentPart:
    state = run.steps[parent]
    return ParentPart(
        id=plan.steps[parent].id,
        status=state.status,
        counts_as=standing,
        reason=state.reason,
        branch=state.branch,
        wanted_branches=step.branches.get(parent, ()),
    )


def _standing(state: StepState, wanted: tuple[str, ...]) -> Standing:
    """Return what a parent counts as, as dag.fate counts it."""
    if state.status not in SETTLED:
        return Standing.UNSETTLED
    if state.status is StepStatus.COMPLETED and (not wanted or state.branch in wanted):
        return Standing.COMPLETED
    lost = state.status is StepStatus.FAILED or state.reason is SkipReason.UPSTREAM_FAILED
    return Standing.FAILED if lost else Standing.SKIPPED


def _condition(plan: Plan, run: RunState, step: Step, rule: Verdict) -> TestPart | None:
    if step.condition is None:
        return None
    state, verdict = run.steps[step.index], Verdict.YES
    unread = state.started_at is None and (
        state.decided_by == "operator" or (state.error is not None and state.error.type == "ConditionError")
    )
    if rule is not Verdict.YES:
        verdict = Verdict.NOT_ASKED
    elif state.reason is SkipReason.CONDITION_FALSE:
        verdict = Verdict.NO
    elif unread:
        verdict = Verdict.ERROR
    return _test(plan, run, step.condition, None, verdict)


def _test(plan: Plan, run: RunState, condition: Expression | None, branch: str | None, verdict: Verdict) -> TestPart:
    if condition is None:
        return TestPart(expression=None, branch=branch, verdict=verdict)
    asked = verdict is not Verdict.NOT_ASKED
    reads = tuple(_reads(RunScope(plan, run), condition)) if asked else ()
    return TestPart(expression=condition.text, branch=branch, verdict=verdict, reads=reads)


def _reads(scope: RunScope, condition: Expression) -> Iterator[ReadPart]:
    for path in condition.references[:MOST_NAMED]:
        try:
            value = brief(read_path(path, scope.loaded(values_of([path], scope), [path], alone=False)))
        except ExpressionError:
            yield ReadPart(path=".".join(path), value=None)
        else:
            yield ReadPart(path=".".join(path), value=value)


def _cases(plan: Plan, run: RunState, step: Step) -> Iterator[TestPart]:
    """Yield a switch's cases: those before the taken one were asked and said no, those behind it were not asked."""
    state = run.steps[step.index]
    taken = _taken(plan, run, step)
    for place, (condition, branch) in enumerate(step.cases[:MOST_NAMED]):
        if taken is None or place > taken:
            verdict = Verdict.NOT_ASKED
        elif place < taken:
            verdict = Verdict.NO
        else:
            verdict = Verdict.YES if state.branch is not None else Verdict.ERROR
        yield _test(plan, run, condition, branch, verdict)


def _taken(plan: Plan, run: RunState, step: Step) -> int | None:
    """Return the place of the case that was taken, or of the one that could not be judged; None if none was asked.

    A switch none of whose cases is true has asked them all: the place behind the last.
    """
    state = run.steps[step.index]
    if step.kind is not StepKind.SWITCH:
        return None
    if state.branch is None:
        if state.started_at is None or state.error is None or state.error.type != "TemplateError":
            return None
        return next((place for place, case in enumerate(step.cases) if _blames(state, case[0])), len(step.cases))
    places = [place for place, (_, branch) in enumerate(step.cases) if branch == state.branch]
    scope = RunScope(plan, run)
    return next((place for place in places[:-1] if _holds(step.cases[place][0], scope)), places[-1])


def _holds(condition: Expression | None, scope: RunScope) -> bool:
    """Tell whether a case of a switch that took its branch is true: it could be judged then, so it can be now."""
    return condition is None or condition.evaluate(scope) is True


def _blames(state: StepState, condition: Expression | None) -> bool:
    return state.error is not None and condition is not None and state.error.message.startswith(f"`{condition.text}`")


def _waiting(plan: Plan, run: RunState, step: Step) -> WaitPart | None:
    state = run.steps[step.index]
    if state.status is not StepStatus.WAITING:
        return None
    waits, human = step.definition.wait, step.definition.human
    seconds = _seconds(plan, run, step)
    rule = (waits.on_timeout if waits else None) or (human.on_timeout if human else None)
    escalates = human is not None and rule is not None and rule.escalate_to is not None and seconds is not None
    since = state.started_at or 0.0
    return WaitPart(
        waits_for="human" if waits is None else str(waits.for_),
        queue=None if human is None else human.queue,
        since=state.started_at,
        until=None if seconds is None else since + seconds * (1 + escalates),
        escalates_at=since + seconds if escalates and seconds is not None else None,
        on_timeout=_outcome(rule),
        approvals_needed=approvals_of(human),
        approvals_missing=missing_of([made.value for made in state.decisions], approvals_of(human)),
        decided=tuple(AnswerPart(by=made.by, value=brief(made.value)) for made in state.decisions[-MOST_NAMED:]),
    )


def _seconds(plan: Plan, run: RunState, step: Step) -> float | None:
    """Return how long a step that waits does so; a timer's template is read again."""
    waits, human = step.definition.wait, step.definition.human
    if step.is_timer:
        seconds = step.config.resolve(RunScope(plan, run))["seconds"]
        return float(seconds)
    asked = waits or human
    assert asked is not None, "only waits and human steps are WAITING"
    return asked.timeout_seconds


def _outcome(rule: OnTimeout | None) -> str:
    if rule is None:
        return ""
    return f"branch {rule.branch}" if rule.branch else str(rule.then or "")


def _items(step: Step, fan: FanState) -> ItemsPart:
    counts, failed = counts_of(fan), [item for item in fan.items if item.status is StepStatus.FAILED]
    begun = counts.completed + counts.failed + counts.running
    begun += sum(item.status is StepStatus.CANCELLED for item in fan.items)
    return ItemsPart(
        **counts.model_dump(),
        not_started=len(fan.items) - begun,
        window=step.definition.for_each.max_concurrency if step.definition.for_each else 1,
        failed_items=tuple(
            FailedItem(key=item.key[:MOST_CHARACTERS], error=item.error) for item in failed[:MOST_NAMED]
        ),
    )


def _attempts(step: Step, state: StepState) -> AttemptsPart | None:
    if not step.takes_slot or state.started_at is None:
        return None
    return AttemptsPart(made=state.attempts, most=step.definition.max_retries + 1, last_error=state.error)
