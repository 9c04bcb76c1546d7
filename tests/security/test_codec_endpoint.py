"""Temporal's remote codec protocol: who may decrypt what, from which page, and that Temporal's own CLI can use it."""

import asyncio
import base64
import os
import re
from collections.abc import AsyncIterator, Sequence

import httpx
import pytest
from pydantic import SecretStr
from temporalio.api.common.v1 import Payload
from temporalio.converter import WorkflowSerializationContext

from docrail.adapters.temporal.codec import PayloadEncryption
from docrail.dag.values.json_values import Json
from docrail.embedded.temporal import find_binary, start_temporal
from docrail.workflows.contract.names import workflow_id
from tests.api.conftest import dsn
from tests.api.service import HELLO, Service, serve, serve_with_worker, settings_for
from tests.stack import Servers, eventually

__all__ = ["dsn"]

KEY = f"first:{base64.b64encode(os.urandom(32)).decode()}"
UI = "http://127.0.0.1:8233"
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=b'"quokka"')


@pytest.fixture(scope="module")
async def service(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("codec"))
    async with serve(settings.model_copy(update={"payload_keys": SecretStr(KEY)})) as served:
        yield served


def shown(payload: Payload) -> dict[str, Json]:
    """Return a payload as Temporal's tools send it."""
    metadata = {name: base64.b64encode(value).decode() for name, value in payload.metadata.items()}
    return {"metadata": metadata, "data": base64.b64encode(payload.data).decode()}


async def sealed(service: Service, owner: str) -> dict[str, Json]:
    codec = service.app.temporal.data_converter.payload_codec
    assert isinstance(codec, PayloadEncryption)
    [payload] = await codec.with_context(WorkflowSerializationContext("default", owner)).encode([PLAIN])
    return shown(payload)


async def post(service: Service, verb: str, payloads: Sequence[Json], **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await service.http.post(f"/v1/codec/{verb}", json={"payloads": payloads}, headers=named)


async def test_the_tenants_payloads_are_decrypted_and_others_come_back_as_they_are(service: Service) -> None:
    mine, theirs = [await sealed(service, workflow_id(tenant, "hello.1")) for tenant in ("acme", "globex")]
    nobodys = await sealed(service, "docrail-sla.docrail")
    decoded = await post(service, "decode", [mine, theirs, shown(PLAIN), nobodys], X_Test_Tenant="acme")
    assert decoded.json() == {"payloads": [shown(PLAIN), theirs, shown(PLAIN), nobodys]}
    decoded = await post(service, "decode", [mine, nobodys], X_Namespace="default")
    assert decoded.json() == {"payloads": [mine, shown(PLAIN)]}


async def test_what_is_encoded_can_be_decoded(service: Service) -> None:
    encoded = (await post(service, "encode", [shown(PLAIN)])).json()["payloads"]
    assert "quokka" not in base64.b64decode(encoded[0]["data"]).decode("latin-1")
    assert (await post(service, "decode", encoded)).json() == {"payloads": [shown(PLAIN)]}


@pytest.mark.parametrize("verb", ["decode", "encode"])
async def test_it_needs_the_scope_operate(service: Service, verb: str) -> None:
    assert (await post(service, verb, [shown(PLAIN)], X_Test_Scopes="submit read review")).status_code == 403


async def test_a_changed_payload_and_a_missing_key_are_refused(service: Service) -> None:
    payload = await sealed(service, workflow_id("default", "hello.1"))
    false = payload["metadata"] | {"encryption-key-id": base64.b64encode(b"second").decode()}
    refused = await post(service, "decode", [{**payload, "metadata": false}])
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/unavailable")
    assert "with the key 'second': DOCRAIL_PAYLOAD_KEYS here has first" in refused.json()["detail"]
    renamed = payload["metadata"] | {"encryption-workflow-id": base64.b64encode(b"acme/hello/1").decode()}
    refused = await post(service, "decode", [{**payload, "metadata": renamed}], X_Test_Tenant="acme")
    assert refused.status_code == 503, "the tenant is bound to the payload"


@pytest.mark.parametrize(
    "payloads", [[{"metadata": {"encoding": "a"}}], [{}], "text", [shown(PLAIN)] * 1001, [{"metadata": 1}]]
)
async def test_other_bodies_are_refused(service: Service, payloads: Json) -> None:
    assert (await post(service, "decode", payloads)).status_code == 422


@pytest.mark.parametrize("origin", [UI, "http://localhost:8233"])
async def test_a_page_of_temporals_ui_may_read_the_answer(service: Service, origin: str) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization, x-namespace"}
    allowed = await service.http.options("/v1/codec/decode", headers={"Origin": origin, **asked})
    assert allowed.status_code == 200
    answer = await post(service, "decode", [shown(PLAIN)], Origin=origin, Sec_Fetch_Site="same-site")
    assert answer.status_code == 200
    for response in (allowed, answer):
        assert response.headers["access-control-allow-origin"] == origin
        assert response.headers["access-control-allow-credentials"] == "true"


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:8234", "null", f"{UI}.evil.example"])
async def test_no_other_page_may(service: Service, origin: str) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Origin": origin}
    assert (await service.http.options("/v1/codec/decode", headers=asked)).status_code == 400
    answer = await post(service, "decode", [shown(PLAIN)], Origin=origin)
    assert "access-control-allow-origin" not in answer.headers


async def test_temporals_ui_may_read_nothing_else(service: Service) -> None:
    answer = await service.http.get("/v1/runs", headers={"Origin": UI})
    assert "access-control-allow-origin" not in answer.headers


async def test_temporals_cli_shows_a_history(
    embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("cli"))
    definition = {**HELLO, "steps": [{"id": "greet", "handler": "echo", "config": {"value": "quokka"}}]}
    async with serve_with_worker(settings.model_copy(update={"payload_keys": SecretStr(KEY)})) as served:
        served.http.headers["X-Test-Tenant"] = "sealed"  # the others' tests list runs, and have no key
        started = await served.http.post("/v1/runs", json={"definition": definition})
        run_id = started.json()["run_id"]
        await served.ended(run_id)
        address = ("--address", embedded.temporal_address, "--disable-config-env", "--disable-config-file")
        of_run = ("-w", workflow_id("sealed", run_id), *address)
        encrypted = await output_of(find_binary(), "workflow", "show", *of_run, "-o", "json")
        endpoint = f"{str(served.http.base_url).rstrip('/')}/v1/codec"
        decrypted = await output_of(
            *(find_binary(), "workflow", "show", *of_run, "-o", "json"),
            *("--codec-endpoint", endpoint, "--codec-header", "X-Test-Tenant=sealed"),
        )
    assert (b"quokka" in data_in(encrypted), b"quokka" in data_in(decrypted)) == (False, True)


def data_in(history: str) -> bytes:
    return b"".join(map(base64.b64decode, re.findall(r'"data": ?"([^"]+)"', history)))


async def output_of(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode()


async def test_the_embedded_ui_is_given_the_endpoint(tmp_path_factory: pytest.TempPathFactory) -> None:
    endpoint = "http://127.0.0.1:8000/v1/codec"
    folder = tmp_path_factory.mktemp("ui")
    temporal = await start_temporal(folder, 0, 0, report=print, codec_endpoint=endpoint)
    try:
        async with httpx.AsyncClient(base_url=temporal.ui_url, trust_env=False) as ui:

            async def has_endpoint() -> bool:
                try:
                    found = await ui.get("/api/v1/settings")
                except httpx.TransportError:
                    return False
                return endpoint in found.text

            await eventually(has_endpoint, "the UI to know where to decrypt")
    finally:
        await temporal.process.kill()
