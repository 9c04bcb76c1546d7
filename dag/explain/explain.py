"""Explain a run with facts: which rule decided about each step, with the values it read. Never changes the run.

The outputs of settled steps never change, so the values that a condition read are read again on request. `words.py`
turns facts into sentences: in the process that answers a person, except for those that a run's report keeps.
"""

from collections.abc import Iterable, Iterator, Sequence

from docrail.dag.engine.approvals import approvals_of, missing_of
from docrail.dag.engine.eligibility import MAX_TURN_WORK
from docrail.dag.engine.map_items import counts_of
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import RunScope
from docrail.dag.engine.state import FanState, RunState, StepState
from docrail.dag.explain import facts
from docrail.dag.explain.conditions import MOST_CHARACTERS, brief, explain_cases, explain_condition
from docrail.dag.explain.holds import MOST_NAMED, hold_of, ids
from docrail.dag.language.statuses import SETTLED, SkipReason, StepStatus
from docrail.dag.language.step_kinds import OnTimeout
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import shortened

MAX_PAGE_BYTES = 1_500_000
"""Limit for the steps of one page, in bytes of JSON: Temporal accepts 2 MiB as a query's answer. One step is far
smaller."""

MOST_REPORTED = 200
"""Steps that a run's report explains: as many as a turn has time for, and the report room."""

MOST_REPORT_WORK = MAX_TURN_WORK // 4
"""The turn that ends a run has other work too, and must stay within Temporal's time limit."""

_INTEREST = (
    *(StepStatus.FAILED, StepStatus.PARKED, StepStatus.WAITING, StepStatus.RUNNING, StepStatus.CANCELLED),
    *(StepStatus.SKIPPED, StepStatus.QUEUED, StepStatus.PENDING, StepStatus.COMPLETED),
)
"""Statuses by how informative they are about the state of the run, the most informative first."""

_UNFINISHED = (StepStatus.FAILED, StepStatus.PARKED, StepStatus.WAITING, StepStatus.RUNNING)
"""Statuses of steps that a run's explanation names, in the order in which it names them."""

_NOT_UNDONE = (StepStatus.FAILED, StepStatus.CANCELLED)
"""Statuses of a compensation that did not undo its step."""

_RULE_REFUSED = frozenset({SkipReason.RULE_NOT_MET, SkipReason.UPSTREAM_FAILED, SkipReason.UPSTREAM_SKIPPED})


def facts_of_run(
    plan: Plan,
    run: RunState,
    run_id: str,
    *,
    step_id: str | None = None,
    after: str | None = None,
    limit: int = 100,
    most_bytes: int = MAX_PAGE_BYTES,
) -> facts.RunExplanation:
    """Return the facts of one step, or of a page of at most `limit` steps in plan order after the step `after`.

    A page has at most `most_bytes` of JSON, but at least one step.

    An unknown `step_id` gives an empty page; an unknown `after` gives the first page.
    """
    if step_id is None:
        first = 0 if after is None or after not in plan.index else plan.index[after] + 1
        wanted: Sequence[Step] = plan.steps[first : first + limit]
    else:
        wanted = [plan.step(step_id)] if step_id in plan.index else []
    steps: dict[str, facts.StepExplanation] = {}
    size = 0
    for step, explained in _explained(plan, run, wanted):
        size += len(explained.model_dump_json(exclude_defaults=True))
        if steps and size > most_bytes:
            break
        steps[step.id] = explained
    last = next(reversed(steps), None)
    more = step_id is None and last is not None and plan.index[last] + 1 < len(plan.steps)
    whole = _facts_without_steps(plan, run, run_id)
    return whole.model_copy(update={"steps": steps, "after": last if more else None})


def facts_of_report(plan: Plan, run: RunState, run_id: str) -> facts.RunExplanation:
    """Return the facts of a run and of its steps; in a large run only of its MOST_REPORTED most informative steps."""
    by_interest = sorted(plan.steps, key=lambda step: _INTEREST.index(run.steps[step.index].status))
    explained = _explained(plan, run, by_interest[:MOST_REPORTED], most_work=MOST_REPORT_WORK)
    steps = {step.id: each for step, each in explained}
    return _facts_without_steps(plan, run, run_id).model_copy(update={"steps": steps})


