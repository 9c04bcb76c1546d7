"""Fold one event into a run's state and return the commands that follow. Everything that changes a RunState is here.

Theory of operation
-------------------
A run is a state machine for each step, with one table: `STEP` gives the transition for a step's status and an event.
**A pair that is not in the table is late or repeated, and changes nothing.** Compensations have a table of their own
(`UNDO`), and so have the events about the whole run (`RUN`), which change it in any state but its last.

    PENDING ─ parents settled ─> judge ─> QUEUED ─ slot free ─> begin ─> RUNNING | WAITING ─ its work ends ─> settled
                                   └─> SKIPPED | FAILED                        (COMPLETED, FAILED, CANCELLED)
    FAILED, under `on_failure: park` ─> PARKED ─ a person resolves it ─> PENDING | COMPLETED | SKIPPED

`advance` applies an event in this order, which is also the order of the commands:

1. `apply`: the transition itself. A step that settles may settle others: `settle` judges each child once, when its
   last parent has settled. The order in which work ends therefore never changes an outcome.
2. `stop_early`: a run that cannot succeed, or is about to reach Temporal's limits, is stopped.
3. `begin_ready`: ready steps begin in plan order while slots are free.
4. `record_fallen`, `finish`: failures are recorded; a run whose steps are all settled ends, after its compensations.
5. `begin_loading`, `begin_storing`, `go_on_later`: stored values are moved, and what a turn has no room for is put off.

An event costs what it touches, not the size of the plan: each step knows how many of its parents are unsettled, and
ready steps wait in a heap. `move` alone assigns a step's status, so that these counters cannot get out of step
(counters.py rebuilds them from the statuses). The other modules of this package read the state and return decisions:
eligibility (does the step run?), dispatch (what may begin?), map_items (lists), compensation, value_transfer, park.
Transitions return their commands at once instead of yielding them: a generator that no one consumes would change
nothing, without an error.

In one file because a single writer keeps the state and its counters consistent.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from docrail.dag.engine import dispatch, eligibility, events, map_items
from docrail.dag.engine.approvals import agreement, approvals_of, decide
from docrail.dag.engine.compensation import is_undoing, next_undo
from docrail.dag.engine.park import with_items
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import Meter, RunScope
from docrail.dag.engine.state import (
    CANCELLED,
    COMPLETED,
    FAILED,
    MOST_EARLIER,
    PARKED,
    PENDING,
    QUEUED,
    RUNNING,
    SKIPPED,
    WAITING,
    Answer,
    ChunkState,
    Ending,
    FanState,
    ItemEnd,
    ItemState,
    RunState,
    StepError,
    StepState,
    stopped_by,
)
from docrail.dag.engine.value_transfer import MOST_LOADS, found_of, wanted, wanted_for_outputs
from docrail.dag.language.definition import DeadlineThen, OnFailure
from docrail.dag.language.expressions.expression_errors import show
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import LONGEST_WAIT_SECONDS, SHORTEST_SECONDS, ForEach, StepKind, Then
from docrail.dag.values import stored
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import Json, shortened, size_of


@dataclass(slots=True)
class Moment:
    """What a transition works on: the plan, the state, the time, and the work that expressions have used this turn."""

    plan: Plan
    run: RunState
    at: float
    meter: Meter


_ENDED = (events.StepCompleted, events.StepFailed, events.StepCancelled)

Commands = Sequence[events.Command]
"""What a transition returns; most return none."""


def advance(
    plan: Plan, run: RunState, event: events.Event, history: events.HistorySize | None = None
) -> list[events.Command]:
    """Fold `event` into `run` and return the commands that follow, starts in plan order.

    Deterministic: equal arguments give equal commands, on any worker, at any time. An event that is late or repeated,
    or comes after the run's end, changes nothing. `history`: the size of the workflow's history, if it is known.
    """
    if run.outcome is not None:
        return []
    now = begin_moment(plan, run, event, history)
    commands = [*apply(now, event)]
    if run.outcome is None:  # a run that is handed over ends at once
        commands += stop_early(now)
        commands += begin_ready(now)
        commands += record_fallen(now)
        commands += finish(now)
    if run.outcome is None:
        commands += begin_loading(now)
        commands += begin_storing(now)
        commands += go_on_later(now)
    run.turn.spent = now.meter.used
    return commands


def begin_moment(plan: Plan, run: RunState, event: events.Event, history: events.HistorySize | None) -> Moment:
    """Count what the event brings. The events of one turn have the same time, and share the turn's limits."""
    traffic, turn = run.traffic, run.turn
    traffic.carried_bytes += dispatch.received_bytes(event)
    if history is not None:
        traffic.history_events, traffic.history_bytes = history.events, history.bytes
    if turn.begun_at != event.at:
        turn.begun_at, turn.begun_bytes, turn.spent = event.at, 0, 0
    return Moment(plan, run, event.at, Meter(turn.spent))


