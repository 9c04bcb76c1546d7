"""Fold one event into a run and return the commands that follow. All changes of a RunState are made here.

An event costs what it touches: each step knows how many of its parents are unsettled, ready steps wait in a heap, and a
step is judged once, when its last parent settles. The order in which work ends therefore never changes an outcome.

A step is admitted when its parents have settled, begun when a slot is free, and closed when its work ends, or when the
whole run is stopped. In one file because a single writer keeps the state and its counters consistent.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import assert_never

from docrail.dag.engine.approvals import agreement, approvals_of, decide
from docrail.dag.engine.compensation import next_undo
from docrail.dag.engine.dispatch import (
    MAX_BEGUN_BYTES,
    MAX_CARRIED_BYTES,
    cache_key_of,
    is_duration,
    may_dispatch,
    next_ready,
    overlong,
)
from docrail.dag.engine.eligibility import MAX_TURN_WORK, choose, judge, refuse, resolve
from docrail.dag.engine.events import (
    WHOLE_STEP,
    AbortRequested,
    Answered,
    Cancel,
    CancelRequested,
    Chunk,
    ChunkEnded,
    ChunkItem,
    ChunkThinned,
    Command,
    DeadlinePassed,
    Event,
    Finish,
    GoOn,
    Item,
    Load,
    Loaded,
    Moved,
    NotLoaded,
    NotStored,
    Part,
    PauseRequested,
    Record,
    RecordDecision,
    RecordOverdue,
    Request,
    Resolution,
    ResolutionKind,
    Resolved,
    ResumeRequested,
    RunStarted,
    Start,
    StartChunk,
    StepCancelled,
    StepCompleted,
    StepFailed,
    Store,
    Stored,
    TimedOut,
    Undo,
    WentOn,
    WholeStep,
    WorkerLost,
)
from docrail.dag.engine.map_items import (
    MAX_CHUNK_BYTES,
    MAX_REQUEST_BYTES,
    MAX_SENT_BYTES,
    ending_of,
    failed_so_far,
    fewest,
    has_work,
    is_over,
    item_work,
    length_of_next,
    may_widen,
    must_stop,
    of_item,
    open_fan,
    running_parts,
    unfinished,
    width_of_next,
    window_of,
    without_losses,
)
from docrail.dag.engine.park import with_items
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import RunScope
from docrail.dag.engine.state import (
    MOST_EARLIER,
    Answer,
    ChunkState,
    Ending,
    FanState,
    ItemEnd,
    RunState,
    StepError,
    StepState,
    stopped_by,
)
from docrail.dag.engine.value_transfer import MOST_LOADS, found_of, note_wants, wanted
from docrail.dag.language.definition import OnFailure
from docrail.dag.language.expressions.expression_errors import show
from docrail.dag.language.expressions.templates import Template
from docrail.dag.language.limits import LONGEST_WAIT_SECONDS
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import SHORTEST_SECONDS, StepKind, Then
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import Json, shortened, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES, ForOutputs, ForStep, ForUndo, Path, Reader, has_parts


def advance(plan: Plan, run: RunState, event: Event) -> list[Command]:
    """Fold `event` into `run` and return the commands that follow, starts in plan order.

    Deterministic: equal arguments give equal commands, on any worker, at any time. Events about steps that are not
    running, or after the end of the run, change nothing.
    """
    if run.outcome is not None:
        return []
    commands: list[Command] = []
    run.traffic.carried_bytes += _bytes_of(event)
    if run.turn.begun_at != event.at:
        run.turn.begun_at, run.turn.begun_bytes, run.turn.spent = event.at, 0, 0
    _record(plan, run, event, commands)
    if run.outcome is not None:
        return commands
    _stop_early(plan, run, event.at, commands)
    while dispatch(plan, run, event.at, commands):
        _stop_early(plan, run, event.at, commands)
    _tell_fallen(plan, run, commands)
    _finish(plan, run, event.at, commands)
    begin_loading(run, commands)
    begin_storing(plan, run, event.at, commands)
    if run.outcome is None and not run.turn.is_going_on and _is_held_up(plan, run):
        run.turn.is_going_on = True
        commands.append(GoOn())
    return commands


def _tell_fallen(plan: Plan, run: RunState, commands: list[Command]) -> None:
    commands.extend(Record(plan.steps[index].id) for index in run.fallen)
    run.fallen.clear()


def _is_held_up(plan: Plan, run: RunState) -> bool:
    """Return whether something is left for a new turn. Work already begun may take weeks to cause one."""
    if (
        run.turn.deferred
        or run.turn.spent >= MAX_TURN_WORK
        or (run.transfers.to_store and not run.transfers.is_storing)
    ):
        return True
    return run.turn.begun_bytes >= MAX_BEGUN_BYTES and may_dispatch(plan, run)


def _record(  # noqa: C901, PLR0912 - a case an event
    plan: Plan, run: RunState, event: Event, commands: list[Command]
) -> None:
    """Apply the event itself, and settle every step that it decides."""
    match event:
        case RunStarted(at):
            _begin_run(plan, run, at)
        case StepCompleted(step, at=at, part=Undo()):
            end_compensation(run, plan.step(step), Ending(StepStatus.COMPLETED, at))
        case StepFailed(step, error, at=at, part=Undo()):
            end_compensation(run, plan.step(step), Ending(StepStatus.FAILED, at, error=error))
        case StepCancelled(step, at=at, part=Undo()):
            end_compensation(run, plan.step(step), Ending(StepStatus.CANCELLED, at))
        case StepCompleted(step, output, attempts, at, part, cached, earlier):
            completed = Ending(StepStatus.COMPLETED, at, output, attempts=attempts, cached=cached, earlier=earlier)
            end(plan, run, plan.step(step), part, completed, commands)
        case StepFailed(step, part=part):
            end(plan, run, plan.step(step), part, _failed(event), commands)
        case StepCancelled(step, at, part):
            end(plan, run, plan.step(step), part, _cancelled(run, plan.step(step), at), commands)
        case WorkerLost(step, earlier):
            if run.steps[plan.index[step]].status is StepStatus.RUNNING:
                run.steps[plan.index[step]].earlier = earlier
        case Answered(step, answer, at):
            _answer(plan, run, plan.step(step), answer, at, commands)
        case TimedOut(step, at):
            _time_out(plan, run, plan.step(step), at, commands)
        case Resolved(step, resolution, at):
            resolve_parked(plan, run, plan.step(step), resolution, at)
        case ChunkEnded():
            end_chunk(plan, run, event, commands)
        case ChunkThinned():
            thin_chunk(plan, run, event, commands)
        case Loaded() | NotLoaded() | Stored() | NotStored():
            end_moving(plan, run, event)
        case WentOn(at):
            _go_on(plan, run, at)
        case _:
            _obey(plan, run, event, commands)


def _begin_run(plan: Plan, run: RunState, at: float) -> None:
    run.started_at = at if run.started_at is None else run.started_at
    for step in plan.steps:
        if run.steps[step.index].status is StepStatus.PENDING and not run.counters.unsettled_parents[step.index]:
            admit(plan, run, step, at)


def _failed(event: StepFailed) -> Ending:
    return Ending(
        StepStatus.FAILED,
        event.at,
        error=event.error,
        attempts=event.attempts,
        earlier=event.earlier,
        out_of_time=event.out_of_time,
    )


def _go_on(plan: Plan, run: RunState, at: float) -> None:
    """Judge the steps that the previous turn deferred."""
    run.turn.is_going_on = False
    deferred, run.turn.deferred = run.turn.deferred, []
    for index in deferred:
        if run.steps[index].status is StepStatus.PENDING:
            admit(plan, run, plan.steps[index], at)


def _obey(plan: Plan, run: RunState, event: Request, commands: list[Command]) -> None:
    """Apply a request, or the passing of a deadline, to the run."""
    match event:
        case PauseRequested():
            run.paused = run.stopping is None
        case ResumeRequested():
            run.paused = False
        case AbortRequested(reason, at, True, name):
            hand_over(plan, run, reason, at, commands, principal=name)
        case AbortRequested(reason, at, by=name):
            stop(plan, run, RunStatus.ABORTED, reason, at, commands, principal=name)
        case CancelRequested(at):
            stop(plan, run, RunStatus.CANCELLED, "cancelled", at, commands)
        case DeadlinePassed(at):
            if not run.overdue:
                run.overdue = True
                commands.append(RecordOverdue(at))
        case _:
            assert_never(event)


def _cancelled(run: RunState, step: Step, at: float) -> Ending:
    """Return how a cancelled step or item ends: as FAILED if the run did not ask for the cancellation."""
    attempts = int(step.takes_slot)
    if run.stopping:
        return Ending(StepStatus.CANCELLED, at, attempts=attempts, decided_by=stopped_by(run, run.stopping))
    fan = run.steps[step.index].fan
    if fan is not None and fan.stopping:
        return Ending(StepStatus.CANCELLED, at, attempts=attempts)
    error = StepError("Cancelled", "cancelled from outside the run")
    return Ending(StepStatus.FAILED, at, error=error, attempts=attempts)


def _answer(plan: Plan, run: RunState, step: Step, answer: Answer, at: float, commands: list[Command]) -> None:
    """Complete a waiting step with its answer, or keep the answer for a step that will wait."""
    state = run.steps[step.index]
    if state.answer is not None or step.kind not in (StepKind.WAIT, StepKind.HUMAN) or step.is_timer or run.stopping:
        return
    if (needed := approvals_of(step.definition.human)) > 1:
        agreed = _agree(run, step, answer, needed, commands)
        if agreed is None:
            return
        answer = agreed
    if state.status is StepStatus.WAITING:
        state.answer = answer
        commands.append(Cancel(step.id))
        end(plan, run, step, WHOLE_STEP, Ending(StepStatus.COMPLETED, at, answer.value), commands)
    elif state.status in (StepStatus.PENDING, StepStatus.QUEUED):
        state.answer = answer


def _agree(run: RunState, step: Step, answer: Answer, needed: int, commands: list[Command]) -> Answer | None:
    """Record one of several people's decisions; return the answer once enough of them agree."""
    state = run.steps[step.index]
    if state.status is not StepStatus.WAITING:
        return None
    before, state.decisions = state.decisions, decide(state.decisions, answer)
    if state.decisions != before:
        commands.append(RecordDecision(step.id, state.decisions[-1]))
    return agreement(state.decisions, needed)


