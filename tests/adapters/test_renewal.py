"""Bytes that are put again in the moment in which they are deleted for their age are kept."""

import asyncio
import datetime as dt
import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import pytest

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore, blob_path
from docrail.adapters.store.folders import LocalFolder
from docrail.adapters.store.renewal import BLOBS, VALUES, turns_in
from docrail.adapters.store.values import ValueStore, folder_of
from docrail.services.lake.files import Lake
from docrail.services.maintenance.repository import put_before, remove_if_old
from docrail.services.maintenance.retention import remove_original
from docrail.services.metrics import Metrics
from docrail.services.tools import Outside, Tools
from tests.stack import eventually

AGES_AGO = time.time() - 100 * 86_400
WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@dataclass(frozen=True)
class Held(LocalFolder):
    """A folder in which a deletion, having looked at the file, waits before it deletes."""

    reached: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def delete(self, path: str) -> None:
        self.reached.set()
        assert self.go_on.wait(30)
        super().delete(path)


@pytest.fixture
def before() -> dt.datetime:
    return put_before(30, dt.datetime.now(dt.UTC))


async def test_an_upload_between_the_look_and_the_deletion_is_kept(
    pool: asyncpg.Pool, tmp_path: Path, before: dt.datetime
) -> None:
    blobs, held = BlobStore(tmp_path, turns_in(pool, BLOBS)), Held(tmp_path)
    reference = await blobs.put(b"an old invoice")
    path = blob_path(reference.sha256)
    os.utime(tmp_path / path, (AGES_AGO, AGES_AGO))
    tools = Tools(
        pool, BlobStore(held), ValueStore(tmp_path), Lake(tmp_path), DocumentReader(), Metrics(), outside=Outside()
    )
    removing = asyncio.create_task(remove_original(tools, reference.sha256, before))
    await eventually(held.reached.is_set, "the deletion to have looked")
    putting = asyncio.create_task(blobs.put(b"an old invoice"))

    async def it_waits_or_is_done() -> bool:
        return putting.done() or bool(await pool.fetchval(WAITING))

    await eventually(it_waits_or_is_done, "the upload to have come to the file")
    held.go_on.set()
    await asyncio.gather(removing, putting)
    assert await blobs.get(reference.sha256) == b"an old invoice"


async def test_a_value_is_renewed_in_its_turn(pool: asyncpg.Pool, tmp_path: Path, before: dt.datetime) -> None:
    values = ValueStore(tmp_path, turns_in(pool, VALUES))
    part = await values.put("acme", {"total": 3})
    path = f"{folder_of('acme')}/{blob_path(part.sha256)}"
    os.utime(tmp_path / path, (AGES_AGO, AGES_AGO))

    async def somebody_waits() -> bool:
        return bool(await pool.fetchval(WAITING))

    async with turns_in(pool, VALUES)(path):
        putting = asyncio.create_task(values.put("acme", {"total": 3}))
        await eventually(somebody_waits, "the put to wait for its turn")
    await putting
    assert not remove_if_old(LocalFolder(tmp_path), path, before)


async def test_fresh_and_new_bytes_wait_for_no_lock(pool: asyncpg.Pool, tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path, turns_in(pool, BLOBS))
    path = blob_path((await blobs.put(b"once")).sha256)
    async with turns_in(pool, BLOBS)(path), asyncio.timeout(30):
        await blobs.put(b"once")
    assert await blobs.get((await blobs.put(b"twice")).sha256) == b"twice"
