"""Explains a run: which rule decided of each step, on what, with the values it read. Decides nothing.

The outputs of settled steps never change, so what a condition read is read again at the time of asking.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from docrail.dag.engine.approvals import approvals_of, missing_of
from docrail.dag.engine.eligibility import MAX_TURN_WORK
from docrail.dag.engine.map_items import counts_of
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import RunScope
from docrail.dag.engine.state import FanState, RunState, StepState, Turn
from docrail.dag.explain.conditions import MOST_CHARACTERS, brief, explain_cases, explain_condition
from docrail.dag.explain.facts import (
    AnswerPart,
    AttemptsPart,
    FailedItem,
    ItemsPart,
    ParentPart,
    ParentsPart,
    RulePart,
    RunExplanation,
    Standing,
    StepExplanation,
    Verdict,
    WaitPart,
)
from docrail.dag.explain.holds import MOST_NAMED, hold_of
from docrail.dag.explain.words import RULE_WORDS, run_words, step_words
from docrail.dag.language.statuses import SETTLED, RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import OnTimeout
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import shortened

MAX_PAGE_BYTES = 1_500_000
"""Of the steps of one page, as JSON: Temporal takes 2 MiB as a query's answer. One step alone is far smaller."""

MOST_TOLD = 200
"""Steps whose words a run's report has: for so many a turn has time, and a report room."""

MOST_REPORT_WORK = MAX_TURN_WORK // 4
"""The turn that ends a run has its own work beside that, and must not take longer than Temporal lets it."""

_INTEREST = (
    *(StepStatus.FAILED, StepStatus.PARKED, StepStatus.WAITING, StepStatus.RUNNING, StepStatus.CANCELLED),
    *(StepStatus.SKIPPED, StepStatus.QUEUED, StepStatus.PENDING, StepStatus.COMPLETED),
)
"""What tells most of why a run stands where it stands comes first."""

_RULE_REFUSED = frozenset({SkipReason.RULE_NOT_MET, SkipReason.UPSTREAM_FAILED, SkipReason.UPSTREAM_SKIPPED})


def explain_run(
    plan: Plan, run: RunState, run_id: str, *, step_id: str | None = None, after: str | None = None, limit: int = 100
) -> RunExplanation:
    """Explain one step, or a page of at most `limit` steps in plan order after the step `after`, in words too.

    A step that the plan does not have is in no page; after one, the first page begins.
    """
    return in_words(facts_of_run(plan, run, run_id, step_id=step_id, after=after, limit=limit))


def in_words(explanation: RunExplanation) -> RunExplanation:
    """Return the explanation with its steps' sentences."""
    steps = {step_id: _in_words(step, explanation.stopping) for step_id, step in explanation.steps.items()}
    return explanation.model_copy(update={"steps": steps})


def _in_words(step: StepExplanation, stopping: RunStatus | None) -> StepExplanation:
    return step.model_copy(update={"words": tuple(step_words(step, stopping))})


def facts_of_run(
    plan: Plan, run: RunState, run_id: str, *, step_id: str | None = None, after: str | None = None, limit: int = 100
) -> RunExplanation:
    """Return the same page without the steps' sentences, which any process can make of it."""
    if step_id is None:
        first = 0 if after is None or after not in plan.index else plan.index[after] + 1
        wanted: Sequence[Step] = plan.steps[first : first + limit]
    else:
        wanted = [plan.step(step_id)] if step_id in plan.index else []
    steps: dict[str, StepExplanation] = {}
    size = 0
    for step, explained in _explained(plan, run, wanted):
        size += len(explained.model_dump_json(exclude_defaults=True))
        if steps and size > MAX_PAGE_BYTES:
            break
        steps[step.id] = explained
    last = next(reversed(steps), None)
    more = step_id is None and last is not None and plan.index[last] + 1 < len(plan.steps)
    return RunExplanation(
        run_id=run_id,
        status=run.status,
        stopping=run.stopping,
        overdue=run.overdue,
        words=tuple(run_words(plan, run)),
        steps=steps,
        after=last if more else None,
    )


def words_of_steps(plan: Plan, run: RunState) -> dict[str, tuple[str, ...]]:
    """Return the words of each step by its id; of a large run only of MOST_TOLD, first of those that tell most."""
    by_interest = sorted(plan.steps, key=lambda step: _INTEREST.index(run.steps[step.index].status))
    told = _explained(plan, run, by_interest[:MOST_TOLD], most_work=MOST_REPORT_WORK)
    return {step.id: tuple(step_words(explained, run.stopping)) for step, explained in told}


