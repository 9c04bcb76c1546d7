"""Stored values that expressions read: only the parts they name are loaded, before the step is judged that reads them.

A run's state keeps what was loaded by place: the path by which expressions read it, from a step's id on. Where there is
nothing, it keeps NOTHING: an expression may well ask whether something is there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dag.kinds import StepKind
from dag.plan import Step
from dag.sandbox import NOTHING, lookup
from dag.state import RunState
from dag.stored import Part, Path, part_of, parts_in
from dag.templates import Template
from dag.values import Json

LAST_PLACE = 1_000
"""Of a list, an element up to here is loaded by itself; for one that is further back, or counted from the end, the list
is: what is loaded by itself stands in a list of as many places."""


def reads_of(step: Step) -> Iterator[Path]:
    """Yield what the step reads before it begins. What a handler's config only passes on is not among it."""
    for expression in (step.condition, step.item_key, *(condition for condition, _ in step.cases)):
        if expression is not None:
            yield from expression.paths
    for template in (step.items, step.cache_key):
        if template is not None:
            yield from (*template.alone, *template.computed)
    yield from config_reads(step.config, by_reference=step.kind is StepKind.HANDLER)


def config_reads(config: Template, *, by_reference: bool) -> tuple[Path, ...]:
    """Return what a config reads, `by_reference` without what it only passes on."""
    return config.computed if by_reference else (*config.alone, *config.computed)


def wanted(index: Mapping[str, int], run: RunState, paths: Iterable[Path]) -> list[tuple[Path, Part]]:
    """Return the stored parts that `paths` read and that are not loaded yet, each with its place."""
    found: dict[Path, Part] = {}
    for path in paths if run.has_stored else ():
        place = _place_of(path)
        if not place or str(place[0]) not in index:
            continue
        state = run.steps[index[str(place[0])]]
        if not state.is_stored:
            continue
        for inner, part in _parts_at(state.output, place[1:]):
            whole = (place[0], *inner)
            if not _is_loaded(run.loaded, whole):
                found[whole] = part
    # What lies inside another part comes with it.
    return [(place, part) for place, part in found.items() if not _is_loaded(found, place[:-1])]


def _place_of(path: Path) -> Path:
    """Return where in which step's output `path` reads; nothing if it reads something else."""
    if path[0] != "steps":
        return path
    return (path[1], *path[3:]) if path[2:3] in ((), ("output",)) else ()


def _parts_at(output: Json, path: Path) -> list[tuple[Path, Part]]:
    """Return the stored parts that reading `path` takes, with their places: one that it leads into, or those inside."""
    value = output
    for depth, key in enumerate(path):
        if (part := part_of(value)) is not None:
            rest = _loadable(path[depth:])
            return [(path[:depth] + rest, part.at(rest))]
        found = lookup(value, key)
        if found is NOTHING and isinstance(value, list) and isinstance(key, str) and key.isdecimal():
            found = lookup(value, int(key))
        if found is NOTHING:  # the expression will tell
            return []
        value = found
    return [(path + inner, part) for inner, part in parts_in(value)]


def _loadable(path: Path) -> Path:
    """Return as much of `path` as can be loaded by itself."""
    for depth, key in enumerate(path):
        if isinstance(key, int) and not 0 <= key <= LAST_PLACE:
            return path[:depth]
    return path


def missing_at(place: Path, part: Part, depth: int) -> Path:
    """Return the place of the first key on the way to `part` that leads nowhere: `depth` keys of it were found."""
    return place[: len(place) - len(part.path) + depth + 1]


def _is_loaded(loaded: Mapping[Path, Json], place: Path) -> bool:
    """Tell whether the part at `place`, or one around it, is there."""
    return any(place[: depth + 1] in loaded for depth in range(len(place)))


def filled(loaded: Mapping[Path, Json], values: dict[str, Json], paths: Sequence[Path]) -> dict[str, Json]:
    """Return `values`, names with what they mean, with the loaded parts in place that `paths` read."""
    for path in paths:
        place = _place_of(path)
        head: Path = () if place == path else ("steps", place[0], "output") if place else ()
        for loaded_place, value in loaded.items():
            if place and (loaded_place[: len(place)] == place or place[: len(loaded_place)] == loaded_place):
                values = _put(values, (*head, *loaded_place[1:]) if head else loaded_place, value)
    return values


def _put(around: Json, path: Path, value: Json) -> Json:
    """Return a copy of `around` with `value` at `path`. What stands for a stored value gives way to what is in it."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        items = list(around) if isinstance(around, list) else []
        if value is NOTHING and not rest:
            return items[:key]
        items += [None] * (key + 1 - len(items))
        items[key] = _put(items[key], rest, value)
        return items
    if isinstance(around, list) and key.isdecimal():
        return _put(around, (int(key), *rest), value)
    fields = dict(around) if isinstance(around, Mapping) and part_of(around) is None else {}
    if value is NOTHING and not rest:
        fields.pop(key, None)
        return fields
    return {**fields, key: _put(fields.get(key), rest, value)}
