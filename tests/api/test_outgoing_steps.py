"""Steps that call other services, through a real worker: what is retried, when, and what a run then tells."""

import uuid
from collections.abc import AsyncIterator

import pytest

from dag.values import Json
from tests.api.service import Service, serve, settings_for, work
from tests.loopback import Loopback, Reply, loopback, reply_json
from tests.stack import Servers


@pytest.fixture
async def calling(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """Give an API whose worker may call 127.0.0.1 and has a secret."""
    folder = tmp_path_factory.mktemp("calling")
    (folder / "secrets" / "default").mkdir(parents=True)
    (folder / "secrets" / "default" / "erp").write_text("hush-hush")
    settings = settings_for(embedded.temporal_address, dsn, folder)
    settings = settings.model_copy(update={"allowed_hosts": ("127.0.0.1",)})
    async with serve(settings) as served, work(settings):
        yield served


async def run(service: Service, *steps: Json, **more: Json) -> Json:
    """Run the steps and return the run as it ended."""
    definition = {"id": f"calls_{uuid.uuid4().hex}", "steps": list(steps), **more}
    started = await service.http.post("/v1/runs", json={"definition": definition})
    assert started.status_code in (200, 201, 202), started.text
    return await service.ended(started.json()["run_id"])


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


async def test_a_run_never_tells_a_secret(calling: Service) -> None:
    async with loopback(Reply(403, b"hush-hush is no key of ours")) as server:
        ended = await run(calling, calling_step(server))
    assert len(server.asked) == 1
    assert ended["status"] == "failed"
    handle = calling.app.temporal.get_workflow_handle(f"default/{ended['run_id'].replace('.', '/', 1)}")
    history = (await handle.fetch_history()).to_json()
    assert "RequestRefusedError" in history
    assert "hush-hush" not in history
    assert "hush-hush" not in str(ended)


async def test_what_is_not_allowed_is_not_called_and_not_retried(calling: Service) -> None:
    step = {"id": "inside", "handler": "send_webhook", "config": {"url": "http://10.0.0.1/"}}
    ended = await run(calling, step)
    assert ended["status"] == "failed"
    inside = ended["steps"]["inside"]
    assert inside["attempts"] == 1
    assert "the host 10.0.0.1 is refused: it is a private address" in inside["error"]["message"]
