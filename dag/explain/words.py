"""Write the sentences of an explanation from its facts: what decided, on which values, what is missing; one per line.

The only sentences that a run makes itself are those that its report keeps (report.py); services make all others.
"""

from collections.abc import Iterator, Mapping, Sequence

from docrail.dag.engine.state import WORKER_LOST, WORKER_UNFIT, EarlierError, StepError
from docrail.dag.explain import facts
from docrail.dag.language.definition import TriggerRule
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import shortened

RULE_WORDS: Mapping[TriggerRule, str] = {
    TriggerRule.NONE_FAILED: "runs if no parent failed or was skipped because of a failure, and at least one completed",
    TriggerRule.ALL_SUCCESS: "runs if every parent completed",
    TriggerRule.ALL_DONE: "runs once every parent is settled, however",
    TriggerRule.ONE_SUCCESS: "runs if at least one parent completed",
    TriggerRule.ONE_FAILED: "runs if at least one parent failed or was skipped because of a failure",
    TriggerRule.ALL_FAILED: "runs if every parent failed or was skipped because of a failure",
}
"""The language's truth table, in words."""

SAID_PARENTS, SAID_READS, SAID_KEYS = 5, 8, 5
"""Parents, values and keys that a sentence lists; the others are only counted."""
SAID_CHARACTERS = 300
"""Characters of an error message in a sentence; the data has more."""

_SPANS = {"day": 86_400, "hour": 3_600, "minute": 60}
"""Seconds of each."""
_ON_TIMEOUT = {"abort": "the run is aborted", "fail": "the step fails", "continue": "the run goes on"}
_CAUSES = {"abort": "the run was aborted", "cancel": "the run was cancelled", "fail_fast": "another step had failed"}
"""What stopped a step, by `decided_by` (STOPPED_BY in dag/engine/state.py)."""
_NOT_FAILED = {WORKER_LOST: "lost its worker", WORKER_UNFIT: "reached a worker that lacks what it needs"}
"""Ends of attempts that do not count as failed, by error type."""
_STOPPED = {RunStatus.ABORTED: "aborted", RunStatus.CANCELLED: "cancelled", RunStatus.FAILED: "stopped by a failure"}

_HOLDS: Mapping[facts.HoldKind, str] = {
    facts.HoldKind.PARENTS: "{parents.unsettled} of its {parents.total} parents are not settled yet",
    facts.HoldKind.PAUSE: "the run is paused: nothing begins until it is resumed",
    facts.HoldKind.LAYER: "limits.dispatch is layers: an earlier layer has steps that are not settled yet",
    facts.HoldKind.SLOTS: "all slots are taken: limits.max_concurrency is {hold.most}",
    facts.HoldKind.WINDOW: "{hold.running} items run, as many as for_each.max_concurrency ({hold.most}) allows",
    facts.HoldKind.VALUES: "stored values that it reads are being loaded",
    facts.HoldKind.TURN: "the run has not come to it yet",
}
_UNFINISHED = {
    StepStatus.FAILED: "failed",
    StepStatus.PARKED: "failed, and waiting for a person to retry, skip or complete it",
    StepStatus.WAITING: "waiting for an answer or a time",
    StepStatus.RUNNING: "running",
}


def in_words(explanation: facts.RunExplanation) -> facts.RunExplanation:
    """Return the explanation with the sentences of the run and of its steps."""
    stopping = explanation.stopping
    steps = {
        step_id: step.model_copy(update={"words": tuple(step_words(step, stopping))})
        for step_id, step in explanation.steps.items()
    }
    return explanation.model_copy(update={"words": tuple(run_words(explanation)), "steps": steps})