def _time_out(plan: Plan, run: RunState, step: Step, at: float, commands: list[Command]) -> None:
    """Settle a waiting step that timed out, as its `on_timeout` says. A timer completes."""
    state = run.steps[step.index]
    if state.status is not StepStatus.WAITING:
        return
    waiting = step.definition.wait or step.definition.human
    assert waiting is not None, "only waits and human steps are WAITING"
    if step.is_timer:
        end(plan, run, step, WHOLE_STEP, Ending(StepStatus.COMPLETED, at, {}), commands)
        return
    rule = waiting.on_timeout
    message = f"nobody answered within {waiting.timeout_seconds:g} s"
    if rule and rule.branch:
        state.branch = rule.branch
    if rule and (rule.branch or rule.then is Then.CONTINUE):
        output = {"timed_out": True}
        end(plan, run, step, WHOLE_STEP, Ending(StepStatus.COMPLETED, at, output, decided_by="timeout"), commands)
    elif rule and rule.then is Then.ABORT:
        stop(plan, run, RunStatus.ABORTED, f"{step.id}: {message}", at, commands, by=step)
        error = StepError("Timeout", message)
        end(plan, run, step, WHOLE_STEP, Ending(StepStatus.CANCELLED, at, error=error, decided_by="timeout"), commands)
    else:
        error = StepError("Timeout", message)
        end(plan, run, step, WHOLE_STEP, Ending(StepStatus.FAILED, at, error=error, decided_by="timeout"), commands)


