"""What can be read of a document even where parts of it are wrong, so that one mistake hides no other."""

from dataclasses import dataclass

from dag.problems import Path
from dag.values import Json


@dataclass(frozen=True, slots=True)
class StepOutline:
    """One entry of `steps`, right or not. `depends_on` leads to the texts that name its parents."""

    number: int
    id: str | None
    depends_on: tuple[tuple[Path, str], ...]
    fields: dict[str, Json]
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


@dataclass(frozen=True, slots=True)
class Outline:
    """A document's readable parts. `index` is the first step of each id; `inputs` None if they cannot be read."""

    steps: tuple[StepOutline, ...]
    index: dict[str, int]
    ids: frozenset[str]
    inputs: dict[str, Json] | None
    outputs: Json


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
        steps, index, frozenset(index), inputs if isinstance(inputs, dict) else None, document.get("outputs")
    )


def _read_step(number: int, step: Json) -> StepOutline:
    fields = step if isinstance(step, dict) else {}
    name = fields.get("id")
    path: Path = ("steps", number, "depends_on")
    named = fields.get("depends_on")
    is_clear = named is None or isinstance(named, str)
    if isinstance(named, list):
        is_clear = all(isinstance(parent, str) for parent in named)
        depends_on = tuple(((*path, place), parent) for place, parent in enumerate(named) if isinstance(parent, str))
    else:
        # `depends_on: extract` is refused, but what is meant is plain.
        depends_on = ((path, named),) if isinstance(named, str) else ()
    return StepOutline(number, name if isinstance(name, str) else None, depends_on, fields, is_clear)
