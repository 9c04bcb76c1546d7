"""A hostile tenant, admin of its own, tries every route with another tenant's ids: it learns and changes nothing.

Every answer is compared with the answer for an id that never existed.
"""

import re
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services.access.models import Scope
from docrail.services.definitions.service import shipped_files
from docrail.workflows.contract.names import TENANT
from tests.api.described import DOCUMENT
from tests.api.service import settings_for, work
from tests.security.callers import Guarded, dsn, serve_guarded
from tests.stack import Servers, eventually

__all__ = ["dsn"]

VICTIM, HOSTILE, THIEF, STRANGER = "acme", "mallory", "eve", "nemo"
SAMPLE = Path(__file__).parents[2] / "samples" / "xr_01.01a_ubl.xml"
OF_ALL = {"/v1/handlers/{name}", "/v1/limits/{tag}", "/v1/quotas/{quota}", "/v1/callbacks/{token}"}
"""Routes whose parameter is no tenant's: the installation's handlers, limits and quotas, and a signed token."""
NOT_LISTS = {
    *("/healthz", "/readyz", "/v1/health", "/metrics", "/v1/me", "/v1/sessions", "/v1/keys", "/v1/audit", "/v1/events"),
    *("/v1/audit/newest", "/v1/quotas"),
}
"""Routes that name the caller, the time, or no tenant at all. Keys, quotas and the audit log are the caller's own."""
PLAN = {
    "id": "secret_plan",
    "steps": [
        {"id": "ask", "title": "Merge with Initech?", "human": {"form": {"type": "object"}}},
        {"id": "after", "handler": "noop", "depends_on": ["ask"]},
    ],
}
BROKEN = {
    "id": "secret_failure",
    "steps": [
        {
            "id": "bad",
            "handler": "fail",
            "config": {"times": 9, "error": "ValueError", "message": "a secret message"},
            "max_retries": 0,
        }
    ],
    "on_failure": "park",
}
KEEP_EXPORT = """
INSERT INTO exports (tenant_id, export_id, status, wanted, documents, error, created_by, ended_at)
VALUES ($1, $2, 'failed', $3, 1, 'a secret_address refused it', 'secret_name', now())"""
SECRETS = ("secret_", "Initech", "Merge with", "acme")


@dataclass(frozen=True, slots=True)
class Caller:
    """A tenant's admin."""

    guarded: Guarded
    key: str

    async def ask(self, method: str, path: str, *, key: str | None = None, **more: Any) -> httpx.Response:
        """Send a request; `key` is its idempotency key."""
        headers = {"Authorization": f"Bearer {self.key}"} | ({"Idempotency-Key": key} if key else {})
        return await self.guarded.service.http.request(method, path, headers=headers, **more)

    async def get(self, path: str, **params: str) -> Json:
        response = await self.ask("GET", path, params=params)
        assert response.status_code == 200, response.text
        return response.json()

    async def post(self, path: str, body: Json) -> Json:
        response = await self.ask("POST", path, json=body)
        assert response.status_code < 300, response.text
        return response.json()


@dataclass(frozen=True, slots=True)
class House:
    """An API with a worker and four tenants, and the ids of what the victim has."""

    ids: tuple[Mapping[str, str], ...]
    """For each set: the victim's ids by the name of their parameter."""
    victim: Caller
    hostile: Caller
    """Only asks."""
    thief: Caller
    """Has things of its own."""
    stranger: Caller


def never(ids: Mapping[str, str]) -> dict[str, str]:
    """Return ids of the same shape that never existed. Names of steps, fields and aliases are not ids."""
    return {name: value if name in PLAIN else _another(value) for name, value in ids.items()}


PLAIN = {"step_id", "field", "alias", "number"}


def _another(value: str) -> str:
    if "." in value:
        definition, _, key = value.partition(".")
        return f"{_another(definition)}.{_another(key)}"
    hexadecimal = re.search(r"[0-9a-f]{16,}$", value)
    if hexadecimal is None:
        return f"never_{uuid.uuid4().hex}"[: max(len(value), 12)]
    return value[: hexadecimal.start() + 1] + uuid.uuid4().hex[: len(hexadecimal[0]) - 1]