def apply(now: Moment, event: events.Event) -> Commands:
    """Apply the transition that a table has for the event."""
    if change_run := RUN.get(type(event)):
        return change_run(now, event)
    step_event: Any = event
    index = now.plan.index.get(step_event.step)
    if index is None:
        return ()
    step, state = now.plan.steps[index], now.run.steps[index]
    if isinstance(event, _ENDED) and isinstance(event.part, events.Undo):
        if ended := UNDO.get((state.compensation, type(event))):
            close_undo(now, step, ended, event.error if isinstance(event, events.StepFailed) else None)
        return ()
    if change := STEP.get((state.status, type(event))):
        return change(now, step, event)
    return ()


# The run: its start, requests, and its end


def begin_run(now: Moment, _: events.RunStarted) -> Commands:
    """Begin a run, or continue one from a rewound state."""
    run = now.run
    run.started_at = now.at if run.started_at is None else run.started_at
    for step in now.plan.steps:
        if run.steps[step.index].status is PENDING and not run.counters.unsettled_parents[step.index]:
            admit(now, step)
    return ()


def go_on(now: Moment, _: events.WentOn) -> Commands:
    """Judge the steps that the previous turn deferred."""
    turn = now.run.turn
    turn.is_going_on = False
    deferred, turn.deferred = turn.deferred, []
    for index in deferred:
        if now.run.steps[index].status is PENDING:
            admit(now, now.plan.steps[index])
    return ()


def pause(now: Moment, _: events.PauseRequested) -> Commands:
    """Begin nothing more. A run that is being stopped is not paused."""
    now.run.paused = now.run.stopping is None
    return ()


def resume(now: Moment, _: events.ResumeRequested) -> Commands:
    """End a pause."""
    now.run.paused = False
    return ()


def abort(now: Moment, event: events.AbortRequested) -> Commands:
    """Stop the run as ABORTED, or end it as it stands for another run to continue."""
    if event.is_continued:
        return hand_over(now, event)
    return stop(now, RunStatus.ABORTED, event.reason, principal=event.by)


def cancel(now: Moment, _: events.CancelRequested) -> Commands:
    """Stop the run as CANCELLED."""
    return stop(now, RunStatus.CANCELLED, "cancelled")


def note_overdue(now: Moment, _: events.DeadlinePassed) -> Commands:
    """Have people notified, once, and do what the definition says: stop the run, or end its waits for answers."""
    was_overdue, now.run.overdue = now.run.overdue, True
    if was_overdue:
        return ()
    commands: list[events.Command] = [events.RecordOverdue(now.at)]
    rule = now.plan.on_deadline
    if rule is not None and rule.then is DeadlineThen.ABORT:
        commands += stop(now, RunStatus.ABORTED, f"it had not ended {now.plan.deadline_seconds:g} s after its start")
    for step in now.plan.steps:
        if now.run.steps[step.index].status is WAITING and is_ended_by_deadline(now, step):
            commands.append(events.Cancel(step.id))
            take_deadline_branch(now, step)
    return commands


def is_ended_by_deadline(now: Moment, step: Step) -> bool:
    """Return whether a step that waits takes the branch of the run's deadline, which has passed."""
    rule, run = now.plan.on_deadline, now.run
    return run.overdue and not run.stopping and rule is not None and rule.branch is not None and not step.is_timer


def take_deadline_branch(now: Moment, step: Step) -> None:
    """Complete a waiting step without an answer, in the branch of the run's deadline."""
    assert now.plan.on_deadline is not None, "is_ended_by_deadline"
    now.run.steps[step.index].branch = now.plan.on_deadline.branch
    leave(now, step, Ending(COMPLETED, {"timed_out": True}, decided_by="deadline"))


def hand_over(now: Moment, event: events.AbortRequested) -> Commands:
    """End a run with parked steps as it stands, without compensation: another run continues from its state."""
    run = now.run
    if run.status is not RunStatus.WAITING or not run.counters.parked:
        return ()
    run.outcome, run.stop_reason, run.ended_at = RunStatus.FAILED, shortened(event.reason), now.at
    run.stopped_by = event.by
    waiting = (step for step in now.plan.steps if run.steps[step.index].status is WAITING)
    return [*(events.Cancel(step.id) for step in waiting), events.Finish(RunStatus.FAILED)]


def stop_early(now: Moment) -> Commands:
    """Stop a run that cannot succeed: it fails fast, or is about to reach Temporal's limits."""
    if reason := dispatch.excess(now.plan, now.run):
        return stop(now, RunStatus.FAILED, reason)
    if now.run.counters.failures and now.plan.on_failure is OnFailure.FAIL_FAST:
        return stop(now, RunStatus.FAILED, "")
    return ()


def stop(now: Moment, status: RunStatus, reason: str, *, by: Step | None = None, principal: str = "") -> Commands:
    """End the run early: skip what has not begun, and cancel active steps except `by`, which caused the stop.

    The first stop wins.
    """
    run = now.run
    if run.stopping or run.ending:
        return ()
    run.stopping, run.stop_reason, run.paused = status, shortened(reason), False
    run.stopped_by, run.stopped_by_step = principal, None if by is None else by.id
    run.counters.withdraw_all()
    for step in now.plan.steps:
        state = run.steps[step.index]
        if state.status in (PENDING, QUEUED):
            state.reason, state.decided_by = SkipReason.ABORTED, stopped_by(run, status)
            close(now, step, SKIPPED)
        elif state.status is PARKED:
            close(now, step, FAILED)
    commands: list[events.Command] = []
    for step in now.plan.steps:
        state = run.steps[step.index]
        if state.fan is not None and state.status is RUNNING:
            commands += stop_items(step, state.fan)
            conclude(now, step)  # between two items, none may be running
        elif state.status in (RUNNING, WAITING) and step is not by:
            commands.append(events.Cancel(step.id))
    return commands


