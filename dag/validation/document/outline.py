"""Read the valid parts of a document, so that one mistake does not hide others.

Also lists where a step may have expressions and templates, for the checks and for `previous`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from docrail.dag.language.definition import Input, edge_of
from docrail.dag.language.expressions.templates import has_template
from docrail.dag.language.step_kinds import StepKind, Then, WaitFor
from docrail.dag.values.json_parts import children
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path, is_id

CONTEXT: Mapping[str, tuple[str, ...] | None] = {
    "document": None,
    "workflow": ("id", "definition", "version"),
    "run": ("id", "tenant_id", "callbacks"),
}
"""Names that a run's context provides, and the fields of each (workflows/driver_context.py); those of `document` are
unknown."""

OWN_WORDS = frozenset({"inputs", "steps", *CONTEXT})
"""Names with which any expression may begin, besides the steps' ids."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One entry of `depends_on`: the step it names, and the branch if it names one."""

    path: Path
    text: str
    step: str
    branch: str | None


@dataclass(frozen=True)
class StepOutline:
    """One entry of `steps`, valid or not."""

    number: int
    id: str | None
    depends_on: tuple[Edge, ...]
    fields: dict[str, Json]
    """Empty if the entry is not an object."""
    is_object: bool
    is_clear: bool
    """False if `depends_on` contains something that cannot be read."""
    deadline_branch: str | None = None
    """The branch that it takes if it waits for an answer when the run's deadline passes; None if there is none."""

    @property
    def path(self) -> Path:
        """Return the path of the step."""
        return ("steps", self.number)

    @property
    def name(self) -> str:
        """Return the step's name in messages."""
        return f"step '{self.id}'" if self.id is not None else f"steps[{self.number}]"

    @property
    def is_timer(self) -> bool:
        """Return whether it waits for time to pass, and takes no answer."""
        return self.part("wait").get("for") == WaitFor.TIMER

    @cached_property
    def kinds(self) -> tuple[StepKind, ...]:
        """Return the kinds it names: exactly one in a valid step. A null field does not count."""
        return tuple(kind for kind in StepKind if self.fields.get(kind) is not None)

    @property
    def kind(self) -> StepKind | None:
        """Return its kind, None if it has none or several."""
        return self.kinds[0] if len(self.kinds) == 1 else None

    @cached_property
    def branches(self) -> frozenset[str] | None:
        """Return its branches by name, empty for most steps; None if they cannot be read."""
        match self.kind:
            case None:
                return None
            case StepKind.SWITCH:
                return _branches_of_cases(self.fields[StepKind.SWITCH])
            case StepKind.WAIT | StepKind.HUMAN as kind:
                own = _branches_on_timeout(self.fields[kind])
                more = {self.deadline_branch} if self.deadline_branch and not self.is_timer else set[str]()
                return None if own is None else own | more
            case _:
                return frozenset()

    def part(self, name: str) -> dict[str, Json]:
        """Return the object under `name`; an empty one if the value is not an object."""
        part = self.fields.get(name)
        return part if isinstance(part, dict) else {}


@dataclass(frozen=True)
class Outline:
    """The valid parts of a document. `index`: the first step of each id; `inputs`: None if they cannot be read."""

    id: Json
    steps: tuple[StepOutline, ...]
    index: dict[str, int]
    ids: frozenset[str]
    inputs: dict[str, Json] | None
    outputs: Json

    def step(self, step_id: str) -> StepOutline | None:
        """Return the first step with that id."""
        number = self.index.get(step_id)
        return None if number is None else self.steps[number]

    @cached_property
    def branches(self) -> dict[str, str]:
        """Return `STEP.BRANCH` of the first branch of each name."""
        named = [(name, step.id) for step in self.steps if step.id is not None for name in step.branches or ()]
        return {name: f"{step_id}.{name}" for name, step_id in reversed(named)}


def read_outline(document: dict[str, Json]) -> Outline:
    """Return the valid parts of a normalised document."""
    listed = document.get("steps")
    rule = document.get("on_deadline")
    branch = rule.get("branch") if isinstance(rule, dict) else None
    branch = branch if isinstance(branch, str) else None
    entries = enumerate(listed if isinstance(listed, list) else [])
    steps = tuple(_read_step(number, step, branch) for number, step in entries)
    index: dict[str, int] = {}
    for step in steps:
        if step.id is not None:
            index.setdefault(step.id, step.number)
    inputs = document.get("inputs", {})
    return Outline(
        id=document.get("id"),
        steps=steps,
        index=index,
        ids=frozenset(index),
        inputs=inputs if isinstance(inputs, dict) else None,
        outputs=document.get("outputs"),
    )


