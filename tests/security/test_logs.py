"""A stack that logs all it can writes none of the tokens, and no content, that pass through it."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass

import asyncpg
import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.embedded.stack import Stack, StackOptions, run_stack
from tests.api.customer import token_of, unique
from tests.api.invoices import e_invoice
from tests.loopback import Reply, loopback
from tests.stack import eventually

CALLBACK_KEY = "callback-key-0123456789abcdef0123456789"
GEMINI_KEY = "gemini-key-0123456789abcdef"
NOTIFY_TOKEN = "notify-token-0123456789abcdef"
SECRET = "erp-secret-0123456789abcdef"
API_KEY = "docrail_0123456789abcdef_" + "5a" * 32
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLW9mLWFubg"
PASSWORD = "database-password-0123456789"
NUMBER, FILE_NAME, VALUE = "content-number-4711", "content-file-4711.xml", "content-value-4711"
"""Content: of a document, its file's name, and what a step is given and gives."""

pytestmark = [pytest.mark.server, pytest.mark.timeout(240)]


@dataclass(frozen=True, slots=True)
class Logged:
    """The logs of a stack, by file, and the callback tokens that were issued while it ran."""

    logs: dict[str, str]
    issued: list[str]


@pytest.fixture(scope="module", params=["text", "json"])
async def logged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Logged:
    folder = tmp_path_factory.mktemp("logging")
    (folder / "secrets" / "default").mkdir(parents=True)
    (folder / "secrets" / "default" / "erp").write_text(SECRET)
    (folder / "secrets" / "default" / "erp.hosts").write_text("127.0.0.1")
    options = StackOptions(folder, api_port=0, temporal_port=0, ui_port=0, callback_key=CALLBACK_KEY)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DOCRAIL_LOG_LEVEL", "debug")
        environment.setenv("DOCRAIL_LOG_FORMAT", request.param)
        environment.setenv("DOCRAIL_GEMINI_API_KEY", GEMINI_KEY)
        environment.setenv("DOCRAIL_ALLOWED_HOSTS", "127.0.0.1")
        echo = Reply(200, b"{}", {"Content-Type": "application/json", "Set-Cookie": f"session={JWT}"})
        async with loopback(echo) as server:
            environment.setenv("DOCRAIL_NOTIFY_URL", f"{server.url}/notify?token={NOTIFY_TOKEN}")
            async with run_stack(options, lambda _: None) as stack:
                issued = await answered(stack, server.url)
                await refused(stack, server.url)
                await read(stack)
                await with_credentials(stack, issued)
                issued += [token_of(url) for url in found_urls(server.asked)]
    return Logged({log.name: log.read_text(errors="replace") for log in (folder / "logs").iterdir()}, issued)


async def start(stack: Stack, *steps: dict[str, Json]) -> str:
    definition = {"id": unique("logged"), "steps": list(steps)}
    started = await stack.http.post("/v1/runs", json={"definition": definition})
    assert started.status_code == 202, started.text
    return str(started.json()["run_id"])


async def ended(stack: Stack, run_id: str) -> None:
    async def has_ended() -> bool:
        return (await stack.http.get(f"/v1/runs/{run_id}")).json()["status"] in ("completed", "failed")

    await eventually(has_ended, f"the end of {run_id}")


async def call(method: str, url: str, **request: Json) -> None:
    """Send a request on a connection of its own: the answer may be an error after which it is closed."""
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        await client.request(method, url, **request)


def asking(url: str) -> dict[str, Json]:
    """Return a step that sends its callback URL and a secret, and is answered through the URL."""
    body = {"reply_to": "{{ run.callbacks.reply }}"}
    config = {"url": url, "method": "POST", "body": body, "headers": {"Authorization": "Bearer secret://erp"}}
    return {"id": "ask", "handler": "external_service", "config": config, "max_retries": 0}


REPLY = {"id": "reply", "wait": {"for": "webhook"}, "depends_on": ["ask"]}


async def answered(stack: Stack, url: str) -> list[str]:
    """Answer a run through its callback URL, in right and in wrong ways; return the token."""
    async with loopback(Reply(200, b"{}", {"Content-Type": "application/json"})) as customer:
        run_id = await start(
            stack, asking(customer.url), REPLY, {"id": "tell", "handler": "notify", "config": {"message": "done"}}
        )
        await eventually(lambda: bool(customer.asked), "the customer is asked")
        [callback] = found_urls(customer.asked)
    await call("POST", callback, content=b"yes", headers={"Content-Type": "text/plain"})
    await call("GET", callback)
    await call("POST", f"{callback}x", json={})
    await stack.http.post(f"/v1/runs?token={token_of(callback)}", json={})
    await call("POST", callback, json={"decision": "yes"})
    await ended(stack, run_id)
    await stack.http.post(callback, json={"decision": "no"})
    return [token_of(callback)]


