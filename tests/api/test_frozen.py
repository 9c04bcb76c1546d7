"""A frozen server accepts connections and never answers: callers still learn within five seconds what is wrong."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Coroutine
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from docrail.adapters.postgres.migrate import migrate
from docrail.embedded.postgres import PostgresServer, start_postgres
from docrail.embedded.temporal import TemporalServer, start_temporal
from docrail.services.callback_urls import Claim
from docrail.services.definitions.service import publish_shipped
from tests.api.service import Service, is_ready, serve, settings_for, work
from tests.s3 import KEYS, s3_process
from tests.security.callers import KEYS as CALLBACK_KEYS
from tests.security.callers import Guarded
from tests.security.test_permissions import DOORS, House, furnish
from tests.stack import descendants, eventually
from tests.stack import frozen as frozen_processes

pytestmark = pytest.mark.server

ANSWER_SECONDS, READY_SECONDS = 5.0, 2.0
LOADED = 1.0
"""Seconds that a machine which runs other tests too may add."""

CROWDED, COMPUTING = 3.0, 10.0
"""Seconds that it may add to each of many requests at once; to those that need its processor, and no service."""

BUCKET = "docrail-frozen"


@dataclass(frozen=True, slots=True)
class Frozen:
    """A service whose servers these tests freeze."""

    service: Service
    temporal: TemporalServer
    postgres: PostgresServer
    s3_pid: int
    house: House
    """One of everything, so that each route has something to look for."""

    def pids(self, name: str) -> list[int]:
        """Return the processes of a server; those of PostgreSQL are many."""
        root = {"temporal": self.temporal.process.pid, "postgresql": self.postgres.process.pid, "store": self.s3_pid}[
            name
        ]
        assert root is not None
        return [root, *descendants(root)]

    def freeze(self, name: str) -> AbstractContextManager[None]:
        """Freeze the processes of a server until the block ends."""
        return frozen_processes(self.pids(name))


@pytest.fixture(scope="module")
async def frozen(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Frozen]:
    data_dir = tmp_path_factory.mktemp("frozen")
    with pytest.MonkeyPatch.context() as patched:
        for name, value in KEYS.items():
            patched.setenv(name, value)
        async with AsyncExitStack() as stack:
            postgres = await start_postgres(data_dir, report=print)
            stack.push_async_callback(postgres.process.stop)
            await migrate(postgres.dsn)
            temporal = await start_temporal(data_dir, 0, 0, report=print)
            stack.push_async_callback(temporal.process.kill)
            port, s3 = await stack.enter_async_context(s3_process(data_dir, BUCKET))
            settings = settings_for(temporal.address, postgres.dsn, data_dir).model_copy(
                update={"store": f"s3://{BUCKET}/docrail", "store_endpoint": f"http://127.0.0.1:{port}"}
                | {"callback_key": SecretStr("k" * 32)}
            )
            service = await stack.enter_async_context(serve(settings))
            service.guard()
            await publish_shipped(service.app)
            await stack.enter_async_context(work(settings))
            guarded = Guarded(service)
            owner = await guarded.key(name="owner")
            # a connection that was idle may be closed while it is used again
            service.http.headers.update({"Authorization": f"Bearer {owner}", "Connection": "close"})
            token = CALLBACK_KEYS.sign(Claim("default", "hello.none", "greet", int(time.time()) + 3600))
            house = House(guarded, owner, await furnish(guarded, owner) | {"token": token})
            yield Frozen(service, temporal, postgres, s3, house)


@pytest.fixture(autouse=True)
async def ready(frozen: Frozen) -> None:
    await eventually(lambda: is_ready(frozen.service), "the API to be ready", timeout_seconds=90)


async def timed(asking: Coroutine[Any, Any, httpx.Response], what: str = "") -> tuple[httpx.Response, float]:
    began = time.monotonic()
    try:
        return await asking, time.monotonic() - began
    except httpx.TransportError as error:
        pytest.fail(f"{what}: {error!r} after {time.monotonic() - began:.1f} s")


AT_ONCE = 30
ASKED = [
    (door, method)
    for door in DOORS
    if door.path != "/readyz"
    for method in ({"GET", "HEAD"} if door.method == "GET" else {door.method})
]
"""Every request that there is, except the one of readiness."""


@pytest.mark.parametrize(
    ("server", "refusal"),
    [
        ("postgresql", "PostgreSQL is not available"),
        ("temporal", "Temporal is not available"),
        ("store", "the file store does not answer"),
    ],
)
async def test_every_request_is_answered_and_readiness_is_right(frozen: Frozen, server: str, refusal: str) -> None:
    house = frozen.house
    with frozen.freeze(server):
        await check_readiness(frozen, server, refusal)
        for begin in range(0, len(ASKED), AT_ONCE):
            some = ASKED[begin : begin + AT_ONCE]
            asking = asyncio.gather(
                *(timed(house.ask(door, house.owner, method), f"{method} {door.path}") for door, method in some)
            )
            await check_readiness(frozen, server, refusal)  # also while others wait
            for (door, method), (answer, seconds) in zip(some, await asking, strict=True):
                said = (method, door.path, answer.status_code, answer.text[:200])
                most = ANSWER_SECONDS + (CROWDED if answer.status_code == 503 else COMPUTING)
                assert seconds < most, (seconds, *said)
                assert answer.status_code < 500 or answer.status_code == 503, said
                assert answer.status_code != 503 or answer.headers.get("retry-after"), said
    await eventually(lambda: is_ready(frozen.service), "the API to be ready again", timeout_seconds=60)


async def check_readiness(frozen: Frozen, server: str, refusal: str) -> None:
    found, seconds = await timed(frozen.service.http.get("/readyz"))
    assert (found.status_code, found.json()["ready"]) == (503, False)
    assert found.json()[server].startswith(refusal)
    assert seconds < READY_SECONDS + LOADED


async def test_an_upload_is_accepted_while_temporal_is_frozen(frozen: Frozen) -> None:
    http = frozen.service.http
    files = {"file": ("a.txt", uuid.uuid4().hex.encode())}
    with frozen.freeze("temporal"):
        answer, seconds = await timed(http.post("/v1/documents", files=files))
    assert (answer.status_code, answer.json()["run_started_at"]) == (202, None)
    assert seconds < ANSWER_SECONDS + LOADED


@pytest.mark.parametrize("server", ["postgresql", "store"])
async def test_an_upload_that_cannot_be_kept_is_refused_and_accepted_later(frozen: Frozen, server: str) -> None:
    http, key = frozen.service.http, uuid.uuid4().hex
    files, headers = {"file": ("a.txt", key.encode())}, {"Idempotency-Key": key}
    with frozen.freeze(server):
        refused, seconds = await timed(http.post("/v1/documents", files=files, headers=headers))
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/unavailable")
    assert seconds < ANSWER_SECONDS + LOADED

    async def is_accepted() -> bool:
        return (await http.post("/v1/documents", files=files, headers=headers)).status_code == 202

    await eventually(is_accepted, "the same upload to be accepted")
