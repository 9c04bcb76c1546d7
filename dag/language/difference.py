"""Compare two versions of a definition: steps added, removed or changed field by field, and everything else."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.problems import Path, path_text


class ChangeKind(StrEnum):
    """How a field changed."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One field that differs; `old` is null if it was added, `new` if it was removed. `path` is a JSON path."""

    kind: ChangeKind
    path: str
    old: Json
    new: Json


@dataclass(frozen=True, slots=True)
class StepDiff:
    """A step that exists in both versions, and its differences."""

    id: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class DefinitionDiff:
    """The differences; empty exactly if the contents are equal. Steps are in the newer version's order."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[StepDiff, ...] = ()
    reordered: bool = False
    """Whether steps in both versions changed their relative order, in which ready steps start."""
    fields: tuple[Change, ...] = ()
    """Changes outside the steps: inputs, outputs, limits, title, on_failure, …"""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.reordered or self.fields)


def diff(old: Mapping[str, Json], new: Mapping[str, Json]) -> DefinitionDiff:
    """Return how `new` differs from `old`; both in stored form (`dag.language.definition.to_json`)."""
    before, after = _steps(old), _steps(new)
    kept = [name for name in after if name in before]
    steps = (StepDiff(name, tuple(_changes((), before[name], after[name]))) for name in kept)
    return DefinitionDiff(
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
        changed=tuple(step for step in steps if step.changes),
        reordered=kept != [name for name in before if name in after],
        fields=tuple(_changes((), _without_steps(old), _without_steps(new))),
    )


def _steps(definition: Mapping[str, Json]) -> dict[str, Json]:
    return {step["id"]: step for step in definition["steps"]}


def _without_steps(definition: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in definition.items() if name != "steps"}


def _changes(path: Path, old: Json, new: Json) -> Iterator[Change]:
    """Yield the smallest parts that differ: fields of objects, and entries of lists of unchanged length."""
    if canonical(old) == canonical(new):  # Python would treat 1 and true as equal
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            here = (*path, name)
            if name not in new:
                yield Change(ChangeKind.REMOVED, path_text(here), old[name], None)
            elif name not in old:
                yield Change(ChangeKind.ADDED, path_text(here), None, new[name])
            else:
                yield from _changes(here, old[name], new[name])
    elif _comparable(old, new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _changes((*path, index), one, other)
    else:
        yield Change(ChangeKind.CHANGED, path_text(path), old, new)


def _comparable(old: Json, new: Json) -> bool:
    """Return whether two lists are compared entry by entry: equally long, and of objects or lists."""
    if not (isinstance(old, list) and isinstance(new, list) and len(old) == len(new)):
        return False
    return all(isinstance(entry, dict | list) for entry in (*old, *new))
