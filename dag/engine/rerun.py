"""Decide which steps of an ended run a person has run again: those that are named, and those that read changed inputs.

What follows them runs again too (dag/engine/retry.py).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from docrail.dag.engine.plan import Plan, Step
from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.json_values import Json
from docrail.dag.values.suggestions import closest

INPUTS = "inputs"


@dataclass(frozen=True, slots=True)
class Rerun:
    """What a retry does again although it has completed. `steps`: by id; `inputs`: names of inputs that changed."""

    steps: frozenset[str] = frozenset()
    inputs: frozenset[str] = frozenset()

    def whys(self, step: Step) -> tuple[str, str]:
        """Return why a person has the step run again whatever its state, and which changed input it reads, or empty."""
        return "is run again by hand" if step.id in self.steps else "", _why_changed(step, self.inputs)


NOTHING = Rerun()


def changed_inputs(before: Mapping[str, Json], after: Mapping[str, Json]) -> frozenset[str]:
    """Return the names of the inputs whose values differ."""
    return frozenset(name for name in {*before, *after} if before.get(name) != after.get(name))


def rerun_problems(plan: Plan, steps: Iterable[str]) -> Iterator[InputProblem]:
    """Yield the problems of the ids of steps that are to run again."""
    for step_id in steps:
        if step_id not in plan.index:
            message = "the definition has no such step"
            yield InputProblem(f"from_steps.{step_id[:64]}", message, closest(step_id, plan.index))


def _why_changed(step: Step, changed: frozenset[str]) -> str:
    read = inputs_of(step)
    if names := sorted(read & changed):
        return f"reads the input {names[0]}, which has changed"
    return "reads the inputs, which have changed" if changed and "" in read else ""


def inputs_of(step: Step) -> frozenset[str]:
    """Return the names of the inputs that the step's expressions read; the empty name if one reads them as a whole."""
    return frozenset(path[1] if len(path) > 1 else "" for path in _references(step) if path[0] == INPUTS)


def _references(step: Step) -> Iterator[tuple[str, ...]]:
    for expression in (step.condition, step.item_key, *(condition for condition, _ in step.cases)):
        if expression is not None:
            yield from expression.references
    for template in (step.config, step.title, step.items, step.compensation, step.cache_key):
        if template is not None:
            yield from template.references