def finish(now: Moment) -> Commands:
    """End a run whose steps are all settled, once its outputs are computed or its compensations have ended."""
    plan, run = now.plan, now.run
    if run.counters.unsettled:
        return ()
    run.ending = run.ending or run.stopping or (RunStatus.FAILED if run.counters.failures else RunStatus.COMPLETED)
    if run.ending is RunStatus.COMPLETED and not compute_outputs(now):
        return ()
    commands: list[events.Command] = []
    is_left = False
    if run.ending is not RunStatus.COMPLETED:
        commands += begin_undo(now)
        is_left = is_undoing(plan, run) or next_undo(plan, run) is not None
    commands += record_fallen(now)
    if is_left:
        return commands
    run.outcome, run.ended_at = run.ending, now.at
    return [*commands, events.Finish(run.outcome)]


def compute_outputs(now: Moment) -> bool:
    """Compute the run's outputs; a run whose outputs cannot be computed fails. False: values must be loaded first."""
    plan, run = now.plan, now.run
    if stored.ForOutputs() in run.transfers.loading or note_wants(
        run, stored.ForOutputs(), wanted_for_outputs(plan, run)
    ):
        return False
    try:
        run.outputs = eligibility.resolve(plan.outputs, RunScope(plan, run, now.meter, keeps_large=True))
    except ExpressionError as error:
        fail_outputs(run, error.message)
    return True


def fail_outputs(run: RunState, message: str) -> None:
    """Let the run end as FAILED, because its outputs cannot be computed."""
    run.ending, run.stop_reason = RunStatus.FAILED, shortened(f"outputs: {message}")


def record_fallen(now: Moment) -> Commands:
    """Have failures, and resolutions of failures, recorded in the dead-letter table."""
    run = now.run
    if not run.fallen:
        return ()
    records = [events.Record(now.plan.steps[index].id) for index in run.fallen]
    run.fallen.clear()
    return records


def go_on_later(now: Moment) -> Commands:
    """Ask for a new turn if something is left for one. Work already begun may take weeks to cause one."""
    run, turn = now.run, now.run.turn
    if turn.is_going_on:
        return ()
    has_left = turn.deferred or now.meter.used >= eligibility.MAX_TURN_WORK
    has_left = has_left or (run.transfers.to_store and not run.transfers.is_storing)
    if has_left or (turn.begun_bytes >= dispatch.MAX_BEGUN_BYTES and dispatch.may_dispatch(now.plan, run)):
        turn.is_going_on = True
        return (events.GoOn(),)
    return ()


# A step: from its parents' settling to its own


def move(now: Moment, step: Step, to: StepStatus) -> Sequence[int]:
    """Give a step another status, and return its children that have no unsettled parents left because of it.

    The only place that assigns StepState.status; the counters follow here and nowhere else.
    """
    state = now.run.steps[step.index]
    was, state.status = state.status, to
    return now.run.counters.move(step, was, to)


def admit(now: Moment, step: Step) -> None:
    """Judge a step whose parents are all settled, and every step that this settles in turn."""
    fate = judged(now, step)
    if fate is not None:
        settle(now, step, fate)


def judged(now: Moment, step: Step) -> StepStatus | None:
    """Decide whether a step runs. Return the status with which it settles at once, None if it does not."""
    state = now.run.steps[step.index]
    fate = eligibility.judge(now.plan, now.run, step, now.meter)
    state.decided_by = fate.decided_by
    match fate:
        case eligibility.Admit():
            move(now, step, QUEUED)
        case eligibility.Skip(reason=reason):
            state.reason = reason
            state.error = eligibility.DEPENDENCY_FAILED if reason is SkipReason.UPSTREAM_FAILED else None
            return SKIPPED
        case eligibility.Refuse(error=error):
            state.error = error
            return FAILED
        case eligibility.Defer():
            now.run.turn.deferred.append(step.index)
        case eligibility.NeedsValues(wants=wants):
            note_wants(now.run, stored.ForStep(step.id), wants)
        case _:
            assert_never(fate)
    return None


def settle(now: Moment, step: Step, status: StepStatus) -> None:
    """Give a step its final status, then judge every step that has no unsettled parents left, and so on down."""
    settled = [(step, status)]
    while settled:
        for index in close(now, *settled.pop()):
            if now.run.steps[index].status is PENDING:
                child = now.plan.steps[index]
                fate = judged(now, child)
                if fate is not None:
                    settled.append((child, fate))


def close(now: Moment, step: Step, status: StepStatus) -> Sequence[int]:
    """Give a step its final status, or park it; return its children that have no unsettled parents left because of it.

    Failures are recorded. Under `on_failure: park` they wait for a person instead of failing the run.
    """
    run = now.run
    if status is FAILED:
        run.fallen.append(step.index)
        if now.plan.on_failure is OnFailure.PARK and not step.definition.optional and run.stopping is None:
            return move(now, step, PARKED)
    run.steps[step.index].ended_at = now.at
    return move(now, step, status)