def run_words(of: facts.RunExplanation) -> Iterator[str]:
    """Describe the state of the whole run, and what it waits for."""
    run = of.progress
    yield f"{run.settled} of {run.steps} steps are settled, the run is {of.status}"
    if of.stopping is not None:
        yield f"it was {_STOPPED[of.stopping]}{_stopper_words(run)}: {run.stop_reason}"
    elif run.has_ended and of.status is RunStatus.FAILED and run.stop_reason:
        yield f"it was ended{_stopper_words(run)}: {run.stop_reason}" if run.stopped_by else run.stop_reason
    if of.overdue:
        state = "it was overdue" if run.has_ended or of.stopping is not None else "it is overdue, and goes on"
        yield f"{state}: it had not ended {run.deadline_seconds:g} s after its start"
    if run.ending is not None and not run.has_ended:
        yield f"what it did is being undone; then it ends as {run.ending}"
    if run.not_undone is not None:
        yield f"could not be undone, so that what it did stands: {_steps_words(run.not_undone)}"
    for status, words in _UNFINISHED.items():
        if status in run.by_status:
            yield f"{words}: {_steps_words(run.by_status[status])}"


def _steps_words(steps: facts.StepsPart) -> str:
    return named(steps.named, SAID_KEYS, of=steps.total)


def _stopper_words(run: facts.ProgressPart) -> str:
    """Name what stopped the run: a person, or one of its steps."""
    if run.stopped_by_step is not None:
        return f" by its step {run.stopped_by_step}"
    return f" by {run.stopped_by}" if run.stopped_by else ""


def step_words(of: facts.StepExplanation, stopping: RunStatus | None) -> Iterator[str]:
    """Describe what decided about one step, and what it waits for."""
    yield from _rule_words(of)
    yield from _condition_words(of)
    for case in of.cases:
        if case.verdict is not facts.Verdict.NOT_ASKED:
            yield _case_words(case)
    if of.hold is not None:
        subject = "its next item has" if of.status is StepStatus.RUNNING else "it has"
        held_by = f" ({named(of.hold.steps, SAID_KEYS)})" if of.hold.steps else ""
        yield f"{subject} not begun: {_hold_words(of.hold, of.parents)}{held_by}"
    if of.waiting is not None:
        yield wait_words(of.waiting)
        if of.waiting.decided:
            made = "; ".join(f"{each.by} decided {each.value}" for each in of.waiting.decided[-SAID_PARENTS:])
            yield f"{made}; {of.waiting.approvals_missing} more must decide alike"
    if of.status in (StepStatus.RUNNING, StepStatus.WAITING) and stopping is not None:
        yield f"the run is {_STOPPED[stopping]}, and the step was asked to stop"
    if of.status is StepStatus.CANCELLED:
        yield f"it was stopped while it ran, because {_CAUSES.get(of.decided_by, 'the run was stopped')}"
    yield from _end_words(of)


def _hold_words(hold: facts.HoldPart, parents: facts.ParentsPart) -> str:
    if hold.by is facts.HoldKind.PARENTS and parents.total == 1:
        return f"its parent {hold.steps[0]} is not settled yet"
    return _HOLDS[hold.by].format(hold=hold, parents=parents)


def _rule_words(of: facts.StepExplanation) -> Iterator[str]:
    rule, parents = of.rule, of.parents
    meaning = RULE_WORDS[rule.name]
    if of.reason is SkipReason.ABORTED:
        yield "the run was stopped before the step began"
    elif rule.verdict is facts.Verdict.NO:
        yield f"{rule.name} did not let it run: it {meaning}; {_parents_words(parents)}"
    elif rule.verdict is facts.Verdict.YES and parents.total:
        yield f"{rule.name} let it run: it {meaning}; {_parents_words(parents)}"
    elif rule.verdict is facts.Verdict.YES:
        yield "it has no parents, so it may begin with the run"
    else:
        yield f"{rule.name} decides once every parent is settled: it {meaning}; {_parents_words(parents)}"


def _parents_words(parents: facts.ParentsPart) -> str:
    """Describe the parents' states: all if they are few, otherwise those that did not simply complete."""
    if parents.total <= SAID_PARENTS:
        return ", ".join(map(_parent_words, parents.named))
    odd = [parent for parent in parents.named if parent.counts_as is not facts.Standing.COMPLETED]
    counts = (f"{getattr(parents, name)} {name}" for name in facts.Standing if getattr(parents, name))
    shown = f" ({', '.join(map(_parent_words, odd[:SAID_PARENTS]))}{', …' * (len(odd) > SAID_PARENTS)})" if odd else ""
    return f"of {parents.total} parents {', '.join(counts)}{shown}"


