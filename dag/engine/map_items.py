"""Decide how a step runs once for each element of a list: its items, when it stops, how it ends and what it returns.

Long lists run in chunks, each in a workflow of its own, because one run's history could not hold so many items. A chunk
gets a share of the step's window of concurrent items. Once all of its items have begun, it reports the slots that come
free; they go to the next chunk, or to one with more left to do. A slow item therefore holds only its own slot, and the
window slides over the list as it does without chunks.

In one file because a list's window, failures and output depend on the same counts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict

from docrail.dag.engine.dispatch import cache_key_of
from docrail.dag.engine.eligibility import resolve
from docrail.dag.engine.events import Chunk, Item
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import Meter, RunScope
from docrail.dag.engine.state import (
    EARLIER_CHARACTERS,
    EarlierError,
    Ending,
    FanState,
    ItemEnd,
    ItemState,
    RunState,
    StepError,
    stopped_by,
)
from docrail.dag.language.expressions.expression_errors import show
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import CHUNK_ITEMS, MAX_ITEMS, ForEach, StepKind
from docrail.dag.values.cost import ExpressionError, Work
from docrail.dag.values.json_values import Json, canonical, fitted, shortened, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES

MAX_LIST_BYTES = 1_500_000
"""Largest list, in bytes of JSON: as much as can be loaded of a stored one (activities/internal/values.py)."""

LANES = 4
"""Chunks of one step that share its window at first. More run at once if the last items of some take long."""

LENT_PART = 32
"""1/32 of the window's slots may stay free. With fewer than 64 slots, none does."""

MAX_STORED_BYTES = 1_900_000
"""Largest output of a step over a list, in bytes of JSON: it is sent to the value store in one payload of at most 2
MiB."""

MAX_KEY_CHARACTERS = 200
"""Longest item key, in characters: it identifies the item in reports and errors. A SHA-256 in hex has 64."""

MOST_NAMED = 5
"""Number of keys that an error lists."""

_KEPT = (StepStatus.COMPLETED, StepStatus.SKIPPED)
"""Statuses of items that are not run again. Only people skip items."""

LEAST_INLINE_BYTES = 100
"""Size of an output, in bytes, below which storing saves nothing: its placeholder is nearly as large."""

FRAME_BYTES = 40
"""Bytes that a step's output needs for an item besides its key and its output or error: names, the status, braces."""

COUNTS_BYTES = 100
"""Bytes of a step's output without its items."""

ERROR_BYTES = len('{"type":,"message":}')
"""Bytes of an error in a step's output without the texts of its type and message."""