def _stop_early(plan: Plan, run: RunState, at: float, commands: list[Command]) -> None:
    """Stop a run that cannot succeed: it fails fast, or is about to reach Temporal's limits."""
    if reason := _overfull(run) or overlong(plan, run):
        stop(plan, run, RunStatus.FAILED, reason, at, commands)
    elif run.counters.failures and plan.on_failure is OnFailure.FAIL_FAST:
        stop(plan, run, RunStatus.FAILED, "", at, commands)


def _overfull(run: RunState) -> str | None:
    if run.traffic.carried_bytes <= MAX_CARRIED_BYTES:
        return None
    carried = f"the configs and outputs of the run take {run.traffic.carried_bytes} bytes as JSON together"
    return f"{carried}, more than {MAX_CARRIED_BYTES}: let its steps pass references"


def _bytes_of(event: Event) -> int:
    match event:
        case StepCompleted(output=carried) | Answered(answer=Answer(value=carried)):
            return size_of(carried)
        case Loaded(parts=pieces):
            return sum(size_of(piece.value) for piece in pieces)
        case ChunkEnded(ends=ends):
            return sum(size_of(ended.output) for ended in ends)
        case StepFailed(error=StepError(message=carried)):
            return len(carried)
        case _:
            return 0


def _finish(plan: Plan, run: RunState, at: float, commands: list[Command]) -> None:
    if run.counters.unsettled:
        return
    run.ending = run.ending or run.stopping or (RunStatus.FAILED if run.counters.failures else RunStatus.COMPLETED)
    if run.ending is RunStatus.COMPLETED:
        if must_load_outputs(plan, run, plan.outputs):
            return
        try:
            run.outputs = resolve(plan.outputs, RunScope(plan, run, keeps_large=True))
        except ExpressionError as error:
            run.ending, run.stop_reason = RunStatus.FAILED, shortened(f"outputs: {error.message}")
    is_undoing = run.ending is not RunStatus.COMPLETED and compensate(plan, run, commands)
    _tell_fallen(plan, run, commands)
    if is_undoing:
        return
    run.outcome, run.ended_at = run.ending, at
    commands.append(Finish(run.outcome))


def admit(plan: Plan, run: RunState, step: Step, at: float) -> None:
    """Judge a step whose parents are all settled, and every step that this settles in turn."""
    fate = judge(plan, run, step)
    if fate is StepStatus.QUEUED:
        _queue(run, step)
    elif fate is not StepStatus.PENDING:
        settle(plan, run, step, fate, at)


def settle(plan: Plan, run: RunState, step: Step, status: StepStatus, at: float) -> None:
    """Give a step its final status, then judge every step that has no unsettled parents left, and so on down."""
    settled = [(step.index, status)]
    while settled:
        step, status = plan.steps[settled[-1][0]], settled.pop()[1]
        if status is StepStatus.FAILED:
            run.fallen.append(step.index)
            if _parks(plan, run, step):
                run.steps[step.index].status = StepStatus.PARKED
                run.counters.enter(StepStatus.PARKED)
                continue
        run.counters.failures += status is StepStatus.FAILED and not step.definition.optional
        for child in close(run, step, status, at):
            if run.steps[child].status is StepStatus.PENDING:
                fate = judge(plan, run, plan.steps[child])
                if fate is StepStatus.QUEUED:
                    _queue(run, plan.steps[child])
                elif fate is not StepStatus.PENDING:
                    settled.append((child, fate))


