"""Documents whose upload was cut short before their run began: the sweep starts their runs."""

import pytest

from dag.values import Json
from operations.documents import start_waiting_documents
from storage.documents import Document, insert_document, load_document
from tests.api.customer import unique
from tests.api.service import Service
from tests.postgres import new_document_id


async def cut_short(service: Service, definition: str) -> Document:
    """Keep a document as an API does that is killed before it starts the run."""
    return await insert_document(
        *(service.app.db, "default", new_document_id(), await service.app.blobs.put(b"an invoice")),
        media_type="text/plain",
        file_name="a.txt",
        sla_hours=24,
        definition=definition,
    )


async def test_documents_whose_run_cannot_begin_hold_up_nobody_elses(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.documents.SWEEP_BATCH", 2)
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
