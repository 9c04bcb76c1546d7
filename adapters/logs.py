"""Write a process's log: one line an event, as text or JSON, safe to print, without tokens.

The handler is the root logger's, so that every library's lines pass through it too, at every level. A line feed in a
message is escaped: it would forge a line. The lines of a traceback are indented.

Code does not log tokens. What it cannot know is removed here: tokens in the errors of libraries, in the URLs that a
client logs while it is debugged, in answers of other services. Two ways find them: the values of the process's own
secret settings, and the forms that tokens have.
"""

import datetime as dt
import json
import logging
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from types import TracebackType

from docrail.adapters.log_context import present_ids
from docrail.adapters.log_limit import LogLimit
from docrail.adapters.postgres.tenants import visible_rows
from docrail.dag.values.printable import printable

REMOVED = "[removed]"
SHORTEST_SECRET = 8
"""Shorter values, in characters, are found in innocent words too."""

LONGEST, MARGIN = 16_000, 5_000
"""Most characters of a message, or of the end of a traceback. A token that the cut would break is within the margin."""

_HEADERS = "authorization|proxy-authorization|cookie|set-cookie|x-api-key|x-goog-api-key|x-goog-iam-authorization-token"
_FIELDS = "access_token|id_token|refresh_token|client_secret|client_assertion|code_verifier|api[_-]?key|password|passwd"
_TOKEN = r"[A-Za-z0-9_~+/=-]"  # noqa: S105 - an alphabet

FORMS: tuple[re.Pattern[str], ...] = tuple(
    map(
        re.compile,
        (
            rf"(?i)(?P<before>\b(?:{_HEADERS})\b['\"]?\s*[:=,]\s*(?:b(?=['\"]))?['\"]?)[^'\"\n]+",
            r"(?i)(?P<before>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{4,}",
            r"(?P<before>/v1/callbacks/)[^\s\"'?#/]+",
            r"(?P<before>\bdocrail_[0-9a-f]{16}_)[0-9a-f]+",
            r"(?P<before>)\bWy[I-L][A-Za-z0-9_-]{9,4000}\.[A-Za-z0-9_-]{43}",  # of callbacks: a JSON list and its HMAC
            r"(?P<before>)\beyJ[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]*){1,4}",  # JWT: JWS and JWE
            r"(?P<before>\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@'\"]{0,200}:)[^\s@/'\"]{1,500}(?=@)",  # in a URL
            r"(?i)(?P<before>[?&](?:code|state|key|token|sig|signature|x-amz-signature|x-amz-credential)=)[^&\s'\"#]+",
            rf"(?i)(?P<before>\b(?:{_FIELDS})['\"]?\s*[:=]\s*['\"]?)[^&\s'\",;}}]+",
            rf"(?P<before>\bwhsec_){_TOKEN}+",
            r"(?P<before>\bAIza)[A-Za-z0-9_-]{20,}",
            r"(?s)(?P<before>-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(?=-----END|\Z)",
        ),
    )
)
"""What tokens look like. Group `before` stays."""


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` with `secrets`, and all that has the form of a token, replaced."""
    for secret in secrets:
        text = text.replace(secret, REMOVED)
    for form in FORMS:
        text = form.sub(rf"\g<before>{REMOVED}", text)
    return text


class LineFormatter(logging.Formatter):
    """Formats an event as `time level logger: message` on one line, with an indented traceback after it."""

    def __init__(self, secrets: Collection[str] = ()) -> None:
        super().__init__()
        known = (secret for secret in secrets if len(secret) >= SHORTEST_SECRET)
        self._secrets = sorted(known, key=len, reverse=True)  # one may contain another

    def format(self, record: logging.LogRecord) -> str:
        """Return the event's lines."""
        lines = [f"{self.formatTime(record)} {record.levelname} {record.name}: {self.message_of(record)}"]
        return "\n".join([*lines, *(f"    {line}" for line in self.traceback_of(record))])

    def message_of(self, record: logging.LogRecord) -> str:
        """Return the message on one line, without tokens."""
        return printable(redact(record.getMessage()[: LONGEST + MARGIN], self._secrets)[:LONGEST])

    def traceback_of(self, record: logging.LogRecord) -> list[str]:
        """Return the lines of the traceback, without tokens; empty if the event has none."""
        if not (record.exc_info and record.exc_info[0]):
            return []
        trace = redact(self.formatException(record.exc_info)[-LONGEST - MARGIN :], self._secrets)[-LONGEST:]
        return printable(trace, lines=True).split("\n")


class JsonFormatter(LineFormatter):
    """Formats an event as a JSON object on one line, with the ids of what the code is busy with (ADR 42)."""

    def __init__(self, secrets: Collection[str] = (), trace_ids: Callable[[], Mapping[str, str]] = dict) -> None:
        super().__init__(secrets)
        self._trace_ids = trace_ids

    def format(self, record: logging.LogRecord) -> str:
        """Return the event's line."""
        rows, trace = visible_rows(), self.traceback_of(record)
        event = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.message_of(record),
            **({"tenant_id": rows.tenant_id} if rows and rows.tenant_id else {}),
            **present_ids(),
            **self._trace_ids(),
            **({"traceback": "\n".join(trace)} if trace else {}),
        }
        return json.dumps({name: printable(value, lines=True) for name, value in event.items()}, ensure_ascii=False)


def configure_logs(
    level: str = "WARNING",
    secrets: Collection[str] = (),
    *,
    as_json: bool = False,
    is_bounded: bool = False,
    trace_ids: Callable[[], Mapping[str, str]] = dict,
) -> None:
    """Make every logger of this process write lines to stderr, those of our servers from INFO on.

    `secrets`: values that no line may contain, whatever their form. `is_bounded`: whether the lines of a minute are
    limited, because callers cause them. `trace_ids`: gives a JSON line the ids of the present trace.
    """
    handler = logging.StreamHandler()
    if is_bounded:
        handler.addFilter(LogLimit())
    handler.setFormatter(JsonFormatter(secrets, trace_ids) if as_json else LineFormatter(secrets))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for server in ("uvicorn", "docrail.api.server"):
        logging.getLogger(server).setLevel(min(logging.INFO, logging.getLogger().level))
    # At its debug level Temporal's client writes what it sends and receives: the content of documents.
    logging.getLogger("temporalio").setLevel(max(logging.INFO, logging.getLogger().level))
    logging.raiseExceptions = False  # it would print a broken message's arguments as they are
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    logging.getLogger("docrail").critical("uncaught error", exc_info=(kind, error, trace))