def _parks(plan: Plan, run: RunState, step: Step) -> bool:
    """Return whether a failure of the step is parked for a person instead of failing the run."""
    return plan.on_failure is OnFailure.PARK and not step.definition.optional and run.stopping is None


def close(run: RunState, step: Step, status: StepStatus, at: float) -> list[int]:
    """Record a step's final status, count it as settled, and return the children that now have no unsettled parents."""
    state = run.steps[step.index]
    state.status, state.ended_at = status, at
    return run.counters.settle(step.layer, step.children)


def _queue(run: RunState, step: Step) -> None:
    run.steps[step.index].status = StepStatus.QUEUED
    offer(run, step)


def offer(run: RunState, step: Step) -> None:
    """Make the step visible to `dispatch`, because it may start something."""
    heappush(run.counters.ready if step.takes_slot else run.counters.ready_free, step.index)


def withdraw(run: RunState, step: Step) -> None:
    """Remove the step from its heap if it is there: at most once each time its window fills or its items end."""
    heap = run.counters.ready if step.takes_slot else run.counters.ready_free
    if heap and heap[0] == step.index:
        heappop(heap)
    elif step.index in heap:
        heap.remove(step.index)
        heapify(heap)


def enter(run: RunState, step: Step, status: StepStatus) -> None:
    """Count a step as begun: RUNNING or WAITING."""
    run.steps[step.index].status = status
    run.counters.enter(status)


def leave(plan: Plan, run: RunState, step: Step, ending: Ending) -> None:
    """Close a begun step, and set its status, output or error."""
    state = run.steps[step.index]
    run.counters.leave(state.status)
    state.output, state.error, state.cached = ending.output, ending.error, ending.cached
    state.decided_by = ending.decided_by or state.decided_by
    note_stored(run, state)
    settle(plan, run, step, ending.status, ending.at)


def close_undoing(run: RunState, step: Step, status: StepStatus, error: StepError | None) -> None:
    """Record how a compensation ended. Unless it completed, the failure is recorded: the step's effects remain."""
    state = run.steps[step.index]
    state.compensation, state.compensation_error = status, error
    if status is not StepStatus.COMPLETED:
        run.fallen.append(step.index)


def note_stored(run: RunState, state: StepState) -> None:
    """Record whether the step's new output has stored parts."""
    state.is_stored = has_parts(state.output)
    run.counters.has_stored |= state.is_stored


ACTIVE = (StepStatus.RUNNING, StepStatus.WAITING)
"""Begun and not ended: an event that ends it is expected."""


def end(plan: Plan, run: RunState, step: Step, part: Part, ending: Ending, commands: list[Command]) -> None:
    """Close a running part of a step. An event about anything else is late or repeated, and ignored."""
    state = run.steps[step.index]
    if state.status not in ACTIVE:
        return
    match part:
        case WholeStep() if state.fan is None:
            run.counters.slots_used -= step.takes_slot
            state.attempts, state.earlier, state.out_of_time = ending.attempts, ending.earlier, ending.out_of_time
            leave(plan, run, step, ending)
        case Item() | Chunk() if state.fan is not None:
            end_part(plan, run, step, part, ending, commands)
        case WholeStep() | Item() | Chunk() | Undo():
            pass
        case _:
            assert_never(part)


def stop(
    plan: Plan,
    run: RunState,
    status: RunStatus,
    reason: str,
    at: float,
    commands: list[Command],
    *,
    by: Step | None = None,
    principal: str = "",
) -> None:
    """End the run early: skip what has not begun, and cancel active steps except `by`, which caused the stop.

    The first stop wins.
    """
    if run.stopping or run.ending:
        return
    run.stopping, run.stop_reason, run.paused = status, shortened(reason), False
    run.stopped_by, run.stopped_by_step = principal, None if by is None else by.id
    run.counters.ready, run.counters.ready_free = [], []
    for step in plan.steps:
        state = run.steps[step.index]
        if state.status in (StepStatus.PENDING, StepStatus.QUEUED):
            state.reason, state.decided_by = SkipReason.ABORTED, stopped_by(run, status)
            close(run, step, StepStatus.SKIPPED, at)
        elif state.status is StepStatus.PARKED:
            run.counters.leave(StepStatus.PARKED)
            run.counters.failures += 1
            run.fallen.append(step.index)
            close(run, step, StepStatus.FAILED, at)
    for step in plan.steps:
        state = run.steps[step.index]
        if state.fan is not None and state.status is StepStatus.RUNNING:
            if not state.fan.stopping:  # otherwise they were cancelled already
                commands.extend(Cancel(step.id, part) for part in running_parts(state.fan))
            conclude(plan, run, step, at)  # between two items, none may be running
        elif state.status in ACTIVE and step is not by:
            commands.append(Cancel(step.id))


def hand_over(
    plan: Plan, run: RunState, reason: str, at: float, commands: list[Command], *, principal: str = ""
) -> None:
    """End a run with parked steps as it stands, without compensation: another run continues from its state."""
    if run.status is not RunStatus.WAITING or not run.counters.parked:
        return
    commands.extend(Cancel(step.id) for step in plan.steps if run.steps[step.index].status is StepStatus.WAITING)
    run.outcome, run.stop_reason, run.ended_at = RunStatus.FAILED, shortened(reason), at
    run.stopped_by = principal
    commands.append(Finish(RunStatus.FAILED))


