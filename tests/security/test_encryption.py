"""Payload encryption on a real Temporal: what its server holds, and what happens to runs when a key is missing."""

import base64
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from docrail.activities.wrapper import Attempts
from docrail.adapters.store.values import folder_of
from docrail.adapters.temporal.codec import payloads_in
from docrail.adapters.temporal.connection import Connection, connect
from docrail.adapters.temporal.draining import working
from docrail.adapters.temporal.keys import parse_payload_keys
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json
from docrail.embedded.temporal import TemporalServer, start_temporal
from docrail.services.definitions.service import publish_shipped
from docrail.services.maintenance.retention import referred_to
from docrail.services.runs.views.ended import copy_ended_runs
from docrail.settings import Settings
from docrail.worker import assemble_worker
from docrail.workflows.contract.names import EXPLAIN, workflow_id
from docrail.workflows.map_chunk import Chunk
from docrail.workflows.run import Run
from tests.activities.outside import tools_with
from tests.api.conftest import dsn
from tests.api.service import Service, is_ready, serve, serve_with_worker, settings_for, work
from tests.stack import Servers, eventually
from tests.workflows.conftest import Bench, Gates, step

__all__ = ["dsn"]

MARKER, HIDDEN = "quokka-4711", "numbat-0815"
"""The second one is always encrypted: no file of Temporal's may contain it."""
QUICK = {"initial_delay": 0.05, "jitter": 0}
FIRST, SECOND = (f"{name}:{base64.b64encode(os.urandom(32)).decode()}" for name in ("first", "second"))


@pytest.fixture(scope="module")
async def temporal(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TemporalServer]:
    """A server of these tests' own, whose files they read."""
    server = await start_temporal(tmp_path_factory.mktemp("encrypted"), 0, 0, report=print)
    yield server
    await server.process.kill()


def with_keys(settings: Settings, keys: str) -> Settings:
    return settings.model_copy(update={"payload_keys": SecretStr(keys)})


