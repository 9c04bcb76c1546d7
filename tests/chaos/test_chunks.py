"""Workers die in the middle of a chunk of a batch's documents: none is lost, and nothing exists twice."""

import io
import zipfile

import pytest

from docrail.dag.values.json_values import Json
from tests.activities.ubl import ubl_invoice
from tests.chaos.conftest import PATIENCE_SECONDS, Rig
from tests.chaos.test_survival import freeze_readers, thaw
from tests.stack import eventually

pytestmark = pytest.mark.timeout(300)

DOCUMENTS = 12


async def order(rig: Rig, prefix: str) -> str:
    """Order a batch whose documents share workflows, and return its id once it may begin with all of them."""
    http = rig.stack.http
    wanted: dict[str, Json] = {"definition": "invoice", "grouped": True, "max_concurrency": DOCUMENTS}
    batch_id = str((await http.post("/v1/batches", json=wanted)).raise_for_status().json()["batch_id"])
    (await http.post(f"/v1/batches/{batch_id}/pause", json={})).raise_for_status()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for number in range(DOCUMENTS):
            archive.writestr(f"{number}.xml", ubl_invoice(f"{prefix}-{number}"))
    files = {"file": ("all.zip", written.getvalue(), "application/zip")}
    (await http.post(f"/v1/batches/{batch_id}/zip", files=files, data={"close": "true"})).raise_for_status()
    (await http.post(f"/v1/batches/{batch_id}/resume", json={})).raise_for_status()
    return batch_id


async def check_kept_once(rig: Rig, batch_id: str) -> None:
    """Assert that each document of the batch ended well and once, and that they had shared workflows."""
    http = rig.stack.http

    async def is_over() -> bool:
        return (await http.get(f"/v1/batches/{batch_id}")).json()["completed_at"] is not None

    await eventually(is_over, "the batch is over", timeout_seconds=PATIENCE_SECONDS)
    assert (await http.get(f"/v1/batches/{batch_id}")).json()["counts"]["done"] == DOCUMENTS
    documents = (await http.get(f"/v1/batches/{batch_id}/documents")).json()["documents"]
    client = await rig.temporal()
    chunks = [each async for each in client.list_workflows('WorkflowType = "DocumentChunk"')]
    assert chunks
    await rig.clean_up_after_killed_writers(documents)
    await rig.check_kept_once(documents)
    for document in documents:
        place = document["run_id"].replace(".", "/", 1)
        assert (await client.count_workflows(f'WorkflowId = "default/{place}"')).count <= 1


async def test_workers_killed_while_a_chunk_reads_its_documents(rig: Rig) -> None:
    readers = freeze_readers(rig)
    batch_id = await order(rig, "killed-reading")
    client = await rig.temporal()

    async def is_reading() -> bool:
        query = 'WorkflowType = "DocumentChunk" AND ExecutionStatus = "Running"'
        running = [each async for each in client.list_workflows(query)]
        found = [await client.get_workflow_handle(each.id).describe() for each in running]
        return any(each.raw_description.pending_activities for each in found)

    await eventually(is_reading, "the chunk reads", timeout_seconds=PATIENCE_SECONDS)
    for worker in rig.stack.workers:
        await worker.restart()
    thaw(readers)
    await check_kept_once(rig, batch_id)


async def test_workers_killed_while_a_chunk_saves_its_documents(rig: Rig) -> None:
    batch_id = await order(rig, "killed-saving")
    await rig.wait_for_file()
    for worker in rig.stack.workers:
        await worker.restart()
    await check_kept_once(rig, batch_id)
