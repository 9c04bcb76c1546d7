"""What comes back instead of an answer of the API: whatever it is, it fails no document and harms no worker."""

import asyncio
import contextlib
import dataclasses
import gzip
import json
import socket
from collections.abc import AsyncIterator, Mapping

import pytest

from docrail.adapters.gemini import client as gemini_client
from docrail.adapters.gemini.access import GeminiAccess
from docrail.adapters.gemini.ask import MOST_TOKENS, Answer, Question, ask, is_lost
from docrail.adapters.http.errors import OutgoingTimeoutError, RequestRefusedError, TryAgainLaterError, UnreachableError
from docrail.dag.values.json_values import Json
from docrail.embedded.fake_gemini.replies import NO_HEADERS, Reply, refused, wrote
from docrail.embedded.fake_gemini.scenarios import Script
from docrail.embedded.fake_gemini.server import FakeGemini
from docrail.invoices.llm.wire import WireInvoice
from docrail.invoices.model import FIELDS
from docrail.services.tools import Tools
from docrail.services.usage.repository import load_document_uses
from tests.activities.asking import ask as ask_about
from tests.activities.asking import invoice_of, reaching, stored
from tests.gemini import MODEL, access, gemini
from tests.postgres import TENANT

QUESTION = Question("Read it", MODEL, schema=WireInvoice, timeout_seconds=20)


def said(body: Json | bytes, status: int = 200, headers: Mapping[str, str] = NO_HEADERS) -> Reply:
    encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, encoded, {"Content-Type": "application/json", **headers})


def candidate(**changes: Json) -> Json:
    return {"candidates": [{"content": {"parts": [{"text": "{}"}]}, "finishReason": "STOP", **changes}]}


async def answer_to(fake: FakeGemini) -> Answer:
    return await ask(access(fake), QUESTION)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"42",
        b"[]",
        b"{}",
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        {"candidates": []},
        {"candidates": [1]},
        candidate(content={"parts": "none"}),
        candidate(content={"parts": [{"text": 5}]}),
        candidate(finishReason=5),
        {**candidate(), "usageMetadata": "free"},
        {**candidate(), "usageMetadata": {"promptTokenCount": "many"}},
        {**candidate(), "modelVersion": 5},
        {"promptFeedback": "no"},
    ],
)
async def test_a_body_that_is_no_answer_of_the_api_may_pass(body: Json | bytes) -> None:
    async with gemini(said(body)) as fake:
        with pytest.raises(TryAgainLaterError, match="Gemini answered 200 OK: with"):
            await answer_to(fake)


@pytest.mark.parametrize(
    "error", [None, "quota", 5, [], {"details": None}, {"details": "none"}, {"details": [None, 3]}]
)
async def test_a_429_is_one_whatever_its_body_says(error: Json) -> None:
    async with gemini(said({"error": error}, 429, {"Retry-After": "7"})) as fake:
        with pytest.raises(TryAgainLaterError) as reported:
            await answer_to(fake)
    assert (reported.value.status, reported.value.retry_after_seconds) == (429, 7)


@pytest.mark.parametrize(
    ("retry_after", "delays", "seconds"),
    [
        (None, ["34.5s"], 35),
        (None, ["0.2s"], 1),
        (None, ["12.000s"], 12),
        ("soon", ["12s"], 12),
        ("", ["-5s", "1e9s", "12s"], 12),
        ("3", ["12s"], 3),
        ("9" * 400, [], 86_400),
        (None, ["soon"], None),
    ],
)
async def test_the_first_delay_that_says_something_is_waited_in_full(
    retry_after: str | None, delays: list[str], seconds: float | None
) -> None:
    reply = refused(429, "quota", *({"retryDelay": delay} for delay in delays), retry_after=retry_after)
    async with gemini(reply) as fake:
        with pytest.raises(TryAgainLaterError) as reported:
            await answer_to(fake)
    assert reported.value.retry_after_seconds == seconds


@pytest.mark.parametrize("packed", [False, True])
async def test_an_answer_without_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    monkeypatch.setattr(gemini_client, "MOST_BYTES", 50_000)
    large = json.dumps(candidate(content={"parts": [{"text": "x" * 5_000_000}]})).encode()
    reply = said(gzip.compress(large), headers={"Content-Encoding": "gzip"}) if packed else said(large)
    why = "a body that is not JSON" if packed else "more than 50000 bytes"
    async with gemini(reply) as fake:
        with pytest.raises(TryAgainLaterError, match=why):
            await answer_to(fake)
        fake.chooser = Script([said(large, 403)])
        with pytest.raises(RequestRefusedError, match="403 Forbidden: with more than 50000 bytes"):
            await answer_to(fake)
    assert fake.asked[0].headers["accept-encoding"] == "identity"


