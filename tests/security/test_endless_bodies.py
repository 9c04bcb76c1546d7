"""A body of gigabytes is refused when its limit is reached: the connection is closed, and the rest is not read."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service, serve, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers

ALL = 2 * 2**30
PART = b"x" * 2**16
BUFFERS = 16 * 2**20
"""More than two sockets and the server hold unread."""


@dataclass(frozen=True, slots=True)
class Refused:
    """How the server answered, and how many bytes of the body it let the client send."""

    status: int
    headers: str
    problem: dict[str, Json]
    sent_bytes: int


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("endless"))
        async with serve(settings) as served:
            yield served


async def post(service: Service, path: str, *headers: str, body: bytes = b"", chunked: bool = False) -> Refused:
    """Send two gigabytes as long as they are taken, then return the answer."""
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *headers]
    head.append("Transfer-Encoding: chunked" if chunked else f"Content-Length: {ALL}")
    first = "\r\n".join([*head, "", ""]).encode() + body
    part = b"10000\r\n%s\r\n" % PART if chunked else PART
    return await asyncio.to_thread(_post, service.http.base_url.port or 0, first, part)


def _post(port: int, first: bytes, part: bytes) -> Refused:
    """Do it with a plain socket: an answer can be read after a write has failed."""
    sent, answer = 0, b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(first)
        with suppress(ConnectionError):
            while sent < ALL:
                client.sendall(part)
                sent += len(part)
        with suppress(ConnectionError):
            while received := client.recv(2**16):
                answer += received
    head, _, rest = answer.partition(b"\r\n\r\n")
    return Refused(int(head.split()[1]), head.decode().lower(), json.loads(rest), sent)


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/documents", "/v1/callbacks/x", "/v1/unknown", "/healthz"])
async def test_two_announced_gigabytes_are_not_read(service: Service, path: str) -> None:
    found = await post(service, path, "Content-Type: application/json")
    assert (found.status, found.problem["type"]) == (413, "/problems/too-large")
    assert "connection: close" in found.headers
    assert found.sent_bytes < BUFFERS


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/definitions"])
async def test_a_body_without_a_length_is_read_up_to_its_limit(service: Service, path: str) -> None:
    found = await post(service, path, "Content-Type: application/json", chunked=True)
    assert (found.status, found.problem["type"]) == (413, "/problems/too-large")
    assert "connection: close" in found.headers
    assert found.problem["limit_bytes"] <= 4 * 2**20
    assert found.sent_bytes < BUFFERS + found.problem["limit_bytes"]


async def test_an_upload_without_a_length_is_read_up_to_its_limit(service: Service) -> None:
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
    first = b"%x\r\n%s\r\n" % (len(form), form)
    kind = "Content-Type: multipart/form-data; boundary=b"
    found = await post(service, "/v1/documents", kind, body=first, chunked=True)
    assert (found.status, found.problem["type"]) == (413, "/problems/too-large")
    assert found.sent_bytes < BUFFERS + service.settings.max_upload_bytes


async def test_a_body_that_no_route_takes_is_not_read_either(service: Service) -> None:
    for path in ("/v1/unknown", "/healthz"):
        found = await post(service, path, chunked=True)
        assert (found.status, "connection: close" in found.headers) == (413, True)
        assert found.sent_bytes < BUFFERS


async def test_a_refused_request_that_was_read_keeps_its_connection(service: Service) -> None:
    for body in ({}, {"definition": "unknown"}):
        answer = await service.http.post("/v1/runs", json=body)
        assert (answer.is_error, answer.headers.get("connection")) == (True, None)


async def test_a_client_that_sends_everything_first_gets_the_answer_to_a_document_that_is_too_large(
    service: Service,
) -> None:
    file = b"x" * (service.settings.max_upload_bytes + 2**24)
    answer = await service.http.post("/v1/documents", files={"file": ("a.pdf", file)})
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")


@pytest.mark.parametrize("order", [1, -1])
async def test_a_request_with_two_lengths_is_the_last_one_of_its_connection(service: Service, order: int) -> None:
    """A proxy that goes by the other length has seen one request, and not the second."""
    lengths = ("Content-Length: 4", "Transfer-Encoding: chunked")[::order]
    head = ("POST /v1/definitions/validate HTTP/1.1", "Host: localhost", "Content-Type: application/json", *lengths)
    second = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    found = await asyncio.to_thread(_post_once, service, "\r\n".join([*head, "", "0", "", second]).encode())
    assert found.count(b"HTTP/1.1 ") == 1, found
    assert b"connection: close" in found.lower()


def _post_once(service: Service, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", service.http.base_url.port or 0), timeout=30) as client:
        client.sendall(sent)
        return b"".join(iter(lambda: client.recv(2**16), b""))
