"""Live events: what changes is reported once it is committed, in order, to those who may read it."""

import asyncio
import base64
import contextlib
import re
import time
import uuid
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import cast

import asyncpg
import httpx
import pytest

from docrail.adapters.postgres.pool import transaction
from docrail.adapters.postgres.tenants import of_tenant
from docrail.api import events as routes
from docrail.services.access.models import Scope
from docrail.services.events.models import Position
from docrail.services.events.repository import MOST_READ, load_seal
from docrail.services.events.seals import Seal
from docrail.services.events.service import MOST_OF_PERSON, Events, forget_events
from docrail.services.events.stream import MOST_WAITING
from tests.api.listening import Listener, listening
from tests.api.service import Service, serve, settings_for
from tests.security.callers import Guarded, serve_guarded
from tests.stack import Servers, eventually

SAMPLE = Path(__file__).parents[2] / "samples" / "xr_01.01a_ubl.xml"
INSERT = "INSERT INTO events (tenant_id, kind, object_id) VALUES ('default', 'definition', $1)"
MANY = """
INSERT INTO events (tenant_id, kind, object_id)
SELECT 'default', 'definition', $1 || each FROM generate_series(1, $2) AS each"""
ASKING = {"id": "asking_live", "steps": [{"id": "ask", "human": {"form": {"type": "object"}, "title": "Pay?"}}]}
WAITING = {
    "id": "waiting_live",
    "steps": [
        {"id": "go", "wait": {"for": "signal"}},
        {"id": "after", "handler": "noop", "depends_on": ["go"]},
    ],
}


def events_of(service: Service) -> Events:
    return cast(Events, service.api.state.events)


def name() -> str:
    return f"n{uuid.uuid4().hex[:8]}"


async def publish(http: httpx.AsyncClient, **headers: str) -> str:
    """Publish a definition of a new name, and return the name."""
    body = {"definition": {"id": name(), "steps": [{"id": "a", "handler": "noop"}]}}
    sent = {each.replace("_", "-"): value for each, value in headers.items()}
    answer = await http.post("/v1/definitions", json=body, headers=sent)
    assert answer.is_success, answer.text
    return str(answer.json()["definition_id"])


async def test_a_change_is_reported_with_its_kind_id_and_version_and_nothing_else(service: Service) -> None:
    async with listening(service.http) as listener:
        published = await publish(service.http)
        await listener.receives("definition", published)
        [found] = [each.data for each in listener.events if each.data.get("id") == published]
        assert found.keys() == {"kind", "id", "version"}
        assert listener.response.headers["x-accel-buffering"] == "no"
        assert listener.response.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in listener.response.headers


async def test_a_document_its_review_and_its_run_are_reported(service: Service) -> None:
    async with listening(service.http) as listener:
        sent = (await service.http.post("/v1/documents", files={"file": ("a.xml", SAMPLE.read_bytes())})).json()
        await listener.receives("document", sent["document_id"])
        run_id = sent["run_id"]
        await listener.receives("run", run_id)
        await service.ended(run_id)
        await eventually(lambda: len(listener.changes("review")) > 0, "the review item of the document")


async def test_changes_of_one_object_come_in_order(service: Service) -> None:
    changed = name()
    async with listening(service.http) as listener:
        for count in range(1, 4):
            await service.pool.execute(INSERT, changed)
            found = partial(listener.changes, "definition")
            await eventually(lambda: found().count(changed) >= count, "one more event")  # noqa: B023
        versions = [each.data["version"] for each in listener.events if each.data.get("id") == changed]
        assert versions == sorted(set(versions))


async def test_what_commits_late_is_not_missed(service: Service) -> None:
    """The first transaction takes its ids before the second, and commits after it."""
    first, second = name(), name()
    async with listening(service.http) as listener:
        async with transaction(service.pool) as late:
            await late.execute(INSERT, first)
            await service.pool.execute(INSERT, second)
            await listener.receives("definition", second)
            assert first not in listener.changes("definition")
        await listener.receives("definition", first)


async def test_a_client_that_comes_back_gets_what_it_missed_also_what_committed_late(service: Service) -> None:
    late, seen, missed = name(), name(), name()
    async with transaction(service.pool) as open_meanwhile:
        await open_meanwhile.execute(INSERT, late)
        async with listening(service.http) as listener:
            await service.pool.execute(INSERT, seen)
            await listener.receives("definition", seen)
    await service.pool.execute(INSERT, missed)
    async with listening(service.http, after=listener.last_id) as again:
        await again.receives("definition", missed)
        await again.receives("definition", late)
        assert seen not in again.changes("definition")
        assert [event.name for event in again.events].count("resync") == 0


