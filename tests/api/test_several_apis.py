"""Several API processes receive uploads of the same documents at the same time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from docrail.workflows.contract.names import document_chunk_id
from tests.api.processes import api_process
from tests.api.service import Service, serve_with_worker, settings_for
from tests.api.test_batches import QUICK, publish
from tests.api.test_grouped_batches import count_workflows, has_workflow
from tests.api.test_shared_uploads import in_chunks, rows_of, until_ended, upload
from tests.postgres import migrated_database
from tests.stack import Servers

OF_FIRST, OF_SECOND = range(18), range(12, 30)
"""The documents that each API receives: some are the same, and run alone if the other settles them first."""


@pytest.fixture
async def service(embedded: Servers, tmp_path: Path) -> AsyncIterator[Service]:
    """Give the processes a database of their own: `docrail server start` claims the store for it."""
    async with (
        migrated_database(embedded.dsn) as dsn,
        serve_with_worker(settings_for(embedded.temporal_address, dsn, tmp_path)) as served,
    ):
        yield served


@pytest.fixture
async def apis(service: Service) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Give two APIs that gather uploads as soon as one meets another."""
    async with AsyncExitStack() as stack:
        starting = [api_process(service, "docrail", "server", "start", DOCRAIL_SHARE_FROM="1") for _ in range(2)]
        yield [(await stack.enter_async_context(each))[1] for each in starting]


async def test_each_document_has_one_run_whichever_api_gathers_it(
    http: httpx.AsyncClient, service: Service, apis: list[httpx.AsyncClient]
) -> None:
    for _ in range(3):
        definition = await publish(http, QUICK)
        sent = [(api, number) for api, some in zip(apis, (OF_FIRST, OF_SECOND), strict=True) for number in some]
        uploads = (upload(api, definition, number, f"{definition}-{number}") for api, number in sent)
        answers = await asyncio.gather(*uploads)
        documents = [*{each["document_id"]: each for each in answers}.values()]
        assert len(documents) == len({each["run_id"] for each in answers}) == len({*OF_FIRST, *OF_SECOND})
        assert await until_ended(service, documents) == {"completed": len(documents)}
        shared = await in_chunks(service, documents)
        assert shared
        chunks = {row["chunk_id"] for row in (await rows_of(service, shared)).values()}
        handles = [service.app.temporal.get_workflow_handle(document_chunk_id("default", each)) for each in chunks]
        ends = [end["run_id"] for handle in handles for end in (await handle.result())["ends"]]
        assert sorted(ends) == sorted(each["run_id"] for each in shared)
        assert not any([await has_workflow(service, each["run_id"]) for each in shared])
        alone = [each["run_id"] for each in documents if each not in shared]
        assert [await count_workflows(service, run_id) for run_id in alone] == [1] * len(alone)
