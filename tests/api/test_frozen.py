"""A frozen server accepts connections and never answers: callers still learn within five seconds what is wrong."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass

import httpx
import pytest

from docrail.adapters.postgres.migrate import migrate
from docrail.dag.values.json_values import Json
from docrail.embedded.postgres import PostgresServer, start_postgres
from docrail.embedded.temporal import TemporalServer, start_temporal
from docrail.services.definitions.service import publish_shipped
from tests.api.service import HELLO, SLOW, Service, is_ready, serve, settings_for, work
from tests.s3 import KEYS, s3_process
from tests.stack import descendants, eventually
from tests.stack import frozen as frozen_processes

pytestmark = [pytest.mark.server, pytest.mark.timeout(240)]

ANSWER_SECONDS, READY_SECONDS = 5.0, 2.0
LOADED = 1.0
"""Seconds that a machine which runs other tests too may add."""

BUCKET = "docrail-frozen"


@dataclass(frozen=True, slots=True)
class Frozen:
    """A service whose servers these tests freeze."""

    service: Service
    temporal: TemporalServer
    postgres: PostgresServer
    s3_pid: int

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
            )
            service = await stack.enter_async_context(serve(settings))
            await publish_shipped(service.app)
            await stack.enter_async_context(work(settings))
            yield Frozen(service, temporal, postgres, s3)


@pytest.fixture(autouse=True)
async def ready(frozen: Frozen) -> None:
    await eventually(lambda: is_ready(frozen.service), "the API to be ready", timeout_seconds=90)


async def timed(request: httpx.Request, http: httpx.AsyncClient) -> tuple[httpx.Response, float]:
    began = time.monotonic()
    return await http.send(request), time.monotonic() - began


REQUESTS: tuple[tuple[str, str, Json], ...] = (
    ("GET", "/v1/definitions", None),
    ("GET", "/v1/documents", None),
    ("GET", "/v1/reviews", None),
    ("GET", "/v1/runs", None),
    ("GET", "/v1/runs/{run_id}", None),
    ("GET", "/v1/runs/{run_id}/explain", None),
    ("GET", "/v1/runs/{run_id}/graph", None),
    ("POST", "/v1/runs/{run_id}/pause", {}),
    ("POST", "/v1/runs", {"definition": HELLO}),
    ("GET", "/v1/workers", None),
    ("GET", "/v1/schedules", None),
    ("GET", "/v1/failures", None),
    ("GET", "/v1/health", None),
    ("GET", "/metrics", None),
)


@pytest.mark.parametrize(
    ("server", "refusal"),
    [
        ("postgresql", "PostgreSQL is not available"),
        ("temporal", "Temporal is not available"),
        ("store", "the file store does not answer"),
    ],
)
async def test_every_request_is_answered_and_readiness_is_right(frozen: Frozen, server: str, refusal: str) -> None:
    http = frozen.service.http
    run_id = (await http.post("/v1/runs", json={"definition": SLOW})).json()["run_id"]
    wanted = [http.build_request(verb, path.format(run_id=run_id), json=body) for verb, path, body in REQUESTS]
    with frozen.freeze(server):
        found, seconds = await timed(http.build_request("GET", "/readyz"), http)
        assert (found.status_code, found.json()["ready"]) == (503, False)
        assert found.json()[server].startswith(refusal)
        assert seconds < READY_SECONDS + LOADED
        answers = await asyncio.gather(*(timed(request, http) for request in wanted))
        found, seconds = await timed(http.build_request("GET", "/readyz"), http)  # also while others wait
        assert (found.status_code, seconds < READY_SECONDS + LOADED) == (503, True)
    for request, (answer, seconds) in zip(wanted, answers, strict=True):
        assert seconds < ANSWER_SECONDS + LOADED, (request.url.path, seconds)
        assert answer.status_code in (200, 202, 404, 503), (request.url.path, answer.text)
        if answer.status_code == 503:
            assert answer.headers["retry-after"]
    await eventually(lambda: is_ready(frozen.service), "the API to be ready again", timeout_seconds=60)
    again = await http.get(f"/v1/runs/{run_id}")
    assert again.status_code == 200
    assert again.json()["status"] in ("running", "paused")  # the pause may have been accepted


async def test_an_upload_is_accepted_while_temporal_is_frozen(frozen: Frozen) -> None:
    http = frozen.service.http
    files = {"file": ("a.txt", uuid.uuid4().hex.encode())}
    with frozen.freeze("temporal"):
        answer, seconds = await timed(http.build_request("POST", "/v1/documents", files=files), http)
    assert (answer.status_code, answer.json()["run_started_at"]) == (202, None)
    assert seconds < ANSWER_SECONDS + LOADED


@pytest.mark.parametrize("server", ["postgresql", "store"])
async def test_an_upload_that_cannot_be_kept_is_refused_and_accepted_later(frozen: Frozen, server: str) -> None:
    http, key = frozen.service.http, uuid.uuid4().hex
    files, headers = {"file": ("a.txt", key.encode())}, {"Idempotency-Key": key}
    with frozen.freeze(server):
        request = http.build_request("POST", "/v1/documents", files=files, headers=headers)
        refused, seconds = await timed(request, http)
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/unavailable")
    assert seconds < ANSWER_SECONDS + LOADED

    async def is_accepted() -> bool:
        return (await http.post("/v1/documents", files=files, headers=headers)).status_code == 202

    await eventually(is_accepted, "the same upload to be accepted")
