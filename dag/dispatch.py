"""Begins what is ready: steps and items in plan order, as far as there are slots. Only now are configs resolved."""

from heapq import heappop
from typing import assert_never

from dag.caching import cache_key_of
from dag.chunks import next_chunk, window_of
from dag.definition import Dispatch
from dag.endings import end, stop
from dag.fan import has_work, item_work, open_fan
from dag.fate import MAX_TURN_WORK, choose, refuse, resolve
from dag.kinds import SHORTEST_SECONDS, StepKind
from dag.lists import conclude, note_failure
from dag.messages import WHOLE_STEP, Command, Item, Start, StartChunk
from dag.misfits import show
from dag.plan import Plan, Step
from dag.progress import Ending, enter, offer, settle, withdraw
from dag.scope import RunScope
from dag.state import FanState, RunState, RunStatus, StepError, StepStatus
from dag.values import Json, size_of
from dag.work import ExpressionError

LONGEST_WAIT_SECONDS = 31_536_000
"""A year: a timer beyond that is a mistake in a template."""


MAX_CARRIED_BYTES = 30_000_000
"""Of a run's configs and outputs together. Temporal ends a workflow whose history has 50 MB; the rest is for the events
around them, a few hundred bytes each, and for the run's own beginning and end."""


MAX_BEGUN_BYTES = 2_000_000
"""Of the configs of what begins at one moment. All of it travels to Temporal in one message, which may have 4 MB; one
that is larger would end the run. The rest begins in the next turn."""


def dispatch(plan: Plan, run: RunState, at: float, commands: list[Command]) -> bool:
    """Begin ready steps until one fails at once (True: the run may have to be stopped) or nothing more can begin."""
    turn = run.turn
    while not run.paused and not run.stopping and turn.begun_bytes < MAX_BEGUN_BYTES and turn.spent < MAX_TURN_WORK:
        step = _next(plan, run)
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


def may_dispatch(plan: Plan, run: RunState) -> bool:
    """Tell whether something is ready, and nobody keeps it from beginning."""
    return not run.paused and not run.stopping and _next(plan, run) is not None


def _size_of(plan: Plan, run: RunState, command: Command) -> int:
    if isinstance(command, Start):
        size = size_of(command.config)
    elif isinstance(command, StartChunk):
        size = sum(size_of(item.config) for item in command.items)
    else:
        return 0
    is_nested = bool(run.nested_bytes) and plan.step(command.step).kind is StepKind.WORKFLOW
    return size + is_nested * run.nested_bytes


def _next(plan: Plan, run: RunState) -> Step | None:
    """Return the first step in plan order that may begin, or begin one more item."""
    heads = [run.counters.ready_free[0]] if run.counters.ready_free else []
    if run.counters.ready and run.counters.slots_used < plan.max_concurrency:
        heads.append(run.counters.ready[0])
    if not heads:
        return None
    step = plan.steps[min(heads)]
    return step if plan.dispatch is Dispatch.READY or _is_open(run, step.layer) else None


def _is_open(run: RunState, layer: int) -> bool:
    while run.counters.open_layer < layer and not run.counters.unsettled_in_layer[run.counters.open_layer]:
        run.counters.open_layer += 1
    return layer <= run.counters.open_layer


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
    """Begin to wait, unless the answer has come before the question."""
    state = run.steps[step.index]
    seconds = config.get("seconds")
    if step.is_timer and not _is_duration(seconds):  # a timeout is a number that the definition says
        raise ExpressionError(
            f"`seconds` is {show(seconds)}, expected a number from {SHORTEST_SECONDS}, at most {LONGEST_WAIT_SECONDS}"
        )
    enter(run, step, StepStatus.WAITING)
    if state.answer is not None:
        end(plan, run, step, WHOLE_STEP, Ending(StepStatus.COMPLETED, at, state.answer.value), commands)
    else:
        commands.append(Start(step.id, config))


def _is_duration(seconds: Json) -> bool:
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return is_number and SHORTEST_SECONDS <= seconds <= LONGEST_WAIT_SECONDS


def _open(plan: Plan, run: RunState, step: Step, at: float) -> None:
    """Lay out the items of a step; without any it is over at once."""
    state, for_each = run.steps[step.index], step.definition.for_each
    assert for_each is not None, "only a step with for_each has items"
    state.fan = fan = state.fan or open_fan(plan, run, step)  # a retry brings the items that completed
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
        withdraw(run, step)  # unless its failure has done so already
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
