"""What the steps that run no handler may say: waits, questions to people, nested runs, aborts, switches."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from dag.values import Json

ID_PATTERN = r"^[A-Za-z][A-Za-z0-9_]*$"
"""An id is a name in expressions, so it has a name's shape."""

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN, max_length=64)]
SHORTEST_SECONDS = 0.001
"""What rounds to no nanosecond is no limit to Temporal but a mistake, and nothing of ours takes less than this."""
Seconds = Annotated[float, Field(ge=SHORTEST_SECONDS, le=31_536_000, allow_inf_nan=False)]


class Model(BaseModel):
    """A part of a definition: nothing beside its fields, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)


class StepKind(StrEnum):
    """What a step does; the name of the one field that says it."""

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
    """What a step that nobody answered in time does. None of it is an approval."""

    ABORT = "abort"
    FAIL = "fail"
    CONTINUE = "continue"


class OnTimeout(Model):
    """What happens when time is up: the text `abort`, `fail` or `continue`, or `{branch: NAME}`.

    A human step may first hand its item to the queue `escalate_to`, which gets the same time again.
    """

    escalate_to: Id | None = None
    then: Then | None = None
    branch: Id | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Json) -> Json:
        return {"then": value} if isinstance(value, str) else value


class Wait(Model):
    """Suspends the step until it is answered or due; holds no slot and no worker meanwhile."""

    for_: WaitFor = Field(alias="for")
    accept: dict[str, Json] | None = None
    """JSON Schema that an answer must meet."""
    seconds: Json = None
    """How long a timer waits: a number, or a template that gives one."""
    timeout_seconds: Seconds | None = None
    on_timeout: OnTimeout | None = None


class Human(Model):
    """Opens a review item and waits for a person's decision; closed with the step, however it ends."""

    queue: Id = "default"
    title: Annotated[str, Field(max_length=500)] = ""
    form: dict[str, Json] = Field(default_factory=dict)
    """JSON Schema of a decision."""
    show: dict[str, Json] = Field(default_factory=dict)
    """What the person sees beside the form."""
    priority: Annotated[float, Field(ge=0, le=100)] = 50.0
    timeout_seconds: Seconds | None = None
    on_timeout: OnTimeout | None = None


class Nested(Model):
    """A run of another definition, pinned when the outer run starts; its outputs are the step's output."""

    id: Id
    version: Annotated[int, Field(ge=1)] | None = None
    """By default the version that a new run would get when the outer run starts."""
    inputs: dict[str, Json] = Field(default_factory=dict)


class Abort(Model):
    """Ends the whole run as ABORTED."""

    reason: Annotated[str, Field(min_length=1, max_length=2000)]

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Json) -> Json:
        return {"reason": value} if isinstance(value, str) else value


class Case(Model):
    """One way out of a switch: `{when: EXPR, branch: NAME}`, or at the end `{else: NAME}`."""

    when: str | None = None
    branch: Id | None = None
    else_: Id | None = Field(default=None, alias="else")

    @property
    def name(self) -> str:
        """The branch this case takes."""
        return self.branch or self.else_ or ""


class Compensate(Model):
    """What undoes a completed step if its run ends without success: a handler, with the step's retries and timeouts."""

    handler: str
    config: dict[str, Json] = Field(default_factory=dict)


OnItemError = Literal["collect", "fail_fast"]


class ForEach(Model):
    """Runs the step once for each element of a list, `max_concurrency` at a time."""

    items: Json
    """A template that gives the list, or the list itself."""
    key: str | None = None
    """An expression over `item` and `index` that names an item; by default its place in the list."""
    max_concurrency: Annotated[int, Field(ge=1, le=500)] = 10
    on_item_error: OnItemError = "collect"
    """`collect`: every item runs, whatever becomes of the others; `fail_fast`: too many failures stop the rest."""
    max_failures: Annotated[int, Field(ge=0)] = 0
    """The step fails if more items than this have failed."""