def _facts_without_steps(plan: Plan, run: RunState, run_id: str) -> facts.RunExplanation:
    return facts.RunExplanation(
        run_id=run_id, status=run.status, stopping=run.stopping, overdue=run.overdue, progress=_progress(plan, run)
    )


def _progress(plan: Plan, run: RunState) -> facts.ProgressPart:
    indices: dict[StepStatus, list[int]] = {status: [] for status in _UNFINISHED}
    for index, state in enumerate(run.steps):
        if state.status in indices:
            indices[state.status].append(index)
    not_undone = [step.index for step in plan.compensated if run.steps[step.index].compensation in _NOT_UNDONE]
    return facts.ProgressPart(
        steps=len(run.steps),
        settled=len(run.steps) - run.counters.unsettled,
        has_ended=run.outcome is not None,
        ending=run.ending,
        stop_reason=run.stop_reason,
        stopped_by=run.stopped_by,
        stopped_by_step=run.stopped_by_step,
        deadline_seconds=plan.deadline_seconds,
        not_undone=_steps_part(plan, not_undone) if not_undone else None,
        by_status={status: _steps_part(plan, found) for status, found in indices.items() if found},
    )


def _steps_part(plan: Plan, indices: Sequence[int]) -> facts.StepsPart:
    return facts.StepsPart(total=len(indices), named=ids(plan, indices))


def _explained(
    plan: Plan, run: RunState, steps: Iterable[Step], *, most_work: int = MAX_TURN_WORK
) -> Iterator[tuple[Step, facts.StepExplanation]]:
    """Explain each of `steps`, up to `most_work`. The run does not change."""
    scope = RunScope(plan, run)
    for step in steps:
        yield step, _explain_step(scope, step)
        if scope.meter.used >= most_work:
            break