@pytest.fixture(scope="module")
async def house(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("house"))
    settings = settings.model_copy(update={"access": "keys"})
    async with serve_guarded(settings) as service, work(settings):
        guarded = Guarded(service)
        names = (VICTIM, HOSTILE, THIEF, STRANGER)
        victim, *others = [Caller(guarded, await guarded.key(*Scope, tenant=name)) for name in names]
        furnished = House(await furnish(victim), victim, *others)
        await check_unchanged(furnished)
        yield furnished
        await check_unchanged(furnished)


async def check_unchanged(house: House) -> None:
    """Check that no attempt changed anything of the victim."""
    ids = house.ids[0]
    assert (await house.victim.get(f"/v1/runs/{ids['run_id']}"))["status"] == "waiting"
    letters = (await house.victim.get("/v1/dead-letters"))["letters"]
    assert [letter["status"] for letter in letters] == ["parked"]
    reviews = (await house.victim.get("/v1/reviews"))["reviews"]
    assert {(each["status"], each["claimed_by"], each["assigned_to"]) for each in reviews} == {("open", None, None)}
    assert len(reviews) == 2
    keys = (await house.victim.get("/v1/keys"))["keys"]
    assert [key["revoked_at"] or key["rotated_at"] for key in keys] == [None, None]
    assert (await house.victim.get("/v1/definitions/secret_plan/aliases"))["aliases"]["stable"]["version"] == 1
    assert (await house.victim.get("/v1/audit/verify"))["intact"]


async def furnish(victim: Caller) -> tuple[Mapping[str, str], ...]:
    """Give the victim one of everything."""
    for path in shipped_files():
        await victim.post("/v1/definitions", {"definition": path.read_text("utf-8")})
    sent = await victim.ask("POST", "/v1/documents", files={"file": ("secret_invoice.xml", SAMPLE.read_bytes())})
    assert sent.status_code == 202, sent.text
    document_id = sent.json()["document_id"]
    waiting = (await victim.post("/v1/runs", {"definition": PLAN}))["run_id"]
    parked = (await victim.post("/v1/runs", {"definition": BROKEN}))["run_id"]
    execution = (await victim.post("/v1/workflow", {"definition": PLAN}))["execution_id"]
    key = (await victim.post("/v1/keys", {"name": "secret_name", "scopes": ["read"]}))["details"]["key_id"]
    await victim.ask("POST", "/v1/session", json={"key": victim.key})
    victim.guarded.service.http.cookies.clear()
    session = (await victim.get("/v1/sessions"))["sessions"][0]["session_id"]
    export_id = f"exp_{uuid.uuid4().hex[:26]}"
    await victim.guarded.service.pool.execute(KEEP_EXPORT, VICTIM, export_id, {"to": {"format": "xlsx"}})
    reviews: dict[str, str] = {}

    async def is_furnished() -> bool:
        listed = (await victim.get("/v1/reviews"))["reviews"]
        reviews.update({each["run_id"]: each["review_id"] for each in listed})
        letters = (await victim.get("/v1/dead-letters"))["letters"]
        return len(reviews) == 2 and len(letters) == 1

    await eventually(is_furnished, "the victim's review items and its dead letter")
    run_id = next(each for each in reviews if each != waiting)
    common = {"document_id": document_id, "execution_id": execution, "key_id": key, "session_id": session}
    common["export_id"] = export_id
    common["batch_id"] = (await victim.post("/v1/batches", {"name": "secret_batch"}))["batch_id"]
    trigger = {"name": "secret_trigger", "definition": "secret_plan", "cron": "0 3 1 1 *"}
    common["trigger"] = (await victim.post("/v1/triggers", trigger))["name"]
    common |= {"definition_id": "secret_plan", "number": "1", "field": "total", "alias": "stable"}
    return (
        {**common, "run_id": waiting, "step_id": "ask", "review_id": reviews[waiting]},
        {**common, "run_id": parked, "step_id": "bad", "review_id": reviews[run_id]},
    )


