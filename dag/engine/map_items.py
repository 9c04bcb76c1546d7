"""A step that runs once for each element of a list: its items, when it must stop, and what it gives in the end.

Steps that run once for each element of a list: how items end, and with the last of them the step.

Long lists run in chunks, each in a workflow of its own: a run's history could not take so many items.

A chunk has a share of the step's window of items that run at once. When all of its items have begun it tells of the
places that come free in it; those go to the next chunk, or to one that has more to do. So an item that takes long holds
its own place only, and the window slides over the list as it does where there are no chunks.

Counts how far a step over a list has come.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from docrail.dag.engine.dispatch import cache_key_of
from docrail.dag.engine.eligibility import resolve
from docrail.dag.engine.events import Chunk, Item
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import RunScope
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
from docrail.dag.language.limits import CHUNK_ITEMS, MAX_ITEMS
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import ForEach, StepKind
from docrail.dag.values.cost import ExpressionError, Work
from docrail.dag.values.json_values import Json, canonical, fitted, shortened, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES

MAX_LIST_BYTES = 1_500_000
"""Largest list, as JSON: as much as can be loaded of a stored one (activities/internal/values.py)."""


LANES = 4
"""Chunks of one step that share its window at first. More run at once where the last items of some take long."""


LENT_PART = 32
"""One in so many places of the window may stay free. Of fewer than 64 places none does."""


MAX_STORED_BYTES = 1_900_000
"""Largest output of a step over a list, as JSON: it travels to the value store in one payload, which may have 2 MiB."""


MAX_KEY_CHARACTERS = 200
"""Of an item's key: it names the item in reports and errors, and tells it from the others. A sha256 has 64."""


MOST_NAMED = 5
"""Keys that an error names."""


_KEPT = (StepStatus.COMPLETED, StepStatus.SKIPPED)
"""Items that are not done again. Only people skip items."""


LEAST_INLINE_BYTES = 100
"""What stands for a stored output takes nearly as much."""


FRAME_BYTES = 40
"""Of what a step's output says of an item beside its key and its output or error: names, the status, braces."""


COUNTS_BYTES = 100
"""Of a step's output without its items."""


ERROR_BYTES = len('{"type":,"message":}')
"""Of an error in a step's output without the texts of its type and message."""