def resolve_parked(plan: Plan, run: RunState, step: Step, resolution: Resolution, at: float) -> None:
    """Resolve a parked step as a person decided; a step that is not parked is left unchanged."""
    state = run.steps[step.index]
    if state.status is not StepStatus.PARKED or run.stopping:
        return
    run.counters.leave(StepStatus.PARKED)
    run.fallen.append(step.index)
    by = resolution.by
    match resolution.kind:
        case ResolutionKind.RETRY:
            edited = state.edited if resolution.value is None else resolution.value
            run.steps[step.index] = StepState(fan=unfinished(state.fan), edited=edited, resolved_by=by)
            admit(plan, run, step, at)
        case ResolutionKind.ITEMS:
            left = StepState(fan=unfinished(state.fan), edited=state.edited, resolved_by=by)
            run.steps[step.index] = with_items(left, resolution.value or {})
            admit(plan, run, step, at)
        case ResolutionKind.SKIP:
            state.resolved_by, state.decided_by, state.reason = by, "operator", SkipReason.OPERATOR
            settle(plan, run, step, StepStatus.SKIPPED, at)
        case ResolutionKind.OUTPUT:
            state.resolved_by, state.decided_by, state.output, state.error = by, "operator", resolution.value, None
            note_stored(run, state)
            settle(plan, run, step, StepStatus.COMPLETED, at)


def compensate(plan: Plan, run: RunState, commands: list[Command]) -> bool:
    """Return whether anything is left to compensate; begin the next compensation if none is running."""
    if any(run.steps[step.index].compensation is StepStatus.RUNNING for step in plan.compensated):
        return True
    while (step := next_undo(plan, run)) is not None and not run.paused:
        state = run.steps[step.index]
        assert step.compensation is not None, "only such steps are in `compensated`"
        if must_load(plan, run, ForUndo(step.id), step.compensation.computed):
            return True
        try:
            config = resolve(step.compensation, RunScope(plan, run, by_reference=True))
        except ExpressionError as error:
            close_undoing(run, step, StepStatus.FAILED, StepError("TemplateError", error.message))
            continue
        state.compensation = StepStatus.RUNNING
        commands.append(Start(step.id, config, Undo()))
        return True
    return step is not None


def end_compensation(run: RunState, step: Step, ending: Ending) -> None:
    """Close a compensation. A failed one is recorded, and does not prevent the others."""
    if run.steps[step.index].compensation is StepStatus.RUNNING:
        close_undoing(run, step, ending.status, ending.error)


def dispatch(plan: Plan, run: RunState, at: float, commands: list[Command]) -> bool:
    """Begin ready steps until one fails at once or nothing more can begin.

    Returns True after a failure: the run may have to be stopped.
    """
    turn = run.turn
    while not run.paused and not run.stopping and turn.begun_bytes < MAX_BEGUN_BYTES and turn.spent < MAX_TURN_WORK:
        step = next_ready(plan, run)
        if step is None:
            return False
        failures, begun = run.counters.failures, len(commands)
        try:
            _begin(plan, run, step, at, commands)
        except ExpressionError as error:
            settle(plan, run, step, refuse(run.steps[step.index], "TemplateError", error.message), at)
        size = 0
        for command in commands[begun:]:
            size += _size_of(plan, run, command)
        run.traffic.carried_bytes, run.turn.begun_bytes = run.traffic.carried_bytes + size, run.turn.begun_bytes + size
        if run.counters.failures > failures or run.traffic.carried_bytes > MAX_CARRIED_BYTES:
            return True
    return False


def _size_of(plan: Plan, run: RunState, command: Command) -> int:
    if isinstance(command, Start):
        size = size_of(command.config)
    elif isinstance(command, StartChunk):
        size = sum(size_of(item.config) for item in command.items)
    else:
        return 0
    is_nested = bool(run.nested_bytes) and plan.step(command.step).kind is StepKind.WORKFLOW
    return size + is_nested * run.nested_bytes


def _begin(plan: Plan, run: RunState, step: Step, at: float, commands: list[Command]) -> None:
    """Begin `step`, or its next item. Raises ExpressionError; the step is then off the heap and not begun."""
    state = run.steps[step.index]
    if state.status is StepStatus.RUNNING:
        _begin_items(plan, run, step, at, commands)
        return
    heappop(run.counters.ready if step.takes_slot else run.counters.ready_free)
    state.started_at = at
    if step.items is not None:
        _open(plan, run, step, at)
        return
    if step.kind is StepKind.SWITCH:
        state.branch = choose(plan, run, step)
        state.output = {"branch": state.branch}
        settle(plan, run, step, StepStatus.COMPLETED, at)
        return
    scope = RunScope(plan, run, by_reference=step.kind is StepKind.HANDLER)
    config = resolve(step.config, scope) if state.edited is None else state.edited
    cache_key = cache_key_of(step, scope, config, state.edited)
    match step.kind:
        case StepKind.ABORT:
            enter(run, step, StepStatus.RUNNING)
            stop(plan, run, RunStatus.ABORTED, str(config["reason"]), at, commands, by=step)
            end(plan, run, step, WHOLE_STEP, Ending(StepStatus.COMPLETED, at), commands)
        case StepKind.WAIT | StepKind.HUMAN:
            _wait(plan, run, step, config, at, commands)
        case StepKind.HANDLER | StepKind.WORKFLOW:
            run.counters.slots_used += step.takes_slot
            enter(run, step, StepStatus.RUNNING)
            commands.append(Start(step.id, config, cache_key=cache_key))
        case _:
            assert_never(step.kind)


