"""A namespace without `docrail server migrate` is reported by everything that needs it, and no document is lost."""

import secrets
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client

from docrail.adapters.temporal.connection import Connection
from docrail.services.definitions.service import publish_shipped
from docrail.services.fleet.namespace import prepare_namespace
from docrail.services.intake.service import start_waiting_documents
from tests.api.service import HELLO, Service, serve, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers

MISSING = "nowhere"


async def register(address: str) -> str:
    """Create a namespace without Docrail's search attributes, and return its name."""
    name, retention = f"bare-{secrets.token_hex(4)}", Duration()
    retention.FromTimedelta(timedelta(days=1))
    request = RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=retention)
    await (await Client.connect(address)).workflow_service.register_namespace(request)
    return name


@pytest.fixture(params=["bare", MISSING])
async def unprepared(
    request: pytest.FixtureRequest, embedded: Servers, dsn: str, tmp_path: Path
) -> AsyncIterator[Service]:
    name = MISSING if request.param == MISSING else await register(embedded.temporal_address)
    settings = settings_for(embedded.temporal_address, dsn, tmp_path).model_copy(update={"temporal_namespace": name})
    async with serve(settings) as service:
        yield service


def says_what_to_do(response: httpx.Response) -> bool:
    problem = response.json()
    assert (response.status_code, problem["type"], problem["service"]) == (503, "/problems/unavailable", "Temporal")
    assert "not prepared for runs, run `docrail server migrate` (Namespace " in problem["detail"]
    return "retry-after" in response.headers


async def test_a_start_is_refused_with_what_to_do(unprepared: Service) -> None:
    assert says_what_to_do(await unprepared.http.post("/v1/runs", json={"definition": HELLO}))


async def test_a_trigger_is_refused_and_the_execution_stays_pending(unprepared: Service) -> None:
    execution = (await unprepared.http.post("/v1/workflow", json={"definition": HELLO})).json()
    assert says_what_to_do(await unprepared.http.post(f"/v1/workflow/trigger/{execution['execution_id']}"))


async def test_in_a_missing_namespace_no_run_is_said_not_to_exist(embedded: Servers, dsn: str, tmp_path: Path) -> None:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path).model_copy(update={"temporal_namespace": MISSING})
    async with serve(settings) as service:
        for path in ("/v1/runs", "/v1/runs/hello.1"):
            assert says_what_to_do(await service.http.get(path))
        assert says_what_to_do(await service.http.post("/v1/runs/hello.1/pause"))
        ready = await service.http.get("/readyz")
    assert ready.status_code == 503
    assert "run `docrail server migrate`" in ready.json()["temporal"]


async def test_a_list_by_attributes_that_are_missing_is_refused_with_what_to_do(unprepared: Service) -> None:
    refused = await unprepared.http.get("/v1/runs", params={"definition": "hello"})
    assert "run `docrail server migrate`" in refused.json()["detail"]
    assert refused.status_code == 503


@pytest.fixture
async def own_dsn(embedded: Servers) -> AsyncIterator[str]:
    """Yield a database in which no other API starts runs of documents."""
    async with migrated_database(embedded.dsn) as name:
        yield name


async def test_a_document_is_kept_and_its_run_starts_when_the_namespace_is_prepared(
    embedded: Servers, own_dsn: str, tmp_path: Path
) -> None:
    name = await register(embedded.temporal_address)
    settings = settings_for(embedded.temporal_address, own_dsn, tmp_path)
    async with serve(settings.model_copy(update={"temporal_namespace": name})) as service:
        await publish_shipped(service.app)
        kept = (await service.http.post("/v1/documents", files={"file": ("a", b"text")})).json()
        assert kept["run_started_at"] is None
        await prepare_namespace(Connection(embedded.temporal_address, name))
        await start_waiting_documents(service.app, older_than_seconds=0)
        found = (await service.http.get(f"/v1/documents/{kept['document_id']}")).json()
        assert found["run_started_at"] is not None
