"""A real S3 server on loopback, with a bucket of its own for each test."""

import logging
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from moto.server import ThreadedMotoServer

from docrail.adapters.store.folders import Folder
from docrail.adapters.store.s3 import open_s3

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


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    made = Bucket(f"test-{uuid.uuid4().hex}", s3_server)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    httpx.put(f"{s3_server}/{made.name}", trust_env=False).raise_for_status()
    return made
