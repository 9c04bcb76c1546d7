"""A definition compiled: steps in plan order, who waits for whom, rules as functions, expressions ready to evaluate."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dag.definition import Definition, Dispatch, OnFailure, TriggerRule
from dag.definition import Step as StepDefinition
from dag.expressions import Expression, compile_expression
from dag.state import SkipReason
from dag.templates import Template, compile_template
from dag.values import Json

SEMANTICS = 1
"""Bumped when the scheduler decides something differently: open runs keep the number they began with."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How a step's settled parents ended. `bad`: failed, or skipped because something upstream failed."""

    completed: int
    bad: int
    skipped: int
    """Skipped by choice: a condition, a trigger rule, or parents that were themselves skipped by choice."""


def _blocked(outcomes: Outcomes) -> SkipReason:
    return SkipReason.UPSTREAM_FAILED if outcomes.bad else SkipReason.UPSTREAM_SKIPPED


def _none_failed(of: Outcomes) -> SkipReason | None:
    runs = not of.bad and (of.completed or not of.skipped)
    return None if runs else _blocked(of)


def _all_success(of: Outcomes) -> SkipReason | None:
    return _blocked(of) if of.bad or of.skipped else None


def _one_success(of: Outcomes) -> SkipReason | None:
    return None if of.completed else _blocked(of)


def _one_failed(of: Outcomes) -> SkipReason | None:
    return None if of.bad else SkipReason.RULE_NOT_MET


def _all_failed(of: Outcomes) -> SkipReason | None:
    return SkipReason.RULE_NOT_MET if of.completed or of.skipped else None


RULES: Mapping[TriggerRule, Callable[[Outcomes], SkipReason | None]] = {
    TriggerRule.NONE_FAILED: _none_failed,
    TriggerRule.ALL_SUCCESS: _all_success,
    TriggerRule.ALL_DONE: lambda _: None,
    TriggerRule.ONE_SUCCESS: _one_success,
    TriggerRule.ONE_FAILED: _one_failed,
    TriggerRule.ALL_FAILED: _all_failed,
}
"""For each rule: why a step with such parents is skipped, None if it runs (the language's truth table)."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A step of a plan. `parents` and `children` are indices into `Plan.steps`, ascending."""

    index: int
    definition: StepDefinition
    layer: int
    parents: tuple[int, ...]
    children: tuple[int, ...]
    condition: Expression | None
    config: Template

    @property
    def id(self) -> str:
        """The step's id in the definition."""
        return self.definition.id


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a run follows. Steps stand by layer (longest way from a root), then by place in the document."""

    id: str
    steps: tuple[Step, ...]
    index: Mapping[str, int]
    layers: tuple[tuple[int, ...], ...]
    max_concurrency: int
    dispatch: Dispatch
    on_failure: OnFailure
    outputs: Template
    semantics: int = SEMANTICS

    def step(self, step_id: str) -> Step:
        """Return the step with that id. Raises KeyError."""
        return self.steps[self.index[step_id]]


def layers_of(depends_on: Sequence[Sequence[int]]) -> list[int]:
    """Return each step's layer: 0 without parents, else one more than its deepest parent's.

    Kahn's algorithm, linear in steps and edges. A step on or behind a cycle gets -1.
    """
    children: list[list[int]] = [[] for _ in depends_on]
    waiting = [len(parents) for parents in depends_on]
    for step, parents in enumerate(depends_on):
        for parent in parents:
            children[parent].append(step)
    layer = [0 if not count else -1 for count in waiting]
    settled = [step for step, count in enumerate(waiting) if not count]
    for step in settled:
        for child in children[step]:
            waiting[child] -= 1
            if not waiting[child]:
                layer[child] = layer[step] + 1  # the last parent to settle is the deepest: Kahn goes layer by layer
                settled.append(child)
    return layer


def compile_plan(definition: Definition) -> Plan:
    """Compile a valid definition. Raises ExpressionError or KeyError for one that `validate` would refuse."""
    place = {step.id: number for number, step in enumerate(definition.steps)}
    depends_on = [[place[parent] for parent in step.depends_on] for step in definition.steps]
    layer = layers_of(depends_on)
    order = sorted(range(len(layer)), key=lambda number: (layer[number], number))
    position = {number: index for index, number in enumerate(order)}
    children: list[list[int]] = [[] for _ in order]
    parents = [sorted(position[parent] for parent in depends_on[number]) for number in order]
    for index, step_parents in enumerate(parents):
        for parent in step_parents:
            children[parent].append(index)
    steps = tuple(
        _compile_step(definition.steps[number], index, layer[number], parents[index], children[index])
        for index, number in enumerate(order)
    )
    return Plan(
        id=definition.id,
        steps=steps,
        index={step.id: step.index for step in steps},
        layers=_group(steps),
        max_concurrency=definition.limits.max_concurrency,
        dispatch=definition.limits.dispatch,
        on_failure=definition.on_failure,
        outputs=compile_template(definition.outputs),
    )


def _compile_step(
    definition: StepDefinition, index: int, layer: int, parents: Sequence[int], children: Sequence[int]
) -> Step:
    return Step(
        index=index,
        definition=definition,
        layer=layer,
        parents=tuple(parents),
        children=tuple(children),
        condition=None if definition.condition is None else compile_expression(definition.condition),
        config=compile_template(definition.config),
    )


def _group(steps: Sequence[Step]) -> tuple[tuple[int, ...], ...]:
    grouped: list[list[int]] = []
    for step in steps:
        if step.layer == len(grouped):
            grouped.append([])
        grouped[step.layer].append(step.index)
    return tuple(tuple(layer) for layer in grouped)


def plan_of(definition: dict[str, Json]) -> Plan:
    """Return the plan of a definition in JSON. Compiled once for equal content: a worker runs it many times."""
    return _plan_of(json.dumps(definition))  # in the author's order, which outputs keep


@lru_cache(maxsize=256)
def _plan_of(text: str) -> Plan:
    return compile_plan(Definition.model_validate_json(text))
