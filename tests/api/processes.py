"""Run APIs in processes of their own, on the servers of a tested one."""

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx

from docrail.embedded.claims import claim_port
from tests.api.service import Service
from tests.stack import eventually


@asynccontextmanager
async def api_process(
    service: Service, *command: str, **variables: str
) -> AsyncIterator[tuple[Process, httpx.AsyncClient]]:
    """Run a module as the API, and yield its process and a client once it listens."""
    settings, port = service.settings, claim_port(0, "the API's")
    environment = {
        "DOCRAIL_API_PORT": str(port),
        "DOCRAIL_DATABASE_URL": settings.database_url,
        "DOCRAIL_TEMPORAL_ADDRESS": str(settings.temporal_address),
        "DOCRAIL_TEMPORAL_ENVCONFIG": "false",
        "DOCRAIL_ACCESS": "local",
        "DOCRAIL_TASK_QUEUE": settings.task_queue,
        "DOCRAIL_DATA_DIR": str(settings.data_dir),
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *command), env={**os.environ, **environment, **variables}
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as http:

            async def listens() -> bool:
                assert process.returncode is None, "it has ended"
                with suppress(httpx.TransportError):
                    return (await http.get("/healthz")).status_code == 200
                return False

            await eventually(listens, "the API to listen")
            yield process, http
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
