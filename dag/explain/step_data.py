"""Show what a step works on: its input, and the items of its list.

The input is computed again from the outputs that it reads, which never change. It names secrets; workers alone read
their values.
"""

from collections.abc import Iterator
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.scope import RunScope
from docrail.dag.engine.state import ItemState, RunState, StepError, StepState
from docrail.dag.explain.conditions import brief
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import Json, size_of
from docrail.field_docs import describe_fields

MAX_ANSWER_BYTES = 1_500_000
"""Largest input in one answer, in bytes of JSON: Temporal accepts 2 MiB."""

LONGEST_KEY = 200
"""Characters of an item's key that are shown."""


class StepInput(BaseModel):
    """What a step, or an item of its list, begins with. With a `problem` it is not known, and `value` is null."""

    model_config = ConfigDict(frozen=True)

    value: Json = None
    problem: str = ""
    edited: bool = False
    """Whether a person gave it in place of the definition's config."""


class ItemProgress(BaseModel):
    """One item of a step's list; `value` and `output` are shortened JSON."""

    model_config = ConfigDict(frozen=True, json_schema_extra=describe_fields)

    place: int
    """Its position in the list, from 0."""
    key: str
    """The item's key, shortened if it is very long."""
    status: StepStatus
    """How far it is; items that run in a part of a long list are shown as running."""
    attempts: int = 0
    """How often it was tried."""
    cached: bool = False
    """Whether its output came from the cache."""
    error: StepError | None = None
    """Why it failed; null if it did not."""
    value: str = ""
    """The element of the list, as shortened JSON."""
    output: str | None = None
    """Its output, as shortened JSON; null without one."""


class ItemsProgress(BaseModel):
    """Some items of a step's list, in order."""

    model_config = ConfigDict(frozen=True)

    items: tuple[ItemProgress, ...] = ()
    after: int | None = None
    """The position of the last of them, if there are more."""


def input_of(plan: Plan, run: RunState, step_id: str, key: str | None = None) -> StepInput:
    """Return what a step begins with, or the item `key` of its list; a list without a key gives its items.

    Stored values stay placeholders. Raises: KeyError, if the plan has no such step.
    """
    step = plan.step(step_id)
    try:
        found = _input(plan, run, step, key)
    except (ExpressionError, KeyError) as error:
        return StepInput(problem=error.message if isinstance(error, ExpressionError) else f"there is no item {key!r}")
    if (size := size_of(found.value)) > MAX_ANSWER_BYTES:
        return StepInput(problem=f"it takes {size} bytes as JSON, more than {MAX_ANSWER_BYTES}")
    return found


def _input(plan: Plan, run: RunState, step: Step, key: str | None) -> StepInput:
    state, scope = run.steps[step.index], RunScope(plan, run, by_reference=True)
    if step.items is None:
        given = state.edited
        return StepInput(value=step.config.resolve(scope) if given is None else given, edited=given is not None)
    if key is None:
        return StepInput(value=step.items.resolve(scope))
    place = next((at for at, item in enumerate(state.fan.items) if item.key == key), None) if state.fan else None
    if state.fan is None or place is None:
        raise KeyError(key)
    given = (state.edited or {}).get(key)
    of_item = replace(scope, item={"item": state.fan.items[place].value, "index": place})
    return StepInput(value=step.config.resolve(of_item) if given is None else given, edited=given is not None)


def items_of(
    plan: Plan, run: RunState, step_id: str, *, status: StepStatus | None, after: int, limit: int
) -> ItemsProgress:
    """Return the items with that status (None: any) after the position `after`, at most `limit`.

    Raises: KeyError, if the plan has no such step.
    """
    state = run.steps[plan.step(step_id).index]
    found: list[ItemProgress] = []
    for item in _items(state):
        if item.place > after and status in (None, item.status):
            if len(found) == limit:
                return ItemsProgress(items=tuple(found), after=found[-1].place)
            found.append(item)
    return ItemsProgress(items=tuple(found))


def _items(state: StepState) -> Iterator[ItemProgress]:
    if state.fan is None:
        return
    in_chunks = {place for chunk in state.fan.chunks.values() for place in chunk.places}
    for place, item in enumerate(state.fan.items):
        yield _item(place, item, StepStatus.RUNNING if place in in_chunks else item.status)


def _item(place: int, item: ItemState, status: StepStatus) -> ItemProgress:
    return ItemProgress(
        place=place,
        key=item.key[:LONGEST_KEY],
        status=status,
        attempts=item.attempts,
        cached=item.cached,
        error=item.error,
        value=brief(item.value),
        output=None if item.output is None else brief(item.output),
    )
