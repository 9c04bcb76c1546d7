"""The author's document: what a definition may say, as pydantic models. Meaning is given by `plan.py`."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from docrail.dag.language.step_kinds import (
    Abort,
    Cache,
    Case,
    Compensate,
    ForEach,
    Human,
    Id,
    Model,
    Nested,
    Seconds,
    StepKind,
    Wait,
)
from docrail.dag.language.test_cases import Trials
from docrail.dag.values.json_values import Json

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
    """Delay before retry n (from 0): `d + U(0, jitter * d)` seconds, d = `initial_delay * exponential_base**n`."""

    initial_delay: Seconds = 10.0
    """Seconds before the first retry."""
    exponential_base: Annotated[float, Field(ge=1, le=10)] = 2.0
    """What each further delay is multiplied by."""
    max_delay: Seconds | None = None
    """Most seconds before a retry, jitter and all."""
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The random part: up to this share of `initial_delay` is added to each delay."""
    non_retryable: tuple[str, ...] = ()
    """Classes of errors that are not tried again: `[ConnectionError]`. Bad data never is."""
    honor_retry_after: bool = True
    """Whether a server that says when to come back (HTTP's Retry-After) is believed, up to `max_delay`."""


class Step(Model):
    """One step of exactly one kind, which begins when `depends_on`, `trigger_rule` and `condition` say so."""

    id: Id
    """The step's name, and that of its output in expressions."""
    title: Annotated[str, Field(max_length=200)] = ""
    """What people see in its place, in lists and in Temporal."""
    handler: str | None = None
    """The code that the step runs."""
    wait: Wait | None = None
    """Waits for an answer or for time to pass."""
    human: Human | None = None
    """Asks a person and waits for the decision."""
    workflow: Nested | None = None
    """Runs another definition inside this run."""
    abort: Abort | None = None
    """Ends the whole run as aborted, which is not failed: the reason, or `{reason: ...}`."""
    switch: Annotated[tuple[Case, ...], Field(min_length=1)] | None = None
    """Takes the first case that is true; steps follow it by `depends_on: [STEP.BRANCH]`."""
    for_each: ForEach | None = None
    """Runs the handler or the nested workflow once for each element of a list."""
    compensate: Compensate | None = None
    """What undoes the completed step if its run ends without success."""
    depends_on: tuple[str, ...] = ()
    """The steps it waits for, by id, or `STEP.BRANCH` for one way out of a step. Without any it starts at once."""
    condition: str | None = None
    """An expression that gives true or false; false skips the step."""
    trigger_rule: TriggerRule = TriggerRule.NONE_FAILED
    """When it runs, judged once when every step it waits for has ended."""
    optional: bool = False
    """Whether the run goes on as if nothing had happened when the step fails."""
    config: dict[str, Json] = Field(default_factory=dict)
    """What the handler gets; may hold templates."""
    cache: Cache | None = None
    """Uses the output of equal work that was done before."""
    max_retries: Annotated[int, Field(ge=0, le=100)] = 3
    """Retries after the first attempt: 3 means up to four attempts."""
    retry_config: RetryConfig = RetryConfig()
    """How long the delays between attempts are, and which errors are not tried again."""
    timeout_seconds: Seconds = 300.0
    """Most that one attempt may take."""
    total_timeout_seconds: Seconds | None = None
    """Most that all attempts and the delays between them may take together."""
    heartbeat_seconds: Annotated[Seconds, Field(ge=1)] = 10.0
    """A worker that is silent so long counts as dead, and the step runs elsewhere. Less than a second would take one
    that is merely busy for dead.
    """
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
    """1 goes first, 5 last, 3 is the middle."""
    fairness_key: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """A text, or a template over `inputs`: what has the same key shares a turn, instead of the whole tenant."""


class Limits(Model):
    """How much of a run may be in flight at once, and in what order steps start."""

    max_concurrency: Annotated[int, Field(ge=1, le=500)] = 4
    """Most handlers that run at once in a run; what waits does not count."""
    dispatch: Dispatch = Dispatch.READY
    """`ready`: a step starts when the steps it waits for have ended; `layers`: after the whole layer before it."""


class Input(Model):
    """One input of a definition: a JSON Schema, and whether a caller must give it."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: Literal["string", "integer", "number", "boolean", "object", "array"]
    """The type of the value, as JSON Schema calls it."""
    required: bool = False
    """Whether whoever starts a run must give it."""
    default: Json = None
    """The value if none is given; without it null."""

    def schema_document(self) -> dict[str, Json]:
        """Return the JSON Schema of the input's value."""
        return {"type": self.type, **(self.model_extra or {})}


class Definition(Model):
    """A whole definition, every default resolved: what is stored, digested, pinned by a run and compiled."""

    dsl: Literal[1] = 1
    """The version of this language."""
    id: Id
    """The definition's name; each change of its content is another version of it."""
    title: Annotated[str, Field(max_length=200)] = ""
    """What people see in its place."""
    inputs: dict[Id, Input] = Field(default_factory=dict)
    """What a run is started with, by name: a JSON Schema each."""
    limits: Limits = Limits()
    """How much runs at once, and in what order."""
    on_failure: OnFailure = OnFailure.CONTINUE
    """What a failed step means for the others: `continue`, `fail_fast` or `park`."""
    priority: RunPriority | None = None
    """Which runs go first where they wait for workers."""
    deadline_seconds: Seconds | None = None
    """A run that has not ended so long after its start is overdue: people are told, and it goes on."""
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    """What is done."""
    outputs: dict[str, Json] = Field(default_factory=dict)
    """What a run gives, by name: templates that are read when it has completed."""
    tests: Trials = ()
    """What its author expects of it. No part of what runs, so of no version either (`to_json`)."""


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


HANDLER_FIELDS = frozenset({"config", "cache", *DEFAULTABLE})
"""The step fields that mean something only where a handler runs."""


def edge_of(text: str) -> tuple[str, str | None]:
    """Return the step and the branch that an entry of `depends_on` names: `route.large` is one branch of `route`."""
    step, _, branch = text.partition(".")
    return step, branch or None


def to_json(definition: Definition) -> dict[str, Json]:
    """Return the definition as it is stored, digested and pinned: every default written out, absent parts left out.

    Without its tests, which say nothing about what it does: to change them makes no new version (ADR 13).
    """
    document = definition.model_dump(mode="json", exclude_none=True, exclude={"tests"})
    for step in document["steps"]:
        if "handler" not in step:
            for name in HANDLER_FIELDS:
                step.pop(name, None)
    return document
