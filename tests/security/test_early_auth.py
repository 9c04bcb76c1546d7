"""A body is read only once the caller is known: without credentials a large one costs nothing."""

import asyncio
import dataclasses
import json
import time
from typing import Any

import pytest
from fastapi.routing import APIRoute

from docrail.adapters.postgres.pool import open_pool
from docrail.api.body_sizes import UPLOADS
from docrail.services.access.service import end_session, open_session, verify_key
from docrail.services.callback_urls import Claim
from tests.api.test_routes import OPEN_TO_ALL, TAKES_BODY
from tests.security.callers import KEYS, Guarded, dsn, guarded, using

__all__ = ["dsn", "guarded"]

LENGTH = "Content-Length: 50000"
CLOSED = [parameter for parameter in TAKES_BODY if parameter.values[1] not in OPEN_TO_ALL]
TYPES = dict.fromkeys(UPLOADS, "multipart/form-data; boundary=b")
ANSWER_SECONDS = 20
UNREACHABLE = "postgresql://unreachable@127.0.0.1:1/nothing"


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: str
    problem: dict[str, Any]


async def announce(guarded: Guarded, method: str, path: str, *headers: str, length: str = LENGTH) -> Answer:
    """Send the head of a request, and nothing of the body that it announces; return the answer."""
    kind = f"Content-Type: {TYPES.get(path, 'application/json')}"
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", kind, length, *headers, "", ""]
    reader, writer = await asyncio.open_connection("127.0.0.1", guarded.service.http.base_url.port)
    writer.write("\r\n".join(lines).encode())
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            body = await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
    finally:
        writer.close()
    return Answer(int(head.split()[1]), head, json.loads(body))


@pytest.mark.parametrize(("method", "path", "route"), CLOSED)
async def test_a_caller_without_credentials_is_refused_before_the_body_is_read(
    guarded: Guarded, method: str, path: str, route: APIRoute
) -> None:
    refused = await announce(guarded, method, path)
    assert (refused.status, refused.problem["type"]) == (401, "/problems/unauthenticated")
    assert "connection: close" in refused.headers


async def test_a_key_that_is_not_valid_is_refused_before_the_body_is_read(guarded: Guarded) -> None:
    key = await guarded.key()
    wrong = key[:-1] + ("0" if key[-1] != "0" else "1")
    assert (await announce(guarded, "POST", "/v1/runs", f"Authorization: Bearer {wrong}")).status == 401


async def test_a_body_without_a_length_is_not_read_either(guarded: Guarded) -> None:
    refused = await announce(guarded, "POST", "/v1/runs", length="Transfer-Encoding: chunked")
    assert refused.status == 401


async def test_the_cookie_of_an_ended_session_is_removed_as_well(guarded: Guarded) -> None:
    db = guarded.service.app.db
    key = await guarded.key()
    cookie = await open_session(db, await verify_key(db, key), key=key)
    await end_session(db, cookie)
    own = f"Cookie: docrail_session={cookie}", "Sec-Fetch-Site: same-origin"
    refused = await announce(guarded, "POST", "/v1/runs", *own)
    assert refused.status == 401
    assert "set-cookie: docrail_session=" in refused.headers
    assert "max-age=0" in refused.headers


async def test_a_callback_url_is_checked_before_the_answer_is_read(guarded: Guarded) -> None:
    token = KEYS.sign(Claim("default", "hello.none", "greet", int(time.time()) - 1))
    with using(guarded.service, callback_keys=KEYS):
        for path, refusal in (("x.y", (404, "/problems/not-found")), (token, (410, "/problems/callback-over"))):
            refused = await announce(guarded, "POST", f"/v1/callbacks/{path}")
            assert (refused.status, refused.problem["type"]) == refusal


async def test_without_the_database_the_body_is_not_read(guarded: Guarded) -> None:
    key = await guarded.key()
    pool = await open_pool(UNREACHABLE, min_size=0)
    with using(guarded.service, db=pool, credentials=pool):
        refused = await announce(guarded, "POST", "/v1/runs", f"Authorization: Bearer {key}")
    pool.terminate()
    assert (refused.status, refused.problem["type"]) == (503, "/problems/unavailable")