async def test_it_may_come_back_to_another_process_after_a_restart(
    embedded: Servers, dsn: str, service: Service, tmp_path: Path
) -> None:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path)
    async with serve(settings) as before, listening(before.http) as listener:
        pass
    missed = await publish(service.http)
    async with serve(settings) as after, listening(after.http, after=listener.last_id) as again:
        await again.receives("definition", missed)
        published = await publish(service.http)  # by another process
        await again.receives("definition", published)


async def seal_of(service: Service, tenant_id: str = "default") -> Seal:
    with of_tenant(tenant_id):
        return await load_seal(service.pool, tenant_id)


@pytest.mark.parametrize("after", ["1", "not an id", "1795458896-1:1:", "A" * 720, "QUJD", "QUJD" * 200])
async def test_a_text_that_is_no_id_is_answered_by_resync(service: Service, after: str) -> None:
    async with listening(service.http, after=after) as listener:
        await listener.hears("resync")


@pytest.mark.parametrize(
    ("snapshot", "seconds_ago"),
    [("99999999999:99999999999:", 0), ("5:3:", 0), ("3:5:", 3_600), ("3:5:", -86_400), ("3:5:", 10**10)],
)
async def test_a_position_of_another_database_or_time_is_answered_by_resync(
    service: Service, snapshot: str, seconds_ago: int
) -> None:
    id_ = (await seal_of(service)).id_of(Position(snapshot, int(time.time()) - seconds_ago))
    async with listening(service.http, after=id_) as old:
        await old.hears("resync")


async def test_an_id_shows_neither_its_position_nor_how_many_transactions_are_open(service: Service) -> None:
    """Both count the work of all tenants."""
    async with listening(service.http) as alone:
        pass
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(5):
            await (await stack.enter_async_context(transaction(service.pool))).execute(INSERT, name())
        busy = await stack.enter_async_context(listening(service.http))
        assert len(alone.last_id) == len(busy.last_id)
        position = (await seal_of(service)).position_of(busy.last_id)
    assert position is not None
    clear = str(position).encode()
    for shown in (busy.last_id.encode(), base64.urlsafe_b64decode(busy.last_id)):
        assert [part for part in re.split(rb"[-:,]", clear) if len(part) > 3 and part in shown] == []


async def test_no_two_ids_of_a_position_are_alike(service: Service) -> None:
    """Or a tenant would see whether others have done anything."""
    seal = await seal_of(service)
    assert len({seal.id_of(Position("5:5:", 1)) for _ in range(3)}) == 3


async def test_the_id_of_another_tenant_or_an_altered_one_is_none(service: Service) -> None:
    async with listening(service.http) as own:
        pass
    assert (await seal_of(service)).position_of(own.last_id) is not None
    sealed = base64.urlsafe_b64decode(own.last_id)
    altered = base64.urlsafe_b64encode(sealed[:20] + bytes([sealed[20] ^ 1]) + sealed[21:]).decode()
    async with listening(service.http, X_Test_Tenant="globex", after=own.last_id) as other:
        await other.hears("resync")
    async with listening(service.http, after=altered) as again:
        await again.hears("resync")


async def test_much_work_of_one_tenant_lets_no_other_read_everything_again(service: Service) -> None:
    async with listening(service.http) as flooded, listening(service.http, X_Test_Tenant="globex") as other:
        await service.pool.execute(MANY, name(), MOST_READ + 1)
        await flooded.hears("resync")
        theirs = await publish(service.http, X_Test_Tenant="globex")
        await other.receives("definition", theirs)
        assert [each.name for each in other.events].count("resync") == 0


async def test_another_tenant_sees_nothing(service: Service) -> None:
    async with (
        listening(service.http) as own,
        listening(service.http, X_Test_Tenant="globex") as other,
        listening(service.http, X_Test_Tenant="globex", after=own.last_id) as resumed,
    ):
        published = await publish(service.http)
        theirs = await publish(service.http, X_Test_Tenant="globex")
        await own.receives("definition", published)
        for each in (other, resumed):
            await each.receives("definition", theirs)
            assert published not in each.changes("definition")
        assert theirs not in own.changes("definition")


async def test_a_caller_without_the_scope_to_review_gets_no_events_of_reviews(service: Service) -> None:
    async with listening(service.http) as all_scopes, listening(service.http, X_Test_Scopes="read") as reader:
        run_id = (await service.http.post("/v1/runs", json={"definition": ASKING})).json()["run_id"]
        await eventually(lambda: len(all_scopes.changes("review")) > 0, "the question")
        await reader.receives("run", run_id)
        assert reader.changes("review") == []


