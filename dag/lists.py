"""Steps that run once for each element of a list: how items end, and with the last of them the step."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from dag.fan import (
    MAX_STORED_BYTES,
    failed_so_far,
    failure_of,
    has_work,
    is_over,
    is_too_much,
    must_stop,
    output_of,
    running_parts,
)
from dag.kinds import ForEach
from dag.messages import Cancel, Chunk, ChunkEnded, ChunkThinned, Command, Item, Store
from dag.plan import Plan, Step
from dag.progress import Ending, leave, offer, stopped_by, withdraw
from dag.state import (
    EARLIER_CHARACTERS,
    MOST_EARLIER,
    ChunkState,
    EarlierError,
    FanState,
    ItemEnd,
    ItemState,
    RunState,
    StepError,
    StepStatus,
)
from dag.stored import MAX_INLINE_BYTES
from dag.values import Json, shortened, size_of

MAX_SENT_BYTES = 3_900_000
"""Of all that begins in one turn, with an output that is to be stored: a message to Temporal may have 4 MiB."""


def end_part(
    plan: Plan, run: RunState, step: Step, part: Item | Chunk, ending: Ending, commands: list[Command]
) -> None:
    """Close a running item, or each of a running chunk's; what is late or repeated changes nothing."""
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
    """Close a running item, or the items of a running chunk; `place` is the first one's."""
    state, for_each = run.steps[step.index], step.definition.for_each
    fan = state.fan
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    was_offered = has_work(fan, for_each)
    chunk = fan.chunks.pop(place, ChunkState((place,), 1))
    ends = _without_losses(run, fan, for_each, ends)
    for item, ended in zip((fan.items[place] for place in chunk.places), ends, strict=True):
        item.status, item.output, item.error, item.attempts = ended.status, ended.output, ended.error, ended.attempts
        item.cached = ended.cached
        state.attempts += ended.attempts
        state.out_of_time |= ended.out_of_time
        state.earlier = (*state.earlier, *_of_item(item, ended.earlier))[-MOST_EARLIER:]
    fan.running -= len(ends)
    run.counters.slots_used -= step.takes_slot * chunk.width
    note_failure(run, step, commands, failed=sum(ended.status is StepStatus.FAILED for ended in ends))
    _offer_anew(run, step, was_offered=was_offered)
    conclude(plan, run, step, at)


def _of_item(item: ItemState, earlier: Iterable[EarlierError]) -> Iterator[EarlierError]:
    return (replace(error, item=shortened(item.key, EARLIER_CHARACTERS)) for error in earlier)


def _offer_anew(run: RunState, step: Step, *, was_offered: bool) -> None:
    """Let `dispatch` see the step if one more item of it may begin now, and not if none may any more."""
    fan, for_each = run.steps[step.index].fan, step.definition.for_each
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    is_offered = has_work(fan, for_each)
    if is_offered and not was_offered and not run.stopping:
        offer(run, step)
    elif was_offered and not is_offered:
        withdraw(run, step)


def _without_losses(run: RunState, fan: FanState, for_each: ForEach, ends: Sequence[ItemEnd]) -> Sequence[ItemEnd]:
    """Return the ends with what nobody asked to be stopped as failed: anything else would be a lie."""
    failed = failed_so_far(fan) + sum(ended.status is StepStatus.FAILED for ended in ends)
    was_asked = run.stopping or fan.stopping or is_too_much(failed, for_each)
    if was_asked or all(ended.status in (StepStatus.COMPLETED, StepStatus.FAILED) for ended in ends):
        return ends
    lost = (StepStatus.CANCELLED, StepStatus.PENDING)
    error = StepError("Cancelled", "cancelled from outside the run")
    return [replace(ended, status=StepStatus.FAILED, error=error) if ended.status in lost else ended for ended in ends]


def end_chunk(plan: Plan, run: RunState, event: ChunkEnded, commands: list[Command]) -> None:
    """Close the items of a running chunk. What is late or repeated changes nothing."""
    step = plan.step(event.step)
    state = run.steps[step.index]
    if state.status is StepStatus.RUNNING and state.fan is not None and event.chunk.first in state.fan.chunks:
        end_items(plan, run, step, event.chunk.first, event.ends, event.at, commands)


def thin_chunk(plan: Plan, run: RunState, event: ChunkThinned, commands: list[Command]) -> None:
    """Take back the places that came free in a running chunk. What is late or repeated changes nothing."""
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
    """Count failed items; where that makes too many, ask those that run to stop."""
    fan, for_each = run.steps[step.index].fan, step.definition.for_each
    assert fan is not None
    assert for_each is not None, "only a step with for_each has items"
    fan.failed += failed
    if must_stop(fan, for_each) and not fan.stopping and not run.stopping:
        fan.stopping = True
        commands.extend(Cancel(step.id, part) for part in running_parts(fan))
        withdraw(run, step)


def conclude(plan: Plan, run: RunState, step: Step, at: float) -> None:
    """Settle a step that runs over a list once its last item has ended, and its output is where it can stay."""
    fan = run.steps[step.index].fan
    assert fan is not None
    if fan.running or fan.is_storing or not (run.stopping or is_over(fan)):
        return
    ending = _ending_of(run, step, fan, at)
    if size_of(ending.output) <= MAX_INLINE_BYTES:
        leave(plan, run, step, ending)
    else:
        fan.is_storing = True  # from now on nothing of it changes
        run.transfers.to_store.append(step.index)


def begin_storing(plan: Plan, run: RunState, at: float, commands: list[Command]) -> None:
    """Store the next output that is to be, one at a time: all that begins in one turn travels in one message.

    Where much has begun in this turn already, it is the next one's.
    """
    if run.transfers.is_storing or not run.transfers.to_store:
        return
    step = plan.steps[run.transfers.to_store[0]]
    fan = run.steps[step.index].fan
    assert fan is not None, "only what lists give is stored from here"
    output = _ending_of(run, step, fan, at).output
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
    ending = replace(_ending_of(run, step, state.fan, at), output=mark)
    if error is not None and ending.status is StepStatus.COMPLETED:
        ending = replace(ending, status=StepStatus.FAILED, error=error)
    leave(plan, run, step, ending)
    if ending.status is StepStatus.COMPLETED and not state.fan.failed:
        for item in state.fan.items:  # nobody does them again, and the state need not carry what is stored
            item.value = item.output = None


def _ending_of(run: RunState, step: Step, fan: FanState, at: float) -> Ending:
    """Return how a step ends whose items have ended."""
    for_each = step.definition.for_each
    assert for_each is not None, "only a step with for_each has items"
    output = output_of(fan)
    if run.stopping and not _ran_to_its_end(fan):
        kept = None if _too_large(output) else output
        return Ending(StepStatus.CANCELLED, at, kept, decided_by=stopped_by(run, run.stopping))
    if error := _too_large(output):
        return Ending(StepStatus.FAILED, at, None, failure_of(fan, for_each) or error)
    if error := failure_of(fan, for_each):
        return Ending(StepStatus.FAILED, at, output, error)
    return Ending(StepStatus.COMPLETED, at, output)


def _ran_to_its_end(fan: FanState) -> bool:
    ended = (StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED)
    return all(item.status in ended for item in fan.items)


def _too_large(output: Json) -> StepError | None:
    size = size_of(output)
    if size <= MAX_STORED_BYTES:
        return None
    message = f"the items' outputs take {size} bytes as JSON, more than {MAX_STORED_BYTES}: return less, or references"
    return StepError("OutputTooLargeError", message)
