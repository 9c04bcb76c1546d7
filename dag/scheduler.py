"""The heart: fold one event into a run and say what must happen next. With `progress`, all that writes a RunState.

An event costs what it touches: each step knows how many of its parents are unsettled, ready steps wait in a heap, and
a step's fate is judged once, when its last parent settles. So the order in which work ends never changes an outcome.
"""

from typing import assert_never

from dag.assignees import agreement, approvals_of, decide
from dag.compensation import compensate, end_compensation
from dag.definition import OnFailure
from dag.dispatch import MAX_BEGUN_BYTES, MAX_CARRIED_BYTES, dispatch, may_dispatch
from dag.endings import end, hand_over, stop
from dag.fate import MAX_TURN_WORK, resolve
from dag.history import overlong
from dag.kinds import StepKind, Then
from dag.lists import begin_storing, end_chunk, thin_chunk
from dag.messages import (
    WHOLE_STEP,
    AbortRequested,
    Answered,
    Cancel,
    CancelRequested,
    ChunkEnded,
    ChunkThinned,
    Command,
    DeadlinePassed,
    Event,
    Finish,
    GoOn,
    Loaded,
    NotLoaded,
    NotStored,
    PauseRequested,
    Record,
    RecordDecision,
    RecordOverdue,
    Request,
    Resolved,
    ResumeRequested,
    RunStarted,
    StepCancelled,
    StepCompleted,
    StepFailed,
    Stored,
    TimedOut,
    Undo,
    WentOn,
    WorkerLost,
)
from dag.moving import begin_loading, end_moving, must_load_outputs
from dag.parking import resolve_parked
from dag.plan import Plan, Step
from dag.progress import Ending, admit, stopped_by
from dag.scope import RunScope
from dag.state import Answer, RunState, RunStatus, StepError, StepStatus
from dag.values import shortened, size_of
from dag.work import ExpressionError


def advance(plan: Plan, run: RunState, event: Event) -> list[Command]:
    """Fold `event` into `run` and return what must happen next, starts in plan order.

    Deterministic: equal arguments give equal commands, on any worker, at any time. Events about steps that are not
    running, or after the end, change nothing.
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
    """Tell whether something is left for a new turn. What has begun may take weeks to bring one."""
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
    """Apply the event's own effect, and settle every step whose fate follows from it."""
    match event:
        case RunStarted(at):
            run.started_at = at if run.started_at is None else run.started_at
            for step in plan.steps:
                if (
                    run.steps[step.index].status is StepStatus.PENDING
                    and not run.counters.unsettled_parents[step.index]
                ):
                    admit(plan, run, step, at)
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
    """Judge what the turn before left."""
    run.turn.is_going_on = False
    deferred, run.turn.deferred = run.turn.deferred, []
    for index in deferred:
        if run.steps[index].status is StepStatus.PENDING:
            admit(plan, run, plan.steps[index], at)


def _obey(plan: Plan, run: RunState, event: Request, commands: list[Command]) -> None:
    """Apply what somebody asks of the run, or the clock says."""
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
    """Return how a step or item ends that was stopped. Nobody asked for it: anything but a failure would be a lie."""
    attempts = int(step.takes_slot)
    if run.stopping:
        return Ending(StepStatus.CANCELLED, at, attempts=attempts, decided_by=stopped_by(run, run.stopping))
    fan = run.steps[step.index].fan
    if fan is not None and fan.stopping:
        return Ending(StepStatus.CANCELLED, at, attempts=attempts)
    error = StepError("Cancelled", "cancelled from outside the run")
    return Ending(StepStatus.FAILED, at, error=error, attempts=attempts)


def _answer(plan: Plan, run: RunState, step: Step, answer: Answer, at: float, commands: list[Command]) -> None:
    """Give a waiting step its answer, or keep the answer for a step that will wait."""
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
    """Count what one of several people decided of what they see; return the answer on which enough of them agree."""
    state = run.steps[step.index]
    if state.status is not StepStatus.WAITING:
        return None
    before, state.decisions = state.decisions, decide(state.decisions, answer)
    if state.decisions != before:
        commands.append(RecordDecision(step.id, state.decisions[-1]))
    return agreement(state.decisions, needed)


def _time_out(plan: Plan, run: RunState, step: Step, at: float, commands: list[Command]) -> None:
    """Settle a waiting step whose time is up as its `on_timeout` says. A timer has done what it was there for."""
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
    """Stop a run that cannot end well: it shall fail fast, or before Temporal ends it without asking anybody."""
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
