"""Whoever may start runs may not take the tenant's secrets along: each goes only to the hosts that its file lists."""

import uuid
from collections.abc import AsyncIterator

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services.access.models import Scope
from tests.api.service import serve_with_worker, settings_for
from tests.loopback import Loopback, loopback
from tests.security.callers import Guarded, dsn
from tests.stack import Servers, eventually

__all__ = ["dsn"]


@pytest.fixture(scope="module")
async def house(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    """Yield an API and a worker with secrets: `erp` without a list of hosts, `bank` with one, `own` for 127.0.0.1."""
    folder = tmp_path_factory.mktemp("secret-hosts")
    files = {"erp": "hush-hush", "bank": "gold-bars", "own": "own-word"}
    files |= {"bank.hosts": "bank.example", "own.hosts": "127.0.0.1"}
    (folder / "secrets" / "default").mkdir(parents=True)
    for name, content in files.items():
        (folder / "secrets" / "default" / name).write_text(content)
    settings = settings_for(embedded.temporal_address, dsn, folder).model_copy(update={"allowed_hosts": ("127.0.0.1",)})
    async with serve_with_worker(settings) as service:
        service.guard()
        yield Guarded(service)


async def sent_by_submitter(house: Guarded, server: Loopback, handler: str, **config: Json) -> Json:
    """Let a key that may only submit send to a server of its own; return the step."""
    step = {"id": "take", "handler": handler, "config": {"url": server.url, **config}, "max_retries": 0}
    definition = {"id": f"take_{uuid.uuid4().hex[:8]}", "steps": [step]}
    key = await house.key(Scope.SUBMIT)
    started = await house.ask(key, "POST", "/v1/runs", json={"definition": definition})
    assert started.is_success, started.text
    reader = await house.key(Scope.READ)

    async def has_ended() -> bool:
        return (await report()).json()["status"] in ("completed", "failed")

    async def report() -> httpx.Response:
        return await house.ask(reader, "GET", f"/v1/runs/{started.json()['run_id']}")

    await eventually(has_ended, "the run to end")
    return (await report()).json()["steps"]["take"]


@pytest.mark.parametrize("handler", ["call_external_service", "send_webhook"])
@pytest.mark.parametrize(
    ("secret", "said"), [("erp", "no host may receive the secret 'erp'"), ("bank", "'bank' may not go to 127.0.0.1")]
)
async def test_a_secret_does_not_go_to_a_host_that_is_not_listed(
    house: Guarded, handler: str, secret: str, said: str
) -> None:
    async with loopback() as server:
        headers = {"Authorization": f"Bearer secret://{secret}"}
        step = await sent_by_submitter(house, server, handler, headers=headers)
    assert server.asked == []
    assert (step["status"], step["error"]["type"]) == ("failed", "RefusedSecretError")
    assert said in step["error"]["message"]


async def test_a_secret_signs_no_message_to_a_host_that_is_not_listed(house: Guarded) -> None:
    """A signature of known text lets its receiver try passwords."""
    async with loopback() as server:
        step = await sent_by_submitter(house, server, "send_webhook", secret="secret://erp")
    assert server.asked == []
    assert step["error"]["type"] == "RefusedSecretError"


async def test_a_secret_goes_to_a_host_that_is_listed(house: Guarded) -> None:
    async with loopback() as server:
        headers = {"Authorization": "Bearer secret://own"}
        step = await sent_by_submitter(house, server, "send_webhook", headers=headers, secret="secret://own")
    assert step["status"] == "completed"
    assert server.asked[0].headers["authorization"] == "Bearer own-word"
    assert "webhook-signature" in server.asked[0].headers