def _wait(plan: Plan, run: RunState, step: Step, config: Json, at: float, commands: list[Command]) -> None:
    """Begin to wait, unless the answer arrived before the wait."""
    state = run.steps[step.index]
    seconds = config.get("seconds")
    if step.is_timer and not is_duration(seconds):  # a timeout is a constant in the definition
        raise ExpressionError(
            f"`seconds` is {show(seconds)}, expected a number from {SHORTEST_SECONDS}, at most {LONGEST_WAIT_SECONDS}"
        )
    enter(run, step, StepStatus.WAITING)
    if state.answer is not None:
        end(plan, run, step, WHOLE_STEP, Ending(StepStatus.COMPLETED, at, state.answer.value), commands)
    else:
        commands.append(Start(step.id, config))


def _open(plan: Plan, run: RunState, step: Step, at: float) -> None:
    """Create the items of a step, which is over at once if there are none."""
    state, for_each = run.steps[step.index], step.definition.for_each
    assert for_each is not None, "only a step with for_each has items"
    state.fan = fan = state.fan or open_fan(plan, run, step)  # a retry keeps the completed items
    pending = sum(item.status is StepStatus.PENDING for item in fan.items)
    fan.window = window_of(plan, step, for_each, pending)
    enter(run, step, StepStatus.RUNNING)
    if fan.next < len(fan.items):
        offer(run, step)
    conclude(plan, run, step, at)


def _begin_items(plan: Plan, run: RunState, step: Step, at: float, commands: list[Command]) -> None:
    """Begin the next item of a list, or the next chunk of a long one."""
    fan, for_each = run.steps[step.index].fan, step.definition.for_each
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    if fan.window:
        chunk = next_chunk(plan, run, step, fan)
        commands.extend([chunk] if chunk else [])
        note_failure(run, step, commands, failed=0)
    else:
        _begin_item(plan, run, step, fan, commands)
    if not has_work(fan, for_each):
        withdraw(run, step)  # unless a failure has withdrawn it already
    conclude(plan, run, step, at)


def _begin_item(plan: Plan, run: RunState, step: Step, fan: FanState, commands: list[Command]) -> None:
    place = fan.next
    item = fan.items[place]
    fan.advance()
    try:
        config, cache_key = item_work(plan, run, step, place, item)
    except ExpressionError as error:
        item.status, item.error = StepStatus.FAILED, StepError("TemplateError", error.message)
        note_failure(run, step, commands, failed=1)
    else:
        item.status = StepStatus.RUNNING
        fan.running += 1
        run.counters.slots_used += step.takes_slot
        commands.append(Start(step.id, config, Item(place), cache_key))


def end_part(
    plan: Plan, run: RunState, step: Step, part: Item | Chunk, ending: Ending, commands: list[Command]
) -> None:
    """Close a running item, or each item of a running chunk; late or repeated events change nothing."""
    fan = run.steps[step.index].fan
    assert fan is not None
    match part:
        case Chunk(first) if first in fan.chunks:
            ended = ItemEnd(ending.status, ending.output, ending.error, ending.attempts)
            ends = (ended,) * len(fan.chunks[first].places)
            end_items(plan, run, step, first, ends, ending.at, commands)
        case Item(place) if not fan.window and fan.items[place].status is StepStatus.RUNNING:
            told = (ending.status, ending.output, ending.error, ending.attempts, ending.cached)
            ended = ItemEnd(*told, earlier=ending.earlier, out_of_time=ending.out_of_time)
            end_items(plan, run, step, place, (ended,), ending.at, commands)
        case Item() | Chunk():
            pass
        case _:
            assert_never(part)


def end_items(
    plan: Plan, run: RunState, step: Step, place: int, ends: Sequence[ItemEnd], at: float, commands: list[Command]
) -> None:
    """Close a running item, or the items of a running chunk; `place` is the first item's position."""
    state, for_each = run.steps[step.index], step.definition.for_each
    fan = state.fan
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    was_offered = has_work(fan, for_each)
    chunk = fan.chunks.pop(place, ChunkState((place,), 1))
    ends = without_losses(run, fan, for_each, ends)
    for item, ended in zip((fan.items[place] for place in chunk.places), ends, strict=True):
        item.status, item.output, item.error, item.attempts = ended.status, ended.output, ended.error, ended.attempts
        item.cached = ended.cached
        state.attempts += ended.attempts
        state.out_of_time |= ended.out_of_time
        state.earlier = (*state.earlier, *of_item(item, ended.earlier))[-MOST_EARLIER:]
    fan.running -= len(ends)
    run.counters.slots_used -= step.takes_slot * chunk.width
    note_failure(run, step, commands, failed=sum(ended.status is StepStatus.FAILED for ended in ends))
    _offer_anew(run, step, was_offered=was_offered)
    conclude(plan, run, step, at)