def operations() -> Iterator[tuple[str, str, dict[str, Json]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            if path not in OF_ALL:
                yield method.upper(), path, operation


def name_of(value: object) -> str:
    return value if isinstance(value, str) else ""


WITH_IDS = [each for each in operations() if "{" in each[1] and "{schedule}" not in each[1]]  # of the installation
LISTS = [(path, operation) for method, path, operation in operations() if method == "GET" and "{" not in path]


def example_of(operation: Mapping[str, Json]) -> Json:
    """Return a valid body, as the documentation shows it; None if there is none."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    schema = content["schema"]
    name = schema.get("$ref") or next(each["$ref"] for each in schema["anyOf"] if "$ref" in each)
    return DOCUMENT["components"]["schemas"][name.rpartition("/")[2]]["examples"][0]


def with_ids(value: Json, ids: Mapping[str, str]) -> Json:
    """Return a body about these ids, wherever it names one."""
    match value:
        case dict():
            return {name: ids[name] if name in ids else with_ids(each, ids) for name, each in value.items()}
        case list():
            return [with_ids(each, ids) for each in value]
        case _:
            return value


def masked(response: httpx.Response, ids: Mapping[str, str]) -> tuple[int, str, str]:
    """Return what the caller sees, without the ids that it sent itself."""
    text = response.text
    for name, value in sorted(ids.items(), key=lambda each: -len(each[1])):
        text = text.replace(value, f"<{name}>") if name not in PLAIN else text
    text = re.sub(r"'[^']*…'", "<cut>", text)  # an error repeats the beginning of what was sent
    text = re.sub(r"[0-9a-f]{20,}", "<made>", text)  # an id that follows from one that was sent
    return response.status_code, response.headers.get("content-type", ""), text


@pytest.mark.parametrize(
    ("method", "path", "operation"), WITH_IDS, ids=lambda each: each if isinstance(each, str) else ""
)
async def test_an_id_of_another_tenant_is_an_id_that_never_existed(
    house: House, method: str, path: str, operation: dict[str, Json]
) -> None:
    for real in house.ids:
        invented, answers = never(real), []
        for ids in (real, invented):
            body = {"json": with_ids(example_of(operation), ids)} if example_of(operation) is not None else {}
            answers.append(masked(await house.hostile.ask(method, path.format_map(ids), **body), ids))
        assert answers[0] == answers[1]
        assert answers[0][0] in {200, 404, 405, 422}, answers[0]
        assert not [word for word in SECRETS if word in answers[0][2]], answers[0]


@pytest.mark.parametrize(("path", "operation"), LISTS, ids=name_of)
async def test_a_list_shows_and_tests_nothing_of_another_tenant(
    house: House, path: str, operation: dict[str, Json]
) -> None:
    plain = await house.hostile.ask("GET", path)
    assert not [word for word in (*SECRETS, *house.ids[0].values()) if word in plain.text and word not in PLAIN_WORDS]
    if path not in NOT_LISTS:
        assert masked(plain, {}) == masked(await house.stranger.ask("GET", path), {})
    for parameter in (each["name"] for each in operation.get("parameters", []) if each["in"] == "query"):
        for name, value in house.ids[0].items():
            invented = never({name: value})
            answers = [
                masked(await house.hostile.ask("GET", path, params={parameter: ids[name]}), ids)
                for ids in ({name: value}, invented)
            ]
            assert answers[0] == answers[1], parameter


PLAIN_WORDS = {"1", "ask", "total", "stable"}


@pytest.mark.parametrize(
    "body",
    [
        {"definition": "{definition_id}"},
        {"definition": "{definition_id}@1"},
        {"definition": {"id": "mine", "steps": [{"id": "a", "workflow": {"id": "{definition_id}"}}]}},
    ],
)
async def test_a_definition_of_another_tenant_cannot_be_run(house: House, body: dict[str, Json]) -> None:
    assert len(set(await both(house, "/v1/runs", body))) == 1


async def test_a_document_of_another_tenant_cannot_be_read_by_a_run(house: House) -> None:
    steps = [{"id": "read", "handler": "extract_invoice", "config": {"document_id": "{{ inputs.document_id }}"}}]
    inputs = {"document_id": {"type": "string", "required": True}}
    definition = {
        "id": "thief",
        "inputs": inputs,
        "steps": [{**steps[0], "config": {"document_id": "{{ inputs.document_id }}"}}],
    }
    reports = []
    for ids in (house.ids[0], never(house.ids[0])):
        body = {"definition": definition, "inputs": {"document_id": ids["document_id"]}}
        answer = await house.thief.ask("POST", "/v1/runs", json=body)
        reports.append(answer.text if answer.status_code >= 400 else await failure(house, answer.json()["run_id"]))
        reports[-1] = reports[-1].replace(ids["document_id"], "<id>")
    assert reports[0] == reports[1]


async def failure(house: House, run_id: str) -> str:
    found: list[Json] = []

    async def has_failed() -> bool:
        found.append(await house.thief.get(f"/v1/runs/{run_id}"))
        return bool(found[-1]["status"] == "failed")

    await eventually(has_failed, f"the failure of {run_id}")
    return str(found[-1]["reason"])


async def test_the_same_bytes_are_not_known_from_another_tenant(house: House) -> None:
    for path in shipped_files():
        await house.thief.post("/v1/definitions", {"definition": path.read_text("utf-8")})
    sent = await house.thief.ask("POST", "/v1/documents", files={"file": ("mine.xml", SAMPLE.read_bytes())})
    assert sent.status_code == 202, sent.text
    assert sent.json()["duplicate_of"] is None
    assert sent.json()["document_id"] != house.ids[0]["document_id"]


async def test_the_same_idempotency_key_is_another_tenants_own(house: House) -> None:
    hello = {"definition": {"id": "hello", "steps": [{"id": "a", "handler": "echo", "config": {"value": 1}}]}}
    first = await house.victim.ask("POST", "/v1/runs", json=hello, key="order-1")
    other = {"definition": {"id": "hello", "steps": [{"id": "b", "handler": "noop"}]}}
    second = await house.thief.ask("POST", "/v1/runs", json=other, key="order-1")
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["run_id"] == second.json()["run_id"]
    assert first.json()["digest"] != second.json()["digest"]


LETTER = {"run_id": "{run_id}", "step_id": "{step_id}"}
ABOUT_OTHERS: dict[str, list[dict[str, Json]]] = {
    "/v1/runs/bulk": [{"action": action, "run_ids": ["{run_id}"]} for action in ("pause", "abort", "cancel", "retry")],
    "/v1/dead-letters/retry": [{"letters": [LETTER]}, {"definition": "secret_failure"}],
    "/v1/reviews/approve/preview": [{"review_ids": ["{review_id}"]}, {"matching": {"run": "{run_id}"}}],
    "/v1/reviews/approve": [{"items": [{"review_id": "{review_id}", "digest": "0" * 64}]}],
    "/v1/batches": [{"document_ids": ["{document_id}"]}, {"definition": "{definition_id}"}],
    "/v1/batches/OWN/append": [{"document_ids": ["{document_id}"]}],
    "/v1/runs/OWN/retry": [{"inputs": {"document_id": "{document_id}"}}],
    "/v1/triggers": [{"name": "mine", "definition": "{definition_id}", "cron": "0 3 1 1 *"}],
    "/v1/workflow": [{"definition": "{definition_id}"}],
    "/v1/reviews/next": [{"queue": "{definition_id}"}, {"group": "{run_id}"}],
}


@pytest.mark.parametrize(("path", "body"), [(path, body) for path, bodies in ABOUT_OTHERS.items() for body in bodies])
async def test_a_body_about_things_of_another_tenant_says_and_does_nothing(
    house: House, path: str, body: dict[str, Json]
) -> None:
    """`check_unchanged` looks at the victim's things afterwards."""
    if "OWN" in path:
        batch = (await house.thief.post("/v1/batches", {"name": "own"}))["batch_id"]
        run = (await house.thief.post("/v1/runs", {"definition": {"id": "own", "steps": PLAN["steps"]}}))["run_id"]
        path = path.replace("OWN", batch if "batches" in path else run)
    real, invented = await both(house, path, body)
    assert real == invented
    assert not [word for word in SECRETS if word in real[2].replace("secret_failure", "")], real


async def both(house: House, path: str, body: Json) -> list[tuple[int, str, str]]:
    """Return the thief's answers to a body about the victim's ids, and about ids that never existed."""
    answers = []
    for ids in (house.ids[0], never(house.ids[0])):
        filled = _filled(body, ids)
        answers.append(masked(await house.thief.ask("POST", path, json=filled), ids))
    return answers


def _filled(value: Json, ids: Mapping[str, str]) -> Json:
    match value:
        case dict():
            return {name: _filled(each, ids) for name, each in value.items()}
        case list():
            return [_filled(each, ids) for each in value]
        case str():
            return value.format_map(ids)
        case _:
            return value


@pytest.mark.parametrize("text", ["secret_inv", "se", "seller", "336.9"])
async def test_a_search_finds_nothing_of_another_tenant(house: House, text: str) -> None:
    """The view that a search reads is not closed by the tables' policies, but by a condition of its own."""
    [found] = (await house.victim.get("/v1/documents", text=text))["documents"]
    assert found["document_id"] == house.ids[0]["document_id"]
    assert (await house.hostile.get("/v1/documents", text=text))["documents"] == []
    assert (await house.hostile.get("/v1/documents/counts", text=text))["total"] == 0


@pytest.mark.parametrize(
    "shape", ["acme/{}", "/acme/{}", "../acme/{}", "..%2Facme%2F{}", "%2e%2e/%2e%2e/acme/{}", "x%2F..%2F..%2Facme%2F{}"]
)
async def test_a_runs_id_leads_into_no_other_tenant(house: House, shape: str) -> None:
    """Ids of workflows and the folders of stores begin with the tenant."""
    ids = house.ids[0]
    for path in (f"/v1/runs/{shape}", f"/v1/runs/{shape}/explain", f"/v1/documents/{shape}/original"):
        subject = ids["document_id"] if "documents" in path else ids["run_id"]
        answer = await house.hostile.ask("GET", path.format(subject))
        assert answer.status_code in {404, 405, 422}, answer.text
        shown = masked(answer, {"asked": subject})[2].replace("acme/", "").replace("acme%2F", "")
        assert not [word for word in SECRETS if word in shown], shown


async def test_what_the_operator_sees_of_all_tenants_names_none_of_their_things(house: House) -> None:
    operator = Caller(house.victim.guarded, await house.victim.guarded.key(*Scope, name="operator"))
    hidden = {*SECRETS, VICTIM, HOSTILE, *house.ids[0].values(), *house.ids[1].values()} - PLAIN_WORDS - {"bad"}
    for path in ("/metrics", "/v1/limits", "/v1/handlers", "/v1/runs", "/v1/reviews", "/v1/dead-letters"):
        shown = await operator.ask("GET", path)
        assert shown.status_code == 200, path
        assert not [word for word in hidden if word in shown.text], path


async def test_every_workflow_of_a_tenant_names_it_in_its_id_and_its_search_attribute(house: House) -> None:
    """So that lists and counts, which ask by the attribute, and handles, which are made from the id, agree."""
    client = house.victim.guarded.service.app.temporal
    queue = house.victim.guarded.service.settings.task_queue
    found = [each async for each in client.list_workflows(f'TaskQueue = "{queue}"')]
    tenants = {(each.id.partition("/")[0], each.typed_search_attributes.get(TENANT)) for each in found}
    assert (VICTIM, VICTIM) in tenants
    assert all(named == attribute for named, attribute in tenants)
