"""Processes die, in the middle of everything: each document ends once, and nothing is lost or doubled."""

import asyncio
import os
import signal
from collections import Counter
from contextlib import suppress

from docrail.dag.values.json_values import Json
from docrail.worker import DEFAULT_SLOTS
from tests.chaos.conftest import Rig, upload_all
from tests.stack import descendants, eventually


def freeze_readers(rig: Rig) -> list[int]:
    """Stop the processes that read documents, as if they hung, and return their ids."""
    readers = [child for worker in rig.stack.workers if worker.pid for child in descendants(worker.pid)]
    assert readers
    for reader in readers:
        os.kill(reader, signal.SIGSTOP)
    return readers


def thaw(readers: list[int]) -> None:
    """Let stopped processes go on, if only to notice that their worker is gone."""
    for reader in readers:
        with suppress(ProcessLookupError):
            os.kill(reader, signal.SIGCONT)


async def test_a_worker_killed_in_the_middle_of_extract(rig: Rig) -> None:
    readers = freeze_readers(rig)  # so the document is held in the middle of being read
    document = await rig.upload("killed-in-extract")
    await rig.wait_for_step(document["run_id"], "extract", "running")
    for worker in rig.stack.workers:
        await worker.restart()
    thaw(readers)
    await rig.check_kept_once([document])


async def test_a_worker_killed_in_the_middle_of_a_save(rig: Rig) -> None:
    uploading = asyncio.create_task(upload_all(rig, "killed-in-save", 20))
    await rig.wait_for_file()
    for worker in rig.stack.workers:
        await worker.restart()
    documents = await uploading
    await rig.clean_up_after_killed_writers(documents)
    await rig.check_kept_once(documents)


async def test_the_temporal_server_killed_and_restarted(rig: Rig) -> None:
    uploading = asyncio.create_task(upload_all(rig, "temporal-killed", 20))
    await rig.wait_for_file()
    await rig.stack.temporal.process.restart()
    await rig.check_kept_once(await uploading)


async def test_postgresql_killed_and_restarted(rig: Rig) -> None:
    uploading = asyncio.create_task(upload_all(rig, "postgres-killed", 20))
    await rig.wait_for_file()
    await rig.stack.postgres.process.restart()
    await rig.check_kept_once(await uploading)


async def test_everything_killed_during_fifty_documents(rig: Rig) -> None:
    uploading = asyncio.create_task(upload_all(rig, "all-killed", 50))
    await rig.wait_for_file()
    victims = (rig.stack.postgres.process, rig.stack.temporal.process, *rig.stack.workers, rig.stack.api)
    await asyncio.gather(*(victim.kill() for victim in victims))
    for victim in victims:
        await victim.start()
    documents = await uploading
    await rig.clean_up_after_killed_writers(documents)
    await rig.check_kept_once(documents)


async def test_two_workers_share_the_load(rig: Rig) -> None:
    readers = freeze_readers(rig)
    documents = await upload_all(rig, "shared", DEFAULT_SLOTS + 5)  # held, and more than one worker takes
    client = await rig.temporal()

    async def holders() -> Counter[str]:
        """Count the documents that each worker holds."""
        held: Counter[str] = Counter()
        query = 'WorkflowType IN ("Run", "DocumentChunk") AND ExecutionStatus = "Running"'
        async for each in client.list_workflows(query):
            described = await client.get_workflow_handle(each.id).describe()
            pending = described.raw_description.pending_activities
            held.update(activity.last_worker_identity for activity in pending if activity.last_worker_identity)
        return held

    async def all_are_held() -> bool:
        return (await holders()).total() == len(documents)

    await eventually(all_are_held, "every document is at a worker")
    held = await holders()
    thaw(readers)
    await rig.check_kept_once(documents)
    assert len(held) == 2
    assert min(held.values()) >= 5


async def test_a_worker_that_is_stopped_lets_running_activities_finish(rig: Rig) -> None:
    await rig.stack.workers[1].kill()  # one worker is left, so it is known who works
    slow: dict[str, Json] = {"id": "slow", "steps": [{"id": "wait", "handler": "sleep", "config": {"seconds": 3}}]}
    started = (await rig.stack.http.post("/v1/runs", json={"definition": slow})).json()
    await rig.wait_for_step(started["run_id"], "wait", "running")
    pid = rig.stack.workers[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGTERM)
    await eventually(lambda: rig.stack.workers[0].pid not in (None, pid), "the worker has drained and is back")
    report = (await rig.wait_for_end([started]))[0]
    assert (report["status"], report["steps"]["wait"]["attempts"]) == ("completed", 1)