def leave(now: Moment, step: Step, ending: Ending) -> None:
    """Close a begun step with its result."""
    state = now.run.steps[step.index]
    state.error, state.cached = ending.error, ending.cached
    state.decided_by = ending.decided_by or state.decided_by
    set_output(now.run, state, ending.output)
    settle(now, step, ending.status)


def set_output(run: RunState, state: StepState, output: Json) -> None:
    """Set a step's output, and note whether parts of it are in the value store."""
    state.output, state.is_stored = output, stored.has_parts(output)
    run.counters.has_stored |= state.is_stored


def begin_ready(now: Moment) -> Commands:
    """Begin ready steps in plan order, until nothing more can begin or the turn is full."""
    plan, run, turn, traffic = now.plan, now.run, now.run.turn, now.run.traffic
    commands: list[events.Command] = []
    while not run.paused and not run.stopping:
        if turn.begun_bytes >= dispatch.MAX_BEGUN_BYTES or now.meter.used >= eligibility.MAX_TURN_WORK:
            break
        if (step := dispatch.next_ready(plan, run)) is None:
            break
        failures, begun = run.counters.failures, begin_next(now, step)
        for command in begun:
            size = dispatch.sent_bytes(plan, run, command)
            traffic.carried_bytes, turn.begun_bytes = traffic.carried_bytes + size, turn.begun_bytes + size
        commands += begun
        if run.counters.failures > failures or traffic.carried_bytes > dispatch.MAX_CARRIED_BYTES:
            commands += stop_early(now)
    return commands


def begin_next(now: Moment, step: Step) -> Commands:
    """Begin a ready step, or its next item. A step whose config cannot be computed fails."""
    state = now.run.steps[step.index]
    if state.status is RUNNING:
        fan, for_each = list_of(now.run, step)
        commands = use_slots(now, step) if fan.window else begin_item(now, step)
        commands = [*commands, *stop_failed(now, step)]
        if not map_items.has_work(fan, for_each):
            now.run.counters.withdraw(step)
        conclude(now, step)
        return commands
    state.started_at = now.at
    try:
        return begin_list(now, step) if step.items is not None else begin_step(now, step)
    except ExpressionError as error:
        state.error = StepError("TemplateError", error.message)
        settle(now, step, FAILED)
        return ()


def begin_step(now: Moment, step: Step) -> Commands:
    """Begin a step that runs over no list. Raises ExpressionError; then nothing has changed."""
    plan, run, state = now.plan, now.run, now.run.steps[step.index]
    if step.kind is StepKind.SWITCH:
        state.branch = eligibility.choose(plan, run, step, now.meter)
        state.output = {"branch": state.branch}
        settle(now, step, COMPLETED)
        return ()
    scope = RunScope(plan, run, now.meter, by_reference=step.kind is StepKind.HANDLER)
    config = eligibility.resolve(step.config, scope) if state.edited is None else state.edited
    cache_key = dispatch.cache_key_of(step, scope, config, state.edited)
    match step.kind:
        case StepKind.HANDLER | StepKind.WORKFLOW:
            move(now, step, RUNNING)
            return (events.Start(step.id, config, cache_key=cache_key),)
        case StepKind.WAIT | StepKind.HUMAN:
            return begin_waiting(now, step, config)
        case StepKind.ABORT:
            move(now, step, RUNNING)
            commands = stop(now, RunStatus.ABORTED, str(config["reason"]), by=step)
            leave(now, step, Ending(COMPLETED))
            return commands
        case _:
            assert_never(step.kind)


def begin_waiting(now: Moment, step: Step, config: Json) -> Commands:
    """Begin to wait, unless the answer arrived before the wait. Raises ExpressionError."""
    state, seconds = now.run.steps[step.index], config.get("seconds")
    if step.is_timer and not dispatch.is_duration(seconds):  # a timeout is a constant in the definition
        raise ExpressionError(
            f"`seconds` is {show(seconds)}, expected a number from {SHORTEST_SECONDS}, at most {LONGEST_WAIT_SECONDS}"
        )
    move(now, step, WAITING)
    if state.answer is None and is_ended_by_deadline(now, step):
        take_deadline_branch(now, step)
        return ()
    if state.answer is None:
        return (events.Start(step.id, config),)
    leave(now, step, Ending(COMPLETED, state.answer.value))
    return ()


def complete(now: Moment, step: Step, event: events.StepCompleted) -> Commands:
    """Close a running part that completed."""
    ending = Ending(COMPLETED, event.output, attempts=event.attempts, cached=event.cached, earlier=event.earlier)
    return end(now, step, event.part, ending)


def fail(now: Moment, step: Step, event: events.StepFailed) -> Commands:
    """Close a running part that failed."""
    ending = Ending(
        FAILED,
        error=event.error,
        attempts=event.attempts,
        earlier=event.earlier,
        out_of_time=event.out_of_time,
    )
    return end(now, step, event.part, ending)


