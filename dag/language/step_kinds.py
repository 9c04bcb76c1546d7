"""Define the steps that run no handler: waits, questions to people, nested runs, aborts, switches."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import ID_PATTERN
from docrail.field_docs import describe_fields

DOCUMENT_QUEUE = "documents"
"""The review queue for questions about a run's document, answered by the decision on the document."""

MOST_APPROVALS = 20
"""Largest number of approvals that a step may require."""

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN, max_length=64)]

LONGEST_WAIT_SECONDS = 31_536_000
"""One year. A longer timer is a mistake in a template."""

MAX_ITEMS = 10_000
"""Items per step. All of them are in the run's state, and their outputs share one payload of 2 MiB."""

CHUNK_ITEMS = 250
"""Items per chunk, and in a list that runs without chunks: each costs six events, and Temporal is slow above 10,000."""

SHORTEST_SECONDS = 0.001
"""Shortest duration in seconds. One that rounds to zero nanoseconds would mean no limit to Temporal."""

Seconds = Annotated[float, Field(ge=SHORTEST_SECONDS, le=LONGEST_WAIT_SECONDS, allow_inf_nan=False)]


class Model(BaseModel):
    """A part of a definition: immutable, without additional fields.

    The docstrings below its fields are published as descriptions in the schema.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True, json_schema_extra=describe_fields)


def may_be_text(field: str) -> Any:
    """Return a validator by which a text may be written in place of an object with only this field."""
    return model_validator(mode="before")(lambda value: {field: value} if isinstance(value, str) else value)


class StepKind(StrEnum):
    """What a step does; equals the name of the one field that defines it."""

    HANDLER = "handler"
    WAIT = "wait"
    HUMAN = "human"
    WORKFLOW = "workflow"
    ABORT = "abort"
    SWITCH = "switch"


class WaitFor(StrEnum):
    """`signal`: an answer through the API; `webhook`: through a signed callback URL; `timer`: only time."""

    SIGNAL = "signal"
    WEBHOOK = "webhook"
    TIMER = "timer"


class Then(StrEnum):
    """What a step does when no answer arrives in time. None of the choices is an approval."""

    ABORT = "abort"
    FAIL = "fail"
    CONTINUE = "continue"


class OnTimeout(Model):
    """What happens when time is up: the text `abort`, `fail` or `continue`, or `{branch: NAME}`.

    A human step may first hand its item to the queue `escalate_to`, with the same timeout again.
    """

    escalate_to: Id | None = None
    """The queue that gets the question, with the same timeout again, when no answer arrived. Human steps only."""
    then: Then | None = None
    """What then happens: `abort` the run, `fail` the step, or `continue` with the step completed as timed out."""
    branch: Id | None = None
    """The branch that then follows: steps with `depends_on: [STEP.NAME]`."""

    _from_text = may_be_text("then")


class Wait(Model):
    """Suspends the step until it is answered or due; uses no slot and no worker meanwhile."""

    for_: WaitFor = Field(alias="for")
    """What it waits for: `signal`, an answer through the API; `webhook`, one to a signed URL; `timer`, only time."""
    accept: dict[str, Json] | None = None
    """JSON Schema that an answer must meet."""
    seconds: Json = None
    """Duration of a timer: a number, or a template that gives one."""
    timeout_seconds: Seconds | None = None
    """How long it waits for an answer; without a limit by default."""
    on_timeout: OnTimeout | None = None
    """What happens when no answer arrives in time; required with `timeout_seconds`."""


class Assignees(Model):
    """The people a question is for, how many of them must agree, and who may not decide it."""

    group: Id | None = None
    """The group it is for, by which items are listed. Everyone with permission to review may still decide."""
    approvals: Annotated[int, Field(ge=1, le=MOST_APPROVALS)] = 1
    """How many people must decide alike: the step's output is the first decision that this many people share."""
    not_the_submitter: bool = False
    """Whether the person who started the run may not decide; for nested runs, the person who started the outermost
    run."""


class Human(Model):
    """Opens a review item and waits for a person's decision; the item is closed with the step, however it ends."""

    queue: Id = "default"
    """The review queue of the question."""
    title: Annotated[str, Field(max_length=500)] = ""
    """The question in one line; may contain templates. By default the title of the step."""
    form: dict[str, Json] = Field(default_factory=dict)
    """JSON Schema of a decision."""
    show: dict[str, Json] = Field(default_factory=dict)
    """Data that the person sees next to the form."""
    prefill: Json = None
    """The values that the form begins with, by field: an object, or a template that gives one."""
    notes: Json = None
    """A remark on each field of the form, by field: an object, or a template that gives one."""
    assignees: Assignees | None = None
    """The people the question is for, how many must agree, and who may not decide it."""
    priority: Annotated[float, Field(ge=0, le=100)] = 50.0
    """Urgency, 0 to 100: the most urgent questions of a queue come first."""
    timeout_seconds: Seconds | None = None
    """How long people have to decide; without a limit by default."""
    on_timeout: OnTimeout | None = None
    """What happens when no decision arrives in time; required with `timeout_seconds`. It is never an approval."""


class Nested(Model):
    """A run of another definition, pinned when the outer run starts; its outputs are the step's output."""

    id: Id
    """The id of the definition to run."""
    version: Annotated[int, Field(ge=1)] | None = None
    """The version to run; by default the one that a new run gets when the outer run starts."""
    inputs: dict[str, Json] = Field(default_factory=dict)
    """The inputs of the nested run; may contain templates."""


class Abort(Model):
    """Ends the whole run as ABORTED."""

    reason: Annotated[str, Field(min_length=1, max_length=2000)]
    """Why the run ends; may contain templates."""

    _from_text = may_be_text("reason")


class Case(Model):
    """One case of a switch: `{when: EXPR, branch: NAME}`, or at the end `{else: NAME}`."""

    when: str | None = None
    """An expression that gives true or false; the first case that is true is taken."""
    branch: Id | None = None
    """The branch that the case takes, a name of your choice."""
    else_: Id | None = Field(default=None, alias="else")
    """The branch taken if no case is true; must come last."""

    @property
    def name(self) -> str:
        """The branch this case takes."""
        return self.branch or self.else_ or ""


class Compensate(Model):
    """Undoes a completed step if its run ends without success: a handler, with the step's retries and timeouts."""

    handler: str
    """The code that undoes the step."""
    config: dict[str, Json] = Field(default_factory=dict)
    """That handler's config; may contain templates, which can read the step's output."""


class Cache(Model):
    """Keeps a handler step's output for other runs, so that equal work is done once within `ttl_seconds`."""

    key: Json = None
    """The key of equal work: a text, or JSON with templates; by default the resolved config."""
    ttl_seconds: Seconds
    """Maximum age of an output that is reused."""


OnItemError = Literal["collect", "fail_fast"]


class ForEach(Model):
    """Runs the step once for each element of a list, `max_concurrency` at a time."""

    items: Json
    """A template that gives the list, or the list itself."""
    key: str | None = None
    """An expression over `item` and `index` that gives an item's key; by default its position in the list."""
    max_concurrency: Annotated[int, Field(ge=1, le=500)] = 10
    """Items that may run at once: as one ends, the next begins."""
    on_item_error: OnItemError = "collect"
    """`collect`: every item runs, even if others fail; `fail_fast`: too many failures stop the rest."""
    max_failures: Annotated[int, Field(ge=0)] = 0
    """The step fails if more items than this have failed."""