def _offer_anew(run: RunState, step: Step, *, was_offered: bool) -> None:
    """Offer the step to `dispatch` if another item may begin now, withdraw it if none may."""
    fan, for_each = run.steps[step.index].fan, step.definition.for_each
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    is_offered = has_work(fan, for_each)
    if is_offered and not was_offered and not run.stopping:
        offer(run, step)
    elif was_offered and not is_offered:
        withdraw(run, step)


def end_chunk(plan: Plan, run: RunState, event: ChunkEnded, commands: list[Command]) -> None:
    """Close the items of a running chunk. Late or repeated events change nothing."""
    step = plan.step(event.step)
    state = run.steps[step.index]
    if state.status is StepStatus.RUNNING and state.fan is not None and event.chunk.first in state.fan.chunks:
        end_items(plan, run, step, event.chunk.first, event.ends, event.at, commands)


def thin_chunk(plan: Plan, run: RunState, event: ChunkThinned, commands: list[Command]) -> None:
    """Release the slots that came free in a running chunk. Late or repeated events change nothing."""
    if event.step not in plan.index:
        return
    step = plan.step(event.step)
    state, for_each = run.steps[step.index], step.definition.for_each
    chunk = state.fan.chunks.get(event.chunk.first) if state.fan else None
    if chunk is None or state.fan is None or for_each is None or not 0 < event.running < chunk.width:
        return
    was_offered = has_work(state.fan, for_each)
    state.fan.chunks[event.chunk.first] = replace(
        chunk, width=event.running, is_thin=True, completed=event.completed, failed=event.failed
    )
    run.counters.slots_used -= step.takes_slot * (chunk.width - event.running)
    note_failure(run, step, commands, failed=0)
    _offer_anew(run, step, was_offered=was_offered)


def note_failure(run: RunState, step: Step, commands: list[Command], *, failed: int) -> None:
    """Count failed items; if there are too many, cancel the running ones."""
    fan, for_each = run.steps[step.index].fan, step.definition.for_each
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    fan.failed += failed
    if must_stop(fan, for_each) and not fan.stopping and not run.stopping:
        fan.stopping = True
        commands.extend(Cancel(step.id, part) for part in running_parts(fan))
        withdraw(run, step)


def conclude(plan: Plan, run: RunState, step: Step, at: float) -> None:
    """Settle a step over a list once its last item has ended. A large output is stored first."""
    fan = run.steps[step.index].fan
    assert fan is not None
    if fan.running or fan.is_storing or not (run.stopping or is_over(fan)):
        return
    ending = ending_of(run, step, fan, at)
    if size_of(ending.output) <= MAX_INLINE_BYTES:
        leave(plan, run, step, ending)
    else:
        fan.is_storing = True  # its result is fixed from now on
        run.transfers.to_store.append(step.index)


def begin_storing(plan: Plan, run: RunState, at: float, commands: list[Command]) -> None:
    """Store the next output, one at a time, since everything that begins in one turn is sent in one message.

    If too much has begun in this turn, the output is stored in the next one.
    """
    if run.transfers.is_storing or not run.transfers.to_store:
        return
    step = plan.steps[run.transfers.to_store[0]]
    fan = run.steps[step.index].fan
    assert fan is not None, "only what lists give is stored from here"
    output = ending_of(run, step, fan, at).output
    size = size_of(output)
    if run.turn.begun_bytes + size > MAX_SENT_BYTES:
        return
    run.transfers.is_storing = True
    run.turn.begun_bytes, run.traffic.carried_bytes = run.turn.begun_bytes + size, run.traffic.carried_bytes + size
    commands.append(Store(step.id, output))


def end_storing(plan: Plan, run: RunState, step: Step, at: float, mark: Json, error: StepError | None) -> None:
    """Settle a step over a list whose output was stored, or could not be."""
    state = run.steps[step.index]
    if state.fan is None or run.transfers.to_store[:1] != [step.index] or not run.transfers.is_storing:
        return
    run.transfers.is_storing = state.fan.is_storing = False
    run.transfers.to_store.pop(0)
    ending = replace(ending_of(run, step, state.fan, at), output=mark)
    if error is not None and ending.status is StepStatus.COMPLETED:
        ending = replace(ending, status=StepStatus.FAILED, error=error)
    leave(plan, run, step, ending)
    if ending.status is StepStatus.COMPLETED and not state.fan.failed:
        for item in state.fan.items:  # completed items never run again, and the state need not hold what is stored
            item.value = item.output = None


def next_chunk(plan: Plan, run: RunState, step: Step, fan: FanState) -> StartChunk | None:
    """Begin the next chunk and return the command that starts it.

    None if all remaining items failed to begin, or if the free slots went to a running chunk, which the caller checks.
    """
    for_each = step.definition.for_each
    assert for_each is not None, "only a step with for_each has items"
    free = fan.window - fan.width
    if step.takes_slot:
        free = min(free, plan.max_concurrency - run.counters.slots_used)
    if _widen(run, step, fan, free):
        return None
    width = width_of_next(fan, free)
    items = list(_begin_chunk_items(plan, run, step, fan, length_of_next(fan, width)))
    if not items:
        return None
    width = min(width, len(items))
    run.counters.slots_used += step.takes_slot * width
    fan.chunks[items[0].place] = ChunkState(tuple(item.place for item in items), width)
    fan.running += len(items)
    stop_after = max(for_each.max_failures - failed_so_far(fan), 0) if for_each.on_item_error == "fail_fast" else None
    return StartChunk(step.id, tuple(items), width, stop_after)


