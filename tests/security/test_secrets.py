"""A secret that was sent to a hostile service appears nowhere: not in what Docrail stores, shows or logs."""

import base64
import json
import logging
import re
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
from prometheus_client import generate_latest

from docrail.adapters.temporal.codec import decrypt
from docrail.adapters.temporal.connection import connect, find_connection
from docrail.adapters.temporal.draining import working
from docrail.dag.values.json_values import Json
from docrail.services.definitions.service import publish_shipped
from docrail.services.tools import Tools
from docrail.settings import Settings
from docrail.worker import build_workers, open_tools
from docrail.workflows.contract.names import workflow_id
from tests.adapters.test_redaction import encoded, escaped
from tests.api.conftest import dsn
from tests.api.service import Service, is_ready, serve, settings_for
from tests.loopback import Loopback, Reply, loopback, reply_json
from tests.stack import Servers, eventually

__all__ = ["dsn"]

TOKEN, PASSWORD, HOST = "tok_live/\"aB+c'd<9>Zq&7", "Wombat-4711-Sesame", "quokka4711sesame"
BASIC = base64.b64encode(f"docrail:{PASSWORD}".encode()).decode()
SECRETS = {"token": TOKEN, "basic": BASIC, "host": HOST}
VALUES = (TOKEN, PASSWORD, HOST)
HEADERS = {"X-Token": "secret://token", "Authorization": "Basic secret://basic", "X-Host": "secret://host"}

CARELESS = '''"""Send a secret everywhere, log it and raise it."""

import logging

from pydantic import BaseModel

from docrail import Handler, StepCall, Tools


class Config(BaseModel, extra="forbid"):
    url: str
    key: str
    raises: bool


class Output(BaseModel):
    said: dict[str, str]


async def run(call: StepCall[Config], tools: Tools) -> Output:
    key = await tools.secrets.load(call, call.config.key.removeprefix("secret://"))
    answer = await tools.http.request(
        call, "POST", f"{call.config.url}/?key={key}", body={"key": key}, expected_statuses=[200, 401]
    )
    logging.getLogger("careless").error("sent %s, got %s", key, answer.text())
    if call.config.raises:
        try:
            raise RuntimeError(f"the key {key} was refused")
        except RuntimeError as error:
            raise ValueError(f"refused {key!r}: {answer.text()}") from error
    return Output(said={key: f"the key is {key[::-1]}", "answer": answer.text()})


HANDLER = Handler("careless", Config, Output, run)
'''


@dataclass(frozen=True, slots=True)
class Installation:
    """An API and a worker that has secrets and may call 127.0.0.1."""

    service: Service
    tools: Tools
    settings: Settings


@pytest.fixture
async def installation(
    embedded: Servers, dsn: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Installation]:
    caplog.set_level(logging.DEBUG)
    for name, value in SECRETS.items():
        file = tmp_path / "secrets" / "default" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value)
        file.with_name(f"{name}.hosts").write_text("127.0.0.1")
    (tmp_path / "handlers").mkdir()
    (tmp_path / "handlers" / "careless.py").write_text(CARELESS)
    more = {
        "allowed_hosts": ("127.0.0.1",),
        "secrets_dir": tmp_path / "secrets",
        "handlers": (str(tmp_path / "handlers"),),
    }
    settings = settings_for(embedded.temporal_address, dsn, tmp_path / "data").model_copy(update=more)
    client = await connect(find_connection(settings.temporal_address, None, envconfig=False))
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(serve(settings))
        tools = await stack.enter_async_context(open_tools(settings))
        await stack.enter_async_context(working(build_workers(client, settings, tools)))
        await publish_shipped(service.app)

        await eventually(lambda: is_ready(service), "the API to be ready")
        yield Installation(service, tools, settings)


def forms() -> list[str]:
    """Return the forms in which the service repeats what it was sent."""
    return [form for value in (*VALUES, BASIC) for form in (*escaped(value), *encoded(value))]


