"""Batches through the API and a real worker: how documents come in, run, end, and are tried again."""

import asyncio
import csv
import io
import json
import uuid
import zipfile
from collections.abc import Mapping
from functools import partial
from typing import Any

import asyncpg
import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services.batches import archives
from docrail.services.batches.service import start_waiting_batches
from docrail.services.errors import UnsafeArchive
from docrail.workflows.contract.messages import BatchRequest
from docrail.workflows.contract.names import BATCH_TYPE, batch_workflow_id, workflow_id
from tests.api.service import Service, serve, settings_for, work
from tests.loopback import Reply, loopback
from tests.stack import Servers, eventually

QUICK: Json = {
    "inputs": {"document_id": {"type": "string"}},
    "steps": [{"id": "say", "handler": "echo", "config": {"value": "{{ inputs.document_id }}"}}],
    "outputs": {"said": "{{ steps.say.output.value }}"},
}


async def publish(http: httpx.AsyncClient, definition: Mapping[str, Json]) -> str:
    """Publish a definition under a new id, and return that."""
    definition_id = f"batch_{uuid.uuid4().hex[:8]}"
    response = await http.post("/v1/definitions", json={"definition": {**definition, "id": definition_id}})
    assert response.is_success, response.text
    return definition_id


async def order(http: httpx.AsyncClient, **wanted: Any) -> str:
    response = await http.post("/v1/batches", json=wanted)
    assert response.status_code == 201, response.text
    return str(response.json()["batch_id"])


async def send(http: httpx.AsyncClient, batch_id: str, place: str, data: bytes) -> httpx.Response:
    files = {"file": (place, data, "application/pdf")}
    return await http.post(f"/v1/batches/{batch_id}/documents", files=files, data={"place": place})