def _explained(
    plan: Plan, run: RunState, steps: Iterable[Step], *, most_work: int = MAX_TURN_WORK
) -> Iterator[tuple[Step, StepExplanation]]:
    """Explain each of `steps`, as far as `most_work` goes. The run itself is not charged with it, nor changed."""
    asked = replace(run, turn=Turn())
    for step in steps:
        yield step, _explain_step(plan, asked, step)
        if asked.turn.spent >= most_work:
            break


def _explain_step(plan: Plan, run: RunState, step: Step) -> StepExplanation:
    """Explain one step, whatever its status."""
    state, definition = run.steps[step.index], step.definition
    rule = _rule_verdict(state)
    return StepExplanation(
        title=definition.title,
        kind=step.kind,
        handler=definition.handler,
        resource_tag=definition.resource_tag,
        status=state.status,
        decided_by=state.decided_by,
        reason=state.reason,
        rule=RulePart(name=definition.trigger_rule, says=RULE_WORDS[definition.trigger_rule], verdict=rule),
        parents=_parents(plan, run, step),
        condition=explain_condition(plan, run, step, rule),
        cases=tuple(explain_cases(plan, run, step)),
        branch=state.branch,
        hold=hold_of(plan, run, step),
        waiting=_wait(plan, run, step) if state.status is StepStatus.WAITING else None,
        waited=_wait(plan, run, step) if state.decided_by == "timeout" else None,
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
    """Return what a parent counts as, as dag.engine.eligibility counts it."""
    if state.status not in SETTLED:
        return Standing.UNSETTLED
    if state.status is StepStatus.COMPLETED and (not wanted or state.branch in wanted):
        return Standing.COMPLETED
    lost = state.status is StepStatus.FAILED or state.reason is SkipReason.UPSTREAM_FAILED
    return Standing.FAILED if lost else Standing.SKIPPED


def _wait(plan: Plan, run: RunState, step: Step) -> WaitPart:
    """Tell what a step waits for, or has waited for."""
    state = run.steps[step.index]
    waits, human = step.definition.wait, step.definition.human
    seconds = _seconds(plan, run, step)
    rule = (waits.on_timeout if waits else None) or (human.on_timeout if human else None)
    escalates = human is not None and rule is not None and rule.escalate_to is not None and seconds is not None
    since = state.started_at or 0.0
    return WaitPart(
        waits_for="human" if waits is None else str(waits.for_),
        asks=_question(plan, run, step),
        queue=None if human is None else human.queue,
        since=state.started_at,
        until=None if seconds is None else since + seconds * (1 + escalates),
        escalates_at=since + seconds if escalates and seconds is not None else None,
        escalates_to=rule.escalate_to if escalates and rule is not None else None,
        on_timeout=_outcome(rule),
        approvals_needed=approvals_of(human),
        approvals_missing=missing_of([made.value for made in state.decisions], approvals_of(human)),
        decided=tuple(AnswerPart(by=made.by, value=brief(made.value)) for made in state.decisions[-MOST_NAMED:]),
    )


def _question(plan: Plan, run: RunState, step: Step) -> str | None:
    """Return what a human step asks people; its title's template is read again."""
    if step.title is None:
        return None
    try:
        return shortened(step.question(step.title.resolve(RunScope(plan, run))))
    except ExpressionError:  # a stored part that it read is kept no more
        return None


def _seconds(plan: Plan, run: RunState, step: Step) -> float | None:
    """Return how long a step that waits does so; a timer's template is read again."""
    waits, human = step.definition.wait, step.definition.human
    if step.is_timer:
        try:
            return float(step.config.resolve(RunScope(plan, run))["seconds"])
        except ExpressionError:  # a stored part that it read is kept no more
            return None
    asked = waits or human
    assert asked is not None, "only waits and human steps are WAITING"
    return asked.timeout_seconds


def _outcome(rule: OnTimeout | None) -> str:
    if rule is None:
        return ""
    return f"branch {rule.branch}" if rule.branch else str(rule.then or "")


def _items(step: Step, fan: FanState) -> ItemsPart:
    counts, failed = counts_of(fan), [item for item in fan.items if item.status is StepStatus.FAILED]
    begun = counts.completed + counts.failed + counts.running + counts.cancelled + counts.skipped
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
    return AttemptsPart(
        made=state.attempts,
        most=step.definition.max_retries + 1,
        last_error=state.error,
        earlier=state.earlier,
        over_seconds=step.definition.total_timeout_seconds if state.out_of_time else None,
    )
