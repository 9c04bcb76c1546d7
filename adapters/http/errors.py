"""Why a call to the outside failed, and whether trying again may help. Only `execute.py` tells Temporal of it.

A ValueError is never retried, everything else is. No message carries more of an address than its host: paths and
queries hold keys.
"""

import datetime as dt
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from docrail.handlers import RetryLaterError

MAX_RETRY_AFTER_SECONDS = 86_400.0
"""Most that a `Retry-After` is believed: what is away for longer than a day needs a person, not a timer."""

PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
"""The refusals that say "later"; all others of 4xx say that the request itself is wrong."""


class WorkerNotConfiguredError(Exception):
    """A setting that the step needs is not set on this worker. It is retried: another worker may have it."""


class UnreachableError(ConnectionError):
    """No answer came: the name has no address, or the connection broke or was refused."""


class OutgoingTimeoutError(TimeoutError):
    """No whole answer came within the time of the call."""


class RequestRefusedError(ValueError):
    """The other side said no, and would say it again (RFC 9110: 4xx but 408, 425 and 429)."""

    def __init__(self, request: str, status: int, excerpt: str = "") -> None:
        super().__init__(_answered(request, status, excerpt))
        self.status = status


class AnswerUnusableError(ValueError):
    """An answer came, and is too large, or not what it says it is."""


class TryAgainLaterError(RetryLaterError):
    """The other side cannot answer now (408, 425, 429, 5xx). `retry_after_seconds` is what it asked for, if it did."""

    def __init__(
        self, request: str, status: int, excerpt: str = "", *, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(_answered(request, status, excerpt), retry_after_seconds=retry_after_seconds)
        self.status = status


def refusal(request: str, status: int, excerpt: str = "", *, retry_after: str | None = None) -> Exception:
    """Return the error that a status means. `request` is its subject: `POST https://api.example`."""
    if status in PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return TryAgainLaterError(request, status, excerpt, retry_after_seconds=seconds_of(retry_after))
    return RequestRefusedError(request, status, excerpt)


def retry_after_of(headers: Mapping[str, str]) -> str | None:
    """Return the `Retry-After` among headers with lower-case names."""
    return headers.get("retry-after")


def seconds_of(retry_after: str | None) -> float | None:
    """Return the seconds that a `Retry-After` header asks for (RFC 9110: a number, or a date); None if it asks none."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        seconds = float(text[:12])  # more digits are no time anybody means
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