def packed(files: Mapping[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return written.getvalue()


def some(count: int) -> dict[str, bytes]:
    mark = uuid.uuid4().hex
    return {f"folder/{number}.txt": f"{mark} {number}".encode() for number in range(count)}


async def send_zip(http: httpx.AsyncClient, batch_id: str, data: bytes, *, close: bool = True) -> httpx.Response:
    files = {"file": ("all.zip", data, "application/zip")}
    return await http.post(f"/v1/batches/{batch_id}/zip", files=files, data={"close": str(close).lower()})


async def shown(http: httpx.AsyncClient, batch_id: str) -> Json:
    response = await http.get(f"/v1/batches/{batch_id}")
    assert response.status_code == 200, response.text
    return response.json()


async def until(http: httpx.AsyncClient, batch_id: str, what: str, claim: Any, *, timeout_seconds: float = 90) -> Json:
    found: list[Json] = [None]

    async def holds() -> bool:
        found[0] = await shown(http, batch_id)
        return bool(claim(found[0]))

    await eventually(holds, f"{what}: {batch_id}", timeout_seconds=timeout_seconds)
    return found[0]


async def completed(http: httpx.AsyncClient, batch_id: str, *, timeout_seconds: float = 90) -> Json:
    return await until(http, batch_id, "the end", lambda batch: batch["completed_at"], timeout_seconds=timeout_seconds)


async def act(http: httpx.AsyncClient, batch_id: str, what: str, **body: Json) -> Json:
    response = await http.post(f"/v1/batches/{batch_id}/{what}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def documents(http: httpx.AsyncClient, batch_id: str, **params: Any) -> list[Json]:
    found: list[Json] = []
    after: str | None = None
    while True:
        more = {"after": after} if after else {}
        response = await http.get(f"/v1/batches/{batch_id}/documents", params=params | more)
        assert response.status_code == 200, response.text
        found += response.json()["documents"]
        after = response.json()["after"]
        if after is None:
            return found


async def test_a_zip_of_documents_runs_to_its_end_and_shows_its_result(http: httpx.AsyncClient) -> None:
    definition = await publish(http, QUICK)
    batch_id = await order(http, definition=definition, name="November", max_concurrency=3)
    added = (await send_zip(http, batch_id, packed(some(12) | {"folder/empty.pdf": b""}))).json()
    assert (added["added"], added["known"], added["unreadable"]) == (12, 0, ["folder/empty.pdf"])
    batch = await completed(http, batch_id)
    assert (batch["status"], batch["counts"]["done"], batch["counts"]["total"]) == ("completed", 12, 12)
    assert (batch["errors"], batch["held_by"], batch["seconds_left"], batch["is_closed"]) == ([], None, None, True)
    found = await documents(http, batch_id, limit=5)
    assert [each["place"] for each in found] == [f"folder/{number}.txt" for number in range(12)]
    result = (await http.get(f"/v1/batches/{batch_id}/result")).json()
    assert [each["outputs"]["said"] for each in result["documents"]] == [each["document_id"] for each in found]
    text = (await http.get(f"/v1/batches/{batch_id}/result.csv")).text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(row["place"], row["state"]) for row in rows] == [(each["place"], "done") for each in found]
    assert batch_id in [each["batch_id"] for each in (await http.get("/v1/batches")).json()["batches"]]


async def test_the_same_content_is_one_document_and_its_other_places_are_listed(http: httpx.AsyncClient) -> None:
    definition = await publish(http, QUICK)
    batch_id = await order(http, definition=definition)
    same = uuid.uuid4().bytes
    added = (await send_zip(http, batch_id, packed({f"{n}.pdf": same for n in range(100)}), close=False)).json()
    assert (added["added"], added["duplicates"], len(added["duplicate_places"])) == (1, 99, 50)
    again = await send(http, batch_id, "0.pdf", same)
    assert (again.status_code, again.json()["is_new"]) == (201, False)
    other = await send(http, batch_id, "0.pdf", b"changed")
    assert (other.status_code, other.json()["type"]) == (409, "/problems/place-taken")
    await act(http, batch_id, "close")
    batch = await completed(http, batch_id)
    assert (batch["counts"]["total"], batch["duplicates"]) == (1, 99)
    result = (await http.get(f"/v1/batches/{batch_id}/result")).json()
    assert len(result["duplicates"]) == 99


async def test_zips_of_the_same_files_in_other_orders_do_not_lock_each_other(http: httpx.AsyncClient) -> None:
    definition = await publish(http, QUICK)
    first, second = [await order(http, definition=definition) for _ in range(2)]
    total = 0
    for other in (first, second) * 5:
        files = {f"{total} {place}": data for place, data in some(10).items()}
        both = packed(files), packed(dict(reversed(files.items())))
        sent = await asyncio.gather(*map(partial(send_zip, http, close=False), (first, other), both))
        assert [each.status_code for each in sent] == [200, 200]
        total += 10
    assert (await shown(http, first))["counts"]["total"] == total


async def test_of_two_zips_with_other_contents_at_the_same_places_one_is_refused(http: httpx.AsyncClient) -> None:
    definition = await publish(http, QUICK)
    for _ in range(5):
        batch_id = await order(http, definition=definition)
        both = packed(some(10)), packed(dict(reversed(some(10).items())))
        sent = await asyncio.gather(*map(partial(send_zip, http, batch_id, close=False), both))
        assert sorted(each.status_code for each in sent) == [200, 409]


async def test_an_order_with_a_key_is_one_batch(http: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    first = await http.post("/v1/batches", json={"name": "a"}, headers=headers)
    again = await http.post("/v1/batches", json={"name": "a"}, headers=headers)
    assert first.json()["batch_id"] == again.json()["batch_id"]
    other = await http.post("/v1/batches", json={"name": "b"}, headers=headers)
    assert (other.status_code, other.json()["type"]) == (409, "/problems/key-conflict")


async def test_uploaded_documents_get_another_run(service: Service, http: httpx.AsyncClient) -> None:
    definition = await publish(http, QUICK)
    sent = [
        await http.post("/v1/documents", files={"file": ("a.txt", uuid.uuid4().bytes)}, data={"definition": definition})
        for _ in range(3)
    ]
    ids = [each.json()["document_id"] for each in sent]
    batch_id = await order(http, definition=definition, document_ids=ids, close=True)
    batch = await completed(http, batch_id)
    assert batch["counts"]["done"] == 3
    runs = {each["run_id"] for each in await documents(http, batch_id)}
    assert runs.isdisjoint(each.json()["run_id"] for each in sent)
    unknown = await http.post("/v1/batches", json={"document_ids": [*ids, "doc_" + "0" * 26]})
    assert unknown.status_code == 404


async def test_no_more_runs_are_open_than_wanted_and_a_pause_starts_none(http: httpx.AsyncClient) -> None:
    nap = {**QUICK, "steps": [{"id": "say", "handler": "sleep", "config": {"seconds": 3600}}], "outputs": {}}
    definition = await publish(http, nap)
    batch_id = await order(http, definition=definition, max_concurrency=2)
    await send_zip(http, batch_id, packed(some(6)))
    await until(http, batch_id, "two runs", lambda batch: batch["counts"]["running"] == 2)
    paused = await act(http, batch_id, "pause", reason="the bank is closed")
    assert (paused["status"], "resume" in paused["allowed"]) == ("paused", True)
    refused = await http.post(f"/v1/batches/{batch_id}/pause")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/wrong-state")
    [first, _] = await documents(http, batch_id, state="running")
    await eventually(lambda: _has_run(http, batch_id), "the runs to start")
    [first, _] = await documents(http, batch_id, state="running")
    assert (await http.post(f"/v1/runs/{first['run_id']}/cancel")).is_success
    batch = await until(http, batch_id, "the end of one", lambda batch: batch["counts"]["cancelled"] == 1)
    assert (batch["counts"]["running"], batch["counts"]["waiting"]) == (1, 4)
    await act(http, batch_id, "resume")
    await until(http, batch_id, "another run", lambda batch: batch["counts"]["running"] == 2)
    await act(http, batch_id, "cancel", reason="wrong folder")
    batch = await completed(http, batch_id)
    assert (batch["status"], batch["counts"]["cancelled"]) == ("cancelled", 6)


async def _has_run(http: httpx.AsyncClient, batch_id: str) -> bool:
    return all(each["run_id"] for each in await documents(http, batch_id, state="running"))


async def test_failed_documents_are_counted_by_class_and_tried_again(service: Service, http: httpx.AsyncClient) -> None:
    step = {"id": "say", "handler": "fail", "config": {"times": 1, "error": "ConnectionError"}, "max_retries": 0}
    definition = await publish(http, {**QUICK, "steps": [step], "outputs": {}})
    batch_id = await order(http, definition=definition)
    await send_zip(http, batch_id, packed(some(3)))
    batch = await completed(http, batch_id)
    assert [(each["error_type"], each["documents"]) for each in batch["errors"]] == [("ConnectionError", 3)]
    assert "retry" in batch["allowed"]
    refused = await http.post(f"/v1/batches/{batch_id}/retry", json={"error_type": "ValueError"})
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/wrong-state")
    again = await act(http, batch_id, "retry", error_type="ConnectionError")
    assert again["completed_at"] is None
    batch = await completed(http, batch_id)
    assert batch["counts"]["total"] == 3
    audit = (await http.get("/v1/audit/newest")).json()
    acts = [each["act"] for each in audit["events"] if each["detail"].get("batch_id") == batch_id]
    assert {"batch_ordered", "batch_closed", "batch_retried"} <= set(acts)


async def test_a_definition_that_was_withdrawn_fails_its_documents_with_a_clear_error(
    service: Service, http: httpx.AsyncClient
) -> None:
    definition = await publish(http, QUICK)
    batch_id = await order(http, definition=definition)
    await act(http, batch_id, "pause")
    await send_zip(http, batch_id, packed(some(2)))
    owner = await asyncpg.connect(service.settings.database_url)
    for table in ("alias_moves", "definition_aliases", "definitions"):
        await owner.execute(f"DELETE FROM {table} WHERE definition_id = $1", definition)
    await owner.close()
    await act(http, batch_id, "resume")
    batch = await completed(http, batch_id)
    assert [(each["error_type"], each["documents"]) for each in batch["errors"]] == [("NotFound", 2)]
    assert definition in batch["errors"][0]["message"]
    [listed, _] = (await http.get("/v1/documents", params={"limit": 2})).json()["documents"]
    assert listed["status"] == "failed"


async def test_after_the_deadline_no_run_starts(http: httpx.AsyncClient) -> None:
    definition = await publish(http, QUICK)
    batch_id = await order(http, definition=definition, deadline="2026-01-01T00:00:00Z")
    await send_zip(http, batch_id, packed(some(2)))
    batch = await completed(http, batch_id)
    assert [(each["error_type"], each["documents"]) for each in batch["errors"]] == [("DeadlinePassed", 2)]
    await act(http, batch_id, "retry")
    batch = await completed(http, batch_id)
    assert (batch["counts"]["done"], batch["deadline"]) == (2, None)


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (packed({"../outside.pdf": b"x"}), "unsafe-archive", "outside of the folder"),
        (packed({"/etc/passwd": b"x"}), "unsafe-archive", "outside of the folder"),
        (packed({"C:\\windows\\a.pdf": b"x"}), "unsafe-archive", "outside of the folder"),
        (packed({"a\u202efdp.exe": b"x"}), "unsafe-archive", "unprintable"),
        (packed({"large.pdf": bytes(2**20 + 1)}), "unsafe-archive", "more than a document's"),
        (b"no zip", "unsafe-archive", "not a zip file"),
        (packed({}), "nothing-readable", "no files"),
        (packed({"empty.pdf": b"", "folder/": b""}), "nothing-readable", "empty"),
    ],
)
async def test_an_unsafe_zip_is_refused_whole(http: httpx.AsyncClient, data: bytes, kind: str, words: str) -> None:
    batch_id = await order(http)
    refused = await send_zip(http, batch_id, data)
    assert (refused.status_code, refused.json()["type"]) == (422, f"/problems/{kind}")
    assert words in refused.json()["detail"]
    batch = await shown(http, batch_id)
    assert (batch["counts"]["total"], batch["status"]) == (0, "open")


def test_a_bomb_is_found_before_it_unpacks() -> None:
    bomb = packed({"bomb.txt": bytes(8 * 2**20)})
    with pytest.raises(UnsafeArchive, match="times its size"):
        archives.open_archive(io.BytesIO(bomb), most_file_bytes=2**25, most_zip_bytes=2**29)
    with pytest.raises(UnsafeArchive, match="would unpack to 8388608 bytes"):
        archives.open_archive(io.BytesIO(bomb), most_file_bytes=2**25, most_zip_bytes=2**16)


async def test_a_closed_batch_takes_nothing(http: httpx.AsyncClient) -> None:
    batch_id = await order(http)
    await act(http, batch_id, "close")
    refused = await send(http, batch_id, "a.pdf", b"a")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/wrong-state")
    await completed(http, batch_id)


async def test_a_batch_waits_while_the_tenant_has_as_many_open_runs_as_it_may(http: httpx.AsyncClient) -> None:
    headers = {"X-Test-Tenant": f"held_{uuid.uuid4().hex[:8]}"}
    tenant = headers["X-Test-Tenant"]
    nap = {"id": "nap", "steps": [{"id": "say", "handler": "sleep", "config": {"seconds": 3600}}]}
    for definition in (nap, {**QUICK, "id": "quick"}):
        made = await http.post("/v1/definitions", json={"definition": definition}, headers=headers)
        assert made.is_success, made.text
    started = await http.post("/v1/runs", json={"definition": "nap"}, headers=headers)
    limited = await http.put("/v1/quotas/open_runs", json={"tenant": tenant, "value": 1})
    assert limited.is_success
    made = await http.post("/v1/batches", json={"definition": "quick"}, headers=headers)
    batch_id = made.json()["batch_id"]

    async def batch() -> Json:
        return (await http.get(f"/v1/batches/{batch_id}", headers=headers)).json()

    async def is_held() -> bool:
        return bool((await batch())["held_by"] == "open_runs")

    async def is_done() -> bool:
        return bool((await batch())["counts"]["done"] == 1)

    await eventually(lambda: _counts_one(http, tenant, headers), "Temporal to count the open run")
    files = {"file": ("a.txt", b"a", "text/plain")}
    assert (await http.post(f"/v1/batches/{batch_id}/documents", files=files, headers=headers)).is_success
    await eventually(is_held, "the batch to wait for the quota")
    assert (await http.post(f"/v1/runs/{started.json()['run_id']}/cancel", headers=headers)).is_success
    await eventually(is_done, "the batch to go on")
    assert (await batch())["held_by"] is None


async def _counts_one(http: httpx.AsyncClient, tenant: str, headers: dict[str, str]) -> bool:
    response = await http.post("/v1/runs", json={"definition": "nap"}, headers=headers)
    return response.status_code == 429


async def test_another_tenant_sees_nothing(http: httpx.AsyncClient) -> None:
    batch_id = await order(http)
    other = {"X-Test-Tenant": "globex"}
    assert (await http.get(f"/v1/batches/{batch_id}", headers=other)).status_code == 404
    assert (await http.get(f"/v1/batches/{batch_id}/result.csv", headers=other)).status_code == 404
    assert batch_id not in (await http.get("/v1/batches", headers=other)).text


async def test_the_completion_is_sent_signed_once(calling: Service) -> None:
    http = calling.http
    async with loopback(Reply()) as server:
        definition = await publish(http, QUICK)
        batch_id = await order(http, definition=definition, webhook_url=f"{server.url}/batches")
        await send_zip(http, batch_id, packed(some(2)))
        await completed(http, batch_id)
        await eventually(lambda: bool(server.asked), "the message")
        [asked] = server.asked
    body = json.loads(asked.body)
    assert (body["type"], body["batch_id"], body["done"], body["failed"]) == ("batch.completed", batch_id, 2, 0)
    assert asked.headers["webhook-id"] == f"msg_{batch_id[4:]}_1"


async def test_a_run_that_waits_for_a_person_holds_no_place(http: httpx.AsyncClient) -> None:
    ask = {**QUICK, "steps": [{"id": "say", "human": {"form": {"type": "object"}, "title": "Pay?"}}], "outputs": {}}
    definition = await publish(http, ask)
    batch_id = await order(http, definition=definition, max_concurrency=1)
    await send_zip(http, batch_id, packed(some(2)))
    batch = await completed(http, batch_id)
    assert batch["counts"]["asking"] == 2
    [first, _] = await documents(http, batch_id, state="asking")
    run = first["run_id"]
    answered = await http.post(f"/v1/runs/{run}/waits/say", json={"answer": {}})
    assert answered.is_success, answered.text


async def test_an_event_is_sent_for_each_progress(service: Service, http: httpx.AsyncClient) -> None:
    batch_id = await order(http, definition=await publish(http, QUICK))
    rows = await service.pool.fetch("SELECT kind FROM events WHERE object_id = $1", batch_id)
    assert [row["kind"] for row in rows] == ["batch"]
    stream = await http.get(f"/v1/batches/{batch_id}/events")
    assert "event: hello" in stream.text


async def test_the_sweep_wakes_a_batch_that_a_crash_left_alone(workerless: Service, service: Service) -> None:
    """The API that takes the documents has no worker for its task queue; the sweep is another one's."""
    http = workerless.http
    definition = await publish(http, QUICK)
    batch_id = await order(http, definition=definition)
    await send(http, batch_id, "a.txt", uuid.uuid4().bytes)
    handle = service.app.temporal.get_workflow_handle(batch_workflow_id("default", batch_id))
    await handle.terminate()
    await act(http, batch_id, "close")
    await handle.terminate()
    await start_waiting_batches(service.app)
    batch = await completed(service.http, batch_id)
    assert batch["counts"]["done"] == 1


async def test_a_worker_that_dies_loses_and_doubles_nothing(
    embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("dying"))
    async with serve(settings) as service:
        http = service.http
        definition = await publish(http, QUICK)
        batch_id = await order(http, definition=definition, max_concurrency=4)
        async with work(settings):
            await send_zip(http, batch_id, packed(some(40)))
            await until(http, batch_id, "some to be done", lambda batch: batch["counts"]["done"] >= 5)
        async with work(settings):
            batch = await completed(http, batch_id)
        assert (batch["counts"]["done"], batch["counts"]["total"]) == (40, 40)
        runs = sorted(each["run_id"] for each in await documents(http, batch_id))

        async def all_listed() -> bool:
            page = (await http.get("/v1/runs", params={"definition": definition})).json()
            return sorted(run["run_id"] for run in page["runs"]) == runs

        await eventually(all_listed, "one run for each document")


async def test_the_workflow_continues_as_new(service: Service, http: httpx.AsyncClient) -> None:
    batch_id = await order(http, definition=await publish(http, QUICK))
    await act(http, batch_id, "pause")
    handle = service.app.temporal.get_workflow_handle(batch_workflow_id("default", batch_id))
    await handle.terminate()
    await service.app.temporal.start_workflow(
        BATCH_TYPE,
        BatchRequest(tenant_id="default", batch_id=batch_id, most_rounds=2),
        id=batch_workflow_id("default", batch_id),
        task_queue=service.settings.task_queue,
    )
    first = (await handle.describe()).run_id
    for number in range(5):
        await act(http, batch_id, "resume")
        await act(http, batch_id, "pause")
        await send(http, batch_id, f"{number}.txt", uuid.uuid4().bytes)
    await act(http, batch_id, "resume")
    await act(http, batch_id, "close")
    batch = await completed(http, batch_id)
    assert batch["counts"]["done"] == 5

    async def is_another() -> bool:
        return (await handle.describe()).run_id != first

    await eventually(is_another, "the workflow to continue as new")


async def test_a_batchs_runs_go_after_single_ones(service: Service, http: httpx.AsyncClient) -> None:
    batch_id = await order(http, definition=await publish(http, QUICK))
    await send_zip(http, batch_id, packed(some(1)))
    await completed(http, batch_id)
    [document] = await documents(http, batch_id)
    handle = service.app.temporal.get_workflow_handle(workflow_id("default", document["run_id"]))
    assert (await handle.describe()).raw_description.workflow_execution_info.priority.priority_key == 4


FILED: Json = {
    "inputs": {
        "document_id": {"type": "string"},
        "cost_centre": {"type": "string", "required": True},
        "copies": {"type": "integer", "default": 1},
    },
    "steps": [{"id": "say", "handler": "echo", "config": {"value": "{{ inputs.cost_centre }} x {{ inputs.copies }}"}}],
    "outputs": {"said": "{{ steps.say.output.value }}"},
}


async def said(http: httpx.AsyncClient, batch_id: str) -> dict[str, str]:
    """Return what the runs of a batch have said, by place, once it has completed."""
    batch = await completed(http, batch_id)
    assert batch["counts"]["failed"] == 0, batch
    result = (await http.get(f"/v1/batches/{batch_id}/result")).json()
    return {each["place"]: each["outputs"]["said"] for each in result["documents"]}


@pytest.mark.parametrize("grouped", [False, True])
async def test_a_batch_has_inputs_for_its_documents_and_a_document_its_own(
    http: httpx.AsyncClient, *, grouped: bool
) -> None:
    definition = await publish(http, FILED)
    batch_id = await order(http, definition=definition, inputs={"cost_centre": "4711", "copies": 2}, grouped=grouped)
    assert (await send(http, batch_id, "a", uuid.uuid4().bytes)).is_success
    own = {"place": "b", "inputs": '{"cost_centre": "9"}'}
    sent = await http.post(f"/v1/batches/{batch_id}/documents", files={"file": ("b", uuid.uuid4().bytes)}, data=own)
    assert sent.status_code == 201, sent.text
    await act(http, batch_id, "close")
    assert await said(http, batch_id) == {"a": "4711 x 2", "b": "9 x 2"}


async def test_inputs_of_a_batch_replace_those_of_uploaded_documents(http: httpx.AsyncClient) -> None:
    definition = await publish(http, FILED)
    data = {"definition": definition, "inputs": '{"cost_centre": "1", "copies": 3}'}
    sent = (await http.post("/v1/documents", files={"file": ("a", uuid.uuid4().bytes)}, data=data)).json()
    ids = [sent["document_id"]]
    batch_id = await order(http, definition=definition, document_ids=ids, close=True, inputs={"cost_centre": "2"})
    assert await said(http, batch_id) == {sent["document_id"]: "2 x 3"}


@pytest.mark.parametrize(
    ("inputs", "path"),
    [({"copies": "two"}, "inputs.copies"), ({"pages": 1}, "inputs.pages"), ({"sla_hours": 1}, "inputs.sla_hours")],
)
async def test_a_batch_whose_inputs_do_not_fit_its_definition_is_refused(
    http: httpx.AsyncClient, inputs: Json, path: str
) -> None:
    definition = await publish(http, FILED)
    response = await http.post("/v1/batches", json={"definition": definition, "inputs": inputs})
    assert response.status_code == 422, response.text
    assert [each["path"] for each in response.json()["problems"]] == [path]
