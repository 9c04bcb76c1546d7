"""Processes die in the middle of a chunk of documents: none is lost, and nothing exists twice."""

import asyncio
import io
import zipfile
from collections.abc import Sequence

import asyncpg

from docrail.dag.values.json_values import Json
from tests.activities.ubl import ubl_invoice
from tests.chaos.conftest import PATIENCE_SECONDS, Rig, upload_all
from tests.chaos.test_survival import freeze_readers, thaw
from tests.stack import eventually

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
    await check_shared_once(rig, (await http.get(f"/v1/batches/{batch_id}/documents")).json()["documents"])


async def check_shared_once(rig: Rig, documents: Sequence[dict[str, Json]]) -> None:
    client = await rig.temporal()
    chunks = [each async for each in client.list_workflows('WorkflowType = "DocumentChunk"')]
    assert chunks
    await rig.clean_up_after_killed_writers(documents)
    await rig.check_kept_once(documents)
    for document in documents:
        place = document["run_id"].replace(".", "/", 1)
        assert (await client.count_workflows(f'WorkflowId = "default/{place}"')).count <= 1


async def test_everything_killed_while_single_documents_start_together(rig: Rig) -> None:
    uploading = asyncio.create_task(upload_all(rig, "killed-together", 40))
    database = await asyncpg.connect(rig.stack.postgres.dsn)
    shared, left = (
        f"SELECT count(*) FROM chunked_runs{end}" for end in ("", " WHERE status IS NULL AND moved_at IS NULL")
    )

    async def share() -> bool:
        return bool(await database.fetchval(shared))

    await eventually(share, "documents share a workflow", timeout_seconds=PATIENCE_SECONDS)
    for victim in (rig.stack.api, *rig.stack.workers):
        await victim.restart()
    await check_shared_once(rig, await uploading)

    async def all_recorded() -> bool:
        return not await database.fetchval(left)

    await eventually(all_recorded, "the ends of all runs are recorded", timeout_seconds=PATIENCE_SECONDS)
    await database.close()


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