def cancelled(now: Moment, step: Step, event: events.StepCancelled) -> Commands:
    """Close a cancelled part: as FAILED if the run did not ask for the cancellation."""
    run, fan, attempts = now.run, now.run.steps[step.index].fan, int(step.takes_slot)
    if run.stopping:
        ending = Ending(CANCELLED, attempts=attempts, decided_by=stopped_by(run, run.stopping))
    elif fan is not None and fan.stopping:
        ending = Ending(CANCELLED, attempts=attempts)
    else:
        error = StepError("Cancelled", "cancelled from outside the run")
        ending = Ending(FAILED, error=error, attempts=attempts)
    return end(now, step, event.part, ending)


def end(now: Moment, step: Step, part: events.Part, ending: Ending) -> Commands:
    """Close a running part of a step: a part that does not run is late or repeated, as a pair without a transition."""
    state = now.run.steps[step.index]
    match part:
        case events.WholeStep():
            if state.fan is None:
                state.attempts, state.earlier, state.out_of_time = ending.attempts, ending.earlier, ending.out_of_time
                leave(now, step, ending)
            return ()
        case events.Item(place):
            fan = state.fan
            is_running = fan is not None and not fan.window and fan.items[place].status is RUNNING
            return end_items(now, step, place, (ending,)) if is_running else ()
        case events.Chunk(first):
            chunk = state.fan.chunks.get(first) if state.fan is not None else None
            return end_items(now, step, first, (ending,) * len(chunk.places)) if chunk is not None else ()
        case events.Undo():
            return ()
        case _:
            assert_never(part)


def note_losses(now: Moment, step: Step, event: events.WorkerLost) -> Commands:
    """Note the attempts of a running step that ended with their workers, or failed in groups."""
    state = now.run.steps[step.index]
    state.earlier, state.attempts, state.next_at = event.earlier, event.failed, event.next_at
    return ()


def answer(now: Moment, step: Step, event: events.Answered) -> Commands:
    """Complete a waiting step with its answer. If several people must agree, the last agreement is its answer."""
    state = now.run.steps[step.index]
    if not takes_answer(now.run, step):
        return ()
    commands: list[events.Command] = []
    given: Answer | None = event.answer
    if (needed := approvals_of(step.definition.human)) > 1:
        decisions = decide(state.decisions, event.answer)
        if decisions != state.decisions:
            state.decisions = decisions
            commands.append(events.RecordDecision(step.id, decisions[-1]))
        given = agreement(decisions, needed)
    if given is not None:
        state.answer = given
        commands.append(events.Cancel(step.id))
        leave(now, step, Ending(COMPLETED, given.value))
    return commands


def keep_answer(now: Moment, step: Step, event: events.Answered) -> Commands:
    """Keep the answer for a step that will wait, unless several people must agree."""
    if takes_answer(now.run, step) and approvals_of(step.definition.human) == 1:
        now.run.steps[step.index].answer = event.answer
    return ()


def takes_answer(run: RunState, step: Step) -> bool:
    """Return whether a step waits, or will wait, for an answer. The first answer counts."""
    can_wait = step.kind in (StepKind.WAIT, StepKind.HUMAN) and not step.is_timer
    return can_wait and run.steps[step.index].answer is None and not run.stopping


def time_out(now: Moment, step: Step, _: events.TimedOut) -> Commands:
    """Settle a waiting step that timed out, as its `on_timeout` says. A timer completes."""
    waiting = step.definition.wait or step.definition.human
    assert waiting is not None, "only waits and human steps are WAITING"
    if step.is_timer:
        leave(now, step, Ending(COMPLETED, {}))
        return ()
    rule = waiting.on_timeout
    commands: Commands = ()
    error = StepError("Timeout", f"no one answered within {waiting.timeout_seconds:g} s")
    if rule and rule.branch:
        now.run.steps[step.index].branch = rule.branch
    if rule and (rule.branch or rule.then is Then.CONTINUE):
        ending = Ending(COMPLETED, {"timed_out": True}, decided_by="timeout")
    elif rule and rule.then is Then.ABORT:
        commands = stop(now, RunStatus.ABORTED, f"{step.id}: {error.message}", by=step)
        ending = Ending(CANCELLED, error=error, decided_by="timeout")
    else:
        ending = Ending(FAILED, error=error, decided_by="timeout")
    leave(now, step, ending)
    return commands


def resolve_parked(now: Moment, step: Step, event: events.Resolved) -> Commands:
    """Resolve a parked step as a person decided."""
    run, state, resolution = now.run, now.run.steps[step.index], event.resolution
    if run.stopping:
        return ()
    run.fallen.append(step.index)
    again = StepState(fan=map_items.unfinished(state.fan), edited=state.edited, resolved_by=resolution.by)
    match resolution.kind:
        case events.ResolutionKind.RETRY:
            edited = state.edited if resolution.value is None else resolution.value
            retry_parked(now, step, replace(again, edited=edited))
        case events.ResolutionKind.ITEMS:
            retry_parked(now, step, with_items(again, resolution.value or {}))
        case events.ResolutionKind.SKIP:
            state.resolved_by, state.decided_by, state.reason = resolution.by, "operator", SkipReason.OPERATOR
            settle(now, step, SKIPPED)
        case events.ResolutionKind.OUTPUT:
            state.resolved_by, state.decided_by, state.error = resolution.by, "operator", None
            set_output(run, state, resolution.value)
            settle(now, step, COMPLETED)
        case _:
            assert_never(resolution.kind)
    return ()