async def refused(stack: Stack, url: str) -> None:
    """Let a run fail on an answer that repeats its callback URL and its secret."""
    async with loopback() as customer:
        customer.replies[:] = [Reply(400, b"no", holds=True)]
        run_id = await start(stack, asking(customer.url), REPLY)
        await eventually(lambda: bool(customer.asked), "the customer is asked")
        [callback] = found_urls(customer.asked)
    async with loopback(Reply(400, f"cannot reach {callback} with {SECRET}".encode())) as customer:
        await ended(stack, await start(stack, asking(customer.url), REPLY))
    await stack.http.post(f"/v1/runs/{run_id}/abort", json={"reason": f"it was {callback}"})


async def read(stack: Stack) -> None:
    """Read a document and decide about it, and pass a value from step to step."""
    uploaded = await stack.http.post("/v1/documents", files={"file": (FILE_NAME, e_invoice(NUMBER))})
    await ended(stack, uploaded.json()["run_id"])
    say = {"id": "say", "handler": "echo", "config": {"value": VALUE}}
    again = {"id": "again", "handler": "echo", "config": {"value": "{{ steps.say.output }}"}, "depends_on": ["say"]}
    await ended(stack, await start(stack, say, again))
    [item] = (await stack.http.get("/v1/reviews")).json()["reviews"]
    await stack.http.post(f"/v1/reviews/{item['review_id']}/claim")
    await stack.http.post(f"/v1/reviews/{item['review_id']}/reject", json={"reason": VALUE, "digest": "x"})


def found_urls(asked: list[Json]) -> list[str]:
    return [each.json()["reply_to"] for each in asked if b"reply_to" in each.body]


async def with_credentials(stack: Stack, issued: list[str]) -> None:
    """Send credentials of all kinds, also in requests that are not HTTP, and break a connection to the database."""
    for value in (f"Bearer {API_KEY}", f"Bearer {JWT}", "Basic dTpkYXRhYmFzZS1wYXNzd29yZC0wMTIzNDU2Nzg5"):
        for path in ("/v1/runs", f"/v1/callbacks/{issued[0]}", "/v1/unknown"):
            await stack.http.post(path, headers={"Authorization": value, "Cookie": f"docrail={API_KEY}"})
    await stack.http.get("/v1/runs", params={"code": JWT, "access_token": JWT, "key": API_KEY})
    base = stack.http.base_url
    reader, writer = await asyncio.open_connection(base.host, base.port)
    writer.write(f"POST /v1/callbacks/{issued[0]} HTTP/9\r\nAuthorization: Bearer {API_KEY}\r\n\x00\r\n\r\n".encode())
    await reader.read()
    writer.close()
    with suppress(asyncpg.PostgresError, OSError):
        await asyncpg.connect(stack.postgres.dsn, user="stranger", password=PASSWORD)


@pytest.mark.parametrize(
    "secret",
    [CALLBACK_KEY, GEMINI_KEY, NOTIFY_TOKEN, SECRET, API_KEY, JWT, PASSWORD],
    ids=["callback key", "model key", "notify token", "secret", "API key", "JWT", "password"],
)
def test_no_line_of_any_log_holds_a_credential(logged: Logged, secret: str) -> None:
    assert [name for name, text in logged.logs.items() if secret in text] == []


def test_no_line_of_any_log_holds_the_token_of_a_callback(logged: Logged) -> None:
    assert len(logged.issued) >= 1
    for token in logged.issued:
        payload, _, signature = token.partition(".")
        assert [name for name, text in logged.logs.items() if payload in text or signature in text] == []


@pytest.mark.parametrize("content", [NUMBER, FILE_NAME, VALUE], ids=["document", "file name", "value"])
def test_no_line_of_any_log_holds_content(logged: Logged, content: str) -> None:
    assert [name for name, text in logged.logs.items() if content in text] == []


def test_the_logs_do_hold_what_was_done(logged: Logged) -> None:
    """They were written at the level of a debugged process."""
    assert {"api.log", "worker-1.log"} <= logged.logs.keys()
    worker = logged.logs["worker-1.log"]
    assert " DEBUG " in worker or '"level": "debug"' in worker
    assert "[removed]" in worker
    assert all(line.isprintable() for name in ("api.log", "worker-1.log") for line in logged.logs[name].splitlines())


@pytest.mark.parametrize("logged", ["json"], indirect=True)
def test_every_line_of_a_json_log_is_an_object_and_those_of_a_step_name_it(logged: Logged) -> None:
    events = [json.loads(line) for name in ("api.log", "worker-1.log") for line in logged.logs[name].splitlines()]
    assert {"time", "level", "logger", "message"} <= set.intersection(*map(set, events))
    of_step = [event for event in events if event.get("step_id") == "ask"]
    assert {event["tenant_id"] for event in of_step} == {"default"}
    assert all(event["run_id"].startswith("logged") for event in of_step)
    assert "httpx" in {event["logger"] for event in of_step}