async def test_neither_key_nor_document_follow_a_redirect() -> None:
    async with gemini("ok") as other, gemini(Reply(307, b"", {"Location": f"{other.url}/elsewhere"})) as fake:
        with pytest.raises(RequestRefusedError, match="Gemini answered 307"):
            await answer_to(fake)
    assert (len(fake.asked), other.asked) == (1, [])


@contextlib.asynccontextmanager
async def dripping() -> AsyncIterator[str]:
    """Serve an answer of which a byte comes now and then, for ever."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        try:
            while not writer.is_closing():
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)  # its slowness is what is tested
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()


async def test_an_answer_that_drips_has_no_more_time_than_another() -> None:
    async with dripping() as url, asyncio.timeout(20):
        with pytest.raises(OutgoingTimeoutError, match=r"Gemini did not answer within 0\.5 s"):
            await ask(GeminiAccess("key", url), dataclasses.replace(QUESTION, timeout_seconds=0.5))


async def test_a_server_that_takes_no_connection_was_sent_nothing() -> None:
    """Else an outage of the network would be paid for, and use up the day's budget."""
    with socket.socket() as full, contextlib.ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # fill its queue
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        access = GeminiAccess("key", f"http://127.0.0.1:{full.getsockname()[1]}")
        with pytest.raises(UnreachableError) as reported:
            await ask(access, dataclasses.replace(QUESTION, timeout_seconds=0.5))
    assert not is_lost(reported.value)


@pytest.mark.parametrize(
    ("version", "reported"),
    [("gemini-3.8-flash-001", None), ("x\0y", MODEL), ("x" * 100_000, MODEL), ("a model", MODEL), (None, MODEL)],
)
async def test_a_model_is_called_by_a_name_or_as_it_was_asked(version: str | None, reported: str | None) -> None:
    async with gemini(said({**candidate(), "modelVersion": version})) as fake:
        assert (await answer_to(fake)).model == (reported or version)


@pytest.mark.parametrize(("counted", "tokens"), [(-5, 0), (10**30, MOST_TOKENS), (None, 0), (7, 7)])
async def test_tokens_are_a_number_that_can_be_paid(counted: int | None, tokens: int) -> None:
    async with gemini(said({**candidate(), "usageMetadata": {"promptTokenCount": counted}})) as fake:
        assert (await answer_to(fake)).tokens.input == tokens


async def test_unstorable_characters_are_left_out_of_a_refusal(keyless: Tools) -> None:
    async with gemini(refused(403, "no\0 \ud800" + "x" * 1_000), reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        output = await ask_about(tools, await stored(tools))
    [problem] = [each for each in (await invoice_of(tools, output)).problems if each.code == "gemini_refused"]
    assert "Gemini answered 403 Forbidden: no   xxx" in problem.message
    assert len(problem.message) < 600


async def test_a_confidence_that_is_no_number_is_none(keyless: Tools) -> None:
    """`NaN` is not JSON, and pydantic reads it all the same."""
    reported: dict[str, Json] = {name: {"value": None} for name in FIELDS}
    reported["total"] = {"value": "717.97", "confidence": float("nan"), "page": 1}
    text = json.dumps({"document_type": "invoice", **reported})
    async with gemini(wrote(text), reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        output = await ask_about(tools, document)
    invoice = await invoice_of(tools, output)
    assert (output["reader"], output["total"], invoice.total.word_score) == ("gemini", 717.97, None)
    [use] = await load_document_uses(tools.db, TENANT, document.document_id)
    assert use.outcome == "read"


async def test_at_the_last_attempt_what_is_no_answer_leaves_the_local_reading(keyless: Tools) -> None:
    async with gemini(said(b"42"), reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        output = await ask_about(tools, document, retry_within=None)
    assert (output["reader"], output["problems"][-1]) == ("text", "gemini_unavailable")
    [use] = await load_document_uses(tools.db, TENANT, document.document_id)
    assert use.outcome == "lost"