def inline_bytes(items: int) -> int:
    """Return the largest inline output of an item, in bytes, such that all outputs together can be stored."""
    return max(LEAST_INLINE_BYTES, min(MAX_INLINE_BYTES, MAX_LIST_BYTES // max(items, 1) - LEAST_INLINE_BYTES))


def open_fan(plan: Plan, run: RunState, step: Step, meter: Meter) -> FanState:
    """Return the step's items, none started. Raises ExpressionError if the value is not a list or keys repeat."""
    assert step.items is not None, "only a step with for_each is opened"
    scope = RunScope(plan, run, meter)
    values = resolve(step.items, scope, MAX_LIST_BYTES)
    if not isinstance(values, list):
        raise ExpressionError(f"for_each.items gave {show(values)}, expected a list")
    if len(values) > MAX_ITEMS:
        raise ExpressionError(f"for_each.items gave {len(values)} items, more than {MAX_ITEMS}")
    keys = _keys_of(step, scope, values)
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise ExpressionError(f"for_each.key gave the same key for several items: {_named(twice)}")
    _check_lengths(keys)
    return FanState([ItemState(key, value) for key, value in zip(keys, values, strict=True)])


def item_work(plan: Plan, run: RunState, step: Step, place: int, meter: Meter) -> tuple[Json, str | None]:
    """Return an item's config and its cache key. Raises ExpressionError."""
    fan, edited = run.steps[step.index].fan, run.steps[step.index].edited or {}
    assert fan is not None, "only a step with for_each has items"
    item = fan.items[place]
    given: Json = edited.get(item.key)
    scope = RunScope(plan, run, meter, _names(place, item.value), by_reference=step.kind is StepKind.HANDLER)
    config = resolve(step.config, scope) if given is None else given
    return config, cache_key_of(step, scope, config, given)


def _names(place: int, value: Json) -> dict[str, Json]:
    """Return the names that expressions of an item can use besides those of its step."""
    return {"item": value, "index": place}


def _keys_of(step: Step, scope: RunScope, values: list[Json]) -> list[str]:
    """Return the items' keys. All are computed in one turn, so together they count as one template's work."""
    if step.item_key is None:
        return [str(index) for index in range(len(values))]
    work = Work()
    try:
        keys = [
            step.item_key.evaluate(replace(scope, item=_names(index, value)), work)
            for index, value in enumerate(values)
        ]
    finally:
        scope.charge(work.spent)
    return [key if isinstance(key, str) else canonical(key) for key in keys]


def _check_lengths(keys: list[str]) -> None:
    """Refuse keys that leave too little room to store the items' outputs, before any item runs."""
    longest = max(keys, key=len, default="")
    if len(longest) > MAX_KEY_CHARACTERS:
        found = f"a key of {len(longest)} characters, more than {MAX_KEY_CHARACTERS}: {longest[:64]}…"
        raise ExpressionError(f"for_each.key gave {found}; use a shorter key that differs between items")
    most = MAX_STORED_BYTES - COUNTS_BYTES - len(keys) * (inline_bytes(len(keys)) + FRAME_BYTES)
    if (size := size_of(keys)) > most:
        found = f"{len(keys)} keys of {size} bytes together as JSON, more than {most}"
        why = "the items' outputs could not be stored with them; use shorter keys or fewer items"
        raise ExpressionError(f"for_each.key gave {found}: {why}")


def following(fan: FanState) -> int:
    """Return the position of the next pending item after `fan.next`: a retry kept the others."""
    place = fan.next + 1
    while place < len(fan.items) and fan.items[place].status is not StepStatus.PENDING:
        place += 1
    return place


def has_work(fan: FanState, for_each: ForEach) -> bool:
    """Return whether one more item may start."""
    if fan.window:
        is_wanted = fan.next < len(fan.items) or may_widen(fan) is not None
        return is_wanted and not fan.stopping and fan.window - fan.width >= max(fan.window // LENT_PART, 1)
    return fan.running < for_each.max_concurrency and not fan.stopping and fan.next < len(fan.items)


def may_widen(fan: FanState) -> int | None:
    """Return the latest chunk that could use one more slot, by the last reports: it has the most left to do."""
    narrow = (place for place, of in fan.chunks.items() if not of.is_thin and of.width < len(of.places))
    return max(narrow, default=None)


def is_over(fan: FanState) -> bool:
    """Return whether nothing runs and nothing will."""
    return not fan.running and (fan.stopping or fan.next >= len(fan.items))


def failed_so_far(fan: FanState) -> int:
    """Return how many items have failed, including those that running chunks have reported."""
    return fan.failed + sum(chunk.failed for chunk in fan.chunks.values())


def must_stop(fan: FanState, for_each: ForEach) -> bool:
    """Return whether the failures so far stop the remaining items."""
    return is_too_much(failed_so_far(fan), for_each)


def is_too_much(failed: int, for_each: ForEach) -> bool:
    """Return whether `failed` failures stop the remaining items."""
    return for_each.on_item_error == "fail_fast" and failed > for_each.max_failures


def running_parts(fan: FanState) -> Iterator[Item | Chunk]:
    """Yield the running items, or the chunks that they run in."""
    if fan.window:
        return map(Chunk, fan.chunks)
    return (Item(place) for place, item in enumerate(fan.items) if item.status is StepStatus.RUNNING)


def output_of(fan: FanState) -> Json:
    """Return the step's output: counts, and each item's key, status and output or error, in the list's order.

    Errors are shortened so that the output can be stored, however many items failed.
    """
    counts = Counter(item.status for item in fan.items)
    left = MAX_STORED_BYTES - COUNTS_BYTES - size_of([item.key for item in fan.items])
    room = max(left // max(len(fan.items), 1) - FRAME_BYTES, LEAST_INLINE_BYTES)
    return {
        "total": len(fan.items),
        "completed": counts[StepStatus.COMPLETED],
        "failed": counts[StepStatus.FAILED],
        "items": [_item_output(item, room) for item in fan.items],
    }


def failure_of(fan: FanState, for_each: ForEach) -> StepError | None:
    """Return why the step fails, None if no more items failed than `max_failures` allows."""
    if fan.failed <= for_each.max_failures:
        return None
    failed = [item for item in fan.items if item.status is StepStatus.FAILED]
    first = failed[0].error
    why = f"; {failed[0].key}: {first.message}" if first else ""
    tolerated = f" (max_failures: {for_each.max_failures})" if for_each.max_failures else ""
    names = _named([item.key for item in failed])
    return StepError("ItemsFailed", f"{len(failed)} of {len(fan.items)} items failed{tolerated}: {names}{why}")


def _item_output(item: ItemState, room: int) -> Json:
    status = StepStatus.SKIPPED if item.status is StepStatus.PENDING else item.status
    shown: dict[str, Json] = {"key": item.key, "status": str(status)}
    if item.status is StepStatus.COMPLETED:
        shown["output"] = item.output
    elif item.error is not None:
        shown["error"] = _short(item.error, room)
    return shown


def _short(error: StepError, room: int) -> Json:
    """Return the error for the output in at most `room` bytes; its type may take half of them."""
    left = room - ERROR_BYTES
    shown = fitted(error.type, left // 2)
    return {"type": shown, "message": fitted(error.message, left - size_of(shown))}


def _named(keys: list[str]) -> str:
    rest = f" and {len(keys) - MOST_NAMED} more" if len(keys) > MOST_NAMED else ""
    return ", ".join(key[:64] for key in keys[:MOST_NAMED]) + rest


def unfinished(fan: FanState | None) -> FanState | None:
    """Return a failed step's items, keeping those that completed or that a person skipped.

    Items that failed or never ran become pending.
    """
    if fan is None:
        return None
    return laid_out([item if item.status in _KEPT else ItemState(item.key, item.value) for item in fan.items])


def laid_out(items: list[ItemState]) -> FanState:
    """Return a list state in which nothing runs and only pending items are left to do."""
    pending = (place for place, item in enumerate(items) if item.status is StepStatus.PENDING)
    return FanState(items, next=next(pending, len(items)))


MAX_SENT_BYTES = 3_900_000
"""Limit for everything that begins in one turn and an output to be stored, in bytes: Temporal accepts 4 MiB per
message."""


def of_item(item: ItemState, earlier: Iterable[EarlierError]) -> Iterator[EarlierError]:
    """Yield the errors of an item with its key."""
    return (replace(error, item=shortened(item.key, EARLIER_CHARACTERS)) for error in earlier)


def without_losses(
    run: RunState, fan: FanState, for_each: ForEach, ends: Sequence[Ending | ItemEnd]
) -> Sequence[Ending | ItemEnd]:
    """Return the ends, with items that stopped without having been asked to counted as failed."""
    failed = failed_so_far(fan) + sum(ended.status is StepStatus.FAILED for ended in ends)
    was_asked = run.stopping or fan.stopping or is_too_much(failed, for_each)
    if was_asked or all(ended.status in (StepStatus.COMPLETED, StepStatus.FAILED) for ended in ends):
        return ends
    lost = (StepStatus.CANCELLED, StepStatus.PENDING)
    error = StepError("Cancelled", "cancelled from outside the run")
    return [
        ItemEnd(StepStatus.FAILED, error=error, attempts=ended.attempts, earlier=ended.earlier)
        if ended.status in lost
        else ended
        for ended in ends
    ]


def ending_of(run: RunState, step: Step, fan: FanState) -> Ending:
    """Return how a step ends whose items have ended."""
    for_each = step.definition.for_each
    assert for_each is not None, "only a step with for_each has items"
    output = output_of(fan)
    if run.stopping and not _ran_to_its_end(fan):
        kept = None if _too_large(output) else output
        return Ending(StepStatus.CANCELLED, kept, decided_by=stopped_by(run, run.stopping))
    if error := _too_large(output):
        return Ending(StepStatus.FAILED, None, failure_of(fan, for_each) or error)
    if error := failure_of(fan, for_each):
        return Ending(StepStatus.FAILED, output, error)
    return Ending(StepStatus.COMPLETED, output)


def _ran_to_its_end(fan: FanState) -> bool:
    ended = (StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED)
    return all(item.status in ended for item in fan.items)


def _too_large(output: Json) -> StepError | None:
    size = size_of(output)
    if size <= MAX_STORED_BYTES:
        return None
    message = f"the items' outputs take {size} bytes as JSON, more than {MAX_STORED_BYTES}: return less, or references"
    return StepError("OutputTooLargeError", message)


LEAST_CHUNK_ITEMS = 10
"""Smallest chunk: a workflow costs as much as three items."""

MAX_CHUNK_BYTES = 700_000
"""Limit for the configs of a chunk, in bytes. They share one payload of 2 MiB with the definitions of nested runs."""

MAX_REQUEST_BYTES = 1_500_000
"""Limit for a chunk's configs and the definitions of nested runs together, in bytes; the rest of the payload is for the
step's own data."""


def window_of(plan: Plan, step: Step, for_each: ForEach, pending: int) -> int:
    """Return how many of `pending` items run at once in chunks; 0 if the list is too short for chunks."""
    if pending <= CHUNK_ITEMS:
        return 0
    return min(for_each.max_concurrency, plan.max_concurrency) if step.takes_slot else for_each.max_concurrency


def _lane(fan: FanState) -> int:
    """Return a chunk's share of the window when enough slots are free."""
    return -(-fan.window // min(LANES, fan.window))


def fewest(fan: FanState) -> int:
    """Return how many free slots justify a new chunk while another chunk could use them."""
    return max(_lane(fan) // 2, 1)


@dataclass(frozen=True, slots=True)
class Widen:
    """Give free slots to a running chunk, named by the position of its first item."""

    first: int
    width: int
    """The chunk's width from now on."""


@dataclass(frozen=True, slots=True)
class NextChunk:
    """Begin a chunk with so many items, of which `width` run at once."""

    length: int
    width: int


def use_of_slots(plan: Plan, run: RunState, step: Step, fan: FanState) -> Widen | NextChunk:
    """Decide what a long list does with its free slots.

    They go to a running chunk that can use them if too few are free for a new chunk, or no items are left for one.
    """
    free = fan.window - fan.width
    if step.takes_slot:
        free = min(free, plan.max_concurrency - run.counters.slots_used)
    first = may_widen(fan)
    if first is None or (free >= fewest(fan) and fan.next < len(fan.items)):
        # The next chunk gets all free slots if the rest would be too few for another one.
        lane = _lane(fan)
        width = free if free < lane + fewest(fan) else min(lane, free)
        # It gets a full chunk of items while enough are left, then its share of half of them.
        left = len(fan.items) - fan.next
        return NextChunk(max(LEAST_CHUNK_ITEMS, width, min(CHUNK_ITEMS, left * width // (2 * fan.window))), width)
    chunk = fan.chunks[first]
    return Widen(first, chunk.width + min(free, len(chunk.places) - chunk.width))


def most_chunk_bytes(run: RunState) -> int:
    """Return how many bytes of configs a chunk may have, with the definitions that it carries along."""
    return max(min(MAX_CHUNK_BYTES, MAX_REQUEST_BYTES - run.traffic.nested_bytes), 1)


def stop_after(fan: FanState, for_each: ForEach) -> int | None:
    """Return how many more items may fail before the rest is stopped; None: every item runs."""
    if for_each.on_item_error != "fail_fast":
        return None
    return max(for_each.max_failures - failed_so_far(fan), 0)


class ItemCounts(BaseModel):
    """Progress of a step that runs once for each element of a list."""

    model_config = ConfigDict(frozen=True)

    total: int
    completed: int
    failed: int
    running: int
    cancelled: int = 0
    """Stopped while running: by the run's end, or because too many others failed."""
    cached: int = 0
    """Completed items whose output came from the cache."""
    skipped: int = 0
    """Skipped by a person when the step was retried."""


def counts_of(fan: FanState) -> ItemCounts:
    """Return a list's progress, including what its chunks have reported."""
    completed = sum(item.status is StepStatus.COMPLETED for item in fan.items)
    completed += sum(chunk.completed for chunk in fan.chunks.values())
    return ItemCounts(
        total=len(fan.items),
        completed=completed,
        failed=failed_so_far(fan),
        running=fan.width if fan.window else fan.running,
        cancelled=sum(item.status is StepStatus.CANCELLED for item in fan.items),
        cached=sum(item.cached for item in fan.items),
        skipped=sum(item.status is StepStatus.SKIPPED for item in fan.items),
    )