def _read_step(number: int, step: Json, deadline_branch: str | None) -> StepOutline:
    fields = step if isinstance(step, dict) else {}
    name = fields.get("id")
    named = fields.get("depends_on")
    is_clear = named is None or (isinstance(named, str) and is_edge(named))
    if isinstance(named, list):
        is_clear = all(isinstance(parent, str) for parent in named)
    depends_on = tuple(_edges(("steps", number, "depends_on"), named))
    step_id = name if isinstance(name, str) else None
    return StepOutline(number, step_id, depends_on, fields, isinstance(step, dict), is_clear, deadline_branch)


def _edges(path: Path, named: Json) -> Iterator[Edge]:
    if isinstance(named, list):
        for place, text in enumerate(named):
            if isinstance(text, str):
                yield Edge((*path, place), text, *edge_of(text))
    elif isinstance(named, str) and is_edge(named):  # refused, but its meaning is clear
        yield Edge(path, named, *edge_of(named))


def is_edge(text: str) -> bool:
    """Return whether `text` has the form of an entry of `depends_on`."""
    return all(map(is_id, text.split(".")))


def _branches_of_cases(cases: Json) -> frozenset[str] | None:
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        return None
    names = [case.get("branch", case.get("else")) for case in cases]
    return frozenset(names) if all(isinstance(name, str) for name in names) else None


def _branches_on_timeout(waiting: Json) -> frozenset[str] | None:
    if not isinstance(waiting, dict):
        return None
    rule = waiting.get("on_timeout")
    if isinstance(rule, str) and rule not in tuple(Then):
        return None  # perhaps the name of a branch
    branch = rule.get("branch") if isinstance(rule, dict) else None
    return frozenset([branch]) if isinstance(branch, str) else frozenset()


@dataclass(frozen=True, slots=True)
class Part:
    """A value in a step, at `path` relative to the step: one expression, or JSON with templates in it."""

    path: Path
    value: Json
    is_expression: bool = False
    sees_item: bool = False
    """Whether it is evaluated once for each element, with `item` and `index`."""
    sees_itself: bool = False
    """Whether it is evaluated after the step ended, so that it can read the step's own output."""

    @property
    def is_condition(self) -> bool:
        """Return whether it decides what runs."""
        return self.is_expression and self.path[-1] in ("condition", "when")


_HUMAN = (("human", "title"), ("human", "show"), ("human", "prefill"), ("human", "notes"))
_TEMPLATES = (("wait", "seconds"), *_HUMAN, ("for_each", "items"))


def parts_of(step: dict[str, Json]) -> Iterator[Part]:
    """Yield each part of a step, valid or not, that may contain expressions."""
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
    cases = step.get("switch")
    for number, case in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(case, dict) and isinstance(case.get("when"), str):
            yield Part(("switch", number, "when"), case["when"], is_expression=True)


def _below(
    step: dict[str, Json], path: tuple[str, str], *, sees_item: bool = False, sees_itself: bool = False
) -> Iterator[Part]:
    around = step.get(path[0])
    if isinstance(around, dict) and path[1] in around:
        yield Part(path, around[path[1]], sees_item=sees_item, sees_itself=sees_itself)


def templates_in(path: Path, value: Json) -> Iterator[tuple[Path, Json]]:
    """Yield each template within `value` and its path, in text order."""
    return ((where, part) for where, part in _leaves(path, value) if has_template(part))


def texts_in(path: Path, value: Json) -> Iterator[tuple[Path, str]]:
    """Yield each text within `value` and its path, in text order."""
    return ((where, part) for where, part in _leaves(path, value) if isinstance(part, str))


def _leaves(path: Path, value: Json) -> Iterator[tuple[Path, Json]]:
    """Yield each scalar, and each template as a whole."""
    pending = [(path, value)]
    while pending:
        where, part = pending.pop()
        if has_template(part):
            yield where, part
        elif isinstance(part, dict | list):
            pending.extend(((*where, key), item) for key, item in reversed([*children(part)]))
        else:
            yield where, part


def schema_of(declared: Json) -> dict[str, Json] | None:
    """Return the JSON Schema of an input, None if it is invalid."""
    try:
        return Input.model_validate(declared).schema_document()
    except ValidationError:
        return None
