"""Commands show a real run's texts of strangers: none of them commands the terminal, reverses text or is invisible."""

import json
import unicodedata
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from docrail.dag.values.json_values import Json
from tests.api.customer import open_item, start, unique, until_waiting
from tests.api.invoices import e_invoice
from tests.api.service import Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail
from tests.loopback import Reply, loopback
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

EVIL = "\x1b[2J\x1b]8;;http://evil.example\x07\x1b]52;c;aGk=\x07\x9b31m\u202efdp.exe\u200b\u2066\r\x08x"
SHOWN = "\\x1b[2J\\x1b]8;;http://evil.example\\x07\\x1b]52;c;aGk=\\x07\\x9b31m\\u202efdp.exe\\u200b\\u2066\\r\\x08x"
IN_XML = "\u202efdp.exe\u200b&#x9b;31m"
"""XML has no C0 controls."""


@dataclass(frozen=True, slots=True)
class Hostile:
    """An API with runs and a document that are full of hostile text."""

    service: Service
    failed_run: str
    waiting_run: str
    answered_run: str
    review: str
    document: dict[str, Json]
    document_review: str

    async def command(self, *arguments: str) -> Ended:
        return await docrail(*arguments, DOCRAIL_API_URL=str(self.service.http.base_url))


@pytest.fixture(scope="module")
async def hostile(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hostile]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("printed"))
        settings = settings.model_copy(update={"allowed_hosts": ("127.0.0.1",)})
        async with serve_with_worker(settings) as service:
            failed = await failed_call(service)
            human = {"queue": "pay", "title": "{{ inputs.title }}", "show": {"note": "{{ inputs.title }}"}}
            asking = {"id": unique("asks"), "inputs": {"title": {"type": "string"}}}
            waiting = await start(service, {**asking, "steps": [{"id": "ask", "human": human}]}, title=EVIL)
            item = await open_item(service, run_id=waiting)
            path, review = await uploaded(service)
            yield Hostile(service, failed, waiting, await answered(service), item["review_id"], path, review)


async def failed_call(service: Service) -> str:
    """Return a run that has failed on the answer of another service."""
    async with loopback(Reply(400, EVIL.encode())) as server:
        call = {"id": "call", "handler": "external_service", "config": {"url": server.url}}
        definition = {"id": unique("calls"), "title": "calls", "steps": [call]}
        run_id = await start(service, definition)
        await service.closed(run_id)

    async def is_listed() -> bool:
        return (await service.http.get(f"/v1/dead-letters/{run_id}/call")).status_code == 200

    await eventually(is_listed, "the failure is listed")
    order = {"action": "dismiss", "reason": EVIL}
    (await service.http.post(f"/v1/dead-letters/{run_id}/call/resolve", json=order)).raise_for_status()
    return run_id


async def answered(service: Service) -> str:
    """Return a run that was answered, paused and aborted with hostile texts."""
    steps = [{"id": "ask", "wait": {"for": "signal"}}, {"id": "then", "wait": {"for": "signal"}, "depends_on": ["ask"]}]
    run_id = await start(service, {"id": unique("answered"), "steps": steps, "outputs": {"said": "{{ ask }}"}})
    await until_waiting(service, run_id)
    answer = {"answer": {"note": EVIL}}
    (await service.http.post(f"/v1/runs/{run_id}/waits/ask", json=answer)).raise_for_status()
    (await service.http.post(f"/v1/runs/{run_id}/abort", json={"reason": EVIL})).raise_for_status()
    await service.ended(run_id)
    return run_id


async def uploaded(service: Service) -> tuple[dict[str, Json], str]:
    """Return a document with a hostile name and vendor, and its review."""
    body = e_invoice(unique("T")).replace(b"Muster GmbH", f"Muster {IN_XML} GmbH".encode())
    files = {"file": ("a\u202efdp.exe.xml", body.replace(b"Beratung", f"Beratung {IN_XML}".encode()))}
    document: dict[str, Json] = (await service.http.post("/v1/documents", files=files)).raise_for_status().json()
    ended = await service.ended(f"invoice.{document['document_id']}")
    assert ended["status"] == "completed", ended
    items = (await service.http.get("/v1/reviews", params={"kind": "document"})).json()["reviews"]
    return document, items[0]["review_id"]


def harmful(text: str) -> set[str]:
    return {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and c != "\n"}


async def printed(hostile: Hostile, *arguments: str) -> str:
    """Return what a command prints, having checked that it and its JSON are safe to print."""
    ended = await hostile.command(*arguments)
    assert harmful(ended.out + ended.err) == set(), arguments
    if ended.code == 0 and "--json" not in arguments:
        as_json = await hostile.command(*arguments, "--json")
        assert as_json.code == 0, as_json.err
        assert harmful(as_json.out + as_json.err) == set(), arguments
        json.loads(as_json.out)
    return ended.out + ended.err


async def test_the_error_of_a_call(hostile: Hostile) -> None:
    run = hostile.failed_run
    definition = run.partition(".")[0]
    for words in (("run", "show", run), ("run", "explain", run), ("failure", "show", run, "call"), ("run", "list")):
        await printed(hostile, *words)
    listed = await printed(hostile, "failure", "list", "--view", "all", "--status", "all", "--definition", definition)
    assert run in listed
    shown = await printed(hostile, "failure", "show", run, "call")
    assert "\\u202efdp.exe" in shown
    assert f": {SHOWN}" in shown.replace("\n", " ")  # the reason of the dismissal
    await printed(hostile, "failure", "count", "--definition", definition)


async def test_the_question_to_a_person(hostile: Hostile) -> None:
    run = hostile.waiting_run
    assert SHOWN in await printed(hostile, "review", "show", hostile.review)
    assert "\\u202efdp.exe" in await printed(hostile, "review", "list", "--queue", "pay")
    assert "\\u202efdp.exe" in await printed(hostile, "run", "waits", run)
    for words in (("run", "show", run), ("run", "explain", run), ("review", "history", hostile.review)):
        await printed(hostile, *words)


async def test_answers_and_reasons(hostile: Hostile) -> None:
    run = hostile.answered_run
    assert SHOWN in await printed(hostile, "run", "history", run)
    assert f": {SHOWN}" in await printed(hostile, "run", "show", run)
    assert "\\u202e" in await printed(hostile, "run", "output", run, "ask", "--json")
    output = await hostile.command("run", "output", run, "ask")
    assert json.loads(output.out) == {"note": EVIL}
    await printed(hostile, "run", "explain", run)


async def test_a_documents_vendor_and_lines(hostile: Hostile) -> None:
    document, review = hostile.document["document_id"], hostile.document_review
    assert "file        afdp.exe.xml" in await printed(hostile, "document", "show", document)
    assert "\\u202efdp.exe" in await printed(hostile, "review", "fields", review)
    assert document in await printed(hostile, "document", "list")
    for verb in ("show", "history", "claim"):
        await printed(hostile, "review", verb, review)
    await printed(hostile, "run", "show", f"invoice.{document}")


async def test_messages_that_repeat_an_argument(hostile: Hostile) -> None:
    assert "\\x1b" in await printed(hostile, "run", "show", EVIL.replace("/", ""))
    assert "\\x1b" in await printed(hostile, "review", "list", "--queue", EVIL)
    assert "\\x1b" in await printed(hostile, "run", "answer", hostile.waiting_run, EVIL.replace("/", ""), "a=1")
