"""What a run makes of a failed activity whose last heartbeat says something."""

import pytest
from temporalio import exceptions
from temporalio.exceptions import ActivityError, RetryState, TimeoutType

from docrail.dag.engine.state import EarlierError, StepError
from docrail.dag.language.definition import Step
from docrail.dag.values.json_values import Json
from docrail.workflows.failures import attempts_of, earlier_of

STEP = Step.model_validate({"id": "a", "handler": "noop", "max_retries": 3})
REPORTED: Json = {"attempt": 1, "error": {"type": "ValueError", "message": "no"}}


def silent(*heartbeat: Json) -> ActivityError:
    """Return what a workflow gets when the last of all attempts ended without a word, but for this heartbeat."""
    error = ActivityError(
        "failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="w",
        activity_type="noop",
        activity_id="a",
        retry_state=RetryState.MAXIMUM_ATTEMPTS_REACHED,
    )
    error.__cause__ = exceptions.TimeoutError("late", type=TimeoutType.HEARTBEAT, last_heartbeat_details=heartbeat)
    return error


@pytest.mark.parametrize(
    ("heartbeat", "attempts"),
    [
        ((), 4),
        ((2,), 2),
        ((2, [REPORTED]), 2),
        ((1, [REPORTED]), 2),
        (("page", 3), 4),
        ((2, "x"), 2),
        ((2, [{"a": 1}]), 2),
    ],
)
def test_how_many_attempts_there_were(heartbeat: tuple[Json, ...], attempts: int) -> None:
    """Without reported errors the count is inferred: conditions read it."""
    assert attempts_of(STEP, silent(*heartbeat)) == attempts


@pytest.mark.parametrize("heartbeat", [(), (1,), ("page", 3), (1, "x"), (1, [7]), (1, [{"attempt": "x"}])])
def test_foreign_heartbeat_details_are_not_read_as_errors(heartbeat: tuple[Json, ...]) -> None:
    assert earlier_of(silent(*heartbeat)) == ()


def test_errors_that_were_left_are_read() -> None:
    assert earlier_of(silent(2, [REPORTED])) == (EarlierError(1, StepError("ValueError", "no")),)
