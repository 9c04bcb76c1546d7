"""Compile a definition: steps in plan order, their parents and children, expressions ready to evaluate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from operator import attrgetter

from pydantic_core import to_json

from docrail.dag.language.definition import Definition, Dispatch, OnDeadline, OnFailure, edge_of
from docrail.dag.language.definition import Step as StepDefinition
from docrail.dag.language.expressions.expression import Expression, compile_expression
from docrail.dag.language.expressions.templates import Template, compile_template
from docrail.dag.language.secret_names import secrets_in
from docrail.dag.language.step_kinds import Abort, Human, Nested, StepKind, Wait, WaitFor
from docrail.dag.values.graph import layers_of
from docrail.dag.values.json_values import Json

SEMANTICS = 1
"""Version of the scheduler's decisions. A change that makes the scheduler decide differently increments it and checks
`plan.semantics`: a run keeps the number it began with, and every number from 1 on stays supported (ADR 15)."""


class UnknownSemanticsError(Exception):
    """The run was started by newer code, which makes decisions that this build does not know."""

    def __init__(self, semantics: int) -> None:
        super().__init__(
            f"the run was started with semantics {semantics}, and this build knows 1 to {SEMANTICS}: "
            "it goes on as soon as a worker of the newer build takes it"
        )


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a plan. `parents` and `children` are indices into `Plan.steps`, ascending.

    Expressions are compiled on first use and cached: compiling all those of a large definition takes longer than
    Temporal allows a turn, and a turn that is cut off for that reason must leave the next one less to do.
    """

    index: int
    id: str
    definition: StepDefinition
    kind: StepKind
    takes_slot: bool
    """Whether it counts towards `max_concurrency`: only handlers do, since everything else waits or takes no time."""
    layer: int
    parents: tuple[int, ...]
    children: Sequence[int]
    branches: Mapping[int, tuple[str, ...]]
    """The branches, for each parent that it follows only after some of them."""

    @cached_property
    def condition(self) -> Expression | None:
        """The expression that must be true for the step to run."""
        return _optional(self.definition.condition)

    @cached_property
    def config(self) -> Template:
        """The config with which its kind begins (dag.engine.events.Start)."""
        return compile_template(_config_of(self.definition))

    @cached_property
    def title(self) -> Template | None:
        """For a human step: the question in one line, as its author wrote it."""
        human = self.definition.human
        return None if human is None else compile_template(human.title)

    def question(self, title: Json) -> str:
        """Return the question people see: `title`, else the step's title, else its id."""
        return str(title) or self.definition.title or self.id

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secrets in `config` as written: the only ones that it may receive."""
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
        """The expression that gives an element's key."""
        for_each = self.definition.for_each
        return None if for_each is None else _optional(for_each.key)

    @cached_property
    def compensation(self) -> Template | None:
        """The config of the step's compensation."""
        compensate = self.definition.compensate
        return None if compensate is None else compile_template(compensate.config)

    @cached_property
    def compensation_secrets(self) -> tuple[str, ...]:
        """Names of the secrets in the compensation's config as written."""
        compensate = self.definition.compensate
        return () if compensate is None else secrets_in(compensate.config)

    @cached_property
    def cache_key(self) -> Template | None:
        """The cache key, if the author sets one; otherwise the config is the key (dispatch.cache_key_of)."""
        cache = self.definition.cache
        return None if cache is None or cache.key is None else compile_template(cache.key)

    @property
    def is_timer(self) -> bool:
        """Whether it only waits for time to pass and cannot be answered."""
        return self.definition.wait is not None and self.definition.wait.for_ is WaitFor.TIMER

    @property
    def waits_for_webhook(self) -> bool:
        """Whether a POST to a URL of its own answers it."""
        return self.definition.wait is not None and self.definition.wait.for_ is WaitFor.WEBHOOK


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The compiled definition that a run follows. Steps are ordered by layer, then by position in the document.

    A step's layer is the length of the longest path from a root.
    """

    id: str
    steps: tuple[Step, ...]
    index: Mapping[str, int]
    layers: tuple[tuple[int, ...], ...]
    max_concurrency: int
    dispatch: Dispatch
    on_failure: OnFailure
    outputs: Template
    compensated: tuple[Step, ...]
    """The steps with a compensation."""
    lists: tuple[Step, ...]
    """The steps that run once for each element of a list."""
    webhooks: tuple[Step, ...]
    """The steps that wait for a webhook."""
    deadline_seconds: float | None = None
    """Seconds after which the run is overdue; None: never."""
    on_deadline: OnDeadline | None = None
    """What then happens besides the notification."""
    semantics: int = SEMANTICS
    """The semantics version of its runs."""

    def step(self, step_id: str) -> Step:
        """Return the step with that id. Raises KeyError."""
        return self.steps[self.index[step_id]]


def compile_plan(definition: Definition, semantics: int = SEMANTICS) -> Plan:
    """Compile a valid definition. One that `validate` would refuse raises ExpressionError or KeyError, now or later.

    Raises: UnknownSemanticsError, if `semantics` is newer than this build.
    """
    if not 1 <= semantics <= SEMANTICS:
        raise UnknownSemanticsError(semantics)
    steps = _compile_steps(definition)
    return Plan(
        id=definition.id,
        steps=steps,
        index={step.id: step.index for step in steps},
        layers=tuple(tuple(step.index for step in group) for _, group in groupby(steps, key=attrgetter("layer"))),
        max_concurrency=definition.limits.max_concurrency,
        dispatch=definition.limits.dispatch,
        on_failure=definition.on_failure,
        outputs=compile_template(definition.outputs),
        compensated=tuple(step for step in steps if step.definition.compensate is not None),
        lists=tuple(step for step in steps if step.definition.for_each is not None),
        webhooks=tuple(step for step in steps if step.waits_for_webhook),
        semantics=semantics,
        deadline_seconds=definition.deadline_seconds,
        on_deadline=definition.on_deadline,
    )


def _compile_steps(definition: Definition) -> tuple[Step, ...]:
    place = {step.id: number for number, step in enumerate(definition.steps)}
    depends_on = [[place[parent] for parent in step.parents] for step in definition.steps]
    layer = layers_of(depends_on)
    order = sorted(range(len(layer)), key=lambda number: (layer[number], number))
    position = {number: index for index, number in enumerate(order)}
    index_of = {definition.steps[number].id: index for number, index in position.items()}
    children: list[list[int]] = [[] for _ in order]
    steps: list[Step] = []
    for index, number in enumerate(order):
        step = definition.steps[number]
        parents = sorted(position[parent] for parent in depends_on[number])
        for parent in parents:
            children[parent].append(index)
        steps.append(
            Step(
                index=index,
                id=step.id,
                definition=step,
                kind=step.kind,
                takes_slot=step.kind is StepKind.HANDLER,
                layer=layer[number],
                parents=tuple(parents),
                children=children[index],
                branches=_branches(step, index_of),
            )
        )
    return tuple(steps)


def _optional(text: str | None) -> Expression | None:
    return None if text is None else compile_expression(text)


def _branches(definition: StepDefinition, index_of: Mapping[str, int]) -> Mapping[int, tuple[str, ...]]:
    """Return the branches named for each parent, omitting parents that are also named without a branch."""
    named: dict[int, list[str | None]] = {}
    for text in definition.depends_on:
        parent, branch = edge_of(text)
        named.setdefault(index_of[parent], []).append(branch)
    return {parent: tuple(name for name in names if name) for parent, names in named.items() if None not in names}


def _config_of(definition: StepDefinition) -> Json:
    """Return the config with which the step's kind begins, templates unresolved (dag.engine.events.Start)."""
    match definition:
        case StepDefinition(wait=Wait(for_=WaitFor.TIMER, seconds=seconds)):
            return {"seconds": seconds}
        case StepDefinition(wait=Wait(timeout_seconds=seconds)):
            return {"seconds": seconds}
        case StepDefinition(human=Human(title=title, show=show, prefill=prefill, notes=notes)):
            about = {"prefill": prefill, "notes": notes}
            return {"title": title, "show": show, **{name: part for name, part in about.items() if part is not None}}
        case StepDefinition(workflow=Nested(inputs=inputs)):
            return inputs
        case StepDefinition(abort=Abort(reason=reason)):
            return {"reason": reason}
        case _:
            return definition.config


def plan_of(definition: dict[str, Json], semantics: int = SEMANTICS) -> Plan:
    """Return the plan of a definition in JSON. Equal content is compiled once, since a worker runs it many times.

    Raises: as compile_plan.
    """
    text = to_json(definition, inf_nan_mode="constants")  # in the author's order, which outputs keep
    return _plan_of(text, semantics)


@lru_cache(maxsize=256)
def _plan_of(text: bytes, semantics: int) -> Plan:
    return compile_plan(Definition.model_validate_json(text), semantics)
