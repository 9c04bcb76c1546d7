"""Where expressions and templates may stand in a step: the one list that the checks and `previous` go by."""

from collections.abc import Iterator
from dataclasses import dataclass

from dag.problems import Path
from dag.templates import has_template
from dag.values import Json


@dataclass(frozen=True, slots=True)
class Part:
    """A value in a step, at `path` from the step on: one expression, or JSON with templates in it."""

    path: Path
    value: Json
    is_expression: bool = False
    sees_item: bool = False
    """Whether it is read once for each element, with `item` and `index`."""
    sees_itself: bool = False
    """Whether it is read when the step is over, so that its own output is there."""

    @property
    def is_condition(self) -> bool:
        """Return whether it decides what runs."""
        return self.is_expression and self.path[-1] in ("condition", "when")


_TEMPLATES = (("wait", "seconds"), ("human", "title"), ("human", "show"), ("for_each", "items"))


def parts_of(step: dict[str, Json]) -> Iterator[Part]:
    """Yield each part of a step, right or not, that may read something."""
    if isinstance(condition := step.get("condition"), str):
        yield Part(("condition",), condition, is_expression=True)
    repeats = step.get("for_each") is not None
    if "config" in step:
        yield Part(("config",), step["config"], sees_item=repeats)
    yield from _below(step, ("cache", "key"), sees_item=repeats)
    yield from _below(step, ("workflow", "inputs"), sees_item=repeats)
    yield from _below(step, ("compensate", "config"), sees_itself=True)
    for path in _TEMPLATES:
        yield from _below(step, path)
    for part in _below(step, ("for_each", "key"), sees_item=True):
        if isinstance(part.value, str):
            yield Part(part.path, part.value, is_expression=True, sees_item=True)
    if isinstance(step.get("abort"), str):
        yield Part(("abort",), step["abort"])
    yield from _below(step, ("abort", "reason"))
    yield from _conditions(step.get("switch"))


def _below(
    step: dict[str, Json], path: tuple[str, str], *, sees_item: bool = False, sees_itself: bool = False
) -> Iterator[Part]:
    around = step.get(path[0])
    if isinstance(around, dict) and path[1] in around:
        yield Part(path, around[path[1]], sees_item=sees_item, sees_itself=sees_itself)


def _conditions(cases: Json) -> Iterator[Part]:
    for number, case in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(case, dict) and isinstance(case.get("when"), str):
            yield Part(("switch", number, "when"), case["when"], is_expression=True)


def templates_in(path: Path, value: Json) -> Iterator[tuple[Path, Json]]:
    """Yield each template within `value` and where it stands, in the text's order."""
    return ((where, part) for where, part in _leaves(path, value) if has_template(part))


def texts_in(path: Path, value: Json) -> Iterator[tuple[Path, str]]:
    """Yield each text within `value` and where it stands, in the text's order."""
    return ((where, part) for where, part in _leaves(path, value) if isinstance(part, str))


def _leaves(path: Path, value: Json) -> Iterator[tuple[Path, Json]]:
    """Yield each value without parts, and each template as one."""
    pending = [(path, value)]
    while pending:
        where, part = pending.pop()
        if has_template(part):
            yield where, part
        elif isinstance(part, dict):
            pending.extend(((*where, key), item) for key, item in reversed(part.items()))
        elif isinstance(part, list):
            pending.extend(((*where, index), part[index]) for index in reversed(range(len(part))))
        else:
            yield where, part