@pytest.fixture(scope="module")
def plain(temporal: TemporalServer, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_for(temporal.address, dsn, tmp_path_factory.mktemp("data"))


async def start(service: Service, *steps: Json, **more: Json) -> str:
    definition = {"id": "kept_secret", "title": MARKER, "steps": list(steps), **more}
    started = await service.http.post("/v1/runs", json={"definition": definition})
    assert started.status_code in (200, 201, 202), started.text
    return str(started.json()["run_id"])


async def shows(service: Service, run_id: str, words: str) -> None:
    async def is_shown() -> bool:
        return words in (await service.http.get(f"/v1/runs/{run_id}/explain")).text

    await eventually(is_shown, f"{run_id} to show {words!r}")


def gate(after: str) -> dict[str, Json]:
    return {"id": "gate", "depends_on": [after], "wait": {"for": "signal"}}


def echo(step_id: str, value: Json = MARKER, **fields: Json) -> dict[str, Json]:
    return {"id": step_id, "handler": "echo", "config": {"value": value}, **fields}


async def test_no_file_of_temporals_holds_content(temporal: TemporalServer, plain: Settings) -> None:
    """Inputs, results, updates, queries, memos, titles, errors and their traces, heartbeats, lists, nested runs."""
    failing = {"id": "sad", "handler": "fail", "config": {"times": 9, "message": f"{HIDDEN} failed"}}
    nested = {"id": "inner", "inputs": {"word": {"type": "string"}}, "steps": [echo("deep", "{{ inputs.word }}")]}
    steps: list[dict[str, Json]] = [
        echo("first", HIDDEN, title=HIDDEN),
        echo("each", "{{ item }}", for_each={"items": [HIDDEN, 2]}),
        {"id": "nest", "workflow": {"id": "inner", "inputs": {"word": HIDDEN}}},
        {**failing, "max_retries": 2, "retry_config": QUICK, "optional": True},
        gate("first"),
    ]
    async with serve_with_worker(with_keys(plain, FIRST)) as service:
        await service.http.post("/v1/definitions", json={"definition": nested})
        run_id = await start(service, *steps, title=HIDDEN)
        await shows(service, run_id, "waits for")
        answered = await service.http.post(f"/v1/runs/{run_id}/waits/gate", json={"answer": {"word": HIDDEN}})
        assert answered.status_code == 200, answered.text
        ended = await service.closed(run_id)
        assert ended["status"] == "completed"
        assert HIDDEN in str(ended["steps"]["sad"]["error"])
        retrying = {**failing, "max_retries": 5, "retry_config": {"initial_delay": 600, "jitter": 0}}
        open_run = await start(service, retrying, title=HIDDEN)
        await shows(service, open_run, f"{HIDDEN} failed")
        handle = service.app.temporal.get_workflow_handle(workflow_id("default", run_id))
        history = await handle.fetch_history()
        kinds = {payload.metadata["encoding"] for event in history.events for payload in payloads_in(event)}
        assert (await service.http.post(f"/v1/runs/{open_run}/abort")).status_code == 200
        await service.closed(open_run)
    assert kinds == {b"binary/encrypted", b"json/plain"}, "search attributes stay readable"
    await temporal.process.stop()
    [database] = {path.parent for path in Path(temporal.process.program.log).parent.parent.glob("temporal/*")}
    held = b"".join(path.read_bytes() for path in database.iterdir())
    await temporal.process.start()
    assert b"kept_secret" in held, "the definition's id is a search attribute"
    assert HIDDEN.encode() not in held


async def test_keys_are_turned_on_and_rotated_while_a_run_is_open(plain: Settings) -> None:
    """In clear, then under the first key, then under the second: every process in turn has the former key too."""
    steps = [echo("a"), gate("a"), echo("b", "{{ a }}", depends_on=["gate"]), {**gate("b"), "id": "more"}]
    async with serve_with_worker(plain) as service:
        run_id = await start(service, *steps, outputs={"b": "{{ b.value }}"})
        await shows(service, run_id, "waits for")
    async with serve_with_worker(with_keys(plain, FIRST)) as service:
        await service.http.post(f"/v1/runs/{run_id}/waits/gate", json={"answer": 1})
        await shows(service, run_id, "waits for")
    async with serve_with_worker(with_keys(plain, f"{SECOND},{FIRST}")) as service:
        await service.http.post(f"/v1/runs/{run_id}/waits/more", json={"answer": 1})
        ended = await service.ended(run_id)
        history = await service.app.temporal.get_workflow_handle(workflow_id("default", run_id)).fetch_history()
    assert (ended["status"], ended["outputs"]["b"]) == ("completed", {"value": MARKER})
    encrypted = [payload for event in history.events for payload in payloads_in(event) if "encryption" in str(payload)]
    assert {payload.metadata["encryption-key-id"] for payload in encrypted} == {b"first", b"second"}


async def test_a_run_whose_key_is_missing_keeps_no_other_from_being_copied(plain: Settings) -> None:
    async with serve_with_worker(with_keys(plain, FIRST)) as service:
        sealed = await start(service, echo("a"))
        await service.closed(sealed)
        forced = await start(service, {"id": "nap", "handler": "sleep", "config": {"seconds": 3600}})
        by_force = {"reason": "done", "force": True}
        (await service.http.post(f"/v1/runs/{forced}/abort", json=by_force)).raise_for_status()
    async with serve_with_worker(plain) as service:
        readable = await start(service, echo("a"))
        await service.closed(readable)

        async def is_copied() -> bool:
            await copy_ended_runs(service.app)
            found = await service.pool.fetch(
                "SELECT run_id FROM ended_runs WHERE run_id = ANY ($1)", [sealed, forced, readable]
            )
            return [row["run_id"] for row in found] == [readable]

        await eventually(is_copied, "the readable run to be copied")


async def test_a_run_waits_for_a_worker_that_has_its_key(plain: Settings) -> None:
    settings = with_keys(plain, FIRST)
    async with serve(settings) as service, AsyncExitStack() as fleet:
        await publish_shipped(service.app)
        await fleet.enter_async_context(work(with_keys(plain, SECOND)))
        await eventually(lambda: is_ready(service), "the worker to be ready")
        run_id = await start(service, echo("a", max_retries=0))

        async def is_blocked() -> bool:
            shown = await service.http.get(f"/v1/runs/{run_id}")
            return shown.status_code == 503 and "its workflow task has failed" in shown.json()["detail"]

        await eventually(is_blocked, "the run to say that its workflow task fails")
        handle = service.app.temporal.get_workflow_handle(workflow_id("default", run_id))
        events = [event async for event in handle.fetch_history_events()]
        failures = [event.workflow_task_failed_event_attributes.failure for event in events]
        found = [await service.app.temporal.data_converter.decode_failure(each) for each in failures]
        assert "encrypted with the key 'first': DOCRAIL_PAYLOAD_KEYS here has second" in str(found)
        await fleet.enter_async_context(work(settings))
        report = await handle.result()
    assert (report["status"], report["steps"]["a"]["attempts"]) == ("completed", 1)


async def test_a_worker_without_the_key_leaves_a_step_to_others(embedded: Servers) -> None:
    """The run's own worker has the key; the activities' first worker does not."""
    with_key, without, another = [
        await connect(Connection(embedded.temporal_address, keys=parse_payload_keys(keys)))
        for keys in (FIRST, "", FIRST)
    ]
    bench = Bench(with_key, f"test-{uuid.uuid4().hex}", Gates(), None)
    noop = Attempts(bench.gates.handlers()[0], tools_with()).as_activity()
    own = assemble_worker(with_key, bench.task_queue, [Run, Chunk], [], sandboxed=False)
    unfit, fit = (assemble_worker(each, bench.task_queue, [], [noop], sandboxed=False) for each in (without, another))
    async with working([own]):
        async with working([unfit]):
            handle = await bench.start([step("a", max_retries=0)])

            async def was_passed_on() -> bool:
                return "with the key 'first': DOCRAIL_PAYLOAD_KEYS here has none" in str(await handle.query(EXPLAIN))

            await eventually(was_passed_on, "the worker without the key to leave the step to others")
        async with working([fit]):
            report = await handle.result()
        replayer = Replayer(
            workflows=[Run, Chunk], data_converter=with_key.data_converter, workflow_runner=UnsandboxedWorkflowRunner()
        )
        await replayer.replay_workflow(await handle.fetch_history())
    assert (report.status, report.steps["a"].attempts) == (RunStatus.COMPLETED, 1)


async def test_an_api_without_the_key_says_which_it_is(plain: Settings) -> None:
    settings = with_keys(plain, FIRST)
    async with serve_with_worker(settings) as service, serve(with_keys(plain, SECOND)) as other:
        run_id = await start(service, echo("a"))
        await service.ended(run_id)
        for path in (f"/v1/runs/{run_id}", f"/v1/runs/{run_id}/explain"):
            refused = await other.http.get(path)
            assert refused.status_code == 503, path
            assert "DOCRAIL_PAYLOAD_KEYS here has " in refused.json()["detail"]


async def test_a_run_whose_key_is_missing_does_not_hide_the_others(plain: Settings) -> None:
    """It is in the list with what is not encrypted, and says which key the API lacks."""
    async with serve_with_worker(with_keys(plain, FIRST)) as service, serve(with_keys(plain, SECOND)) as other:
        hidden = await start(service, echo("a"))
        await service.ended(hidden)
        shown = await start(other, echo("a"))

        async def lines() -> dict[str, Json]:
            listed = await other.http.get("/v1/runs", params={"definition": "kept_secret"})
            assert listed.status_code == 200, listed.text
            return {each["run_id"]: each for each in listed.json()["runs"]}

        async def has_both() -> bool:
            return {hidden, shown} <= (await lines()).keys()

        await eventually(has_both, "the list to show both runs")
        found = await lines()
        assert "with the key 'first': DOCRAIL_PAYLOAD_KEYS here has second" in found[hidden]["unreadable"]
        assert (found[hidden]["definition_id"], found[hidden]["version"]) == ("kept_secret", None)
        assert (found[hidden]["status"], found[shown]["unreadable"]) == ("completed", None)
        assert found[shown]["version"] >= 1
        await other.http.post(f"/v1/runs/{shown}/abort", json={"reason": "done", "force": True})


async def test_stored_values_of_open_runs_are_found_in_encrypted_histories(plain: Settings) -> None:
    """The maintenance of files deletes what no open run names: it reads histories."""
    async with serve_with_worker(with_keys(plain, FIRST)) as service:
        run_id = await start(service, echo("a", "x" * 300_000), gate("a"))
        await shows(service, run_id, "waits for")
        found = await referred_to(service.app.temporal)
    assert len(found[folder_of("default")]) == 1
