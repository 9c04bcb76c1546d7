"""Save and load a run's state, and split a state that is too large for one query answer or workflow argument.

A piece is a part of an object or of a list, with its path. Placeholders of stored values in it are kept as they are.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from docrail.dag.engine.counters import SAVED, at_start, derive
from docrail.dag.engine.plan import Plan
from docrail.dag.engine.state import RunState, StepState, Traffic
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json, digest, size_of

_STEP_STATES = TypeAdapter(dict[str, StepState])

_RUN_STATE = TypeAdapter(RunState)


def begin(plan: Plan, inputs: dict[str, Json], context: dict[str, Json], traffic: Traffic | None = None) -> RunState:
    """Return the state of a run that has not started."""
    steps = [StepState() for _ in plan.steps]
    return RunState(steps, inputs, context, counters=at_start(plan), traffic=traffic or Traffic())


def save(plan: Plan, run: RunState) -> dict[str, Json]:
    """Return a run's state as JSON, by step id, so that it can be loaded under another plan with the same steps."""
    saved = {name: deepcopy(getattr(run, name)) for name in SAVED}
    steps = dict(zip((step.id for step in plan.steps), run.steps, strict=True))
    return saved | {"steps": _STEP_STATES.dump_python(steps, mode="json")}


def load(plan: Plan, saved: dict[str, Json], traffic: Traffic | None = None) -> RunState:
    """Return a saved state, ready to continue; steps missing in it are pending. Raises pydantic.ValidationError."""
    states = _STEP_STATES.validate_python(saved["steps"])
    steps = [states.get(step.id) or StepState() for step in plan.steps]
    run = _RUN_STATE.validate_python(saved | {"steps": steps})
    return derive(plan, replace(run, traffic=traffic or Traffic()))


def stopped(plan: Plan, saved: dict[str, Json]) -> dict[str, Json]:
    """Return a saved state whose running steps begin again: their work was stopped, or its end is not known."""
    run = load(plan, saved)
    run.steps = [_stopped(run, step) if step.status is StepStatus.RUNNING else step for step in run.steps]
    return save(plan, run)


def _stopped(run: RunState, step: StepState) -> StepState:
    return replace(step, status=StepStatus.CANCELLED) if run.stopping else StepState(edited=step.edited)


MAX_PIECE_BYTES = 500_000
"""Largest piece, in bytes of JSON, unless one list element is larger: no item exceeds 1,500,000 (map_items.py)."""

MAX_WHOLE_BYTES = 1_900_000
"""Largest state returned whole, in bytes of JSON: Temporal accepts 2 MiB as a query's answer."""

PIECES, INPUTS_DIGEST = "pieces", "inputs_digest"
"""Fields of a stored state's placeholder: the placeholders of its pieces, and the digest of the run's inputs."""


@dataclass(frozen=True, slots=True)
class StatePiece:
    """Some entries of the object, or elements of the list, at `path`."""

    path: tuple[str, ...]
    part: dict[str, Json] | list[Json]


def split(value: dict[str, Json] | list[Json], path: tuple[str, ...] = ()) -> Iterator[StatePiece]:
    """Yield the pieces of `value`, in order; joined, they give `value`."""
    if isinstance(value, list):
        yield from (StatePiece(path, group) for group in _grouped(value))
        return
    small: list[str] = []
    for key, inner in value.items():
        if isinstance(inner, dict | list) and size_of(inner) > MAX_PIECE_BYTES:
            yield from split(inner, (*path, key))
        else:
            small.append(key)
    for keys in _grouped(small, sizes=[size_of([key, value[key]]) for key in small]):
        yield StatePiece(path, {key: value[key] for key in keys})


def standing_for(state: dict[str, Json], marks: list[Json]) -> dict[str, Json]:
    """Return the placeholder of a state whose pieces are stored; `marks` are the placeholders of the pieces."""
    return {INPUTS_DIGEST: digest(state["inputs"]), PIECES: marks}


def is_of(state: dict[str, Json], inputs: dict[str, Json]) -> bool:
    """Return whether a state, or its placeholder, belongs to a run with these inputs."""
    return bool(digest(inputs) == state[INPUTS_DIGEST] if PIECES in state else state["inputs"] == inputs)


def _grouped(elements: list[Json], sizes: list[int] | None = None) -> Iterator[list[Json]]:
    """Yield the elements in groups of at most MAX_PIECE_BYTES; a larger element gets a group of its own."""
    group: list[Json] = []
    filled = 0
    for element, size in zip(elements, sizes or map(size_of, elements), strict=True):
        if group and filled + size > MAX_PIECE_BYTES:
            yield group
            group, filled = [], 0
        group.append(element)
        filled += size + 1
    if group:
        yield group


def joined(pieces: Iterable[StatePiece]) -> dict[str, Json]:
    """Return the state that these pieces make up."""
    whole: dict[str, Json] = {}
    for piece in pieces:
        node, last = whole, len(piece.path) - 1
        if not piece.path:
            node.update(piece.part)
        for depth, key in enumerate(piece.path):
            if depth < last:
                node = node.setdefault(key, {})
            elif isinstance(piece.part, list):
                node.setdefault(key, []).extend(piece.part)
            else:
                node.setdefault(key, {}).update(piece.part)
    return whole


def whole_or_piece(state: dict[str, Json], number: int | None) -> Json:
    """Return the state, or its piece with this number: the number of pieces, its path and its part.

    Raises: ValueError if the state is too large to be returned whole.
    """
    if number is None:
        if (size := size_of(state)) > MAX_WHOLE_BYTES:
            raise ValueError(f"the state takes {size} bytes as JSON, more than {MAX_WHOLE_BYTES}: request its pieces")
        return state
    pieces = list(split(state))
    return {"count": len(pieces), "path": list(pieces[number].path), "part": pieces[number].part}
