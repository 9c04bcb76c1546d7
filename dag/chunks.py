"""Long lists run in chunks, each in a workflow of its own: a run's history could not take so many items.

A chunk has a share of the step's window of items that run at once. When all of its items have begun it tells of the
places that come free in it; those go to the next chunk, or to one that has more to do. So an item that takes long holds
its own place only, and the window slides over the list as it does where there are no chunks.
"""

from collections.abc import Iterator
from dataclasses import replace

from dag.fan import LANES, failed_so_far, item_work, may_widen
from dag.fate import MAX_TURN_WORK
from dag.kinds import ForEach
from dag.messages import ChunkItem, StartChunk
from dag.plan import Plan, Step
from dag.state import ChunkState, FanState, RunState, StepError, StepStatus
from dag.values import size_of
from dag.work import ExpressionError

CHUNK_ITEMS = 250
"""Most items of a chunk, and of a list that runs without: each costs six events, and Temporal is slow above 10,000."""

LEAST_CHUNK_ITEMS = 10
"""Fewer are not worth a workflow, which costs as much as three of them."""

MAX_CHUNK_BYTES = 700_000
"""Of the configs of a chunk. They travel in one payload, of at most 2 MiB, beside the definitions of nested runs."""


MAX_REQUEST_BYTES = 1_500_000
"""Of a chunk's configs and the definitions of nested runs together; the rest of the payload is for the step's own."""


def window_of(plan: Plan, step: Step, for_each: ForEach, pending: int) -> int:
    """Return how many items of a list with so many left run at once in chunks; 0: it is too short for chunks."""
    if pending <= CHUNK_ITEMS:
        return 0
    return min(for_each.max_concurrency, plan.max_concurrency) if step.takes_slot else for_each.max_concurrency


def next_chunk(plan: Plan, run: RunState, step: Step, fan: FanState) -> StartChunk | None:
    """Begin the next chunk and return what starts it.

    None if the items left all failed to begin, or the free places went to a chunk that has begun: the shell looks.
    """
    for_each = step.definition.for_each
    assert for_each is not None, "only a step with for_each has items"
    free = fan.window - fan.width
    if step.takes_slot:
        free = min(free, plan.max_concurrency - run.counters.slots_used)
    if _widen(run, step, fan, free):
        return None
    width = _width_of_next(fan, free)
    items = list(_begin_items(plan, run, step, fan, _length_of_next(fan, width)))
    if not items:
        return None
    width = min(width, len(items))
    run.counters.slots_used += step.takes_slot * width
    fan.chunks[items[0].place] = ChunkState(tuple(item.place for item in items), width)
    fan.running += len(items)
    stop_after = max(for_each.max_failures - failed_so_far(fan), 0) if for_each.on_item_error == "fail_fast" else None
    return StartChunk(step.id, tuple(items), width, stop_after)


def _lane(fan: FanState) -> int:
    """Return the share of the window that a chunk gets where there is enough."""
    return -(-fan.window // min(LANES, fan.window))


def _fewest(fan: FanState) -> int:
    """Return how many free places are worth a chunk while another one could use them too."""
    return max(_lane(fan) // 2, 1)


def _width_of_next(fan: FanState, free: int) -> int:
    """Return how many of the free places the next chunk gets: all, if nothing would come of the rest."""
    lane = _lane(fan)
    return free if free < lane + _fewest(fan) else min(lane, free)


def _widen(run: RunState, step: Step, fan: FanState, free: int) -> bool:
    """Give free places to a chunk that could use them, where they are too few for one more, or no items are left."""
    place = may_widen(fan)
    if place is None or (free >= _fewest(fan) and fan.next < len(fan.items)):
        return False
    chunk = fan.chunks[place]
    more = min(free, len(chunk.places) - chunk.width)
    fan.chunks[place] = replace(chunk, width=chunk.width + more)
    run.counters.slots_used += step.takes_slot * more
    return True


def _begin_items(plan: Plan, run: RunState, step: Step, fan: FanState, left: int) -> Iterator[ChunkItem]:
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


def _length_of_next(fan: FanState, width: int) -> int:
    """Return how many items the next chunk has: as long as much is left, a full one; then its share of half."""
    left = len(fan.items) - fan.next
    return max(LEAST_CHUNK_ITEMS, width, min(CHUNK_ITEMS, left * width // (2 * fan.window)))
