"""Find the stored values that a step's expressions read, so that only these are loaded before the step is judged.

A run's state keeps loaded values by the path that was read, as expressions write it, beginning with a step's id. Where
the path does not exist, it keeps the kind of value that is there instead, since an expression may test for existence.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.state import RunState
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_parts import NOTHING, lookup_written
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.problems import Path
from docrail.dag.values.stored import Found, Lack, Piece, Want, part_of, parts_in

LAST_PLACE = 1_000
"""Largest list index that is loaded by itself; for higher and negative indices the whole list is loaded. An element
loaded by itself is placed in a list of `index + 1` elements."""

STAND_INS: Mapping[Lack, Json] = {Lack.OBJECT: {}, Lack.LIST: [], Lack.TEXT: "", Lack.OTHER: 0}
"""What an expression sees in place of a value that lacks the requested key: it fails, or tests false, as usual."""


def reads_of(step: Step, *, is_edited: bool = False) -> Iterator[Path]:
    """Yield the paths that the step reads before it begins, without those that a handler's config only passes on.

    `is_edited`: a person gave a config that replaces the definition's.
    """
    for expression in (step.condition, step.item_key, *(condition for condition, _ in step.cases)):
        if expression is not None:
            yield from expression.paths
    for template in (step.items, step.cache_key):
        if template is not None:
            yield from (*template.alone, *template.computed)
    if not is_edited or step.items is not None:  # edits of a list replace the configs of items only
        yield from step.config.computed
        if step.kind is not StepKind.HANDLER:
            yield from step.config.alone


def wanted(index: Mapping[str, int], run: RunState, paths: Iterable[Path], *, may_stay: bool = False) -> list[Want]:
    """Return the stored parts that `paths` read and that are not loaded yet."""
    found: dict[Path, Want] = {}
    for path in paths if run.counters.has_stored else ():
        place = _place_of(path)
        if not place or str(place[0]) not in index:
            continue
        state = run.steps[index[str(place[0])]]
        is_hidden = path[0] != "steps" and state.status is not StepStatus.COMPLETED
        for want in _wants(state.output, place) if state.is_stored and not is_hidden else ():
            if not _is_loaded(run.transfers.loaded, want.place):
                found[want.place] = Want(want.place, want.part, want.depth, may_stay)
    # A part inside another one is loaded with it.
    return [want for place, want in found.items() if not _is_loaded(found, place[:-1])]


def wanted_for_outputs(plan: Plan, run: RunState) -> list[Want]:
    """Return the stored parts that the run's outputs read; a large value that is an output by itself may stay."""
    computed = wanted(plan.index, run, plan.outputs.computed)
    places = [want.place for want in computed]
    alone = wanted(plan.index, run, plan.outputs.alone, may_stay=True)
    return [*computed, *(want for want in alone if want.place not in places)]


def _place_of(path: Path) -> Path:
    """Return the position in a step's output that `path` reads; empty if it reads anything else."""
    if path[0] != "steps":
        return path
    return (path[1], *path[3:]) if path[2:3] in ((), ("output",)) else ()


def _wants(output: Json, place: Path) -> list[Want]:
    """Return the stored parts needed to read `place`: the one that contains it, or those that it contains."""
    value = output
    for depth, key in enumerate(place[1:], start=1):
        if (part := part_of(value)) is not None:
            rest = _loadable(place[depth:])
            return [Want(place[:depth] + rest, part.at(rest), depth)]
        found = lookup_written(value, key)
        if found is NOTHING:  # the expression reports the missing key
            return []
        value = found
    return [Want(place + inner, part, len(place) + len(inner)) for inner, part in parts_in(value)]


def _loadable(path: Path) -> Path:
    """Return the longest prefix of `path` that can be loaded by itself."""
    for depth, key in enumerate(path):
        if isinstance(key, int) and not 0 <= key <= LAST_PLACE:
            return path[:depth]
    return path


def _is_loaded(loaded: Mapping[Path, object], place: Path) -> bool:
    """Return whether the part at `place`, or one that contains it, is loaded."""
    return any(place[: depth + 1] in loaded for depth in range(len(place)))


def found_of(want: Want, piece: Piece) -> Found:
    """Return what was found for `want`, with its position."""
    own = len(want.part.path) - (len(want.place) - want.depth)  # the placeholder's own keys
    if piece.lack is None or len(piece.keys) >= own:
        return Found(want.place[: want.depth] + piece.keys[own:], piece.value, piece.lack)
    return Found(want.place[: want.depth], None, Lack.OBJECT)  # the stored value no longer exists


def filled(
    loaded: Mapping[Path, Found], values: dict[str, Json], paths: Sequence[Path], most_bytes: int | None = None
) -> dict[str, Json]:
    """Return `values` by name, with the loaded parts that `paths` read filled in.

    Parts larger than `most_bytes` keep their placeholders.
    """
    for path in paths:
        place = _place_of(path)
        if not place or path[0] not in values:
            continue
        head: Path = () if place == path else ("steps", place[0], "output")
        for read, found in loaded.items():
            is_read = read[: len(place)] == place or place[: len(read)] == read
            if is_read and (most_bytes is None or size_of(found.value) <= most_bytes):
                values = _put(values, (*head, *found.place[1:]) if head else found.place, found)
    return values


def _put(around: Json, path: Path, found: Found) -> Json:
    """Return a copy of `around` with the found value at `path`, replacing placeholders on the way."""
    if not path:
        is_there = isinstance(around, dict | list) and part_of(around) is None
        return found.value if found.lack is None else around if is_there else STAND_INS[found.lack]
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        items = list(around) if isinstance(around, list) else []
        items += [None] * (key + 1 - len(items))
        items[key] = _put(items[key], rest, found)
        return items
    fields = dict(around) if isinstance(around, Mapping) and part_of(around) is None else {}
    return {**fields, key: _put(fields.get(key), rest, found)}


MOST_LOADS = 50
"""Limit for concurrent loads. Temporal allows 2,000 activities per run, and what begins in a turn is sent in one
message."""
