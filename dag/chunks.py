"""Long lists run in chunks, each in a workflow of its own: a run's history could not take so many items.

A chunk has a lane: a share of the step's window of items that run at once. Lanes do not wait for each other, and chunks
get smaller towards the end of the list, so that the window slides over the list as it does where there are no chunks.
"""

from collections.abc import Iterator

from dag.caching import cache_key_of
from dag.fan import LANES, item_scope
from dag.fate import MAX_TURN_WORK, resolve
from dag.kinds import ForEach, StepKind
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
    """Begin the next chunk and return what starts it; None if the items left all failed to begin."""
    for_each = step.definition.for_each
    assert for_each is not None, "only a step with for_each has items"
    items = list(_begin_items(plan, run, step, fan))
    if not items:
        return None
    lanes = min(LANES, fan.window)
    width = min(-(-fan.window // lanes), fan.window - fan.width, len(items))
    if step.takes_slot:
        width = min(width, plan.max_concurrency - run.slots_used)
        run.slots_used += width
    fan.chunks[items[0].place] = ChunkState(tuple(item.place for item in items), width)
    fan.running += len(items)
    stop_after = max(for_each.max_failures - fan.failed, 0) if for_each.on_item_error == "fail_fast" else None
    return StartChunk(step.id, tuple(items), width, stop_after)


def _begin_items(plan: Plan, run: RunState, step: Step, fan: FanState) -> Iterator[ChunkItem]:
    left, size = _length_of_next(fan), 0
    most = max(min(MAX_CHUNK_BYTES, MAX_REQUEST_BYTES - run.nested_bytes), 1)
    while left and size < most and run.spent < MAX_TURN_WORK and fan.next < len(fan.items):
        place, left = fan.next, left - 1
        fan.advance()
        item = fan.items[place]
        scope = item_scope(plan, run, place, item.value, by_reference=step.kind is StepKind.HANDLER)
        try:
            config = resolve(step.config, scope)
            cache_key = cache_key_of(step, scope, config)
        except ExpressionError as error:
            item.status, item.error = StepStatus.FAILED, StepError("TemplateError", error.message)
            fan.failed += 1
        else:
            item.status = StepStatus.RUNNING
            size += size_of(config)
            yield ChunkItem(place, item.key, config, cache_key)


def _length_of_next(fan: FanState) -> int:
    """Return how many items the next chunk has: as long as much is left, a full one; then a lane's share of half."""
    share = (len(fan.items) - fan.next) // (2 * min(LANES, fan.window))
    return max(LEAST_CHUNK_ITEMS, min(CHUNK_ITEMS, share))
