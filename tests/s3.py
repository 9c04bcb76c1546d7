"""A real S3 server on loopback, with a bucket of its own for each test."""

import asyncio
import logging
import socket
import sys
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from moto.s3.responses import S3Response
from moto.server import ThreadedMotoServer

from docrail.adapters.store.folders import Folder
from docrail.adapters.store.s3 import open_s3
from tests.stack import eventually

PROGRAM = "import sys; from moto.server import main; main(['-H', '127.0.0.1', '-p', sys.argv[1]])"

KEYS = {"AWS_ACCESS_KEY_ID": "docrail-tests", "AWS_SECRET_ACCESS_KEY": "5ecret-of-tests", "AWS_REGION": "eu-west-1"}


@dataclass(frozen=True, slots=True)
class Bucket:
    """An empty bucket, and where its server is."""

    name: str
    endpoint: str

    @property
    def location(self) -> str:
        return f"s3://{self.name}/docrail"

    @property
    def folder(self) -> Folder:
        return open_s3(self.name, "docrail", endpoint=self.endpoint)

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs that keeps its files here."""
        return {**KEYS, "DOCRAIL_STORE": self.location, "DOCRAIL_STORE_ENDPOINT": self.endpoint}


@asynccontextmanager
async def s3_process(folder: Path, bucket: str) -> AsyncIterator[tuple[int, int]]:
    """Start an S3 server with a bucket in a process of its own, which can be frozen; give its port and process id."""
    port = _free_port()
    with (folder / "s3.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, str(port), stdout=log, stderr=log)

    async def has_bucket() -> bool:
        try:
            async with httpx.AsyncClient(trust_env=False) as http:
                return (await http.put(f"http://127.0.0.1:{port}/{bucket}")).is_success
        except httpx.TransportError:
            return False

    try:
        await eventually(has_bucket, "the S3 server to answer")
        yield port, process.pid
    finally:
        process.kill()
        await process.wait()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(S3Response, "put_object", _one_at_a_time(S3Response.put_object))
        server.start()
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
        server.stop()


def _one_at_a_time(put: Callable[[S3Response], Any]) -> Callable[[S3Response], Any]:
    """Compare and write in one step, as S3 does: the threads of this server would do other work in between."""
    turn = threading.Lock()

    def put_object(response: S3Response) -> Any:
        with turn:
            return put(response)

    return put_object


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    made = Bucket(f"test-{uuid.uuid4().hex}", s3_server)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    httpx.put(f"{s3_server}/{made.name}", trust_env=False).raise_for_status()
    return made
