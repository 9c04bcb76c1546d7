"""A step that runs once for each element of a list: its items, when it must stop, and what it gives in the end."""

from collections import Counter
from collections.abc import Iterator

from dag.caching import cache_key_of
from dag.fate import resolve
from dag.kinds import ForEach, StepKind
from dag.messages import Chunk, Item
from dag.misfits import show
from dag.plan import Plan, Step
from dag.scope import RunScope
from dag.state import FanState, ItemState, RunState, StepError, StepStatus
from dag.stored import MAX_INLINE_BYTES
from dag.values import Json, canonical, fitted, size_of
from dag.work import ExpressionError, Work

MAX_ITEMS = 10_000
"""Most items of one step. All of them are in the run's state, and what they give travels in one payload of 2 MiB."""

MAX_LIST_BYTES = 1_500_000
"""Largest list, as JSON: as much as can be loaded of a stored one (activities/values.py)."""

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
