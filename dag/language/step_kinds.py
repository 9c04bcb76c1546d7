"""What the steps that run no handler may say: waits, questions to people, nested runs, aborts, switches."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import ID_PATTERN

DOCUMENT_QUEUE = "documents"
"""The review queue whose questions are about a run's document, and answered by the decision of that."""


MOST_APPROVALS = 20
"""More people than this decide nothing alike."""


Id = Annotated[str, StringConstraints(pattern=ID_PATTERN, max_length=64)]


SHORTEST_SECONDS = 0.001
"""What rounds to no nanosecond is no limit to Temporal but a mistake, and nothing of ours takes less than this."""


Seconds = Annotated[float, Field(ge=SHORTEST_SECONDS, le=31_536_000, allow_inf_nan=False)]


class Model(BaseModel):
    """A part of a definition: nothing beside its fields, never changed.

    What stands below a field is told to authors, by the published schema.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True, use_attribute_docstrings=True)


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
    """The queue of other people, who get the question, and the same time, when nobody has answered. Of a human step
    only."""
    then: Then | None = None
    """What then happens: `abort` the run, `fail` the step, or `continue`, the step being completed as timed out."""
    branch: Id | None = None
    """The branch that then follows: steps with `depends_on: [STEP.NAME]`."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Json) -> Json:
        return {"then": value} if isinstance(value, str) else value


class Wait(Model):
    """Suspends the step until it is answered or due; holds no slot and no worker meanwhile."""

    for_: WaitFor = Field(alias="for")
    """Whom it waits for: `signal`, an answer through the API; `webhook`, one to a signed URL; `timer`, nobody."""
    accept: dict[str, Json] | None = None
    """JSON Schema that an answer must meet."""
    seconds: Json = None
    """How long a timer waits: a number, or a template that gives one."""
    timeout_seconds: Seconds | None = None
    """How long it waits for an answer; without it, until there is one."""
    on_timeout: OnTimeout | None = None
    """What happens when nobody has answered in time; needed with `timeout_seconds`."""


class Assignees(Model):
    """Whom a question is for, how many of them must agree, and who may not decide it."""

    group: Id | None = None
    """The people it is for: a name that items carry and are listed by. Everybody who may review may still decide."""
    approvals: Annotated[int, Field(ge=1, le=MOST_APPROVALS)] = 1
    """How many people must decide alike: the step's output is the first decision that so many of them have made."""
    not_the_submitter: bool = False
    """Whether whoever started the run may not decide; for runs inside others, whoever started the outermost one."""


class Human(Model):
    """Opens a review item and waits for a person's decision; closed with the step, however it ends."""

    queue: Id = "default"
    """The review queue that the question stands in."""
    title: Annotated[str, Field(max_length=500)] = ""
    """The question in one line; may hold templates. By default the title of the step."""
    form: dict[str, Json] = Field(default_factory=dict)
    """JSON Schema of a decision."""
    show: dict[str, Json] = Field(default_factory=dict)
    """What the person sees beside the form."""
    assignees: Assignees | None = None
    """Whom the question is for, how many must agree, and who may not decide it."""
    priority: Annotated[float, Field(ge=0, le=100)] = 50.0
    """How urgent it is, 0 to 100: the most urgent questions of a queue stand first."""
    timeout_seconds: Seconds | None = None
    """How long people have to decide; without it, as long as it takes."""
    on_timeout: OnTimeout | None = None
    """What happens when nobody has decided in time; needed with `timeout_seconds`. It is never an approval."""


class Nested(Model):
    """A run of another definition, pinned when the outer run starts; its outputs are the step's output."""

    id: Id
    """The id of the definition that is run."""
    version: Annotated[int, Field(ge=1)] | None = None
    """By default the version that a new run would get when the outer run starts."""
    inputs: dict[str, Json] = Field(default_factory=dict)
    """The inputs of that run; may hold templates."""


class Abort(Model):
    """Ends the whole run as ABORTED."""

    reason: Annotated[str, Field(min_length=1, max_length=2000)]
    """Why the run ends; may hold templates."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Json) -> Json:
        return {"reason": value} if isinstance(value, str) else value


class Case(Model):
    """One way out of a switch: `{when: EXPR, branch: NAME}`, or at the end `{else: NAME}`."""

    when: str | None = None
    """An expression that gives true or false: the first case that is true is taken."""
    branch: Id | None = None
    """The branch that the case takes: a name of your own."""
    else_: Id | None = Field(default=None, alias="else")
    """The branch that is taken if no case is true; in the last place."""

    @property
    def name(self) -> str:
        """The branch this case takes."""
        return self.branch or self.else_ or ""


class Compensate(Model):
    """What undoes a completed step if its run ends without success: a handler, with the step's retries and timeouts."""

    handler: str
    """The code that undoes the step."""
    config: dict[str, Json] = Field(default_factory=dict)
    """What that handler gets; may hold templates, which can read the step's output."""


class Cache(Model):
    """Keeps a handler step's output for other runs: equal work is done once in `ttl_seconds`, and not again."""

    key: Json = None
    """What tells equal work: a text, or JSON with templates in it; by default the config as the handler gets it."""
    ttl_seconds: Seconds
    """How old an output may be that is used in place of a call."""


OnItemError = Literal["collect", "fail_fast"]


class ForEach(Model):
    """Runs the step once for each element of a list, `max_concurrency` at a time."""

    items: Json
    """A template that gives the list, or the list itself."""
    key: str | None = None
    """An expression over `item` and `index` that names an item; by default its place in the list."""
    max_concurrency: Annotated[int, Field(ge=1, le=500)] = 10
    """Most items that run at once: as one ends, the next begins."""
    on_item_error: OnItemError = "collect"
    """`collect`: every item runs, whatever becomes of the others; `fail_fast`: too many failures stop the rest."""
    max_failures: Annotated[int, Field(ge=0)] = 0
    """The step fails if more items than this have failed."""
