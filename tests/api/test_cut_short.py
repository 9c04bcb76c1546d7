"""The sweep starts the runs of documents whose upload was interrupted before that."""

import datetime as dt
import signal

import httpx
import pytest

from docrail.adapters.temporal.connection import Connection
from docrail.dag.values.json_values import Json
from docrail.services.documents.models import Document
from docrail.services.documents.repository.documents import insert_document, load_document
from docrail.services.intake.service import start_waiting_documents
from docrail.services.maintenance.service import apply_background_schedule, background_id
from tests.api.customer import unique
from tests.api.processes import api_process
from tests.api.service import Service
from tests.postgres import new_document_id
from tests.stack import eventually


async def cut_short(service: Service, definition: str) -> Document:
    """Store a document like an API that is killed before it starts the run."""
    return await insert_document(
        *(service.app.db, "default", new_document_id(), await service.app.blobs.put(b"an invoice")),
        media_type="text/plain",
        file_name="a.txt",
        sla_hours=24,
        definition=definition,
    )


async def test_the_schedule_starts_the_run_of_an_upload_whose_api_was_killed(
    service: Service,
) -> None:
    definition: dict[str, Json] = {"id": unique("begins"), "steps": [{"id": "only", "handler": "noop"}]}
    assert (await service.http.post("/v1/definitions", json={"definition": definition})).status_code == 201
    name = unique("killed")
    await upload_to_an_api_that_is_killed(service, name, definition["id"])
    aged = "UPDATE documents SET received_at = received_at - interval '1 minute' WHERE file_name = $1 RETURNING *"
    document = await service.app.db.fetchrow(aged, name)
    assert document is not None
    assert (document["run_started_at"], document["definition"]) == (None, definition["id"])
    connection, task_queue = Connection(str(service.settings.temporal_address)), service.settings.task_queue
    await apply_background_schedule(connection, task_queue, every=dt.timedelta(seconds=1))
    try:

        async def has_started() -> bool:
            shown = await service.http.get(f"/v1/documents/{document['document_id']}")
            return (await service.http.get(f"/v1/runs/{shown.json()['run_id']}")).status_code == 200

        await eventually(has_started, "the run of the document", timeout_seconds=60)
    finally:
        await service.app.temporal.get_schedule_handle(background_id(task_queue)).delete()


async def upload_to_an_api_that_is_killed(service: Service, name: str, definition: str) -> None:
    """Upload to a process that stores the document, and is killed before it starts the run."""
    async with api_process(service, "tests.api.killed_api") as (process, http):
        with pytest.raises(httpx.RemoteProtocolError):
            await http.post("/v1/documents", files={"file": (name, b"an invoice")}, data={"definition": definition})
        assert await process.wait() == -signal.SIGKILL


async def test_documents_whose_run_cannot_begin_do_not_hold_up_others(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docrail.services.intake.service.SWEEP_BATCH", 2)
    definition: dict[str, Json] = {"id": unique("begins"), "steps": [{"id": "only", "handler": "noop"}]}
    assert (await service.http.post("/v1/definitions", json={"definition": definition})).status_code == 201
    stuck = [await cut_short(service, unique("gone")) for _ in range(3)]
    begins = await cut_short(service, definition["id"])
    assert await start_waiting_documents(service.app, older_than_seconds=0) >= 1
    started = await load_document(service.app.db, "default", begins.document_id)
    assert started
    assert started.run_started_at
    for document in stuck:
        left = await load_document(service.app.db, "default", document.document_id)
        assert left
        assert left.run_started_at is None