def _explain_step(scope: RunScope, step: Step) -> facts.StepExplanation:
    plan, run = scope.plan, scope.run
    state, definition = run.steps[step.index], step.definition
    rule = _rule_verdict(state)
    return facts.StepExplanation(
        title=definition.title,
        kind=step.kind,
        handler=definition.handler,
        resource_tag=definition.resource_tag,
        status=state.status,
        decided_by=state.decided_by,
        reason=state.reason,
        rule=facts.RulePart(name=definition.trigger_rule, verdict=rule),
        parents=_parents(plan, run, step),
        condition=explain_condition(scope, step, rule),
        cases=tuple(explain_cases(scope, step)),
        branch=state.branch,
        hold=hold_of(plan, run, step),
        waiting=_wait(scope, step) if state.status is StepStatus.WAITING else None,
        waited=_wait(scope, step) if state.decided_by == "timeout" else None,
        answer=None if state.answer is None else facts.AnswerPart(by=state.answer.by, value=brief(state.answer.value)),
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


def _rule_verdict(state: StepState) -> facts.Verdict:
    """Return the result of the trigger rule. For a step stopped before it began, it is unknown."""
    if state.status is StepStatus.PENDING or state.reason is SkipReason.ABORTED:
        return facts.Verdict.NOT_ASKED
    return facts.Verdict.NO if state.reason in _RULE_REFUSED else facts.Verdict.YES


def _parents(plan: Plan, run: RunState, step: Step) -> facts.ParentsPart:
    """Return the parents; if there are too many to name, those that did not simply complete come first."""
    standings = [_standing(run.steps[parent], step.branches.get(parent, ())) for parent in step.parents]
    parents = list(zip(step.parents, standings, strict=True))
    if len(parents) > MOST_NAMED:
        parents.sort(key=lambda parent: parent[1] is facts.Standing.COMPLETED)
    return facts.ParentsPart(
        total=len(standings),
        completed=standings.count(facts.Standing.COMPLETED),
        failed=standings.count(facts.Standing.FAILED),
        skipped=standings.count(facts.Standing.SKIPPED),
        unsettled=standings.count(facts.Standing.UNSETTLED),
        named=tuple(_parent(plan, run, step, parent, standing) for parent, standing in parents[:MOST_NAMED]),
    )


def _parent(plan: Plan, run: RunState, step: Step, parent: int, standing: facts.Standing) -> facts.ParentPart:
    state = run.steps[parent]
    return facts.ParentPart(
        id=plan.steps[parent].id,
        status=state.status,
        counts_as=standing,
        reason=state.reason,
        branch=state.branch,
        wanted_branches=step.branches.get(parent, ()),
    )


def _standing(state: StepState, wanted: tuple[str, ...]) -> facts.Standing:
    """Return how a parent counts for trigger rules, as in dag/engine/eligibility.py."""
    if state.status not in SETTLED:
        return facts.Standing.UNSETTLED
    if state.status is StepStatus.COMPLETED and (not wanted or state.branch in wanted):
        return facts.Standing.COMPLETED
    lost = state.status is StepStatus.FAILED or state.reason is SkipReason.UPSTREAM_FAILED
    return facts.Standing.FAILED if lost else facts.Standing.SKIPPED


def _wait(scope: RunScope, step: Step) -> facts.WaitPart:
    """Return what a step waits for, or has waited for."""
    state = scope.run.steps[step.index]
    waits, human = step.definition.wait, step.definition.human
    asked_of = None if human is None else human.assignees
    seconds = _seconds(scope, step)
    rule = (waits.on_timeout if waits else None) or (human.on_timeout if human else None)
    escalates = human is not None and rule is not None and rule.escalate_to is not None and seconds is not None
    since = state.started_at or 0.0
    return facts.WaitPart(
        waits_for="human" if waits is None else str(waits.for_),
        asks=_question(scope, step),
        queue=None if human is None else human.queue,
        group=None if asked_of is None else asked_of.group,
        not_the_submitter=asked_of is not None and asked_of.not_the_submitter,
        since=state.started_at,
        until=None if seconds is None else since + seconds * (1 + escalates),
        escalates_at=since + seconds if escalates and seconds is not None else None,
        escalates_to=rule.escalate_to if escalates and rule is not None else None,
        on_timeout=_outcome(rule),
        approvals_needed=approvals_of(human),
        approvals_missing=missing_of([made.value for made in state.decisions], approvals_of(human)),
        decided=tuple(facts.AnswerPart(by=made.by, value=brief(made.value)) for made in state.decisions[-MOST_NAMED:]),
    )


def _question(scope: RunScope, step: Step) -> str | None:
    """Return a human step's question; its title is resolved again."""
    if step.title is None:
        return None
    try:
        return shortened(step.question(step.title.resolve(scope)))
    except ExpressionError:  # a stored part that it read is no longer available
        return None


def _seconds(scope: RunScope, step: Step) -> float | None:
    """Return how long a step waits, in seconds; a timer's template is resolved again."""
    waits, human = step.definition.wait, step.definition.human
    if step.is_timer:
        try:
            return float(step.config.resolve(scope)["seconds"])
        except ExpressionError:  # a stored part that it read is no longer available
            return None
    asked = waits or human
    assert asked is not None, "only waits and human steps are WAITING"
    return asked.timeout_seconds


def _outcome(rule: OnTimeout | None) -> str:
    if rule is None:
        return ""
    return f"branch {rule.branch}" if rule.branch else str(rule.then or "")


def _items(step: Step, fan: FanState) -> facts.ItemsPart:
    counts, failed = counts_of(fan), [item for item in fan.items if item.status is StepStatus.FAILED]
    begun = counts.completed + counts.failed + counts.running + counts.cancelled + counts.skipped
    return facts.ItemsPart(
        **counts.model_dump(),
        not_started=len(fan.items) - begun,
        window=step.definition.for_each.max_concurrency if step.definition.for_each else 1,
        failed_items=tuple(
            facts.FailedItem(key=item.key[:MOST_CHARACTERS], error=item.error) for item in failed[:MOST_NAMED]
        ),
    )


def _attempts(step: Step, state: StepState) -> facts.AttemptsPart | None:
    if not step.takes_slot or state.started_at is None:
        return None
    return facts.AttemptsPart(
        made=state.attempts,
        most=step.definition.max_retries + 1,
        last_error=state.error,
        earlier=state.earlier,
        next_at=state.next_at if state.status is StepStatus.RUNNING else None,
        over_seconds=step.definition.total_timeout_seconds if state.out_of_time else None,
    )