async def test_each_change_of_a_watched_run_is_reported_within_a_second(service: Service) -> None:
    run_id = (await service.http.post("/v1/runs", json={"definition": WAITING})).json()["run_id"]

    async def seconds() -> float:
        """Return how long after its first step the stream reports a change."""
        async with listening(service.http, f"/v1/runs/{run_id}/events") as listener:
            await listener.receives("run", run_id)
            await eventually(lambda: _is_quiet(listener), "the run to wait")
            before = len(listener.changes("run"))
            began = time.monotonic()
            assert (await service.http.post(f"/v1/runs/{run_id}/waits/go", json={"answer": 1})).is_success
            await eventually(lambda: len(listener.changes("run")) > before, "a change of the run")
            return time.monotonic() - began

    found = [await seconds()]
    assert (await service.ended(run_id))["status"] == "completed"
    while found[-1] > 1.0 and len(found) < 3:  # other tests run at the same time
        run_id = (await service.http.post("/v1/runs", json={"definition": WAITING})).json()["run_id"]
        found.append(await seconds())
    assert min(found) <= 1.0, found


def _is_quiet(listener: Listener) -> bool:
    """Return whether the run has not moved for two looks."""
    [*_, last] = [each.data["version"] for each in listener.events if each.name == "change"]
    return time.time_ns() // 1000 - int(last) > 900_000


async def test_a_stream_may_watch_runs_and_is_told_everything_else_too(service: Service) -> None:
    run_id = (await service.http.post("/v1/runs", json={"definition": WAITING})).json()["run_id"]
    async with listening(service.http, f"/v1/events?runs={run_id}") as listener:
        await listener.receives("run", run_id)
        await eventually(lambda: _is_quiet(listener), "the run to wait")
        before = len(listener.changes("run"))
        published = await publish(service.http)
        await listener.receives("definition", published)
        await service.http.post(f"/v1/runs/{run_id}/waits/go", json={"answer": 1})
        await eventually(lambda: len(listener.changes("run")) > before, "a change of the run")


async def test_the_stream_of_a_run_has_nothing_of_others(service: Service) -> None:
    run_id = (await service.http.post("/v1/runs", json={"definition": ASKING})).json()["run_id"]
    async with listening(service.http) as everything, listening(service.http, f"/v1/runs/{run_id}/events") as own:
        published = await publish(service.http)
        other = (await service.http.post("/v1/runs", json={"definition": ASKING})).json()["run_id"]
        await everything.receives("definition", published)
        await everything.receives("run", other)
        await own.receives("run", run_id)
        assert set(own.changes("run")) == {run_id}
        assert own.changes("definition") == []


async def test_a_run_that_does_not_exist_has_no_stream(service: Service) -> None:
    for path in ("/v1/runs/hello.none/events", "/v1/events?runs=hello.none", "/v1/runs/nonsense/events"):
        assert (await service.http.get(path)).status_code == 404
    too_many = ",".join(f"hello.{number}" for number in range(9))
    assert (await service.http.get(f"/v1/events?runs={too_many}")).status_code == 422


@pytest.fixture
async def guarded(embedded: Servers, dsn: str, tmp_path: Path) -> AsyncIterator[Guarded]:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path).model_copy(update={"access": "keys"})
    async with serve_guarded(settings) as service:
        yield Guarded(service)


async def test_a_revoked_key_ends_its_stream_and_no_other(guarded: Guarded) -> None:
    revoked, other = await guarded.key(), await guarded.key(name="bob")
    http = guarded.service.http
    async with (
        listening(http, Authorization=f"Bearer {revoked}") as ending,
        listening(http, Authorization=f"Bearer {other}") as going_on,
    ):
        await guarded.ask(other, "DELETE", f"/v1/keys/{revoked.split('_')[1]}")
        await ending.ends()
        await guarded.service.pool.execute(INSERT, published := name())
        await going_on.receives("definition", published)


async def test_signing_out_ends_the_stream_of_the_session(guarded: Guarded) -> None:
    http = guarded.service.http
    assert (await http.post("/v1/session", json={"key": await guarded.key()})).is_success
    cookie = "; ".join(f"{each}={value}" for each, value in http.cookies.items())
    http.cookies.clear()
    async with listening(http, Cookie=cookie) as listener:
        url = str(http.base_url)
        assert (await http.delete("/v1/session", headers={"Cookie": cookie, "Origin": url})).is_success
        await listener.ends()


