"""A step that runs once for each element of a list: its items, when it must stop, and what it gives in the end."""

from collections import Counter
from collections.abc import Iterator

from dag.fate import resolve
from dag.kinds import ForEach
from dag.plan import Plan, Step
from dag.sandbox import show
from dag.scope import RunScope
from dag.state import FanState, ItemState, RunState, StepError, StepStatus
from dag.stored import MAX_INLINE_BYTES
from dag.values import Json, canonical
from dag.work import ExpressionError

MAX_ITEMS = 10_000
"""Most items of one step. All of them are in the run's state, and what they give travels in one payload of 2 MiB."""

MAX_LIST_BYTES = 1_500_000
"""Largest list, as JSON: as much as can be loaded of a stored one (activities/values.py)."""

MOST_NAMED = 5
"""Keys that an error names."""


LEAST_INLINE_BYTES = 100
"""What stands for a stored output takes nearly as much."""


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
    keys = [_key_of(plan, run, step, index, value) for index, value in enumerate(values)]
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise ExpressionError(f"for_each.key gave the same key for several items: {_named(twice)}")
    return FanState([ItemState(key, value) for key, value in zip(keys, values, strict=True)])


def item_scope(plan: Plan, run: RunState, index: int, value: Json, *, by_reference: bool = False) -> RunScope:
    """Return what an item's config reads: all that the step could, `item` and `index`."""
    return RunScope(plan, run, {"item": value, "index": index}, by_reference=by_reference)


def _key_of(plan: Plan, run: RunState, step: Step, index: int, value: Json) -> str:
    if step.item_key is None:
        return str(index)
    key = step.item_key.evaluate(item_scope(plan, run, index, value))
    return key if isinstance(key, str) else canonical(key)


def has_work(fan: FanState, for_each: ForEach) -> bool:
    """Tell whether one more item may start."""
    is_free = fan.width < fan.window if fan.window else fan.running < for_each.max_concurrency
    return is_free and not fan.stopping and fan.next < len(fan.items)


def is_over(fan: FanState) -> bool:
    """Tell whether nothing runs and nothing will."""
    return not fan.running and (fan.stopping or fan.next >= len(fan.items))


def must_stop(fan: FanState, for_each: ForEach) -> bool:
    """Tell whether the failures so far stop the items that are left."""
    return is_too_much(fan.failed, for_each)


def is_too_much(failed: int, for_each: ForEach) -> bool:
    """Tell whether so many failures stop the items that are left."""
    return for_each.on_item_error == "fail_fast" and failed > for_each.max_failures


def running(fan: FanState) -> Iterator[int]:
    """Yield the places of the items that run; of those in chunks, each chunk's first."""
    if fan.window:
        return iter(fan.chunks)
    return (index for index, item in enumerate(fan.items) if item.status is StepStatus.RUNNING)


def output_of(fan: FanState) -> Json:
    """Return what the step gives: counts, and each item's key, status and output or error, in the list's order."""
    counts = Counter(item.status for item in fan.items)
    return {
        "total": len(fan.items),
        "completed": counts[StepStatus.COMPLETED],
        "failed": counts[StepStatus.FAILED],
        "items": [_item_output(item) for item in fan.items],
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


def _item_output(item: ItemState) -> Json:
    status = StepStatus.SKIPPED if item.status is StepStatus.PENDING else item.status
    told: dict[str, Json] = {"key": item.key, "status": str(status)}
    if item.status is StepStatus.COMPLETED:
        told["output"] = item.output
    elif item.error is not None:
        told["error"] = {"type": item.error.type, "message": item.error.message}
    return told


def _named(keys: list[str]) -> str:
    rest = f" and {len(keys) - MOST_NAMED} more" if len(keys) > MOST_NAMED else ""
    return ", ".join(key[:64] for key in keys[:MOST_NAMED]) + rest


def unfinished(fan: FanState | None) -> FanState | None:
    """Return a failed step's items with only the completed ones kept: what failed or never ran is to be done."""
    if fan is None:
        return None
    items = [item if item.status is StepStatus.COMPLETED else ItemState(item.key, item.value) for item in fan.items]
    pending = (place for place, item in enumerate(items) if item.status is StepStatus.PENDING)
    return FanState(items, next=next(pending, len(items)))
