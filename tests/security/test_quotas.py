"""Quotas: one tenant or key cannot use more than it may, and others do not notice that it tries."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from docrail.adapters.postgres.tenants import of_tenant
from docrail.dag.values.json_values import Json
from docrail.services.access.models import Scope
from docrail.services.quotas import service as quotas_service
from docrail.services.quotas.models import Quota, parse_quotas
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.service import HELLO, work
from tests.security.callers import Guarded, dsn, guarded, serve_guarded
from tests.stack import Servers, eventually

__all__ = ["dsn", "guarded"]


async def allow(guarded: Guarded, tenant: str, quota: Quota, value: float, key_id: str | None = None) -> None:
    """Set a quota as the operator does."""
    key = await guarded.key(Scope.ADMIN, tenant="default", name="operator")
    wanted = {"tenant": tenant, "key_id": key_id, "value": value}
    answer = await guarded.ask(key, "PUT", f"/v1/quotas/{quota}", json=wanted)
    assert answer.status_code == 200, answer.text


def check_exceeded(answer: httpx.Response, quota: Quota, limit: float) -> int:
    """Check a refusal, and return for how many seconds it asks to wait."""
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (429, "/problems/quota-exceeded"), answer.text
    assert (problem["quota"], problem["limit"]) == (quota, limit)
    seconds = int(answer.headers["Retry-After"])
    assert answer.headers["RateLimit"] == f'"{quota}";r=0;t={seconds}'
    assert answer.headers["RateLimit-Policy"] == f'"{quota}";q={limit:.0f}'
    return seconds


async def key_of(guarded: Guarded, tenant: str) -> str:
    """Return a key of a tenant that can upload documents."""
    key = await guarded.key(tenant=tenant)
    body = {"definition": {**HELLO, "id": "invoice"}}
    (await guarded.ask(key, "POST", "/v1/definitions", json=body)).raise_for_status()
    return key


async def upload(guarded: Guarded, key: str, **headers: str) -> httpx.Response:
    files = {"file": ("a.xml", e_invoice(unique("Q")))}
    sent = {"Authorization": f"Bearer {key}", **headers}
    return await guarded.service.http.post("/v1/documents", files=files, headers=sent)


async def test_more_requests_a_second_than_a_tenant_may_are_refused_and_another_tenant_is_served(
    guarded: Guarded,
) -> None:
    ours, theirs = await guarded.key(tenant="busy"), await guarded.key(tenant="calm")
    await allow(guarded, "busy", Quota.REQUESTS, 3)
    answers = await asyncio.gather(*(guarded.ask(ours, "GET", "/v1/me") for _ in range(20)))
    refused = [answer for answer in answers if answer.status_code != 200]
    assert len(refused) >= 10  # three a second, on a busy machine over some seconds
    assert check_exceeded(refused[0], Quota.REQUESTS, 3) == 1
    others = await asyncio.gather(*(guarded.ask(theirs, "GET", "/v1/me") for _ in range(20)))
    assert {answer.status_code for answer in others} == {200}


async def test_a_key_may_have_less_than_its_tenant(guarded: Guarded) -> None:
    small, large = await guarded.key(tenant="keys"), await guarded.key(tenant="keys")
    await allow(guarded, "keys", Quota.REQUESTS, 0, small.split("_")[1])
    check_exceeded(await guarded.ask(small, "GET", "/v1/me"), Quota.REQUESTS, 0)
    assert (await guarded.ask(large, "GET", "/v1/me")).status_code == 200


async def test_a_body_larger_than_the_quota_is_refused(guarded: Guarded) -> None:
    key = await key_of(guarded, "bodies")
    await allow(guarded, "bodies", Quota.BODY, 1000)
    answer = await guarded.ask(key, "POST", "/v1/definitions/validate", json={"definition": "x" * 1000})
    assert (answer.status_code, answer.json()["limit_bytes"]) == (413, 1000)
    answer = await guarded.ask(key, "POST", "/v1/definitions/validate", json={"definition": "x" * 100})
    assert answer.status_code == 200
    assert (await upload(guarded, key)).status_code == 413


async def test_exactly_as_many_documents_as_a_day_allows_are_stored_however_many_are_sent_at_once(
    guarded: Guarded,
) -> None:
    key = await key_of(guarded, "days")
    await allow(guarded, "days", Quota.DOCUMENTS, 5)
    repeated = [await upload(guarded, key, **{"Idempotency-Key": "same"}) for _ in range(3)]
    assert {answer.status_code for answer in repeated} <= {202, 409}  # the same key counts once
    answers = await asyncio.gather(*(upload(guarded, key) for _ in range(12)))
    assert sorted(answer.status_code for answer in answers) == [202] * 4 + [429] * 8
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 0 < check_exceeded(refused, Quota.DOCUMENTS, 5) <= 86_400
    listed = (await guarded.ask(key, "GET", "/v1/documents")).json()["documents"]
    assert len(listed) == 5


async def test_a_batch_uses_no_quota_for_files_that_it_does_not_take(guarded: Guarded) -> None:
    key = await key_of(guarded, "refused")
    await allow(guarded, "refused", Quota.DOCUMENTS, 2)
    asking = {
        "id": "asking",
        "inputs": {"why": {"type": "string", "required": True}},
        "steps": [{"id": "a", "handler": "noop"}],
    }
    (await guarded.ask(key, "POST", "/v1/definitions", json={"definition": asking})).raise_for_status()
    batch_id = (await guarded.ask(key, "POST", "/v1/batches", json={"definition": "asking"})).json()["batch_id"]
    files = {"file": ("a.pdf", b"a", "application/pdf")}
    for _ in range(3):
        refused = await guarded.ask(key, "POST", f"/v1/batches/{batch_id}/documents", files=files, data={"place": "a"})
        assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-input")
    assert [(await upload(guarded, key)).status_code for _ in range(3)] == [202, 202, 429]


async def test_the_quota_of_a_key_takes_nothing_of_its_tenants(guarded: Guarded) -> None:
    small, large = await key_of(guarded, "shares"), await guarded.key(tenant="shares")
    await allow(guarded, "shares", Quota.DOCUMENTS, 3)
    await allow(guarded, "shares", Quota.DOCUMENTS, 1, small.split("_")[1])
    found = [(await upload(guarded, key)).status_code for key in (small, small, small, large, large, large)]
    assert found == [202, 429, 429, 202, 202, 429]


async def test_two_processes_count_the_same_documents(
    guarded: Guarded, embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = guarded.service.settings.model_copy(update={"data_dir": tmp_path_factory.mktemp("other")})
    async with serve_guarded(settings) as other:
        key = await key_of(guarded, "fleet")
        await allow(guarded, "fleet", Quota.DOCUMENTS, 4)
        both = [guarded, replace(guarded, service=other)]
        answers = await asyncio.gather(*(upload(each, key) for each in both * 6))
    assert sorted(answer.status_code for answer in answers) == [202] * 4 + [429] * 8


async def test_no_more_runs_are_open_than_a_tenant_may_have(guarded: Guarded) -> None:
    key = await key_of(guarded, "runs")
    await allow(guarded, "runs", Quota.RUNS, 2)
    (await guarded.ask(key, "POST", "/v1/definitions", json={"definition": HELLO})).raise_for_status()

    async def start(name: str) -> httpx.Response:
        return await guarded.ask(key, "POST", "/v1/runs", json={"definition": "hello", "key": name})

    assert [(await start(name)).status_code for name in ("first", "second")] == [202, 202]
    check_exceeded(await start("third"), Quota.RUNS, 2)
    again = await start("first")
    assert (again.status_code, again.json()["created"]) in ((200, False), (202, False))
    stored = await upload(guarded, key)
    assert stored.status_code == 202  # its run starts when there is room


async def test_an_ended_run_is_not_started_again_while_as_many_are_open_as_may_be(guarded: Guarded) -> None:
    key = await key_of(guarded, "again")
    refused: list[httpx.Response] = []

    async def start(definition: Json) -> str:
        started = await guarded.ask(key, "POST", "/v1/runs", json={"definition": definition})
        assert started.status_code == 202, started.text
        return str(started.json()["run_id"])

    async def has_ended() -> bool:
        return bool((await guarded.ask(key, "GET", f"/v1/runs/{ended}")).json()["status"] == "completed")

    async def is_full() -> bool:  # visibility is a moment late
        answer = await guarded.ask(key, "POST", f"/v1/runs/{ended}/retry", json={"from_steps": ["greet"]})
        refused.extend([answer] if answer.status_code == 429 else [])
        await eventually(has_ended, "the run to end again")
        return bool(refused)

    async with work(guarded.service.settings):
        ended = await start({**HELLO, "id": "again"})
        await eventually(has_ended, "the run to end")
        await start({"id": "asks", "steps": [{"id": "ask", "human": {"title": "Pay?"}}]})
        await allow(guarded, "again", Quota.RUNS, 1)
        await eventually(is_full, "the quota of open runs is reached")
    check_exceeded(refused[0], Quota.RUNS, 1)


async def test_a_key_may_send_less_than_its_tenant(guarded: Guarded) -> None:
    small, large = await key_of(guarded, "sizes"), await guarded.key(tenant="sizes")
    await allow(guarded, "sizes", Quota.BODY, 5000)
    await allow(guarded, "sizes", Quota.BODY, 1000, small.split("_")[1])

    async def send(key: str, size: int) -> httpx.Response:
        return await guarded.ask(key, "POST", "/v1/definitions/validate", json={"definition": "x" * size})

    assert [(await send(key, 2000)).status_code for key in (small, large)] == [413, 200]
    assert (await send(small, 2000)).json()["limit_bytes"] == 1000
    assert (await send(large, 6000)).json()["limit_bytes"] == 5000


async def test_a_body_without_a_length_counts_as_large_as_it_is(guarded: Guarded) -> None:
    key = await key_of(guarded, "chunked")
    await allow(guarded, "chunked", Quota.BODY, 1000)

    async def parts() -> AsyncIterator[bytes]:
        yield b'{"definition": "'
        for _ in range(20):
            yield b"x" * 100
        yield b'"}'

    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    sent = await guarded.service.http.post("/v1/definitions/validate", content=parts(), headers=headers)
    assert (sent.status_code, sent.json()["limit_bytes"]) == (413, 1000)


async def test_a_tenants_admin_sees_its_quotas_and_cannot_change_them(guarded: Guarded) -> None:
    admin = await guarded.key(tenant="seen")
    await allow(guarded, "seen", Quota.DOCUMENTS, 7)
    priority, found = (await guarded.ask(admin, "GET", "/v1/quotas")).json()["quotas"]
    assert (priority["quota"], priority["value"], priority["changed_by"]) == ("highest_priority", 3, None)
    assert (found["quota"], found["value"], found["changed_by"]) == ("documents_per_day", 7, "operator")
    raised = {"tenant": "seen", "value": 70}
    assert (await guarded.ask(admin, "PUT", "/v1/quotas/documents_per_day", json=raised)).status_code == 403
    reset = await guarded.ask(admin, "DELETE", "/v1/quotas/documents_per_day", params={"tenant": "seen"})
    assert reset.status_code == 403
    other = await guarded.key(tenant="unseen")
    assert (await guarded.ask(other, "GET", "/v1/quotas")).json() == {
        "quotas": [{**priority, "tenant": "unseen"}],
        "allowed": False,
    }


async def test_a_reset_quota_gives_way_to_the_default(guarded: Guarded) -> None:
    operator, admin = await guarded.key(), await guarded.key(tenant="reset")
    await allow(guarded, "reset", Quota.REQUESTS, 0)
    check_exceeded(await guarded.ask(admin, "GET", "/v1/me"), Quota.REQUESTS, 0)
    path = "/v1/quotas/requests_per_second"
    assert (await guarded.ask(operator, "DELETE", path, params={"tenant": "reset"})).status_code == 204
    assert (await guarded.ask(operator, "DELETE", path, params={"tenant": "reset"})).status_code == 204
    assert (await guarded.ask(admin, "GET", "/v1/me")).status_code == 200


@pytest.mark.parametrize(
    ("quota", "wanted", "path"),
    [
        (Quota.REQUESTS, {"tenant": "default", "value": 0}, "value"),  # no one could raise it again
        (Quota.RUNS, {"tenant": "acme", "value": -1}, "value"),
        (Quota.RUNS, {"tenant": "acme", "value": 2**63}, "value"),
        (Quota.PRIORITY, {"tenant": "acme", "value": 0}, "value"),
        (Quota.PRIORITY, {"tenant": "acme", "value": 2.5}, "value"),
        (Quota.PRIORITY, {"tenant": "acme", "value": 1, "key_id": "0" * 16}, "key_id"),
        (Quota.RUNS, {"tenant": "A/..", "value": 1}, "tenant"),
        ("requests", {"tenant": "acme", "value": 1}, "quota"),
    ],
)
async def test_what_is_no_quota_is_refused(guarded: Guarded, quota: str, wanted: dict[str, Json], path: str) -> None:
    answer = await guarded.ask(await guarded.key(), "PUT", f"/v1/quotas/{quota}", json=wanted)
    assert answer.status_code == 422, answer.text
    assert answer.json()["problems"][0]["path"].endswith(path)


async def test_a_default_of_the_settings_holds_for_every_tenant_without_another_value(
    embedded: Servers, dsn: str, guarded: Guarded, tmp_path_factory: pytest.TempPathFactory
) -> None:
    defaults = {"quotas": parse_quotas("documents_per_day=1"), "data_dir": tmp_path_factory.mktemp("defaults")}
    async with serve_guarded(guarded.service.settings.model_copy(update=defaults)) as other:
        limited = replace(guarded, service=other)
        await allow(guarded, "known", Quota.DOCUMENTS, 2)
        for tenant, most in (("unknown", 1), ("known", 2)):
            key = await key_of(guarded, tenant)
            found = [(await upload(limited, key)).status_code for _ in range(3)]
            assert found == [202] * most + [429] * (3 - most)


async def test_the_operators_budget_for_a_tenant_comes_before_that_of_the_settings(guarded: Guarded) -> None:
    await allow(guarded, "models", Quota.BUDGET, 1.5)
    db = guarded.service.app.db
    with of_tenant("models"):
        assert await quotas_service.Quotas().model_budget(db, "models") == 1.5
    with of_tenant("others"):
        assert await quotas_service.Quotas().model_budget(db, "others") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("requests=5", "there is no quota 'requests'"),
        ("open_runs=many", "open_runs: expected a whole number, found 'many'"),
        ("open_runs=-1", "found '-1'"),
        (f"open_runs={10**30}", "expected a whole number"),
        ("highest_priority=0", "highest_priority: expected a priority from 1, the first, to 5, found '0'"),
        ("model_budget_per_day=5", "DOCRAIL_GEMINI_BUDGET_PER_TENANT"),
    ],
)
def test_a_setting_that_is_no_quota_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_quotas(text)