async def test_a_key_that_expires_ends_its_stream(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "HEARTBEAT_SECONDS", 0.1)
    key = await guarded.key(Scope.READ)
    async with listening(guarded.service.http, Authorization=f"Bearer {key}") as listener:
        await listener.hears("heartbeat")
        expire = "UPDATE api_keys SET expires_at = now() WHERE key_id = $1"
        await guarded.service.pool.execute(expire, key.split("_")[1])
        await listener.ends()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "HEARTBEAT_SECONDS", 0.1)


@pytest.mark.usefixtures("hasty")
async def test_an_idle_stream_has_heartbeats_from_which_one_can_resume(service: Service) -> None:
    async with listening(service.http) as listener:
        await listener.hears("heartbeat")
    assert listener.events[-1].id is not None
    missed = await publish(service.http)
    async with listening(service.http, after=listener.events[-1].id) as again:
        await again.receives("definition", missed)
        assert all(event.name != "resync" for event in again.events)


async def test_ten_thousand_events_and_a_slow_reader_keep_little_in_memory(service: Service) -> None:
    """What waits is bounded; the reader learns that it has missed something, and goes on from there."""
    most, events = 0, events_of(service)
    timeout = httpx.Timeout(30, read=None)
    async with service.http.stream("GET", "/v1/events", timeout=timeout, extensions={"whole_stream": True}) as response:
        for count in (*[1_000] * 10, MOST_WAITING + 1):
            seen = events._position  # noqa: SLF001 - what the process has read
            await service.pool.execute(MANY, name(), count)
            await eventually(lambda: events._position != seen, "the events to be read")  # noqa: B023, SLF001
            most = max(most, *(len(stream._waiting) for stream in events._streams))  # noqa: SLF001
        assert most <= MOST_WAITING
        listener = Listener(response)
        reading = asyncio.create_task(listener.read())
        await listener.hears("resync")
        taken = lambda: not any(stream._waiting for stream in events._streams)  # noqa: E731, SLF001
        await eventually(taken, "the reader to take what waits: another overflow would hide the last event")
        await service.pool.execute(INSERT, last := name())
        await listener.receives("definition", last)
        reading.cancel()


async def test_nothing_is_read_while_no_one_listens(embedded: Servers, dsn: str, tmp_path: Path) -> None:
    async with serve(settings_for(embedded.temporal_address, dsn, tmp_path)) as service:
        events = events_of(service)
        async with listening(service.http):
            assert events._tasks  # noqa: SLF001
        await eventually(lambda: not events._streams and not events._tasks, "the end of the tasks")  # noqa: SLF001


async def test_streams_end_at_once_when_the_server_stops(embedded: Servers, dsn: str, tmp_path: Path) -> None:
    async with serve(settings_for(embedded.temporal_address, dsn, tmp_path)) as service, listening(service.http) as one:
        events_of(service).close()
        await one.ends()
        assert (await service.http.get("/v1/events")).status_code == 503


async def test_a_person_has_so_many_streams_and_a_process_too(embedded: Servers, dsn: str, tmp_path: Path) -> None:
    async with serve(settings_for(embedded.temporal_address, dsn, tmp_path)) as service:
        events = events_of(service)
        async with asyncio.TaskGroup() as group:
            done = asyncio.Event()

            async def hold() -> None:
                async with listening(service.http):
                    await done.wait()

            for _ in range(MOST_OF_PERSON):
                group.create_task(hold())
            await eventually(lambda: len(events._streams) == MOST_OF_PERSON, "the streams")  # noqa: SLF001
            refused = await service.http.get("/v1/events")
            assert (refused.status_code, refused.json()["type"]) == (429, "/problems/quota-exceeded")
            other = {"X-Test-Name": "bob"}
            assert (await service.http.get("/v1/events", headers=other)).status_code == 200
            events.most = MOST_OF_PERSON
            refused = await service.http.get("/v1/events", headers=other)
            assert (refused.status_code, refused.json()["type"]) == (503, "/problems/unavailable")
            assert (await service.http.get("/healthz")).status_code == 200
            done.set()


async def test_old_events_are_forgotten(service: Service) -> None:
    old, young = name(), name()
    await service.pool.execute(
        "INSERT INTO events (tenant_id, kind, object_id, recorded_at) "
        "VALUES ('default', 'definition', $1, now() - interval '2 hours')",
        old,
    )
    await service.pool.execute(INSERT, young)
    assert await forget_events(service.app.db) >= 1
    rows: list[asyncpg.Record] = await service.pool.fetch("SELECT object_id FROM events")
    assert {old, young} & {row["object_id"] for row in rows} == {young}
