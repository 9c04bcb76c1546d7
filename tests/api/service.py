"""Serve the API for tests: real HTTP, its own database and task queue, a real worker."""

import asyncio
import dataclasses
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, cast

import asyncpg
import httpx
import uvicorn
from fastapi import FastAPI, Header
from temporalio.client import WorkflowExecutionStatus
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.runtime import Runtime, TelemetryConfig

from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.postgres.tenants import ALL_ROWS
from docrail.adapters.temporal.connection import connect, find_connection
from docrail.adapters.temporal.draining import working
from docrail.api.app import create_app
from docrail.api.auth import Access, current_principal
from docrail.api.server import KEEP_ALIVE_SECONDS
from docrail.dag.values.json_values import Json
from docrail.services.access.models import DEFAULT_TENANT, Principal, Scope
from docrail.services.app import App
from docrail.services.definitions.service import publish_shipped
from docrail.services.maintenance.service import background_id
from docrail.settings import Settings
from docrail.worker import build_workers, open_tools
from docrail.workflows.contract.names import BACKGROUND_TYPE, workflow_id
from tests.stack import eventually

ALL_SCOPES = " ".join(Scope)
HELLO = {"id": "hello", "steps": [{"id": "greet", "handler": "echo", "config": {"value": "hi"}}]}
SLOW = {
    "id": "slow",
    "steps": [
        {"id": "nap", "handler": "sleep", "config": {"seconds": 3600}},
        {"id": "after", "handler": "noop", "depends_on": ["nap"]},
    ],
}


WHOLE_STREAM = {"whole_stream": True}
"""Extension of a request for an event stream that is to be read; otherwise it ends after its first event."""


class _BeginningOf(httpx.AsyncByteStream):
    """The first event of a stream that has no end."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part
            return

    async def aclose(self) -> None:
        await self._stream.aclose()


class Transport(httpx.AsyncHTTPTransport):
    """Lets tests of all routes read event streams as they read other answers."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        is_endless = response.headers.get("content-type", "").startswith("text/event-stream")
        if is_endless and "whole_stream" not in request.extensions:
            response.stream = _BeginningOf(cast(httpx.AsyncByteStream, response.stream))
        return response


@dataclass(frozen=True, slots=True)
class Service:
    """A running API."""

    http: httpx.AsyncClient
    api: FastAPI
    settings: Settings
    pool: asyncpg.Pool
    """Sees the rows of all tenants, unlike the API's."""

    @property
    def app(self) -> App:
        """Return the API's resources for a test that prepares or checks the rows of any tenant."""
        return dataclasses.replace(cast(App, self.api.state.app), db=self.pool)

    def guard(self) -> None:
        """Use the API's own authentication from now on."""
        self.api.dependency_overrides.pop(current_principal)
        self.api.state.access = self.api.state.own_access

    async def ended(self, run_id: str) -> Json:
        """Wait for a run's end and return it."""
        answers: list[Json] = []

        async def has_ended() -> bool:
            response = await self.http.get(f"/v1/runs/{run_id}")
            assert response.status_code == 200, response.text
            answers.append(response.json())
            return answers[-1]["status"] not in ("running", "waiting", "paused")

        await eventually(has_ended, f"the end of {run_id}")
        return answers[-1]

    async def closed(self, run_id: str) -> Json:
        """Wait until a run has ended and its dead letters are stored too; return it."""
        run = await self.ended(run_id)
        handle = self.app.temporal.get_workflow_handle(workflow_id(DEFAULT_TENANT, run_id))

        async def is_closed() -> bool:
            return (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING

        await eventually(is_closed, f"the last words of {run_id}")
        return run


def settings_for(temporal_address: str, dsn: str, data_dir: Path) -> Settings:
    return Settings(
        temporal_address=temporal_address,
        temporal_envconfig=False,
        database_url=dsn,
        data_dir=data_dir,
        task_queue=f"api-{uuid.uuid4().hex}",
        max_upload_bytes=2**20,
        max_zip_bytes=2**20,
        share_from=0,
        sandboxed=True,
        graceful_shutdown_seconds=0,
    )


def create_tested_api(settings: Settings) -> FastAPI:
    """Return the API. The headers X-Test-Tenant, -Name, -Scopes and -Known-To name the caller."""
    api = create_app(settings)
    api.dependency_overrides[current_principal] = _principal_of_headers
    api.state.own_access, api.state.access = api.state.access, Access.of_mode("local")
    return api


@asynccontextmanager
async def serve(settings: Settings) -> AsyncIterator[Service]:
    """Serve the API on a free port."""
    api = create_tested_api(settings)
    server = uvicorn.Server(
        uvicorn.Config(
            api,
            host="127.0.0.1",
            port=0,
            log_level="warning",
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
    )
    pool = await open_pool(settings.database_url, min_size=0, rows=ALL_ROWS)
    serving = asyncio.create_task(server.serve())
    try:
        await eventually(lambda: server.started or serving.done(), "the API to listen")
        port = server.servers[0].sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=30, transport=Transport()) as http:
            yield Service(http, api, settings, pool)
    finally:
        if events := getattr(api.state, "events", None):
            events.close()  # as api/server.py does
        server.should_exit = True
        await serving
        pool.terminate()


@cache
def _runtime() -> Runtime:
    """Return the runtime of this process's workers. The SDK's own sends the first heartbeat after a minute."""
    return Runtime(telemetry=TelemetryConfig(), worker_heartbeat_interval=timedelta(seconds=1))


@asynccontextmanager
async def work(settings: Settings) -> AsyncIterator[None]:
    """Run a worker with Temporal's sandbox, which production turns off for speed."""
    connection = find_connection(settings.temporal_address, None, envconfig=False, keys=settings.encryption)
    client = await connect(connection, runtime=_runtime())
    async with open_tools(settings) as tools, working(build_workers(client, settings, tools)):
        yield


@asynccontextmanager
async def serve_with_worker(settings: Settings) -> AsyncIterator[Service]:
    """Serve the API and run a worker; yield the service once both are ready and definitions are published."""
    async with serve(settings) as served, work(settings):
        await publish_shipped(served.app)
        await eventually(lambda: is_ready(served), "the API to be ready")
        yield served


async def run_background_tasks(served: Service) -> None:
    """Start the background tasks as the schedule does every minute, unless they are running."""
    task_queue = served.settings.task_queue
    await served.app.temporal.start_workflow(
        BACKGROUND_TYPE,
        id=background_id(task_queue),
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )


async def is_ready(served: Service) -> bool:
    return (await served.http.get("/readyz")).status_code == 200


async def _principal_of_headers(
    x_test_tenant: Annotated[str, Header()] = "default",
    x_test_name: Annotated[str, Header()] = "tester",
    x_test_scopes: Annotated[str, Header()] = ALL_SCOPES,
    x_test_known_to: Annotated[str | None, Header()] = None,
) -> Principal:
    scopes = frozenset(Scope(scope) for scope in x_test_scopes.split())
    return Principal(x_test_tenant, x_test_name, scopes, known_to=x_test_known_to)