def _parent_words(parent: facts.ParentPart) -> str:
    why = f" ({parent.reason})" if parent.reason else ""
    if parent.status is not StepStatus.COMPLETED or not parent.wanted_branches:
        return f"{parent.id} is {parent.status}{why}"
    taken = f"took the branch {parent.branch}" if parent.branch else "took no branch"
    follows = "" if parent.branch in parent.wanted_branches else f", not {' or '.join(parent.wanted_branches)}"
    return f"{parent.id} {taken}{follows}"


def _condition_words(of: facts.StepExplanation) -> Iterator[str]:
    condition = of.condition
    if condition is None or of.reason is SkipReason.ABORTED:
        return
    quoted = f"`{condition.expression}`"
    match condition.verdict:
        case facts.Verdict.YES | facts.Verdict.NO:
            answer = "true" if condition.verdict is facts.Verdict.YES else "false, so the step is skipped"
            yield f"its condition {quoted} was {answer}{_reads_words(condition.reads)}"
        case facts.Verdict.ERROR:
            yield f"its condition {quoted} could not be evaluated{_reads_words(condition.reads)}"
        case facts.Verdict.NOT_ASKED:
            yield f"its condition {quoted} is evaluated only if {of.rule.name} lets it run"


def _case_words(case: facts.TestPart) -> str:
    if case.expression is None:
        return f"no case was true, so else led to {case.branch}"
    answers = {
        facts.Verdict.YES: f"was true, and led to {case.branch}",
        facts.Verdict.NO: f"was false, so not {case.branch}",
    }
    return f"`{case.expression}` {answers.get(case.verdict, 'could not be evaluated')}{_reads_words(case.reads)}"


def _reads_words(reads: Sequence[facts.ReadPart]) -> str:
    shown = [
        f"{read.path} {'has no value' if read.value is None else f'= {read.value}'}" for read in reads[:SAID_READS]
    ]
    return f" ({', '.join(shown)}{', …' * (len(reads) > SAID_READS)})" if shown else ""


def wait_words(of: facts.WaitPart | None) -> str:
    """Describe what a step waits for, and how long; None: it is parked and waits for a person."""
    if of is None:
        return "it waits for a person to have it tried again, skipped, or given an output"
    needed = of.approvals_needed
    decision = "a decision of a person" if needed == 1 else f"{needed} people to decide alike"
    asked = {
        "timer": "it waits for nothing but time",
        "human": f"it waits for {decision} in the queue {of.queue}",
        "webhook": "it waits for an answer to its callback address",
        "signal": "it waits for an answer",
    }[of.waits_for]
    if of.until is None or of.since is None:
        return f"{asked}, without a limit"
    if of.waits_for == "timer":
        return f"{asked}: {_span(of.until - of.since)} in all"
    outcome = _ON_TIMEOUT.get(of.on_timeout, f"the {of.on_timeout} is taken")
    first = (
        "" if of.escalates_at is None else f", after {_span(of.escalates_at - of.since)} in the queue {of.escalates_to}"
    )
    return f"{asked}, {_span(of.until - of.since)} in all{first}; then {outcome}"


def _span(seconds: float) -> str:
    """Return a time as people say it: `45 s`, `10 minutes`, `2 days`, `1 hour 30 minutes`."""
    if seconds < 2 * _SPANS["minute"]:
        return f"{seconds:g} s"
    left, parts = round(seconds), list[str]()
    for name, size in _SPANS.items():
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}{'s' * (count > 1)}")
    return " ".join([*parts, *([f"{left} s"] if left else [])])


