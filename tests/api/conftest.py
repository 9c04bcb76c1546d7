"""Provide one API with a worker for all tests of this folder, and one without a worker."""

from collections.abc import AsyncIterator

import httpx
import pytest

from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.postgres.tenants import ALL_ROWS
from docrail.services.definitions.service import publish_shipped
from docrail.services.fleet.repository import load_identity
from tests.api.service import Service, serve, serve_with_worker, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers


@pytest.fixture(scope="session")
async def dsn(embedded: Servers) -> AsyncIterator[str]:
    """Yield the database of all services of this folder. None may claim it for its store: each has another."""
    async with migrated_database(embedded.dsn) as name:
        yield name
        async with await open_pool(name, min_size=0, rows=ALL_ROWS) as pool:
            assert await load_identity(pool) is None


@pytest.fixture(scope="session")
async def service(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("api"))
    async with serve_with_worker(settings) as served:
        yield served


@pytest.fixture(scope="session")
async def workerless(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("workerless"))
    async with serve(settings) as served:
        await publish_shipped(served.app)
        yield served


@pytest.fixture(scope="session")
async def calling(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """Yield an API whose worker may call 127.0.0.1."""
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("calling"))
    settings = settings.model_copy(update={"allowed_hosts": ("127.0.0.1",)})
    async with serve_with_worker(settings) as served:
        yield served


@pytest.fixture
def http(service: Service) -> httpx.AsyncClient:
    return service.http