def retry_parked(now: Moment, step: Step, again: StepState) -> None:
    """Let a parked step begin again, with nothing of its former state but what `again` has."""
    move(now, step, PENDING)
    now.run.steps[step.index] = again
    admit(now, step)


# Steps over lists


def list_of(run: RunState, step: Step) -> tuple[FanState, ForEach]:
    """Return the state of a step's list, and its settings."""
    fan, for_each = run.steps[step.index].fan, step.definition.for_each
    assert fan is not None, "the step has its list"
    assert for_each is not None, "only a step with for_each has items"
    return fan, for_each


def begin_list(now: Moment, step: Step) -> Commands:
    """Create the items of a step, which is over at once if there are none. Raises ExpressionError."""
    state, for_each = now.run.steps[step.index], step.definition.for_each
    assert for_each is not None, "only a step with for_each has items"
    fan = state.fan or map_items.open_fan(now.plan, now.run, step, now.meter)  # a retry keeps the completed items
    pending = sum(item.status is PENDING for item in fan.items)
    state.fan, fan.window = fan, map_items.window_of(now.plan, step, for_each, pending)
    move(now, step, RUNNING)
    if fan.next < len(fan.items):
        now.run.counters.offer(step)
    conclude(now, step)
    return ()


def begin_item(now: Moment, step: Step) -> Commands:
    """Begin the next item of a list; it fails if its config cannot be computed."""
    fan, _ = list_of(now.run, step)
    place = fan.next
    work = open_item(now, step, fan)
    if work is None:
        return ()
    fan.running += 1
    now.run.counters.slots_used += step.takes_slot
    return (events.Start(step.id, work[0], events.Item(place), work[1]),)


def open_item(now: Moment, step: Step, fan: FanState) -> tuple[Json, str | None] | None:
    """Set the next item to RUNNING and return its config and cache key; None if it FAILED at once."""
    place, item = fan.next, fan.items[fan.next]
    fan.next = map_items.following(fan)
    try:
        work = map_items.item_work(now.plan, now.run, step, place, now.meter)
    except ExpressionError as error:
        item.status, item.error = FAILED, StepError("TemplateError", error.message)
        fan.failed += 1
        return None
    item.status = RUNNING
    return work


def use_slots(now: Moment, step: Step) -> Commands:
    """Give a long list's free slots to a new chunk, or to a running one."""
    fan, for_each = list_of(now.run, step)
    match map_items.use_of_slots(now.plan, now.run, step, fan):
        case map_items.Widen(first, width):
            set_width(now, step, first, replace(fan.chunks[first], width=width))
        case map_items.NextChunk(length, width):
            items = begin_chunk_items(now, step, length)
            if items:  # else all of them failed at once
                chunk = ChunkState(tuple(item.place for item in items), min(width, len(items)))
                now.run.counters.slots_used += step.takes_slot * chunk.width
                fan.chunks[items[0].place] = chunk
                fan.running += len(items)
                return (events.StartChunk(step.id, items, chunk.width, map_items.stop_after(fan, for_each)),)
    return ()


def begin_chunk_items(now: Moment, step: Step, length: int) -> tuple[events.ChunkItem, ...]:
    """Begin the next items, up to `length`, as many as the turn and a message have room for."""
    fan, _ = list_of(now.run, step)
    items: list[events.ChunkItem] = []
    size, most = 0, map_items.most_chunk_bytes(now.run)
    while length and size < most and now.meter.used < eligibility.MAX_TURN_WORK and fan.next < len(fan.items):
        place, length = fan.next, length - 1
        if work := open_item(now, step, fan):
            size += size_of(work[0])
            items.append(events.ChunkItem(place, fan.items[place].key, *work))
    return tuple(items)


def set_width(now: Moment, step: Step, first: int, chunk: ChunkState) -> None:
    """Replace a running chunk's state by one with another width; the slots follow."""
    fan, _ = list_of(now.run, step)
    now.run.counters.slots_used += step.takes_slot * (chunk.width - fan.chunks[first].width)
    fan.chunks[first] = chunk


def end_chunk(now: Moment, step: Step, event: events.ChunkEnded) -> Commands:
    """Close the items of a running chunk."""
    fan, first = now.run.steps[step.index].fan, event.chunk.first
    return end_items(now, step, first, event.ends) if fan is not None and first in fan.chunks else ()


def thin_chunk(now: Moment, step: Step, event: events.ChunkThinned) -> Commands:
    """Release the slots that came free in a running chunk."""
    fan, first = now.run.steps[step.index].fan, event.chunk.first
    chunk = fan.chunks.get(first) if fan else None
    if fan is None or chunk is None or not 0 < event.running < chunk.width:
        return ()
    was_offered = map_items.has_work(*list_of(now.run, step))
    thin = replace(chunk, width=event.running, is_thin=True, completed=event.completed, failed=event.failed)
    set_width(now, step, first, thin)
    return reoffer(now, step, was_offered=was_offered)