def inline_bytes(items: int) -> int:
    """Return how large an item's output may be to be carried by the run, so that all of them together can be stored."""
    return max(LEAST_INLINE_BYTES, min(MAX_INLINE_BYTES, MAX_LIST_BYTES // max(items, 1) - LEAST_INLINE_BYTES))


def open_fan(plan: Plan, run: RunState, step: Step) -> FanState:
    """Return the step's items, none started. Raises ExpressionError for what is no list and for equal keys."""
    assert step.items is not None, "only a step with for_each is opened"
    values = resolve(step.items, RunScope(plan, run), MAX_LIST_BYTES)
    if not isinstance(values, list):
        raise ExpressionError(f"for_each.items gave {show(values)}, expected a list")
    if len(values) > MAX_ITEMS:
        raise ExpressionError(f"for_each.items gave {len(values)} items, more than {MAX_ITEMS}")
    keys = _keys_of(plan, run, step, values)
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise ExpressionError(f"for_each.key gave the same key for several items: {_named(twice)}")
    _check_lengths(keys)
    return FanState([ItemState(key, value) for key, value in zip(keys, values, strict=True)])


def item_work(plan: Plan, run: RunState, step: Step, place: int, item: ItemState) -> tuple[Json, str | None]:
    """Return the config that an item takes, and the key of its work in the cache. Raises ExpressionError."""
    scope = item_scope(plan, run, place, item.value, by_reference=step.kind is StepKind.HANDLER)
    given: Json = (run.steps[step.index].edited or {}).get(item.key)
    config = resolve(step.config, scope) if given is None else given
    return config, cache_key_of(step, scope, config, given)


def item_scope(plan: Plan, run: RunState, index: int, value: Json, *, by_reference: bool = False) -> RunScope:
    """Return what an item's config reads: all that the step could, `item` and `index`."""
    return RunScope(plan, run, {"item": value, "index": index}, by_reference=by_reference)


def _keys_of(plan: Plan, run: RunState, step: Step, values: list[Json]) -> list[str]:
    """Return the items' keys. All of them are told in one turn, so they are one template's work."""
    if step.item_key is None:
        return [str(index) for index in range(len(values))]
    work = Work()
    try:
        keys = [step.item_key.evaluate(item_scope(plan, run, index, value), work) for index, value in enumerate(values)]
    finally:
        run.turn.spent += work.spent
    return [key if isinstance(key, str) else canonical(key) for key in keys]


def _check_lengths(keys: list[str]) -> None:
    """Refuse keys beside which the items' outputs could not be stored, before any work is done for nothing."""
    longest = max(keys, key=len, default="")
    if len(longest) > MAX_KEY_CHARACTERS:
        found = f"a key of {len(longest)} characters, more than {MAX_KEY_CHARACTERS}: {longest[:64]}…"
        raise ExpressionError(f"for_each.key gave {found}; take something shorter that tells items apart")
    most = MAX_STORED_BYTES - COUNTS_BYTES - len(keys) * (inline_bytes(len(keys)) + FRAME_BYTES)
    if (size := size_of(keys)) > most:
        found = f"{len(keys)} keys of {size} bytes together as JSON, more than {most}"
        why = "what the items give could not be stored beside them; take shorter keys or fewer items"
        raise ExpressionError(f"for_each.key gave {found}: {why}")


def _room_beside(keys: list[str]) -> int:
    """Return how many bytes each item's output or error may take, so that all can be stored with their keys."""
    return (MAX_STORED_BYTES - COUNTS_BYTES - size_of(keys)) // max(len(keys), 1) - FRAME_BYTES


def has_work(fan: FanState, for_each: ForEach) -> bool:
    """Tell whether one more item may start."""
    if fan.window:
        is_wanted = fan.next < len(fan.items) or may_widen(fan) is not None
        return is_wanted and not fan.stopping and fan.window - fan.width >= least_lent(fan)
    return fan.running < for_each.max_concurrency and not fan.stopping and fan.next < len(fan.items)


def least_lent(fan: FanState) -> int:
    """Return how many places must be free before they are used: each use costs the run events of its history."""
    return max(fan.window // LENT_PART, 1)


def may_widen(fan: FanState) -> int | None:
    """Return which chunk could use one more place, as far as it has told: the latest, which has most left to do."""
    narrow = (place for place, of in fan.chunks.items() if not of.is_thin and of.width < len(of.places))
    return max(narrow, default=None)


def is_over(fan: FanState) -> bool:
    """Tell whether nothing runs and nothing will."""
    return not fan.running and (fan.stopping or fan.next >= len(fan.items))


def failed_so_far(fan: FanState) -> int:
    """Return how many items have failed, those of running chunks too, as far as they have told."""
    return fan.failed + sum(chunk.failed for chunk in fan.chunks.values())


def must_stop(fan: FanState, for_each: ForEach) -> bool:
    """Tell whether the failures so far stop the items that are left."""
    return is_too_much(failed_so_far(fan), for_each)


def is_too_much(failed: int, for_each: ForEach) -> bool:
    """Tell whether so many failures stop the items that are left."""
    return for_each.on_item_error == "fail_fast" and failed > for_each.max_failures


def running_parts(fan: FanState) -> Iterator[Item | Chunk]:
    """Yield the items that run, or the chunks that they run in."""
    if fan.window:
        return map(Chunk, fan.chunks)
    return (Item(place) for place, item in enumerate(fan.items) if item.status is StepStatus.RUNNING)


def output_of(fan: FanState) -> Json:
    """Return what the step gives: counts, and each item's key, status and output or error, in the list's order.

    Errors are cut so that all of it can be stored, however many items failed.
    """
    counts = Counter(item.status for item in fan.items)
    room = max(_room_beside([item.key for item in fan.items]), LEAST_INLINE_BYTES)
    return {
        "total": len(fan.items),
        "completed": counts[StepStatus.COMPLETED],
        "failed": counts[StepStatus.FAILED],
        "items": [_item_output(item, room) for item in fan.items],
    }


def failure_of(fan: FanState, for_each: ForEach) -> StepError | None:
    """Return why the step fails, None if few enough of its items did."""
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
    told: dict[str, Json] = {"key": item.key, "status": str(status)}
    if item.status is StepStatus.COMPLETED:
        told["output"] = item.output
    elif item.error is not None:
        told["error"] = _short(item.error, room)
    return told


def _short(error: StepError, room: int) -> Json:
    """Return what the output says of an error, in so many bytes: its class may take half of them."""
    left = room - ERROR_BYTES
    told = fitted(error.type, left // 2)
    return {"type": told, "message": fitted(error.message, left - size_of(told))}


def _named(keys: list[str]) -> str:
    rest = f" and {len(keys) - MOST_NAMED} more" if len(keys) > MOST_NAMED else ""
    return ", ".join(key[:64] for key in keys[:MOST_NAMED]) + rest


def unfinished(fan: FanState | None) -> FanState | None:
    """Return a failed step's items with only the completed ones kept, and those skipped by hand.

    What failed or never ran is to be done.
    """
    if fan is None:
        return None
    return laid_out([item if item.status in _KEPT else ItemState(item.key, item.value) for item in fan.items])


def laid_out(items: list[ItemState]) -> FanState:
    """Return a list of which nothing runs, and only what is pending is to be done."""
    pending = (place for place, item in enumerate(items) if item.status is StepStatus.PENDING)
    return FanState(items, next=next(pending, len(items)))


MAX_SENT_BYTES = 3_900_000
"""Of all that begins in one turn, with an output that is to be stored: a message to Temporal may have 4 MiB."""


def of_item(item: ItemState, earlier: Iterable[EarlierError]) -> Iterator[EarlierError]:
    """Yield the errors of an item with its key."""
    return (replace(error, item=shortened(item.key, EARLIER_CHARACTERS)) for error in earlier)


def without_losses(run: RunState, fan: FanState, for_each: ForEach, ends: Sequence[ItemEnd]) -> Sequence[ItemEnd]:
    """Return the ends with what nobody asked to be stopped as failed: anything else would be a lie."""
    failed = failed_so_far(fan) + sum(ended.status is StepStatus.FAILED for ended in ends)
    was_asked = run.stopping or fan.stopping or is_too_much(failed, for_each)
    if was_asked or all(ended.status in (StepStatus.COMPLETED, StepStatus.FAILED) for ended in ends):
        return ends
    lost = (StepStatus.CANCELLED, StepStatus.PENDING)
    error = StepError("Cancelled", "cancelled from outside the run")
    return [replace(ended, status=StepStatus.FAILED, error=error) if ended.status in lost else ended for ended in ends]


def ending_of(run: RunState, step: Step, fan: FanState, at: float) -> Ending:
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


def _lane(fan: FanState) -> int:
    """Return the share of the window that a chunk gets where there is enough."""
    return -(-fan.window // min(LANES, fan.window))


def fewest(fan: FanState) -> int:
    """Return how many free places are worth a chunk while another one could use them too."""
    return max(_lane(fan) // 2, 1)


def width_of_next(fan: FanState, free: int) -> int:
    """Return how many of the free places the next chunk gets: all, if nothing would come of the rest."""
    lane = _lane(fan)
    return free if free < lane + fewest(fan) else min(lane, free)


def length_of_next(fan: FanState, width: int) -> int:
    """Return how many items the next chunk has: as long as much is left, a full one; then its share of half."""
    left = len(fan.items) - fan.next
    return max(LEAST_CHUNK_ITEMS, width, min(CHUNK_ITEMS, left * width // (2 * fan.window)))


class ItemCounts(BaseModel):
    """How far a step has come that runs once for each element of a list."""

    model_config = ConfigDict(frozen=True)

    total: int
    completed: int
    failed: int
    running: int
    cancelled: int = 0
    """Stopped while they ran: by the run's end, or because too many others failed."""
    cached: int = 0
    """Completed ones whose output is that of earlier equal work."""
    skipped: int = 0
    """By a person, who had the others tried again."""


def counts_of(fan: FanState) -> ItemCounts:
    """Return how far a list has come, its chunks as far as they have told."""
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
