"""Stored values that expressions read: only the parts they name are loaded, before the step is judged that reads them.

A run's state keeps what was found by the place that was read: a path as expressions write it, from a step's id on.
Where there is nothing, it keeps what there is instead: an expression may well ask whether something is there.

What becomes of steps whose values are loaded or stored outside the run, once they are, or cannot be.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from docrail.dag.engine.plan import Step
from docrail.dag.engine.state import RunState
from docrail.dag.language.expressions.environment import NOTHING, lookup
from docrail.dag.language.expressions.templates import Template
from docrail.dag.language.statuses import StepStatus
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import Found, Lack, Loading, Path, Piece, Reader, Want, part_of, parts_in

LAST_PLACE = 1_000
"""Of a list, an element up to here is loaded by itself; for one that is further back, or counted from the end, the list
is: what is loaded by itself stands in a list of as many places."""


STAND_INS: Mapping[Lack, Json] = {Lack.OBJECT: {}, Lack.LIST: [], Lack.TEXT: "", Lack.OTHER: 0}
"""What an expression sees in the place of what has not the key that it asks for: it fails, or is told so, as ever."""


def reads_of(step: Step, *, is_edited: bool = False) -> Iterator[Path]:
    """Yield what the step reads before it begins. What a handler's config only passes on is not among it.

    `is_edited`: a person gave another config in the place of the definition's.
    """
    for expression in (step.condition, step.item_key, *(condition for condition, _ in step.cases)):
        if expression is not None:
            yield from expression.paths
    for template in (step.items, step.cache_key):
        if template is not None:
            yield from (*template.alone, *template.computed)
    if not is_edited or step.items is not None:  # of a list only items have other configs
        yield from config_reads(step.config, by_reference=step.kind is StepKind.HANDLER)


def config_reads(config: Template, *, by_reference: bool) -> tuple[Path, ...]:
    """Return what a config reads, `by_reference` without what it only passes on."""
    return config.computed if by_reference else (*config.alone, *config.computed)


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
    # What lies inside another part comes with it.
    return [want for place, want in found.items() if not _is_loaded(found, place[:-1])]


def note_wants(run: RunState, reader: Reader, wants: list[Want]) -> bool:
    """Note what must be loaded for a reader; tell whether there is anything. Equal wants are loaded once."""
    if not wants:
        return False
    first = next((other for other, loading in run.transfers.loading.items() if loading.wants == tuple(wants)), None)
    if first is None:
        run.transfers.loading[reader] = Loading(tuple(wants))
        run.transfers.unread.append(reader)
    else:
        run.transfers.loading[first].followers.append(reader)
    return True


def _place_of(path: Path) -> Path:
    """Return where in which step's output `path` reads; nothing if it reads something else."""
    if path[0] != "steps":
        return path
    return (path[1], *path[3:]) if path[2:3] in ((), ("output",)) else ()


def _wants(output: Json, place: Path) -> list[Want]:
    """Return the stored parts that reading `place` takes: one that it leads into, or those inside what it leads to."""
    value = output
    for depth, key in enumerate(place[1:], start=1):
        if (part := part_of(value)) is not None:
            rest = _loadable(place[depth:])
            return [Want(place[:depth] + rest, part.at(rest), depth)]
        found = lookup(value, key)
        if found is NOTHING and isinstance(value, list) and isinstance(key, str) and key.isdecimal():
            found = lookup(value, int(key))
        if found is NOTHING:  # the expression will tell
            return []
        value = found
    return [Want(place + inner, part, len(place) + len(inner)) for inner, part in parts_in(value)]


def _loadable(path: Path) -> Path:
    """Return as much of `path` as can be loaded by itself."""
    for depth, key in enumerate(path):
        if isinstance(key, int) and not 0 <= key <= LAST_PLACE:
            return path[:depth]
    return path


def _is_loaded(loaded: Mapping[Path, object], place: Path) -> bool:
    """Tell whether the part at `place`, or one around it, is there."""
    return any(place[: depth + 1] in loaded for depth in range(len(place)))


def found_of(want: Want, piece: Piece) -> Found:
    """Return what was found for `want`, in the place where it is."""
    own = len(want.part.path) - (len(want.place) - want.depth)  # of the keys, those by which the mark itself was made
    if piece.lack is None or len(piece.keys) >= own:
        return Found(want.place[: want.depth] + piece.keys[own:], piece.value, piece.lack)
    return Found(want.place[: want.depth], None, Lack.OBJECT)  # the mark stands for nothing


def filled(
    loaded: Mapping[Path, Found], values: dict[str, Json], paths: Sequence[Path], most_bytes: int | None = None
) -> dict[str, Json]:
    """Return `values`, names with what they mean, with the loaded parts in place that `paths` read.

    What takes more than `most_bytes` is left out: what stands for it stays.
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
    """Return a copy of `around` with what was found at `path`. What stands for a stored value gives way to it."""
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
"""Loads at one time. Temporal lets a run have 2,000 activities, and what begins in a turn travels in one message."""
