"""Define the author's document as pydantic models. `plan.py` compiles it."""

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
    may_be_text,
)
from docrail.dag.language.test_cases import Trials
from docrail.dag.values.json_values import Json

RESERVED_WORDS = frozenset(
    {"inputs", "document", "workflow", "run", "item", "index", "previous", "steps", "true", "false", "none", "null"}
    | {"self"}  # Jinja's own
    | {"and", "or", "not", "in", "is", "if", "else", "True", "False", "None"}
)
"""Names with another meaning in expressions, which no step may have."""

RESERVED_IDS = frozenset({"schema"})
"""Ids that no definition may have: `/v1/definitions/schema` is another page of the API."""

PriorityKey = Annotated[int, Field(ge=1, le=5)]
"""1 runs first, 3 is the default: Temporal's range of priorities."""


class TriggerRule(StrEnum):
    """When a step runs, judged once its parents have settled (the truth table of the language reference)."""

    NONE_FAILED = "none_failed"
    ALL_SUCCESS = "all_success"
    ALL_DONE = "all_done"
    ONE_SUCCESS = "one_success"
    ONE_FAILED = "one_failed"
    ALL_FAILED = "all_failed"


class Dispatch(StrEnum):
    """`ready`: a step starts as soon as its own parents are settled; `layers`: after the whole previous layer."""

    READY = "ready"
    LAYERS = "layers"


class OnFailure(StrEnum):
    """`continue`: independent branches continue; `fail_fast`: the first failure cancels running steps.

    `park`: a failed step waits until a person retries it, skips it or gives it an output.
    """

    CONTINUE = "continue"
    FAIL_FAST = "fail_fast"
    PARK = "park"


class DeadlineThen(StrEnum):
    """`notify`: people are notified, and the run continues; `abort`: it also ends as aborted."""

    NOTIFY = "notify"
    ABORT = "abort"


class OnDeadline(Model):
    """What happens when a run is overdue, besides the notification: `notify`, `abort`, or `{branch: NAME}`."""

    then: DeadlineThen | None = None
    """`notify`: nothing else; `abort`: the run ends as aborted."""
    branch: Id | None = None
    """The branch of every step that then waits for an answer, or comes to: steps with `depends_on: [STEP.NAME]`."""

    _from_text = may_be_text("then")


