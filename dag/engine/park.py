"""Check and apply how a person resolves a step that failed under `on_failure: park`: retry, skip, output or items.

Items of a list can be given another config or an output, or be skipped, before the step is retried. The edits are JSON
by the items' keys: `{"7": {"config": {…}}, "8": {"output": …}, "9": {"skip": true}}`.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from docrail.dag.engine.events import ResolutionKind
from docrail.dag.engine.map_items import MOST_NAMED, inline_bytes, laid_out
from docrail.dag.engine.plan import Step
from docrail.dag.engine.state import FanState, ItemState, RunState, StepState
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json, size_of
from docrail.dag.values.stored import has_parts, parts_in
from docrail.dag.values.suggestions import closest


def resolution_problems(run: RunState, step: Step, kind: str, value: Json) -> list[InputProblem]:
    """Return why a parked step cannot be resolved this way, each problem with its item or `value` as its path."""
    if problem := resolution_problem(step, kind, value):
        return [InputProblem("value", problem)]
    return list(item_problems(run.steps[step.index].fan, value)) if kind == ResolutionKind.ITEMS else []


def resolution_problem(step: Step, kind: str, value: Json) -> str | None:
    """Return why such a step can never be resolved this way, whatever its state; None if it can."""
    if kind not in tuple(ResolutionKind):
        return f"a parked step takes {', '.join(ResolutionKind)}, not {kind[:64]!r}"
    if (size := size_of(value)) > MAX_VALUE_BYTES:
        return f"takes {size} bytes as JSON, more than {MAX_VALUE_BYTES}"
    if has_parts(value) and any(parts_in(value)):
        return "holds the placeholder of a stored value: only the outputs of steps may hold one"
    return _value_problem(step, kind, value)


def _value_problem(step: Step, kind: str, value: Json) -> str | None:
    if kind == ResolutionKind.RETRY and value is not None:
        if step.items is not None:
            return "a step over a list accepts no config of its own: give one to each item that needs another"
        if step.kind not in (StepKind.HANDLER, StepKind.WORKFLOW):
            return "only a step that runs one handler or one nested run accepts another config"
        if not isinstance(value, dict):
            return "a config is an object"
    if kind == ResolutionKind.SKIP and value is not None:
        return "a skipped step takes no value"
    if kind == ResolutionKind.ITEMS:
        return shape_problem(step, value)
    return None


_WORDS = {"config": "takes a config", "output": "takes an output", "skip": "is skipped"}

MOST_PROBLEMS, MOST_COMPARED = 20, 50
"""Problems reported at once, and keys on either side of an unknown one that are compared with it."""


def shape_problem(step: Step, given: Json) -> str | None:
    """Return why `given` is not a valid set of item edits for the step, None if it is valid."""
    if step.items is None:
        return "only a step over a list has items"
    if not isinstance(given, dict) or not given:
        return "edits of items are an object, by the items' keys"
    for key, edit in given.items():
        if not isinstance(edit, dict) or len(edit) != 1 or not edit.keys() <= _WORDS.keys():
            return f"item {key[:64]!r} takes exactly one of config, output, skip"
        if not isinstance(edit.get("config", {}), dict):
            return f"item {key[:64]!r}: a config is an object"
        if edit.get("skip", True) is not True:
            return f"item {key[:64]!r}: skip is true, or left out"
    return None


def item_problems(fan: FanState | None, given: dict[str, Json], prefix: str = "") -> Iterator[InputProblem]:
    """Yield the first items that cannot be edited this way, given the current list; paths begin with `prefix`.

    Bounded, because it also runs in a workflow's turn.
    """
    if fan is None:
        yield InputProblem(f"{prefix}items", "the step has no items: it ended before its list was computed")
        return
    items = {item.key: item for item in fan.items}
    found = (_problem(items, key, edit, f"{prefix}items.{key[:64]}") for key, edit in given.items())
    yield from islice((problem for problem in found if problem is not None), MOST_PROBLEMS)


def _problem(items: Mapping[str, ItemState], key: str, edit: dict[str, Json], path: str) -> InputProblem | None:
    if key not in items:
        keys = sorted(items)
        place = bisect_left(keys, key)
        alike = keys[max(place - MOST_COMPARED, 0) : place + MOST_COMPARED]
        return InputProblem(path, f"the list has no such item, but {len(items)} others", closest(key, alike))
    if items[key].status is StepStatus.COMPLETED:
        return InputProblem(path, "has completed, and is kept as it is: edit only other items")
    size, most = size_of(edit.get("output")), inline_bytes(len(items))
    if size > most:
        found = f"takes {size} bytes as JSON, more than the {most} that an item of {len(items)} may give by hand"
        return InputProblem(f"{path}.output", found)
    return None


def with_items(state: StepState, given: dict[str, Json]) -> StepState:
    """Return a step's state with the items' edits applied, before it is retried. The edits were checked before."""
    if state.fan is None:
        return state
    fan = laid_out([_with(item, given.get(item.key)) for item in state.fan.items])
    configs = {key: edit["config"] for key, edit in given.items() if "config" in edit}
    return replace(state, fan=fan, edited={**(state.edited or {}), **configs} or None)


def _with(item: ItemState, edit: dict[str, Json] | None) -> ItemState:
    if edit is None:
        return item
    if "config" in edit:
        return ItemState(item.key, item.value)
    status = StepStatus.SKIPPED if "skip" in edit else StepStatus.COMPLETED
    return ItemState(item.key, item.value, status, edit.get("output"))


def describe_edits(given: dict[str, Json]) -> str:
    """Describe the edits in words."""
    parts = [f"{key[:64]} {_WORDS[next(iter(edit))]}" for key, edit in [*given.items()][:MOST_NAMED]]
    rest = f" and {len(given) - MOST_NAMED} more" if len(given) > MOST_NAMED else ""
    return f"by hand, {', '.join(parts)}{rest}"