def plain(text: str) -> str:
    """Return letters and digits only: however often the text was escaped, a secret's own remain."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def assert_clean(place: str, text: str) -> None:
    found = plain(text)
    for form in {plain(form) for form in (*forms(), PASSWORD[:10])}:
        assert form not in found, f"{place} shows {form}"


def step(step_id: str, server: Loopback, handler: str = "call_external_service", **config: Json) -> dict[str, Json]:
    config = {"url": server.url, "headers": HEADERS, **config}
    short = {"retry_config": {"initial_delay": 0.05, "jitter": 0}, "max_retries": 1, "total_timeout_seconds": 10}
    return {"id": step_id, "handler": handler, "config": config, "optional": True, **short}


def careless(step_id: str, server: Loopback, *, raises: bool) -> dict[str, Json]:
    config = {"url": server.url, "key": "secret://host", "raises": raises}
    return {"id": step_id, "handler": "careless", "config": config, "optional": True}


def hostile_replies() -> dict[str, Reply]:
    """Return answers that repeat what was sent, in a body, a header, an error, a redirect, cut and split."""
    whole = " | ".join(forms())
    named = {f"form {number} {form}": form for number, form in enumerate(forms())}
    return {
        "echoed": reply_json({"you": whole, "forms": forms(), **named}, ETag=HOST, Link=f"<{BASIC}>"),
        "text": Reply(body=whole.encode(), headers={"Content-Type": "text/html", "X-Request-Id": HOST}),
        "utf16": Reply(body=whole.encode("utf-16"), headers={"Content-Type": "text/plain; charset=utf-16"}),
        "file": Reply(body=whole.encode(), headers={"Content-Type": "image/png"}),
        "refused": Reply(403, whole.encode()),
        "failing": Reply(500, json.dumps({"error": {"sent": forms()}}).encode(), {"Content-Type": "application/json"}),
        "at_the_end": Reply(403, b" " * 1190 + b"key: " + PASSWORD.encode()),
        "excerpt_end": Reply(403, b"x" * 292 + PASSWORD.encode()),
        "retry": Reply(503, PASSWORD.encode(), {"Retry-After": PASSWORD}),
        "coding": Reply(200, b"x", {"Content-Encoding": PASSWORD * 3}),
        "status_line": Reply(200, b"x", {f"X-{HOST}\x01": PASSWORD}),
        "redirect": Reply(302, headers={"Location": f"http://{HOST}.invalid/{PASSWORD}"}),
        "scheme": Reply(302, headers={"Location": f"{HOST}://{'x' * 65}{PASSWORD}"}),
        "userinfo": Reply(302, headers={"Location": f"http://{PASSWORD}@{HOST}.invalid/"}),
        "inside": Reply(302, headers={"Location": f"http://127.0.0.2/{PASSWORD}"}),
        "broken": Reply(302, headers={"Location": f"http://[{PASSWORD}/"}),
    }


async def run(installation: Installation, steps: Sequence[Json], **more: Json) -> Json:
    definition = {"id": f"hostile_{uuid.uuid4().hex[:8]}", "steps": list(steps), **more}
    started = await installation.service.http.post("/v1/runs", json={"definition": definition})
    assert started.status_code in (200, 201, 202), started.text
    return await installation.service.closed(started.json()["run_id"])


async def shown_of(installation: Installation, run: Json) -> dict[str, str]:
    """Return everything that Docrail stores or shows of a run, by place."""
    service, run_id = installation.service, run["run_id"]
    paths = [f"/v1/runs/{run_id}", f"/v1/runs/{run_id}/explain?limit=500", f"/v1/runs/{run_id}/actions"]
    paths += [f"/v1/runs/{run_id}/steps/{name}/output" for name in run["steps"]]
    paths += [
        "/v1/runs",
        "/v1/dead-letters",
        "/v1/reviews",
        "/v1/documents",
        "/v1/exports",
        "/v1/batches",
        "/v1/audit",
        "/metrics",
        "/readyz",
    ]
    shown = {path: (await service.http.get(path)).text for path in paths}
    handle = service.app.temporal.get_workflow_handle(workflow_id("default", run_id))
    async for event in handle.fetch_history_events():
        await decrypt(event, service.app.temporal.data_converter)
        shown[f"event {event.event_id}"] = event.SerializeToString().decode("latin-1")
    for file in installation.settings.data_dir.rglob("*"):
        if file.is_file():
            shown[str(file)] = file.read_bytes().decode("latin-1")
    shown["the worker's metrics"] = generate_latest(installation.tools.metrics.registry).decode()
    return shown | await tables_of(installation.settings.database_url)


async def tables_of(dsn: str) -> dict[str, str]:
    connection = await asyncpg.connect(dsn)
    try:
        names = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        rows = {name: await connection.fetch(f'SELECT t::text FROM "{name}" t') for (name,) in names}
    finally:
        await connection.close()
    return {f"table {name}": str(found) for name, found in rows.items()}


async def test_a_secret_that_was_sent_appears_nowhere(
    installation: Installation, caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncExitStack() as stack:
        servers = {name: await stack.enter_async_context(loopback(reply)) for name, reply in hostile_replies().items()}
        steps = [step(name, server, method="GET") for name, server in servers.items()]
        servers["cut"] = await stack.enter_async_context(loopback(Reply(403, b"key: " + PASSWORD.encode())))
        steps.append(step("cut", servers["cut"], max_bytes=16))
        servers["hook"] = await stack.enter_async_context(loopback(hostile_replies()["echoed"]))
        steps.append(step("hook", servers["hook"], "send_webhook", secret="secret://token"))
        cached = step("cached", servers["echoed"], method="GET")
        steps.append({**cached, "cache": {"ttl_seconds": 600}})
        known = " | ".join((*escaped(HOST), *encoded(HOST)))
        servers["careless"] = await stack.enter_async_context(loopback(Reply(401, known.encode())))
        steps += [careless(name, servers["careless"], raises=name == "raises") for name in ("says", "raises")]
        last = {**step("last", servers["failing"]), "optional": False}
        ended = await run(installation, [*steps, last])
    sent = [asked.headers for server in servers.values() for asked in server.asked]
    assert {"x-token": TOKEN, "authorization": f"Basic {BASIC}", "x-host": HOST}.items() <= sent[0].items()
    assert all(server.asked for server in servers.values())
    assert ended["status"] == "failed"
    completed = {name for name, each in ended["steps"].items() if each["status"] == "completed"}
    assert completed == {"echoed", "text", "utf16", "file", "hook", "cached", "says"}
    shown = await shown_of(installation, ended)
    assert "[secret]" in shown[f"/v1/runs/{ended['run_id']}/steps/echoed/output"]
    for place, text in shown.items():
        assert_clean(place, text)
    assert "sent [secret], got" in caplog.text
    for record in caplog.records:
        assert_clean(f"the log of {record.name}", logging.Formatter().format(record))
