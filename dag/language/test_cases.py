"""Define the tests of a definition, written after its steps: mocked results, and the expected end of the run."""

from typing import Annotated, Literal

from pydantic import Field

from docrail.dag.language.statuses import LONGEST_TYPE, SkipReason
from docrail.dag.language.step_kinds import Id, Model, may_be_text
from docrail.dag.values.json_values import LONGEST_MESSAGE, Json

MAX_TRIALS = 100
"""Tests per definition: all of them run when it is published with its tests."""

TrialStatus = Literal["completed", "failed", "aborted", "waiting"]
"""How a tested run ends. Cancelling is not tested."""

StepEnd = Literal["completed", "failed", "skipped", "cancelled", "parked", "waiting", "pending"]
"""A step's status when its run has ended; the last three occur only in a run that ends `waiting`."""


class Failure(Model):
    """A failure of a step's last attempt: the error's class, or `{type, message, retryable}`.

    A `retryable` one counts as having used up the step's retries, without waiting for any.
    """

    type: Annotated[str, Field(min_length=1, max_length=LONGEST_TYPE)]
    """The class of the error, as `retry_config.non_retryable` names it."""
    message: Annotated[str, Field(max_length=LONGEST_MESSAGE)] = "failed as the test says"
    """The error's message."""
    retryable: bool = False
    """Whether the error is retried: the step then counts as having made all its attempts instead of one."""

    _from_text = may_be_text("type")


class ItemMock(Model):
    """The result of one item of a step's list: an output or a failure."""

    output: Json = None
    """The output of its handler or its nested run."""
    failure: Failure | None = None
    """How it fails."""


class Mock(Model):
    """The mocked result of a step, given by the fields that fit its kind."""

    output: Json = None
    """The output of its handler or its nested run; for a list, of each item that `items` does not name."""
    failure: Failure | None = None
    """How its handler or its nested run fails."""
    undo_failure: Failure | None = None
    """How its compensation fails, should it run; by default it succeeds."""
    items: dict[str, ItemMock] = Field(default_factory=dict)
    """Results of the items of its list, by key."""
    answer: Json = None
    """The answer it gets as soon as it waits."""
    times_out: bool = False
    """Whether no answer arrives in time."""


class ExpectedStep(Model):
    """The expected end of a step: its status, or the given fields. Objects may have more keys than expected."""

    status: StepEnd | None = None
    """The step's status."""
    reason: SkipReason | None = None
    """Why it was skipped."""
    error: str | None = None
    """The class of its error."""
    branch: Id | None = None
    """The branch that it took."""
    config: dict[str, Json] | None = None
    """The resolved config of its handler, nested run or question."""
    output: Json = None
    """Its output; for a list, `total`, `completed`, `failed` and `items`."""

    _from_text = may_be_text("status")


class Expectation(Model):
    """The expected end of the run. Omitted fields are not checked."""

    status: TrialStatus
    """How the run ends."""
    reason: Annotated[str, Field(min_length=1)] | None = None
    """Part of the reason why the run failed or was aborted."""
    steps: dict[str, ExpectedStep] = Field(default_factory=dict)
    """The expected end of each step, by id."""
    outputs: dict[str, Json] = Field(default_factory=dict)
    """The outputs of the run, by name."""
    undone: tuple[str, ...] | None = None
    """The steps that were compensated, in this order."""


class Trial(Model):
    """One test: the inputs of a run, the mocked results of its steps, and the expected end."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    """The name of the test, best a sentence."""
    inputs: dict[str, Json] = Field(default_factory=dict)
    """The inputs of the run."""
    document: dict[str, Json] | None = None
    """The value of `document` in expressions; `document_id` is generated unless given."""
    steps: dict[str, Mock] = Field(default_factory=dict)
    """By step: the mocked result of its handler, its nested run or its question. Nothing else is called."""
    expect: Expectation
    """The expected end of the run."""


Trials = Annotated[tuple[Trial, ...], Field(max_length=MAX_TRIALS)]