def end_items(now: Moment, step: Step, first: int, ends: Sequence[Ending | ItemEnd]) -> Commands:
    """Close a running item, or the items of a running chunk; `first` is the first item's position."""
    fan, for_each = list_of(now.run, step)
    was_offered = map_items.has_work(fan, for_each)
    chunk = fan.chunks.pop(first, ChunkState((first,), 1))
    ends = map_items.without_losses(now.run, fan, for_each, ends)
    for place, ending in zip(chunk.places, ends, strict=True):
        close_item(now.run.steps[step.index], fan.items[place], ending)
    fan.running -= len(ends)
    fan.failed += sum(ending.status is FAILED for ending in ends)
    now.run.counters.slots_used -= step.takes_slot * chunk.width
    commands = reoffer(now, step, was_offered=was_offered)
    conclude(now, step)
    return commands


def close_item(state: StepState, item: ItemState, ending: Ending | ItemEnd) -> None:
    """Give an item its result, and add its attempts to its step's."""
    item.status, item.output, item.error = ending.status, ending.output, ending.error
    item.attempts, item.cached = ending.attempts, ending.cached
    state.attempts += ending.attempts
    state.out_of_time |= ending.out_of_time
    state.earlier = (*state.earlier, *map_items.of_item(item, ending.earlier))[-MOST_EARLIER:]


def reoffer(now: Moment, step: Step, *, was_offered: bool) -> Commands:
    """Stop the list if too many items have failed; else let `begin_ready` see it if another item may begin now."""
    commands = stop_failed(now, step)
    is_offered = map_items.has_work(*list_of(now.run, step))
    if is_offered and not was_offered and not now.run.stopping:
        now.run.counters.offer(step)
    elif was_offered and not is_offered:
        now.run.counters.withdraw(step)
    return commands


def stop_failed(now: Moment, step: Step) -> Commands:
    """Cancel the running items of a list once too many have failed."""
    fan, for_each = list_of(now.run, step)
    if fan.stopping or now.run.stopping or not map_items.must_stop(fan, for_each):
        return ()
    commands = stop_items(step, fan)
    fan.stopping = True
    now.run.counters.withdraw(step)
    return commands


def stop_items(step: Step, fan: FanState) -> Commands:
    """Cancel the running items of a list, unless they were cancelled already."""
    return () if fan.stopping else [events.Cancel(step.id, part) for part in map_items.running_parts(fan)]


def conclude(now: Moment, step: Step) -> None:
    """Settle a step over a list once its last item has ended. A large output is stored first."""
    fan, _ = list_of(now.run, step)
    if fan.running or fan.is_storing or not (now.run.stopping or map_items.is_over(fan)):
        return
    ending = map_items.ending_of(now.run, step, fan)
    if size_of(ending.output) <= stored.MAX_INLINE_BYTES:
        leave(now, step, ending)
    else:
        fan.is_storing = True  # its result is fixed from now on
        now.run.transfers.to_store.append(step.index)


# Compensations


def begin_undo(now: Moment) -> Commands:
    """Begin the next compensation, if none is running."""
    plan, run = now.plan, now.run
    if is_undoing(plan, run):
        return ()
    while (step := next_undo(plan, run)) is not None and not run.paused:
        assert step.compensation is not None, "only such steps are in `compensated`"
        reader = stored.ForUndo(step.id)
        wants = wanted(plan.index, run, step.compensation.computed)
        if reader in run.transfers.loading or note_wants(run, reader, wants):
            return ()
        try:
            config = eligibility.resolve(step.compensation, RunScope(plan, run, now.meter, by_reference=True))
        except ExpressionError as error:
            close_undo(now, step, FAILED, StepError("TemplateError", error.message))
            continue
        run.steps[step.index].compensation = RUNNING
        return (events.Start(step.id, config, events.Undo()),)
    return ()


def close_undo(now: Moment, step: Step, status: StepStatus, error: StepError | None) -> None:
    """Record how a compensation ended. Unless it completed, the failure is recorded: the step's effects remain."""
    state = now.run.steps[step.index]
    state.compensation, state.compensation_error = status, error
    if status is not COMPLETED:
        now.run.fallen.append(step.index)


# Stored values


def note_wants(run: RunState, reader: stored.Reader, wants: Iterable[stored.Want]) -> bool:
    """Note what must be loaded for a reader; return whether there is anything. Equal wants are loaded once."""
    wants = tuple(wants)
    if not wants:
        return False
    transfers = run.transfers
    first = next((other for other, loading in transfers.loading.items() if loading.wants == wants), None)
    if first is None:
        transfers.loading[reader] = stored.Loading(wants)
        transfers.unread.append(reader)
    else:
        transfers.loading[first].followers.append(reader)
    return True


def begin_loading(now: Moment) -> Commands:
    """Request the values that steps, or the run's outputs, must read before they can be judged."""
    transfers, commands = now.run.transfers, list[events.Command]()
    while transfers.unread and len(transfers.loading) - len(transfers.unread) < MOST_LOADS:
        reader = transfers.unread.pop(0)
        wants = transfers.loading[reader].wants
        may_stay = tuple(number for number, want in enumerate(wants) if want.may_stay)
        commands.append(events.Load(reader, tuple(want.part for want in wants), may_stay))
    return commands


