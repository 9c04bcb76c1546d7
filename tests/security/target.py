"""Provide an API in a process of its own, to be attacked."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

import httpx
import pytest

from docrail.embedded.claims import claim_port
from tests.api.conftest import dsn
from tests.stack import ROOT, Servers, eventually

__all__ = ["Target", "dsn", "target"]


@dataclass(frozen=True, slots=True)
class Target:
    """An API process."""

    url: str
    pid: int
    headers: dict[str, str]
    """Headers with which a caller has all scopes."""

    def client(self) -> httpx.AsyncClient:
        """Return a client with those headers."""
        return httpx.AsyncClient(base_url=self.url, headers=self.headers, timeout=120, trust_env=False)


@pytest.fixture(scope="module")
async def target(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Target]:
    """Start an API for a file's tests: its memory is measured, which the tests of other files would fill."""
    port = claim_port(0, "the API")
    environment = {
        "DOCRAIL_DATABASE_URL": dsn,
        "DOCRAIL_DATA_DIR": str(tmp_path_factory.mktemp("target")),
        "DOCRAIL_TEMPORAL_ADDRESS": embedded.temporal_address,
        "DOCRAIL_TEMPORAL_ENVCONFIG": "false",
    }
    arguments = [sys.executable, "-m", "tests.security.api_process", str(port)]
    process = await asyncio.create_subprocess_exec(*arguments, cwd=ROOT, env={**os.environ, **environment})
    found = Target(f"http://127.0.0.1:{port}", process.pid, {})
    try:
        async with found.client() as http:

            async def listens() -> bool:
                with suppress(httpx.TransportError):
                    return (await http.get("/healthz")).status_code == 200
                return False

            await eventually(listens, "the API to listen", timeout_seconds=60)
        yield found
    finally:
        process.terminate()
        await process.wait()
