"""The API, a worker and `docrail server migrate` against a Temporal with TLS, by Temporal's own variables."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from docrail.services.definitions.service import publish_shipped
from tests.api.service import HELLO, serve, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers, eventually
from tests.tls_front import TlsFront, tls_front

PATIENCE_SECONDS = 200
"""A process may take long to start while other tests run."""


@pytest.fixture
async def front(embedded: Servers, tmp_path: Path) -> AsyncIterator[TlsFront]:
    async with tls_front(embedded.temporal_address, tmp_path) as listening:
        yield listening


@asynccontextmanager
async def running(*arguments: str, **variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *arguments, env={**os.environ, **variables}, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.fixture
async def own_dsn(embedded: Servers) -> AsyncIterator[str]:
    async with migrated_database(embedded.dsn) as made:
        yield made


async def test_migrate_prepares_a_namespace_that_requires_tls(front: TlsFront, dsn: str) -> None:
    async with running("docrail", "server", "migrate", **front.variables, DOCRAIL_DATABASE_URL=dsn) as migrate:
        output, _ = await asyncio.wait_for(migrate.communicate(), PATIENCE_SECONDS)
    assert output.decode().endswith("Temporal's namespace 'default' is up to date\n")
    assert migrate.returncode == 0


async def test_a_run_completes_on_a_server_that_requires_tls(
    front: TlsFront, own_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in front.variables.items():
        monkeypatch.setenv(name, value)
    open_ended = {"temporal_address": None, "temporal_envconfig": True}
    settings = settings_for("", own_dsn, tmp_path).model_copy(update=open_ended)
    worker = {
        f"DOCRAIL_{name.upper()}": str(getattr(settings, name)) for name in ("database_url", "data_dir", "task_queue")
    }
    async with serve(settings) as service, running("docrail.worker", **worker):
        await publish_shipped(service.app)

        async def is_ready() -> bool:
            return (await service.http.get("/readyz")).status_code == 200

        await eventually(is_ready, "the API to see the worker", timeout_seconds=PATIENCE_SECONDS)
        started = (await service.http.post("/v1/runs", json={"definition": HELLO})).json()
        assert (await service.ended(started["run_id"]))["status"] == "completed"
