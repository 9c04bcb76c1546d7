"""The API survives outages of its servers, which are killed and restarted here."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import httpx
import pytest

from docrail.adapters.postgres.migrate import migrate
from docrail.embedded.postgres import PostgresServer, start_postgres
from docrail.embedded.temporal import TemporalServer, start_temporal
from docrail.services.definitions.service import publish_shipped
from docrail.services.intake.service import start_waiting_documents
from tests.api.service import HELLO, Service, serve, settings_for, work
from tests.stack import eventually

pytestmark = pytest.mark.server


@dataclass(frozen=True, slots=True)
class Servers:
    """Servers that these tests kill."""

    temporal: TemporalServer
    postgres: PostgresServer


@pytest.fixture(scope="module")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Servers]:
    data_dir = tmp_path_factory.mktemp("outages")
    async with AsyncExitStack() as stack:
        postgres = await start_postgres(data_dir, report=print)
        stack.push_async_callback(postgres.process.stop)
        temporal = await start_temporal(data_dir, 0, 0, report=print)
        stack.push_async_callback(temporal.process.kill)
        yield Servers(temporal, postgres)


@pytest.fixture
async def service(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """An API that was started while every other server was down, after those have started."""
    settings = settings_for(servers.temporal.address, servers.postgres.dsn, tmp_path_factory.mktemp("api"))
    await servers.temporal.process.kill()
    await servers.postgres.process.kill()
    async with serve(settings) as served:
        assert (await served.http.get("/healthz")).status_code == 200
        found = await served.http.get("/readyz")
        assert found.status_code == 503
        assert "Temporal is not available" in found.json()["temporal"]
        assert "PostgreSQL is not available" in found.json()["postgresql"]
        await servers.temporal.process.start()
        await servers.postgres.process.start()
        await migrate(servers.postgres.dsn)
        await publish_shipped(served.app)
        async with work(settings):
            await eventually(lambda: _ready(served.http), "the API to find its services")
            yield served


async def _ready(http: httpx.AsyncClient) -> bool:
    return (await http.get("/readyz")).status_code == 200


async def test_a_document_uploaded_while_temporal_is_unavailable_runs_later(servers: Servers, service: Service) -> None:
    http = service.http
    await servers.temporal.process.kill()
    uploads = [await http.post("/v1/documents", files={"file": ("a", f"text {n}".encode())}) for n in range(3)]
    refused = await http.post("/v1/runs", json={"definition": HELLO})
    await servers.temporal.process.start()
    assert [(upload.status_code, upload.json()["run_started_at"]) for upload in uploads] == [(202, None)] * 3
    assert (refused.status_code, refused.json()["service"]) == (503, "Temporal")
    assert await start_waiting_documents(service.app, older_than_seconds=0) == 3
    assert await start_waiting_documents(service.app, older_than_seconds=0) == 0
    for upload in uploads:
        document = (await http.get(f"/v1/documents/{upload.json()['document_id']}")).json()
        assert document["run_started_at"] is not None
        assert (await service.ended(document["run_id"]))["status"] == "failed"  # plain text is not an invoice


async def test_repeating_an_upload_starts_the_run_that_is_missing(servers: Servers, service: Service) -> None:
    files, headers = {"file": ("a", b"sent twice")}, {"Idempotency-Key": "sent-twice"}
    await servers.temporal.process.kill()
    first = await service.http.post("/v1/documents", files=files, headers=headers)
    await servers.temporal.process.start()
    again = await service.http.post("/v1/documents", files=files, headers=headers)
    assert again.json()["document_id"] == first.json()["document_id"]
    assert (first.json()["run_started_at"] is None, again.json()["run_started_at"] is None) == (True, False)


async def test_postgresql_that_comes_back_is_found_again(servers: Servers, service: Service) -> None:
    http = service.http
    assert (await http.get("/v1/definitions")).status_code == 200
    await servers.postgres.process.kill()
    for path in ("/v1/definitions", "/v1/reviews", "/v1/documents/doc_" + "0" * 26):
        response = await http.get(path)
        assert (response.status_code, response.json()["type"]) == (503, "/problems/unavailable")
    assert (await http.get("/readyz")).status_code == 503
    await servers.postgres.process.start()
    assert (await http.get("/v1/definitions")).status_code == 200
    assert await _ready(http)


async def test_temporal_that_comes_back_is_found_again(servers: Servers, service: Service) -> None:
    started = await service.http.post("/v1/runs", json={"definition": HELLO})
    await servers.temporal.process.restart()
    assert (await service.ended(started.json()["run_id"]))["status"] == "completed"
