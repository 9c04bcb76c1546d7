"""Define why an outgoing call failed, and whether a retry may help.

Only `activities/wrapper.py` passes this to Temporal.

A ValueError is never retried, everything else is. No message contains more of an address than its host: paths and
queries may contain keys.
"""

import datetime as dt
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from docrail.handlers import RetryLaterError

MAX_RETRY_AFTER_SECONDS = 86_400.0
"""Upper bound for `Retry-After`: a service unavailable for longer than a day needs a person, not a timer."""

PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
"""Statuses of 4xx that allow a retry; all others mean that the request itself is wrong."""


class WorkerNotConfiguredError(Exception):
    """The worker lacks a setting that the step needs. Not a failed attempt: the run leaves it to another worker."""


class UnreachableError(ConnectionError):
    """No answer was received: the name has no address, or the connection broke or was refused."""


class OutgoingTimeoutError(TimeoutError):
    """No complete answer was received within the call's timeout."""


class RequestRefusedError(ValueError):
    """The service refused the request, and would refuse it again (RFC 9110: 4xx except 408, 425 and 429)."""

    def __init__(self, request: str, status: int, excerpt: str = "") -> None:
        super().__init__(_answered(request, status, excerpt))
        self.status = status


class AnswerUnusableError(ValueError):
    """The answer is too large, or not of its declared type."""


class TryAgainLaterError(RetryLaterError):
    """The service cannot answer now (408, 425, 429, 5xx). `retry_after_seconds`: the requested delay, if any."""

    def __init__(
        self, request: str, status: int, excerpt: str = "", *, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(_answered(request, status, excerpt), retry_after_seconds=retry_after_seconds)
        self.status = status


def refusal(request: str, status: int, excerpt: str = "", *, retry_after: str | None = None) -> Exception:
    """Return the error for a status. `request` is the message's subject, such as `POST https://api.example`."""
    if status in PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return TryAgainLaterError(request, status, excerpt, retry_after_seconds=seconds_of(retry_after))
    return RequestRefusedError(request, status, excerpt)


def retry_after_of(headers: Mapping[str, str]) -> str | None:
    """Return the `Retry-After` among headers with lowercase names."""
    return headers.get("retry-after")


def seconds_of(retry_after: str | None) -> float | None:
    """Return the delay of a `Retry-After` header in seconds (RFC 9110: a number, or a date); None if there is none."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        seconds = float(text[:12])  # more digits cannot be meant seriously
    else:
        try:
            until = parsedate_to_datetime(text)
        except ValueError:
            return None
        until = until if until.tzinfo else until.replace(tzinfo=dt.UTC)
        seconds = (until - dt.datetime.now(dt.UTC)).total_seconds()
    return min(seconds, MAX_RETRY_AFTER_SECONDS) if seconds > 0 else None


def _answered(request: str, status: int, excerpt: str) -> str:
    try:
        name = f" {HTTPStatus(status).phrase}"
    except ValueError:
        name = ""
    return f"{request} answered {status}{name}" + (f": {excerpt}" if excerpt else "")
