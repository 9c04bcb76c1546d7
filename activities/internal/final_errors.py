"""Decide which errors of internal activities are worth another attempt."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from temporalio.exceptions import ApplicationError

from docrail.adapters.http.errors import WorkerNotConfiguredError
from docrail.handlers import RetryLaterError


@contextmanager
def final_errors() -> Iterator[None]:
    """Retry no error that another attempt would meet again, and others when their service asks for it."""
    try:
        yield
    except (ValueError, WorkerNotConfiguredError) as error:
        raise ApplicationError(str(error), type=type(error).__name__, non_retryable=True) from error
    except RetryLaterError as error:
        seconds = error.retry_after_seconds
        delay = None if seconds is None else timedelta(seconds=seconds)
        raise ApplicationError(str(error), type=type(error).__name__, next_retry_delay=delay) from error
