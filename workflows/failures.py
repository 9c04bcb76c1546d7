"""Translate Temporal's failures for a step: its error in the author's terms, and the number of attempts."""

from temporalio import exceptions
from temporalio.exceptions import ActivityError, ApplicationError, ChildWorkflowError, RetryState, TimeoutType

from docrail.dag.engine.state import EarlierError, StepError
from docrail.dag.language.definition import Step
from docrail.workflows.contract.messages import EARLIER_ERRORS, errors_left

_TIMEOUTS = {
    TimeoutType.START_TO_CLOSE: "one attempt took longer than {timeout_seconds:g} s (timeout_seconds)",
    TimeoutType.SCHEDULE_TO_CLOSE: "all attempts together took longer than {total_timeout_seconds} s",
    TimeoutType.SCHEDULE_TO_START: "no worker took the step in time",
    TimeoutType.HEARTBEAT: "the worker died or hung: no heartbeat for {heartbeat_seconds:g} s",
}

PAYLOAD_KEY_MISSING = "PayloadKeyError"
"""Type of the error of a worker that cannot decrypt a step's input (adapters/temporal/codec.py)."""


def error_of(step: Step, error: BaseException) -> StepError:
    """Return why a step failed, from the exception that awaiting its activity raised."""
    cause = error.__cause__ if isinstance(error, ActivityError | ChildWorkflowError) else error
    match cause:
        case ApplicationError():
            return StepError(cause.type or "Error", cause.message)
        case exceptions.TimeoutError(type=TimeoutType() as kind):
            return StepError("Timeout", _TIMEOUTS[kind].format_map(dict(step)))
        case _:
            return StepError(type(cause or error).__name__, str(cause or error))


def attempts_of(step: Step, error: BaseException, failed_before: int = 0) -> int:
    """Return how many attempts were made, as the wrapper reports or, if it did not run last, by inference.

    `failed_before` attempts were made in earlier activities of the step.
    """
    match error:
        case ActivityError(__cause__=ApplicationError(details=[{"attempt": int(attempt)}, *_])):
            return attempt
        case ActivityError(__cause__=exceptions.TimeoutError(last_heartbeat_details=[int(attempt), *_])):
            has_failed = any(each.attempt == attempt for each in earlier_of(error))
            return attempt + has_failed  # the next attempt had begun, without a report yet
        case ActivityError(retry_state=RetryState.MAXIMUM_ATTEMPTS_REACHED):
            return step.max_retries + 1
        case _:
            return failed_before + 1


def earlier_of(error: BaseException) -> tuple[EarlierError, ...]:
    """Return how attempts before the last one failed, as the wrapper reported them."""
    match error:
        case ActivityError(__cause__=ApplicationError(details=[{"earlier": errors}, *_])):
            return EARLIER_ERRORS.validate_python(errors)
        case ActivityError(__cause__=exceptions.TimeoutError(last_heartbeat_details=heartbeat)):
            return errors_left(heartbeat)
        case _:
            return ()


def is_out_of_time(error: BaseException) -> bool:
    """Return whether a step was not retried only because the time for all its attempts ran out."""
    if not isinstance(error, ActivityError):
        return False
    cause = error.__cause__
    is_total = isinstance(cause, exceptions.TimeoutError) and cause.type is TimeoutType.SCHEDULE_TO_CLOSE
    return is_total or error.retry_state is RetryState.TIMEOUT


def is_unfit(step: Step, error: BaseException) -> bool:
    """Return whether the last attempt's worker lacks the step's handler, or a setting or a key that it needs.

    If the definition names the error in `non_retryable`, the step fails instead.
    """
    match error:
        case ActivityError(__cause__=ApplicationError(type=kind, details=[{"unfit": True}, *_])):
            return kind not in step.retry_config.non_retryable
        case ActivityError(__cause__=ApplicationError(type=kind)):
            return kind == PAYLOAD_KEY_MISSING
        case _:
            return False


def may_pass(step: Step, error: BaseException | None) -> bool:
    """Return whether a step's failure was retryable, so that only its attempts or its time ran out."""
    if error is not None and is_unfit(step, error):
        return True
    if not isinstance(error, ActivityError) or error.retry_state is RetryState.NON_RETRYABLE_FAILURE:
        return False
    return not (isinstance(error.__cause__, ApplicationError) and error.__cause__.non_retryable)