def _end_words(of: facts.StepExplanation) -> Iterator[str]:
    if of.answer is not None:
        yield f"it was answered{f' by {of.answer.by}' if of.answer.by else ''}: {of.answer.value}"
    if of.decided_by in ("timeout", "deadline"):
        late = "before the run's deadline" if of.decided_by == "deadline" else f"in time{_time_words(of.waited)}"
        leads = f", so the branch {of.branch} is taken" if of.branch else ""
        yield f"no one answered {late}{leads}"
    if of.items is not None:
        yield _items_words(of)
    if of.error is not None and of.error.type != "DependencyFailed":
        yield f"its error: {_error_words(of.error)}"
    if of.cached:
        yield "its output is that of earlier equal work (cache): the handler did not run"
    if of.attempts is not None:
        yield from _attempts_words(
            of.attempts, is_list=of.items is not None, is_over=of.status is not StepStatus.RUNNING
        )
    if of.status is StepStatus.PARKED:
        yield wait_words(None)
    if of.resolved_by is not None:
        yield f"{of.resolved_by} {_resolution_words(of)}"
    if of.compensation is not None:
        why = f": {_error_words(of.compensation_error)}" if of.compensation_error else ""
        yield f"undoing it is {of.compensation}{why}"


def _time_words(of: facts.WaitPart | None) -> str:
    """Describe how long an escalated question was open in all: its error only covers the time since the escalation."""
    if of is None or of.until is None or of.since is None or of.escalates_at is None:
        return ""
    whole, last = of.until - of.since, of.until - of.escalates_at
    return (
        f", {_span(whole)} in all: it was escalated, and the last {_span(last)} it was in the queue {of.escalates_to}"
    )


def _resolution_words(of: facts.StepExplanation) -> str:
    if of.decided_by != "operator":
        return "had it tried again"
    return "had it skipped" if of.status is StepStatus.SKIPPED else "gave its output by hand"


def _attempts_words(of: facts.AttemptsPart, *, is_list: bool, is_over: bool) -> Iterator[str]:
    yield from earlier_words(of.earlier)
    if not of.made or not (is_over or is_list):  # of the current attempt only the server knows
        return
    forgotten = of.made - 1 - sum(each.error.type not in _NOT_FAILED for each in of.earlier)
    if forgotten > 0 and not is_list:
        yield f"how {forgotten} earlier attempt{'s' * (forgotten > 1)} failed was not kept"
    over = f"the {of.over_seconds:g} s for all attempts left no time for another" if of.over_seconds is not None else ""
    if is_list:
        some = f"; for some, {over}" if over else ""
        yield f"attempts made: {of.made} for all items, of at most {of.most} for each{some}"
    else:
        yield f"attempts made: {of.made}, of at most {of.most}{f': {over}' if over else ''}"


def earlier_words(earlier: Sequence[EarlierError]) -> Iterator[str]:
    """Describe how earlier attempts failed."""
    for each in earlier:
        attempt = f"attempt {each.attempt}{f' at item {each.item}' if each.item else ''}"
        if each.error.type in _NOT_FAILED:
            met = _NOT_FAILED[each.error.type]
            yield f"{attempt} {met} and was made again, which is not a failed attempt: {each.error.message}"
        else:
            yield f"{attempt} failed: {_error_words(each.error)}"


def _items_words(of: facts.StepExplanation) -> str:
    items = of.items
    assert items is not None, "only for a step over a list"
    counts = (f"{getattr(items, name)} {name.replace('_', ' ')}" for name in ("completed", "failed", "running"))
    left = f", {items.cancelled} cancelled" if items.cancelled else ""
    left += f", {items.not_started} not started" if items.not_started else ""
    left += f", {items.skipped} skipped by hand" if items.skipped else ""
    left += f", {items.cached} out of the cache" if items.cached else ""
    keys = [item.key for item in items.failed_items]
    failed = f"; failed: {named(keys, SAID_KEYS, of=items.failed)}" if keys else ""
    return f"of {items.total} items {', '.join(counts)}{left}{failed}"


def _error_words(error: StepError) -> str:
    return f"{error.type}: {shortened(error.message, SAID_CHARACTERS)}"


def named(names: Sequence[str], most: int, *, of: int | None = None) -> str:
    """Return the first names, and the number of those left."""
    left = (len(names) if of is None else of) - min(len(names), most)
    return ", ".join(names[:most]) + (f" and {left} more" if left else "")
