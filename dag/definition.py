"""The author's document: what a definition may say, as pydantic models. Meaning is given by `plan.py`."""

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from dag.kinds import ID_PATTERN, Abort, Case, Compensate, ForEach, Human, Id, Model, Nested, Seconds, StepKind, Wait
from dag.values import Json

RESERVED_WORDS = frozenset(
    {"inputs", "document", "workflow", "run", "item", "index", "previous", "steps", "true", "false", "none", "null"}
    | {"self"}  # Jinja's own
    | {"and", "or", "not", "in", "is", "if", "else", "True", "False", "None"}
)
"""Names that mean something else in an expression, so no step may carry one."""


PriorityKey = Annotated[int, Field(ge=1, le=5)]
"""1 goes first, 3 is the middle: Temporal's range of priorities."""


class TriggerRule(StrEnum):
    """When a step runs, judged once over its settled parents (the truth table of the language reference)."""

    NONE_FAILED = "none_failed"
    ALL_SUCCESS = "all_success"
    ALL_DONE = "all_done"
    ONE_SUCCESS = "one_success"
    ONE_FAILED = "one_failed"
    ALL_FAILED = "all_failed"


class Dispatch(StrEnum):
    """`ready`: a step starts as soon as its own parents are settled; `layers`: after the whole layer before it."""

    READY = "ready"
    LAYERS = "layers"


class OnFailure(StrEnum):
    """`continue`: independent branches go on; `fail_fast`: the first failure cancels what runs.

    `park`: a failed step waits until a person has it tried again, skipped or given an output.
    """

    CONTINUE = "continue"
    FAIL_FAST = "fail_fast"
    PARK = "park"


class RetryConfig(Model):
    """Delay before retry n (from 0): `initial_delay * exponential_base**n + U(0, jitter * initial_delay)` seconds."""

    initial_delay: Seconds = 10.0
    exponential_base: Annotated[float, Field(ge=1, le=10)] = 2.0
    max_delay: Seconds | None = None
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.5
    non_retryable: tuple[str, ...] = ()
    honor_retry_after: bool = True
    """Whether a server that says when to come back (HTTP's Retry-After) is believed, up to `max_delay`."""


class Step(Model):
    """One step of exactly one kind, which begins when `depends_on`, `trigger_rule` and `condition` say so."""

    id: Id
    title: Annotated[str, Field(max_length=200)] = ""
    handler: str | None = None
    wait: Wait | None = None
    human: Human | None = None
    workflow: Nested | None = None
    abort: Abort | None = None
    switch: Annotated[tuple[Case, ...], Field(min_length=1)] | None = None
    for_each: ForEach | None = None
    compensate: Compensate | None = None
    depends_on: tuple[str, ...] = ()
    condition: str | None = None
    trigger_rule: TriggerRule = TriggerRule.NONE_FAILED
    optional: bool = False
    config: dict[str, Json] = Field(default_factory=dict)
    max_retries: Annotated[int, Field(ge=0, le=100)] = 3
    retry_config: RetryConfig = RetryConfig()
    timeout_seconds: Seconds = 300.0
    total_timeout_seconds: Seconds | None = None
    heartbeat_seconds: Annotated[Seconds, Field(ge=1)] = 10.0
    """Less would take a worker that is merely busy for a dead one."""
    resource_tag: Id | None = None
    """The limited resource it uses: every attempt waits for its turn on the tag's own task queue."""
    priority: PriorityKey | None = None
    """In place of the run's, for the attempts of this step."""

    @property
    def kind(self) -> StepKind:
        """What the step does. Raises StopIteration for a step that `validate` would refuse."""
        return next(kind for kind in StepKind if getattr(self, kind) is not None)

    @property
    def parents(self) -> tuple[str, ...]:
        """The ids of the steps it waits for, each once."""
        return tuple(dict.fromkeys(edge_of(text)[0] for text in self.depends_on))


class RunPriority(Model):
    """Which runs go first where they wait for workers; by default the middle, and each tenant in its turn."""

    key: PriorityKey | None = None
    fairness_key: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """A text, or a template over `inputs`: what has the same key shares a turn, instead of the whole tenant."""


class Limits(Model):
    """How much of a run may be in flight at once, and in what order steps start."""

    max_concurrency: Annotated[int, Field(ge=1, le=500)] = 4
    dispatch: Dispatch = Dispatch.READY


class Input(Model):
    """One input of a definition: a JSON Schema, and whether a caller must give it."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: Literal["string", "integer", "number", "boolean", "object", "array"]
    required: bool = False
    default: Json = None

    def schema_document(self) -> dict[str, Json]:
        """Return the JSON Schema of the input's value."""
        return {"type": self.type, **(self.model_extra or {})}


class Definition(Model):
    """A whole definition, every default resolved: what is stored, digested, pinned by a run and compiled."""

    dsl: Literal[1] = 1
    id: Id
    title: Annotated[str, Field(max_length=200)] = ""
    inputs: dict[Id, Input] = Field(default_factory=dict)
    limits: Limits = Limits()
    on_failure: OnFailure = OnFailure.CONTINUE
    priority: RunPriority | None = None
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    outputs: dict[str, Json] = Field(default_factory=dict)


STEP_ALIASES = {"node_id": "id", "dependencies": "depends_on", "params": "config"}
"""The seeds' words for a step's fields, accepted and normalised."""

DEFAULTABLE = (
    "max_retries",
    "retry_config",
    "timeout_seconds",
    "total_timeout_seconds",
    "heartbeat_seconds",
    "resource_tag",
)
"""The step fields that `defaults` may set for every step."""


HANDLER_FIELDS = frozenset({"config", *DEFAULTABLE})
"""The step fields that mean something only where a handler runs."""


def edge_of(text: str) -> tuple[str, str | None]:
    """Return the step and the branch that an entry of `depends_on` names: `route.large` is one branch of `route`."""
    step, _, branch = text.partition(".")
    return step, branch or None


def to_json(definition: Definition) -> dict[str, Json]:
    """Return the definition as it is stored, digested and pinned: every default written out, absent parts left out."""
    document = definition.model_dump(mode="json", exclude_none=True)
    for step in document["steps"]:
        if "handler" not in step:
            for name in HANDLER_FIELDS:
                step.pop(name, None)
    return document


def is_id(text: str) -> bool:
    """Tell whether `text` has the shape of an id."""
    return re.fullmatch(ID_PATTERN, text) is not None