def end_loading(now: Moment, event: events.Loaded | events.NotLoaded) -> Commands:
    """Continue with what needed the values, or fail it."""
    transfers = now.run.transfers
    loading = transfers.loading.pop(event.reader, None)
    if loading is None:
        return ()
    if isinstance(event, events.Loaded):
        for want, piece in zip(loading.wants, event.parts, strict=True):
            transfers.loaded[want.place] = found_of(want, piece)
    for reader in (event.reader, *loading.followers):
        continue_reader(now, reader, event.error if isinstance(event, events.NotLoaded) else None)
    return ()


def continue_reader(now: Moment, reader: stored.Reader, error: StepError | None) -> None:
    """Judge or fail the step that needed values, or fail its compensation or the run's outputs."""
    match reader:
        case stored.ForStep(step_id):
            step = now.plan.step(step_id)
            state = now.run.steps[step.index]
            if state.status is not PENDING:
                return
            if error is None:
                admit(now, step)
            else:
                state.error = error
                settle(now, step, FAILED)
        case stored.ForUndo(step_id):
            if error is not None:
                close_undo(now, now.plan.step(step_id), FAILED, error)
        case stored.ForOutputs():
            if error is not None:
                fail_outputs(now.run, error.message)
        case _:
            assert_never(reader)


def begin_storing(now: Moment) -> Commands:
    """Store the next output, one at a time, since everything that begins in one turn is sent in one message.

    If too much has begun in this turn, the output is stored in the next one.
    """
    run, turn, transfers = now.run, now.run.turn, now.run.transfers
    if transfers.is_storing or not transfers.to_store:
        return ()
    step = now.plan.steps[transfers.to_store[0]]
    output = map_items.ending_of(run, step, list_of(run, step)[0]).output
    size = size_of(output)
    if turn.begun_bytes + size > map_items.MAX_SENT_BYTES:
        return ()
    transfers.is_storing = True
    turn.begun_bytes, run.traffic.carried_bytes = turn.begun_bytes + size, run.traffic.carried_bytes + size
    return (events.Store(step.id, output),)


def end_storing(now: Moment, step: Step, event: events.Stored | events.NotStored) -> Commands:
    """Settle a step over a list whose output was stored, or could not be."""
    run, transfers = now.run, now.run.transfers
    if transfers.to_store[:1] != [step.index] or not transfers.is_storing:
        return ()
    fan, _ = list_of(run, step)
    transfers.is_storing = fan.is_storing = False
    transfers.to_store.pop(0)
    ending = map_items.ending_of(run, step, fan)._replace(
        output=event.mark if isinstance(event, events.Stored) else None
    )
    if isinstance(event, events.NotStored) and ending.status is COMPLETED:
        ending = ending._replace(status=FAILED, error=event.error)
    leave(now, step, ending)
    if ending.status is COMPLETED and not fan.failed:
        for item in fan.items:  # completed items never run again, and the state need not hold what is stored
            item.value = item.output = None
    return ()


# The tables

StepTransition = Callable[[Moment, Step, Any], Commands]
RunTransition = Callable[[Moment, Any], Commands]

STEP: Mapping[tuple[StepStatus, type], StepTransition] = {
    (PENDING, events.Answered): keep_answer,
    (QUEUED, events.Answered): keep_answer,
    (WAITING, events.Answered): answer,
    (WAITING, events.TimedOut): time_out,
    (WAITING, events.StepCompleted): complete,
    (WAITING, events.StepFailed): fail,
    (WAITING, events.StepCancelled): cancelled,
    (RUNNING, events.StepCompleted): complete,
    (RUNNING, events.StepFailed): fail,
    (RUNNING, events.StepCancelled): cancelled,
    (RUNNING, events.WorkerLost): note_losses,
    (RUNNING, events.ChunkEnded): end_chunk,
    (RUNNING, events.ChunkThinned): thin_chunk,
    (RUNNING, events.Stored): end_storing,
    (RUNNING, events.NotStored): end_storing,
    (PARKED, events.Resolved): resolve_parked,
}
"""What an event does to a step with that status. A pair that is not here is late or repeated, and changes nothing."""

UNDO: Mapping[tuple[StepStatus | None, type], StepStatus] = {
    (RUNNING, events.StepCompleted): COMPLETED,
    (RUNNING, events.StepFailed): FAILED,
    (RUNNING, events.StepCancelled): CANCELLED,
}
"""How a step's compensation ends, by its status and the event. A failed one does not prevent the others."""

RUN: Mapping[type, RunTransition] = {
    events.RunStarted: begin_run,
    events.PauseRequested: pause,
    events.ResumeRequested: resume,
    events.AbortRequested: abort,
    events.CancelRequested: cancel,
    events.DeadlinePassed: note_overdue,
    events.WentOn: go_on,
    events.Loaded: end_loading,
    events.NotLoaded: end_loading,
}
"""What an event does to the run."""
