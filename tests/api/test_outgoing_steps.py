"""Steps that call other services, through a real worker: what is retried, when, and what the run shows."""

import uuid
from collections.abc import AsyncIterator

import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import Service, serve_with_worker, settings_for
from tests.loopback import Loopback, Reply, loopback, reply_json
from tests.stack import Servers


@pytest.fixture(scope="module")
async def calling(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """Give an API whose worker may call 127.0.0.1 and has a secret."""
    folder = tmp_path_factory.mktemp("calling")
    (folder / "secrets" / "default").mkdir(parents=True)
    (folder / "secrets" / "default" / "erp").write_text("hush-hush")
    (folder / "secrets" / "default" / "bank").write_text("gold-bars")
    for name in ("erp", "bank"):
        (folder / "secrets" / "default" / f"{name}.hosts").write_text("127.0.0.1")
    settings = settings_for(embedded.temporal_address, dsn, folder)
    settings = settings.model_copy(update={"allowed_hosts": ("127.0.0.1",)})
    async with serve_with_worker(settings) as served:
        yield served


async def run(service: Service, *steps: Json, **more: Json) -> Json:
    """Run the steps and return the run as it ended."""
    definition = {"id": f"calls_{uuid.uuid4().hex}", "steps": list(steps), **more}
    started = await service.http.post("/v1/runs", json={"definition": definition})
    assert started.status_code in (200, 201, 202), started.text
    return await service.closed(started.json()["run_id"])


def calling_step(server: Loopback, **fields: Json) -> dict[str, Json]:
    headers = {"Authorization": "Bearer secret://erp"}
    quick = {"initial_delay": 0.05, "jitter": 0}
    config = {"url": server.url, "headers": headers}
    return {"id": "fetch", "handler": "external_service", "config": config, "retry_config": quick, **fields}


async def test_a_service_that_asks_for_patience_is_called_again_when_it_said(calling: Service) -> None:
    busy = Reply(429, headers={"Retry-After": "1"})
    async with loopback(busy, reply_json({"total": 12.5})) as server:
        config = {"data": "{{ fetch.result }}"}
        shape = {"id": "shape", "handler": "data_processor", "depends_on": ["fetch"], "config": config}
        outputs = {"total": "{{ shape.result.total }}"}
        ended = await run(calling, calling_step(server), shape, outputs=outputs)
    assert (ended["status"], ended["outputs"]) == ("completed", {"total": 12.5})
    first, second = server.asked
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert second.headers["authorization"] == "Bearer hush-hush"
    assert ended["steps"]["fetch"]["attempts"] == 2
    assert second.at - first.at >= 0.99


async def test_a_run_never_shows_a_secret(calling: Service) -> None:
    async with loopback(Reply(403, b"hush-hush is not a key of ours")) as server:
        ended = await run(calling, calling_step(server))
    assert len(server.asked) == 1
    assert ended["status"] == "failed"
    handle = calling.app.temporal.get_workflow_handle(f"default/{ended['run_id'].replace('.', '/', 1)}")
    history = (await handle.fetch_history()).to_json()
    assert "RequestRefusedError" in history
    assert "hush-hush" not in history
    assert "hush-hush" not in str(ended)


def noting_step(server: Loopback, **fields: Json) -> dict[str, Json]:
    """Return a step that has a key of its own and puts the run's note into another header."""
    headers = {"Authorization": "Bearer secret://erp", "X-Note": "{{ inputs.note }}"}
    return {"id": "tell", "handler": "send_webhook", "config": {"url": server.url, "headers": headers}, **fields}


async def noted(service: Service, note: str, *steps: Json) -> Json:
    return await run(service, *steps, inputs={"note": {"type": "string", "default": note}})


async def test_a_value_that_reads_like_a_reference_is_given_no_secret(calling: Service) -> None:
    async with loopback() as server:
        ended = await noted(calling, "please see secret://bank", noting_step(server))
        assert server.asked == []
        assert ended["steps"]["tell"]["error"]["type"] == "RefusedSecretError"
        assert "headers.X-Note refers to the secret 'bank'" in ended["steps"]["tell"]["error"]["message"]
        ended = await noted(calling, "nothing special", noting_step(server))
    assert ended["status"] == "completed"
    assert server.asked[0].headers["authorization"] == "Bearer hush-hush"


async def test_a_compensation_gets_its_own_secrets_only(calling: Service) -> None:
    """The step's key is not the undoing's, and the other way round."""
    async with loopback() as server:
        undo = noting_step(server)["config"]
        first = {"id": "first", "handler": "noop", "compensate": {"handler": "send_webhook", "config": undo}}
        last = {"id": "last", "handler": "fail", "depends_on": ["first"], "config": {"times": 9, "error": "ValueError"}}
        await noted(calling, "secret://bank", first, last)
        assert server.asked == []
        await noted(calling, "nothing special", first, last)
    assert server.asked[0].headers["authorization"] == "Bearer hush-hush"


async def test_an_edited_config_names_no_new_secret(calling: Service) -> None:
    """The operator's text may be copied from what the document said."""
    async with loopback(Reply(403), Reply(403), Reply(200)) as server:
        failed = await noted(calling, "a note", noting_step(server))
        retry = f"/v1/runs/{failed['run_id']}/retry"
        other = {"url": server.url, "headers": {"Authorization": "Bearer secret://bank"}}
        await calling.http.post(retry, json={"steps": {"tell": {"config": other}}})
        refused = await calling.closed(failed["run_id"])
        assert refused["steps"]["tell"]["error"]["type"] == "RefusedSecretError"
        same = {"url": f"{server.url}/again", "headers": {"Authorization": "Bearer secret://erp"}}
        await calling.http.post(retry, json={"steps": {"tell": {"config": same}}})
        await calling.closed(failed["run_id"])
    assert [asked.headers["authorization"] for asked in server.asked] == ["Bearer hush-hush"] * 2


async def test_a_host_that_no_worker_allows_is_not_called(calling: Service) -> None:
    config = {"url": "http://10.0.0.1/"}
    step = {"id": "inside", "handler": "send_webhook", "config": config, "total_timeout_seconds": 1}
    ended = await run(calling, step)
    assert ended["status"] == "failed"
    inside = ended["steps"]["inside"]
    assert inside["attempts"] == 1
    assert "the host 10.0.0.1 is refused: it is a private address" in inside["error"]["message"]
