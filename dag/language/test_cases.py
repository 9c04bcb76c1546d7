"""Tests of a definition, written beside its steps: what the outside gives, and what must become of the run."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from docrail.dag.language.statuses import LONGEST_TYPE, SkipReason
from docrail.dag.language.step_kinds import Id, Model
from docrail.dag.values.json_values import LONGEST_MESSAGE, Json

MAX_TRIALS = 100
"""Of one definition: all of them run when it is published with its tests."""

TrialStatus = Literal["completed", "failed", "aborted", "waiting"]
"""How a tested run ends. Nobody cancels it."""

StepEnd = Literal["completed", "failed", "skipped", "cancelled", "parked", "waiting", "pending"]
"""How a step stands when its run has ended; the last three only in a run that ends `waiting`."""


class Failure(Model):
    """A step's last attempt fails: the error's class, or `{type, message, retryable}`.

    A `retryable` one is counted as having used up the step's retries; none of them is waited for.
    """

    type: Annotated[str, Field(min_length=1, max_length=LONGEST_TYPE)]
    """The class of the error, as `retry_config.non_retryable` names it."""
    """The error's class."""
    message: Annotated[str, Field(max_length=LONGEST_MESSAGE)] = "failed as the test says"
    """What the error says."""
    """The error's text."""
    retryable: bool = False
    """Whether the step is tried again before it fails: it then has made all its attempts, and not one."""
    """Whether the error is one that is tried again."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Json) -> Json:
        return {"type": value} if isinstance(value, str) else value


class ItemMock(Model):
    """What one item of a step's list gives: an output or a failure."""

    output: Json = None
    """What its handler or its nested run gives."""
    failure: Failure | None = None
    """How it fails."""


class Mock(Model):
    """What stands for the outside of a step: one of these, as its kind asks."""

    output: Json = None
    """What its handler or its nested run gives; where it runs over a list, each item that `items` does not name."""
    failure: Failure | None = None
    """How its handler or its nested run fails."""
    undo_failure: Failure | None = None
    """How what undoes the step fails, should it be undone; by default that succeeds."""
    items: dict[str, ItemMock] = Field(default_factory=dict)
    """By key, what the items of its list give."""
    answer: Json = None
    """What somebody answers as soon as it waits."""
    times_out: bool = False
    """Nobody answers in time."""


class ExpectedStep(Model):
    """How a step must stand in the end: its status, or what is said of it here. Objects may hold more than is said."""

    status: StepEnd | None = None
    """How the step stands."""
    reason: SkipReason | None = None
    """Why it was skipped."""
    error: str | None = None
    """The class of its error."""
    branch: Id | None = None
    """The way out that it has taken."""
    config: dict[str, Json] | None = None
    """What its handler, its nested run or its person was given, templates resolved."""
    output: Json = None
    """What it gave; where it runs over a list, `total`, `completed`, `failed` and `items`."""
    """What the step gives."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Json) -> Json:
        return {"status": value} if isinstance(value, str) else value


class Expectation(Model):
    """What must become of the run. What is not said may be anything."""

    status: TrialStatus
    """How the run ends."""
    reason: Annotated[str, Field(min_length=1)] | None = None
    """A part of the reason that the run gives for having failed or been aborted."""
    steps: dict[str, ExpectedStep] = Field(default_factory=dict)
    """By step: how it stands."""
    outputs: dict[str, Json] = Field(default_factory=dict)
    """What the run gives, by name."""
    undone: tuple[str, ...] | None = None
    """The steps that were undone, in this order."""


class Trial(Model):
    """One test: the inputs of a run, what the outside gives its steps, and what must become of it."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    """What the test is called: a sentence says most."""
    inputs: dict[str, Json] = Field(default_factory=dict)
    """What the run is started with."""
    document: dict[str, Json] | None = None
    """What expressions read as `document`; `document_id` is made up unless it is said."""
    steps: dict[str, Mock] = Field(default_factory=dict)
    """By step: what stands for its handler, its nested run, or whoever answers. Nothing else is ever asked."""
    expect: Expectation
    """What must become of the run."""


Trials = Annotated[tuple[Trial, ...], Field(max_length=MAX_TRIALS)]
