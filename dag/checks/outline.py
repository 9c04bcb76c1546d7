"""What can be read of a document even where parts of it are wrong, so that one mistake hides no other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from dag.definition import edge_of, is_id
from dag.kinds import StepKind, Then
from dag.problems import Path
from dag.values import Json

CONTEXT: Mapping[str, tuple[str, ...] | None] = {
    "document": None,
    "workflow": ("id", "definition", "version"),
    "run": ("id", "tenant_id", "callbacks"),
}
"""Words whose content the run brings, and what each holds (workflows.context); what a document has is not known."""

OWN_WORDS = frozenset({"inputs", "steps", *CONTEXT})
"""What an expression anywhere may begin with, beside the steps' ids."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One entry of `depends_on`: the step it names, and the branch if it follows one only."""

    path: Path
    text: str
    step: str
    branch: str | None


@dataclass(frozen=True)
class StepOutline:
    """One entry of `steps`, right or not."""

    number: int
    id: str | None
    depends_on: tuple[Edge, ...]
    fields: dict[str, Json]
    """Empty if the entry is no object."""
    is_object: bool
    is_clear: bool
    """False if something that cannot be read stands where its parents are named."""

    @property
    def path(self) -> Path:
        """Return where the step stands."""
        return ("steps", self.number)

    @property
    def name(self) -> str:
        """Return how messages call the step."""
        return f"step '{self.id}'" if self.id is not None else f"steps[{self.number}]"

    @cached_property
    def kinds(self) -> tuple[StepKind, ...]:
        """Return what it says it does: exactly one kind, if it is right. A field that is null says nothing."""
        return tuple(kind for kind in StepKind if self.fields.get(kind) is not None)

    @property
    def kind(self) -> StepKind | None:
        """Return its kind, None if it has none or several."""
        return self.kinds[0] if len(self.kinds) == 1 else None

    @cached_property
    def branches(self) -> frozenset[str] | None:
        """Return the ways out of it by name, none for most steps; None if they cannot be read."""
        match self.kind:
            case None:
                return None
            case StepKind.SWITCH:
                return _branches_of_cases(self.fields[StepKind.SWITCH])
            case StepKind.WAIT | StepKind.HUMAN as kind:
                return _branches_on_timeout(self.fields[kind])
            case _:
                return frozenset()

    def part(self, name: str) -> dict[str, Json]:
        """Return the object under `name`, an empty one if something else stands there."""
        part = self.fields.get(name)
        return part if isinstance(part, dict) else {}


@dataclass(frozen=True)
class Outline:
    """A document's readable parts. `index` is the first step of each id; `inputs` None if they cannot be read."""

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
    """Return what can be read of a normalised document."""
    listed = document.get("steps")
    steps = tuple(_read_step(number, step) for number, step in enumerate(listed if isinstance(listed, list) else []))
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


def _read_step(number: int, step: Json) -> StepOutline:
    fields = step if isinstance(step, dict) else {}
    name = fields.get("id")
    named = fields.get("depends_on")
    is_clear = named is None or (isinstance(named, str) and is_edge(named))
    if isinstance(named, list):
        is_clear = all(isinstance(parent, str) for parent in named)
    depends_on = tuple(_edges(("steps", number, "depends_on"), named))
    step_id = name if isinstance(name, str) else None
    return StepOutline(number, step_id, depends_on, fields, isinstance(step, dict), is_clear)


def _edges(path: Path, named: Json) -> Iterator[Edge]:
    if isinstance(named, list):
        for place, text in enumerate(named):
            if isinstance(text, str):
                yield Edge((*path, place), text, *edge_of(text))
    elif isinstance(named, str) and is_edge(named):  # refused, but what is meant is plain
        yield Edge(path, named, *edge_of(named))


def is_edge(text: str) -> bool:
    """Tell whether `text` has the shape of an entry of `depends_on`."""
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
        return None  # perhaps a branch's name
    branch = rule.get("branch") if isinstance(rule, dict) else None
    return frozenset([branch]) if isinstance(branch, str) else frozenset()