def _widen(run: RunState, step: Step, fan: FanState, free: int) -> bool:
    """Give free slots to a running chunk that can use them, if a new chunk needs more slots or has no items."""
    place = may_widen(fan)
    if place is None or (free >= fewest(fan) and fan.next < len(fan.items)):
        return False
    chunk = fan.chunks[place]
    more = min(free, len(chunk.places) - chunk.width)
    fan.chunks[place] = replace(chunk, width=chunk.width + more)
    run.counters.slots_used += step.takes_slot * more
    return True


def _begin_chunk_items(plan: Plan, run: RunState, step: Step, fan: FanState, left: int) -> Iterator[ChunkItem]:
    size = 0
    most = max(min(MAX_CHUNK_BYTES, MAX_REQUEST_BYTES - run.nested_bytes), 1)
    while left and size < most and run.turn.spent < MAX_TURN_WORK and fan.next < len(fan.items):
        place, left = fan.next, left - 1
        fan.advance()
        item = fan.items[place]
        try:
            config, cache_key = item_work(plan, run, step, place, item)
        except ExpressionError as error:
            item.status, item.error = StepStatus.FAILED, StepError("TemplateError", error.message)
            fan.failed += 1
        else:
            item.status = StepStatus.RUNNING
            size += size_of(config)
            yield ChunkItem(place, item.key, config, cache_key)


def must_load_outputs(plan: Plan, run: RunState, outputs: Template) -> bool:
    """Return whether stored values must be loaded for the run's outputs first, and note which.

    A large value that is an output by itself may stay a placeholder.
    """
    computed = wanted(plan.index, run, outputs.computed)
    places = [want.place for want in computed]
    alone = [want for want in wanted(plan.index, run, outputs.alone, may_stay=True) if want.place not in places]
    return ForOutputs() in run.transfers.loading or note_wants(run, ForOutputs(), [*computed, *alone])


def must_load(plan: Plan, run: RunState, reader: ForUndo, paths: Iterable[Path]) -> bool:
    """Return whether stored values must be loaded for a compensation first, and note which."""
    return reader in run.transfers.loading or note_wants(run, reader, wanted(plan.index, run, paths))


def begin_loading(run: RunState, commands: list[Command]) -> None:
    """Request the values that steps, or the run's outputs, must read before they can be judged."""
    while run.transfers.unread and len(run.transfers.loading) - len(run.transfers.unread) < MOST_LOADS:
        reader = run.transfers.unread.pop(0)
        wants = run.transfers.loading[reader].wants
        may_stay = tuple(number for number, want in enumerate(wants) if want.may_stay)
        commands.append(Load(reader, tuple(want.part for want in wants), may_stay))


def end_moving(plan: Plan, run: RunState, event: Moved) -> None:
    """Apply that values were loaded or stored, or could not be. Late or repeated events change nothing."""
    match event:
        case Loaded() | NotLoaded():
            _end_loading(plan, run, event)
        case Stored(step, mark, at):
            end_storing(plan, run, plan.step(step), at, mark, None)
        case NotStored(step, error, at):
            end_storing(plan, run, plan.step(step), at, None, error)
        case _:
            assert_never(event)


def _end_loading(plan: Plan, run: RunState, event: Loaded | NotLoaded) -> None:
    loading = run.transfers.loading.pop(event.reader, None)
    if loading is None:
        return
    if isinstance(event, Loaded):
        for want, piece in zip(loading.wants, event.parts, strict=True):
            run.transfers.loaded[want.place] = found_of(want, piece)
    for each in (event.reader, *loading.followers):
        _continue_transfer(plan, run, each, event)


def _continue_transfer(plan: Plan, run: RunState, reader: Reader, event: Loaded | NotLoaded) -> None:
    """Judge or fail the step that was to read the values, or continue or fail its compensation or the run's outputs."""
    error = event.error if isinstance(event, NotLoaded) else None
    match reader:
        case ForStep(step):
            _go_on_with_step(plan, run, plan.step(step), error, event.at)
        case ForUndo(step):
            if error is not None:
                close_undoing(run, plan.step(step), StepStatus.FAILED, error)
        case ForOutputs():
            if error is not None:
                run.ending, run.stop_reason = RunStatus.FAILED, shortened(f"outputs: {error.message}")
        case _:
            assert_never(reader)


def _go_on_with_step(plan: Plan, run: RunState, step: Step, error: StepError | None, at: float) -> None:
    state = run.steps[step.index]
    if state.status is not StepStatus.PENDING:
        return
    if error is None:
        admit(plan, run, step, at)
    else:
        state.error = error
        settle(plan, run, step, StepStatus.FAILED, at)