class RetryConfig(Model):
    """Delay before retry n (from 0): `d + U(0, jitter * d)` seconds, d = `initial_delay * exponential_base**n`."""

    initial_delay: Seconds = 10.0
    """Seconds before the first retry."""
    exponential_base: Annotated[float, Field(ge=1, le=10)] = 2.0
    """Factor by which each further delay grows."""
    max_delay: Seconds | None = None
    """Longest delay before a retry in seconds, jitter included."""
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Random part: up to this share of each delay is added to it."""
    non_retryable: tuple[str, ...] = ()
    """Error classes that are not retried: `[ConnectionError]`. Invalid data is never retried."""
    honor_retry_after: bool = True
    """Whether the delay a server asks for (HTTP's Retry-After) is used, up to `max_delay`."""


class Step(Model):
    """One step of exactly one kind. `depends_on`, `trigger_rule` and `condition` decide when it begins."""

    id: Id
    """The step's name, and the name of its output in expressions."""
    title: Annotated[str, Field(max_length=200)] = ""
    """Display name of the step, in lists and in Temporal."""
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
    """Undoes the completed step if its run ends without success."""
    depends_on: tuple[str, ...] = ()
    """The steps it waits for, by id, or `STEP.BRANCH` for one branch of a step. A step without any starts at once."""
    condition: str | None = None
    """An expression that gives true or false; false skips the step."""
    trigger_rule: TriggerRule = TriggerRule.NONE_FAILED
    """When it runs, judged once every step it waits for has ended."""
    optional: bool = False
    """Whether the run continues as if the step had not failed."""
    config: dict[str, Json] = Field(default_factory=dict)
    """The handler's config; may contain templates."""
    cache: Cache | None = None
    """Reuses the output of earlier equal work."""
    max_retries: Annotated[int, Field(ge=0, le=100)] = 3
    """Retries after the first attempt: 3 means up to four attempts."""
    retry_config: RetryConfig = RetryConfig()
    """The delays between attempts, and the errors that are not retried."""
    timeout_seconds: Seconds = 300.0
    """Longest duration of one attempt."""
    total_timeout_seconds: Seconds | None = None
    """Longest duration of all attempts and the delays between them."""
    heartbeat_seconds: Annotated[Seconds, Field(ge=1)] = 10.0
    """Seconds without a heartbeat after which a worker counts as dead and the step runs elsewhere. Less than a second
    would count a busy worker as dead."""
    resource_tag: Id | None = None
    """The limited resource it uses: every attempt waits for its turn on the tag's own task queue."""
    priority: PriorityKey | None = None
    """Priority of this step's attempts, instead of the run's."""

    @property
    def kind(self) -> StepKind:
        """What the step does. Raises StopIteration for a step that `validate` would refuse."""
        return next(kind for kind in StepKind if getattr(self, kind) is not None)

    @property
    def parents(self) -> tuple[str, ...]:
        """The ids of the steps it waits for, each once."""
        return tuple(dict.fromkeys(edge_of(text)[0] for text in self.depends_on))


class RunPriority(Model):
    """Which runs go first when they wait for workers; by default all have the same priority, and tenants take turns."""

    key: PriorityKey | None = None
    """1 runs first, 5 last; 3 is the default. None goes before the tenant's quota `highest_priority`."""
    fairness_key: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """A text, or a template over `inputs`: runs with different keys share the tenant's turn equally."""


class Limits(Model):
    """How much of a run may be in progress at once, and in what order steps start."""

    max_concurrency: Annotated[int, Field(ge=1, le=500)] = 4
    """Handlers that may run at once in a run; waiting steps do not count."""
    dispatch: Dispatch = Dispatch.READY
    """`ready`: a step starts when the steps it waits for have ended; `layers`: after the whole previous layer."""


class Input(Model):
    """One input of a definition: a JSON Schema, and whether a caller must provide it."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: Literal["string", "integer", "number", "boolean", "object", "array"]
    """The type of the value, as in JSON Schema."""
    required: bool = False
    """Whether every run must be started with it."""
    default: Json = None
    """The value if none is given; null by default."""

    def schema_document(self) -> dict[str, Json]:
        """Return the JSON Schema of the input's value."""
        return {"type": self.type, **(self.model_extra or {})}


class Definition(Model):
    """A whole definition with all defaults filled in, as it is stored, digested, pinned by a run and compiled."""

    dsl: Literal[1] = 1
    """The version of this language."""
    id: Id
    """The definition's name; each change of its content creates another version."""
    title: Annotated[str, Field(max_length=200)] = ""
    """Display name of the definition."""
    inputs: dict[Id, Input] = Field(default_factory=dict)
    """The inputs of a run, by name: a JSON Schema each."""
    limits: Limits = Limits()
    """How much runs at once, and in what order."""
    on_failure: OnFailure = OnFailure.CONTINUE
    """What a failed step means for the others: `continue`, `fail_fast` or `park`."""
    priority: RunPriority | None = None
    """Which runs go first when they wait for workers."""
    deadline_seconds: Seconds | None = None
    """Seconds after its start when a run that has not ended is overdue: people are notified."""
    on_deadline: OnDeadline | None = None
    """What then happens: `notify`, the default, `abort`, or `{branch: NAME}`; only with `deadline_seconds`."""
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    """The steps."""
    outputs: dict[str, Json] = Field(default_factory=dict)
    """The outputs of a run, by name: templates that are resolved when it has completed."""
    tests: Trials = ()
    """Tests of the definition. They do not affect what runs, so changing them creates no version (`to_json`)."""


STEP_ALIASES = {"node_id": "id", "dependencies": "depends_on", "params": "config"}
"""Alternative names of step fields, accepted and normalised."""

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
"""The step fields that apply to handler steps only."""


def edge_of(text: str) -> tuple[str, str | None]:
    """Return the step and the branch in an entry of `depends_on`: `route.large` is the branch `large` of `route`."""
    step, _, branch = text.partition(".")
    return step, branch or None


def to_json(definition: Definition) -> dict[str, Json]:
    """Return the definition as it is stored, digested and pinned: defaults written out, absent parts omitted.

    The tests are omitted as well, so changing them creates no new version (ADR 13).
    """
    document = definition.model_dump(mode="json", exclude_none=True, exclude={"tests"})
    for step in document["steps"]:
        if "handler" not in step:
            for name in HANDLER_FIELDS:
                step.pop(name, None)
    return document
