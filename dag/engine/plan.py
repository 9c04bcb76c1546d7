"""A definition compiled: steps in plan order, who waits for whom, expressions ready to evaluate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pydantic_core import to_json

from docrail.dag.language.definition import Definition, Dispatch, OnFailure, edge_of
from docrail.dag.language.definition import Step as StepDefinition
from docrail.dag.language.expressions.expression import Expression, compile_expression
from docrail.dag.language.expressions.templates import Template, compile_template
from docrail.dag.language.secret_names import secrets_in
from docrail.dag.language.step_kinds import Abort, Human, Nested, StepKind, Wait, WaitFor
from docrail.dag.values.graph import layers_of
from docrail.dag.values.json_values import Json

SEMANTICS = 1
"""The way in which this build decides. A change that makes the scheduler decide differently bumps it and asks for
`plan.semantics`: a run keeps the number that it began with, and every number from 1 on is kept (ADR 15)."""


class UnknownSemanticsError(Exception):
    """A run that was started by newer code than this, which decides in ways that this code does not know."""

    def __init__(self, semantics: int) -> None:
        super().__init__(
            f"the run was started with semantics {semantics}, and this build knows 1 to {SEMANTICS}: "
            "it goes on as soon as a worker of the newer build takes it"
        )
        self.semantics = semantics


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a plan. `parents` and `children` are indices into `Plan.steps`, ascending.

    What it evaluates is compiled when it is first asked for, and kept: the expressions of a large definition together
    take longer than Temporal gives a turn, and a turn that is ended for that must leave the next one less to do.
    """

    index: int
    id: str
    definition: StepDefinition
    kind: StepKind
    takes_slot: bool
    """Whether it counts for `max_concurrency`: only handlers do, for all else waits or takes no time."""
    layer: int
    parents: tuple[int, ...]
    children: tuple[int, ...]
    branches: Mapping[int, tuple[str, ...]]
    """For each parent that it follows only into some branches: which."""

    @cached_property
    def condition(self) -> Expression | None:
        """What must be true for it to run."""
        return _optional(self.definition.condition)

    @cached_property
    def config(self) -> Template:
        """What its kind takes when it begins (dag.engine.events.Start)."""
        return compile_template(_config_of(self.definition))

    @cached_property
    def title(self) -> Template | None:
        """Of a step that asks people: the question in one line, as its author wrote it."""
        human = self.definition.human
        return None if human is None else compile_template(human.title)

    def question(self, title: Json) -> str:
        """Return what people are asked; without a title of its own, the step's, or at least its id."""
        return str(title) or self.definition.title or self.id

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """Those that `config` names as it was written: the only ones that it may be given."""
        return secrets_in(self.definition.config)

    @cached_property
    def cases(self) -> tuple[tuple[Expression | None, str], ...]:
        """A switch's conditions and branches, in order; None is `else`."""
        return tuple((_optional(case.when), case.name) for case in self.definition.switch or ())

    @cached_property
    def items(self) -> Template | None:
        """For a step that runs once for each element of a list: the list."""
        for_each = self.definition.for_each
        return None if for_each is None else compile_template(for_each.items)

    @cached_property
    def item_key(self) -> Expression | None:
        """What tells an element of the list."""
        for_each = self.definition.for_each
        return None if for_each is None else _optional(for_each.key)

    @cached_property
    def compensation(self) -> Template | None:
        """The config of what undoes the step."""
        compensate = self.definition.compensate
        return None if compensate is None else compile_template(compensate.config)

    @cached_property
    def compensation_secrets(self) -> tuple[str, ...]:
        """Those that the config of what undoes the step names as it was written."""
        compensate = self.definition.compensate
        return () if compensate is None else secrets_in(compensate.config)

    @cached_property
    def cache_key(self) -> Template | None:
        """What tells equal work, where its author says so; else the config does (dag.engine.dispatch)."""
        cache = self.definition.cache
        return None if cache is None or cache.key is None else compile_template(cache.key)

    @property
    def is_timer(self) -> bool:
        """Whether it waits for nothing but time, so that nobody can answer it."""
        return self.definition.wait is not None and self.definition.wait.for_ is WaitFor.TIMER


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
    compensated: tuple[Step, ...]
    """The steps that can be undone."""
    lists: tuple[Step, ...]
    """The steps that run once for each element of a list."""
    deadline_seconds: float | None = None
    """After so long the run is overdue; None: never."""
    semantics: int = SEMANTICS
    """In which way its runs are decided."""

    def step(self, step_id: str) -> Step:
        """Return the step with that id. Raises KeyError."""
        return self.steps[self.index[step_id]]


