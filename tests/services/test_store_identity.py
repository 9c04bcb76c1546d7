"""A store belongs to one database: the first process gives both an id, and every other store is refused."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.store.folders import Folder, LocalFolder
from docrail.services.fleet.store_identity import FILE, WrongStore, check_store, claim_store
from tests.commands import docrail
from tests.postgres import migrated_database
from tests.s3 import Bucket
from tests.servers import Servers


@pytest.fixture
async def own_dsn(embedded: Servers) -> AsyncIterator[str]:
    async with migrated_database(embedded.dsn) as dsn:
        yield dsn


@pytest.fixture
async def own(own_dsn: str) -> AsyncIterator[asyncpg.Pool]:
    pool = await open_pool(own_dsn, min_size=0)
    yield pool
    await pool.close()


@pytest.fixture(params=["disk", "S3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    if request.param == "S3":
        bucket: Bucket = request.getfixturevalue("bucket")
        return bucket.folder
    return LocalFolder(tmp_path / "store")


async def test_the_first_process_gives_the_id_and_others_find_it(own: asyncpg.Pool, store: Folder) -> None:
    await check_store(own, store)  # no one has used any store
    await claim_store(own, store)
    given = store.read(FILE)
    await claim_store(own, store)
    await check_store(own, store)
    assert store.read(FILE) == given == f"{await own.fetchval('SELECT store_id FROM store_identity')}\n".encode()


@pytest.mark.parametrize("check", [claim_store, check_store])
async def test_an_empty_store_of_a_used_database_is_refused(
    own: asyncpg.Pool, store: Folder, tmp_path: Path, check: type
) -> None:
    await claim_store(own, LocalFolder(tmp_path / "first"))
    with pytest.raises(WrongStore, match="has no file 'store-id': it is not mounted"):
        await check(own, store)
    assert store.read_tagged(FILE) is None


async def test_a_used_store_is_refused_by_an_empty_database_until_its_id_is_written(
    own: asyncpg.Pool, store: Folder
) -> None:
    store.write(FILE, b"store_of_another")
    for _ in range(2):
        with pytest.raises(WrongStore, match="has the id store_of_another"):
            await claim_store(own, store)
    store.delete(FILE)
    await claim_store(own, store)


async def test_a_moved_store_is_accepted_once_it_has_the_id_of_the_message(
    own: asyncpg.Pool, store: Folder, tmp_path: Path
) -> None:
    await claim_store(own, LocalFolder(tmp_path / "first"))
    with pytest.raises(WrongStore) as refused:
        await claim_store(own, store)
    wanted = str(refused.value).partition("write ")[2].split()[0]
    store.write(FILE, wanted.encode())
    await claim_store(own, store)


async def test_of_two_first_processes_with_two_stores_one_is_refused(own: asyncpg.Pool, tmp_path: Path) -> None:
    stores = [LocalFolder(tmp_path / name) for name in ("one", "two", "three")]
    found = await asyncio.gather(*(claim_store(own, each) for each in stores), return_exceptions=True)
    assert sorted(type(each).__name__ for each in found) == ["NoneType", "WrongStore", "WrongStore"]


@pytest.mark.parametrize("command", [("server", "start"), ("worker", "start"), ("lake", "query", "FROM invoices")])
async def test_a_process_refuses_another_store(
    own: asyncpg.Pool, own_dsn: str, embedded: Servers, tmp_path: Path, command: tuple[str, ...]
) -> None:
    await claim_store(own, LocalFolder(tmp_path / "first"))
    ended = await docrail(
        *command,
        DOCRAIL_DATABASE_URL=own_dsn,
        DOCRAIL_DATA_DIR=str(tmp_path / "second"),
        DOCRAIL_TEMPORAL_ADDRESS=embedded.temporal_address,
        DOCRAIL_API_PORT="0",
        DOCRAIL_ACCESS="keys",
    )
    assert ended.code == 1
    assert f"the store {tmp_path / 'second'} has no file 'store-id'" in ended.err
    assert "Traceback" not in ended.err
