"""The API dies while people decide: a decision that was kept reaches its run, once."""

import asyncio
from contextlib import suppress

import asyncpg
import httpx

from docrail.dag.values.json_values import Json
from docrail.services.access.models import local_name
from tests.activities.ubl import ubl_invoice
from tests.chaos.conftest import PATIENCE_SECONDS, Rig
from tests.stack import eventually, frozen

DEFINITION = "invoice_with_approval"


async def waiting_document(rig: Rig, name: str) -> dict[str, Json]:
    """Upload a document whose run waits for its approval, and return that with its review item's id."""
    files = {"file": (f"{name}.xml", ubl_invoice(name))}
    answer = await rig.stack.http.post("/v1/documents", files=files, data={"definition": DEFINITION, "key": name})
    assert answer.is_success, answer.text
    document: dict[str, Json] = answer.json()
    await rig.wait_for_step(document["run_id"], "approval", "waiting")
    await eventually(lambda: _is_asked(rig, document["run_id"]), "the question is in the queue")
    fields = (await rig.stack.http.get(f"/v1/documents/{document['document_id']}/fields")).json()
    return document | {"review_id": fields["review_id"], "digest": fields["digest"]}


async def value(rig: Rig, statement: str, *arguments: str) -> Json:
    connection = await asyncpg.connect(rig.stack.postgres.dsn)
    try:
        return await connection.fetchval(statement, *arguments)
    finally:
        await connection.close()


async def _is_asked(rig: Rig, run_id: str) -> bool:
    return bool(await value(rig, "SELECT true FROM reviews WHERE run_id = $1 AND status = 'open'", run_id))


async def approve(rig: Rig, document: dict[str, Json]) -> None:
    """Approve it; the answer may never come."""
    path = f"/v1/reviews/{document['review_id']}"
    token = (await rig.stack.http.post(f"{path}/claim")).json()["token"]
    verdict = {"token": token, "digest": document["digest"], "why": "as ordered"}
    with suppress(httpx.TransportError):
        await rig.stack.http.post(f"{path}/approve", json=verdict)


async def approve_and_kill(rig: Rig, document: dict[str, Json]) -> None:
    """Kill the API as soon as the decision is kept, and start another."""
    deciding = asyncio.create_task(approve(rig, document))
    kept = "SELECT status = 'approved' FROM reviews WHERE review_id = $1"

    async def is_kept() -> bool:
        return bool(await value(rig, kept, document["review_id"]))

    await eventually(is_kept, "the decision is kept")
    await rig.stack.api.restart()
    await deciding


async def check_reported_once(rig: Rig, document: dict[str, Json]) -> None:
    [report] = await rig.wait_for_end([document])
    assert (report["status"], report["outputs"]["approved_by"]) == ("completed", local_name())
    decided = "SELECT count(*) FROM audit_events WHERE review_id = $1 AND act = 'approved'"
    assert await value(rig, decided, document["review_id"]) == 1
    asked = "SELECT status FROM reviews WHERE run_id = $1"

    async def is_closed() -> bool:
        return bool(await value(rig, asked, document["run_id"]) == "decided")

    await eventually(is_closed, "the run's question is closed", timeout_seconds=PATIENCE_SECONDS)


async def test_the_api_killed_before_the_run_was_answered(rig: Rig) -> None:
    document = await waiting_document(rig, "killed-before-telling")
    workers = [worker.pid for worker in rig.stack.workers if worker.pid]
    with frozen(workers):  # so that no process can answer the run
        await approve_and_kill(rig, document)
        assert (await rig.run_of(document["run_id"]))["status"] not in ("completed", "failed")
    await check_reported_once(rig, document)


async def test_the_api_killed_whenever_it_was(rig: Rig) -> None:
    for number in range(3):
        document = await waiting_document(rig, f"killed-telling-{number}")
        await approve_and_kill(rig, document)
        await check_reported_once(rig, document)
