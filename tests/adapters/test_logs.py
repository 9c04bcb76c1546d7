"""What a process logs: one line an event, nothing that commands a terminal, no token."""

import datetime as dt
import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from docrail.adapters.log_context import become_busy_with, busy_with
from docrail.adapters.logs import JsonFormatter, LineFormatter, configure_logs, redact
from docrail.adapters.postgres.tenants import no_tenant, of_tenant

CALLBACK = "WyJkZWZhdWx0Iiwib3JkZXIuMSIsImFzayIsMTc5NjAwMDAwMF0.y3uX0cK1l4Wb2o7m6V8s9Q1e2R3t4Y5u6I7o8P9a0Sd"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl"
KEY = "docrail_0123456789abcdef_" + "ab" * 32


def formatted(message: str, *secrets: str, error: BaseException | None = None) -> str:
    info = (type(error), error, None) if error else None
    record = logging.LogRecord("docrail.api", logging.WARNING, "x.py", 1, message, (), info)
    return LineFormatter(secrets).format(record)


def test_a_line_feed_in_a_message_forges_no_line() -> None:
    assert formatted("a\n2026-11-30 CRITICAL b\r\x1b[2J").endswith(
        "WARNING docrail.api: a\\n2026-11-30 CRITICAL b\\r\\x1b[2J"
    )


def test_every_line_of_a_traceback_is_indented_and_printable() -> None:
    first, *rest = formatted("failed", error=ValueError("a\n2026-11-30 CRITICAL \u202eb\x9b2J")).split("\n")
    assert first.endswith("WARNING docrail.api: failed")
    assert rest == ["    ValueError: a", "    2026-11-30 CRITICAL \\u202eb\\x9b2J"]


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        (f"POST /v1/callbacks/{CALLBACK} failed", "POST /v1/callbacks/[removed] failed"),
        (f"the token {CALLBACK}", "the token [removed]"),
        (f"the key {KEY}", "the key docrail_0123456789abcdef_[removed]"),
        (f"Authorization: Bearer {KEY}", "Authorization: [removed]"),
        ("{'authorization': 'Basic dTpw', 'accept': '*/*'}", "{'authorization': '[removed]', 'accept': '*/*'}"),
        ("[(b'Cookie', b'docrail=abc; a=b'), (b'Host', b'x')]", "[(b'Cookie', b'[removed]'), (b'Host', b'x')]"),
        (f"sent bearer {JWT}", "sent bearer [removed]"),
        (f"the token is {JWT}", "the token is [removed]"),
        ("postgresql://docrail:p4ss%40@db:5432/docrail", "postgresql://docrail:[removed]@db:5432/docrail"),
        ("GET /auth?code=4711&state=x HTTP", "GET /auth?code=[removed]&state=[removed] HTTP"),
        ('{"access_token": "abc", "expires_in": 60}', '{"access_token": "[removed]", "expires_in": 60}'),
        ("host=db password=hunter2 port=1", "host=db password=[removed] port=1"),
        ("the setting is s3cr3t-value", "the setting is [removed]"),
        ("exit code=5, key=order-4711, state=open", "exit code=5, key=order-4711, state=open"),
        ("invoice.doc_0f9c6c4b3a2d4e5f8a7b6c5d4e3f2a1b failed", "invoice.doc_0f9c6c4b3a2d4e5f8a7b6c5d4e3f2a1b failed"),
    ],
)
def test_a_token_is_removed_whatever_surrounds_it(text: str, logged: str) -> None:
    assert formatted(text, "s3cr3t-value", "short").endswith(f": {logged}")
    assert logged in formatted("failed", "s3cr3t-value", error=ValueError(text))


def test_a_token_at_the_cut_of_a_long_message_is_removed() -> None:
    for place in range(15_000, 16_100, 97):
        assert CALLBACK[:20] not in formatted(f"{'x ' * (place // 2)}{CALLBACK} {'y ' * 10_000}")


@pytest.mark.parametrize("text", ["a.a-", "WyI-", "x://:", "eyJaaaaaaaaaa.", "Bearer ", "password=", "docrail_"])
def test_a_hostile_message_costs_little(text: str) -> None:
    """Each form is looked for in time that grows with the text, not with its square."""
    assert len(redact(text * 5_000)) <= len(text) * 5_000 * 3


@pytest.fixture
def restored() -> Iterator[None]:
    root, hook, raises = logging.getLogger(), sys.excepthook, logging.raiseExceptions
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(capture=False)
    logging.basicConfig(level=level, handlers=handlers, force=True)
    for name in ("uvicorn", "temporalio"):
        logging.getLogger(name).setLevel(logging.NOTSET)
    sys.excepthook, logging.raiseExceptions = hook, raises


@pytest.mark.usefixtures("restored")
def test_lines_of_libraries_and_uncaught_errors_pass_through_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stderr := io.StringIO())
    configure_logs("debug", ["s3cr3t-value"])
    logging.getLogger("httpx").debug("GET https://x?token=%s", "abc")
    logging.getLogger("asyncpg").error("broken %d", "s3cr3t-value")
    sys.excepthook(ValueError, ValueError("s3cr3t-value\x1b[2J"), None)
    lines = stderr.getvalue().splitlines()
    assert lines[0].endswith("DEBUG httpx: GET https://x?token=[removed]")
    assert lines[1].endswith("CRITICAL docrail: uncaught error")
    assert lines[2:] == ["    ValueError: [removed]\\x1b[2J"]


def test_a_json_line_has_the_ids_of_what_the_code_is_busy_with() -> None:
    record = logging.LogRecord("docrail.api", logging.WARNING, "x.py", 1, "lost %s\n\x1b[2J", (KEY,), None)
    line = {"level": "warning", "logger": "docrail.api"}
    line |= {"message": "lost docrail_0123456789abcdef_[removed]\\n\\x1b[2J"}
    assert json_of(record) == line
    asked = {"run_id": "invoice.1", "step_id": "extract", "document_id": None, "password": "x", "batch_id": "b" * 301}
    with of_tenant("acme"), busy_with(asked):
        become_busy_with({"run_id": "invoice.\u202e2"})
        assert json_of(record) == line | {"tenant_id": "acme", "run_id": "invoice.\\u202e2"}
    with no_tenant(), busy_with(asked), busy_with({}):
        assert json_of(record) == line


def test_a_traceback_is_a_field_of_its_json_line() -> None:
    error = ValueError(f"a\n{{}} {KEY}")
    record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "failed", (), (ValueError, error, None))
    assert json_of(record)["traceback"] == "ValueError: a\n{} docrail_0123456789abcdef_[removed]"


def json_of(record: logging.LogRecord) -> dict[str, str]:
    """Return the event of a line, whose time is in UTC."""
    line = JsonFormatter().format(record)
    assert line.isprintable()
    event: dict[str, str] = json.loads(line)
    assert dt.datetime.fromisoformat(event.pop("time")).utcoffset() == dt.timedelta(0)
    return event