def compile_plan(definition: Definition, semantics: int = SEMANTICS) -> Plan:
    """Compile a valid definition. One that `validate` would refuse raises ExpressionError or KeyError, now or later.

    Raises UnknownSemanticsError for `semantics` of code to come.
    """
    if not 1 <= semantics <= SEMANTICS:
        raise UnknownSemanticsError(semantics)
    place = {step.id: number for number, step in enumerate(definition.steps)}
    depends_on = [[place[parent] for parent in step.parents] for step in definition.steps]
    layer = layers_of(depends_on)
    order = sorted(range(len(layer)), key=lambda number: (layer[number], number))
    position = {number: index for index, number in enumerate(order)}
    children: list[list[int]] = [[] for _ in order]
    parents = [sorted(position[parent] for parent in depends_on[number]) for number in order]
    for index, step_parents in enumerate(parents):
        for parent in step_parents:
            children[parent].append(index)
    index_of = {definition.steps[number].id: index for index, number in enumerate(order)}
    steps = tuple(
        _compile_step(definition.steps[number], _Place(index, layer[number], parents[index], children[index]), index_of)
        for index, number in enumerate(order)
    )
    return Plan(
        id=definition.id,
        steps=steps,
        index=index_of,
        layers=_group(steps),
        max_concurrency=definition.limits.max_concurrency,
        dispatch=definition.limits.dispatch,
        on_failure=definition.on_failure,
        outputs=compile_template(definition.outputs),
        compensated=tuple(step for step in steps if step.definition.compensate is not None),
        lists=tuple(step for step in steps if step.definition.for_each is not None),
        semantics=semantics,
        deadline_seconds=definition.deadline_seconds,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a step stands in its plan."""

    index: int
    layer: int
    parents: Sequence[int]
    children: Sequence[int]


def _compile_step(definition: StepDefinition, place: _Place, index_of: Mapping[str, int]) -> Step:
    kind = definition.kind
    return Step(
        index=place.index,
        id=definition.id,
        definition=definition,
        kind=kind,
        takes_slot=kind is StepKind.HANDLER,
        layer=place.layer,
        parents=tuple(place.parents),
        children=tuple(place.children),
        branches=_branches(definition, index_of),
    )


def _optional(text: str | None) -> Expression | None:
    return None if text is None else compile_expression(text)


def _branches(definition: StepDefinition, index_of: Mapping[str, int]) -> Mapping[int, tuple[str, ...]]:
    """Return, for each parent that is named with branches only, which."""
    named: dict[int, list[str | None]] = {}
    for text in definition.depends_on:
        parent, branch = edge_of(text)
        named.setdefault(index_of[parent], []).append(branch)
    return {parent: tuple(name for name in names if name) for parent, names in named.items() if None not in names}


def _config_of(definition: StepDefinition) -> Json:
    """Return what the step's kind takes when it begins, templates and all (dag.engine.events.Start)."""
    match definition:
        case StepDefinition(wait=Wait(for_=WaitFor.TIMER, seconds=seconds)):
            return {"seconds": seconds}
        case StepDefinition(wait=Wait(timeout_seconds=seconds)):
            return {"seconds": seconds}
        case StepDefinition(human=Human(title=title, show=show)):
            return {"title": title, "show": show}
        case StepDefinition(workflow=Nested(inputs=inputs)):
            return inputs
        case StepDefinition(abort=Abort(reason=reason)):
            return {"reason": reason}
        case _:
            return definition.config


def _group(steps: Sequence[Step]) -> tuple[tuple[int, ...], ...]:
    grouped: list[list[int]] = []
    for step in steps:
        if step.layer == len(grouped):
            grouped.append([])
        grouped[step.layer].append(step.index)
    return tuple(tuple(layer) for layer in grouped)


def plan_of(definition: dict[str, Json], semantics: int = SEMANTICS) -> Plan:
    """Return the plan of a definition in JSON. Compiled once for equal content: a worker runs it many times.

    Raises: as compile_plan.
    """
    text = to_json(definition, inf_nan_mode="constants")  # in the author's order, which outputs keep
    return _plan_of(text, semantics)


@lru_cache(maxsize=256)
def _plan_of(text: bytes, semantics: int) -> Plan:
    return compile_plan(Definition.model_validate_json(text), semantics)
