"""A walk over all routes: who is admitted, with which scope, and what another tenant learns from an id: nothing."""

import io
import uuid
import zipfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute, iter_route_contexts

from docrail.adapters.temporal.connection import Connection
from docrail.api.auth import Requirement
from docrail.api.body_sizes import UPLOADS
from docrail.api.console import PAGES as CONSOLE_PAGES
from docrail.dag.values.json_values import Json
from docrail.services.access.models import DEFAULT_TENANT, Scope
from docrail.services.access.service import open_session, verify_key
from docrail.services.definitions.service import publish_shipped
from docrail.services.maintenance.service import apply_schedule
from tests.api.described import API, DOCUMENT
from tests.api.service import HELLO, serve_with_worker, settings_for
from tests.security.callers import Guarded, dsn
from tests.stack import Servers, eventually

__all__ = ["dsn"]

PUBLIC = {
    "GET /healthz",
    "GET /readyz",
    "POST /v1/callbacks/{token}",  # the token is signed
    "POST /v1/session",  # signs in with the key in its body
    "GET /v1/session/methods",  # for the page on which people sign in
    "GET /v1/session/oidc",  # signs in at the identity provider
    "GET /v1/session/oidc/callback",
    "/openapi.json",
    "/docs",
    "/docs/start.js",
    "/docs/assets",
    "/assets/{name}",
    *CONSOLE_PAGES,
}
"""Routes without a permission. The pages of the documentation and the console are the same in every installation."""
OF_EVERY_CALLER = {"GET /v1/me", "GET /v1/health", "DELETE /v1/session"}
OF_TWO_SCOPES = {
    name: {Scope.OPERATE, Scope.SUBMIT} for name in ("POST /v1/triggers", "POST /v1/triggers/{trigger}/run")
}
"""Whoever may not start a run may not arrange that one is started."""
OF_OPERATOR = {
    "GET /metrics",
    "GET /v1/workers",
    "GET /v1/schedules",
    *(f"POST /v1/schedules/{{schedule}}/{act}" for act in ("pause", "resume", "run")),
    "GET /v1/tenants",
    *("PUT /v1/limits/{tag}", "DELETE /v1/limits/{tag}"),
    *("PUT /v1/quotas/{quota}", "DELETE /v1/quotas/{quota}"),
}
"""What the operator decides for all tenants: a key of another tenant does not open it."""
SHARED = {"GET /v1/handlers/{name}"}
"""Routes with an id that is no tenant's."""
BROKEN = {
    "id": "broken",
    "steps": [{"id": "greet", "handler": "fail", "config": {"times": 9, "error": "ValueError"}, "max_retries": 0}],
}
SAMPLE = Path(__file__).parent.parent.parent / "samples" / "zf2_en16931_physiotherapeut.pdf"


def packed() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("a.txt", b"a")
    return written.getvalue()


@dataclass(frozen=True, slots=True)
class Door:
    """A route, and what opens it."""

    method: str
    path: str
    requirements: tuple[Requirement, ...]

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def scopes(self) -> tuple[Scope, ...]:
        [requirement] = self.requirements
        return tuple(each for each in (requirement.scope, requirement.also) if each is not None)

    @property
    def has_id(self) -> bool:
        return "{" in self.path and self.name not in SHARED


def doors() -> Iterator[Door]:
    for context in iter_route_contexts(API.routes):
        if isinstance(context.original_route, APIRoute):
            calls = [dependency.call for dependency in context.original_route.dependant.dependencies]
            found = tuple(call for call in calls if isinstance(call, Requirement))
            for method in context.methods or ():
                yield Door(method, str(context.path), found)


def cases(found: list[Door]) -> list[Any]:
    return [pytest.param(door, id=door.name) for door in found]


def each_scope(found: list[Door]) -> list[Any]:
    return [pytest.param(door, scope, id=f"{door.name} {scope}") for door in found for scope in door.scopes]


DOORS = [*doors()]
CLOSED = [door for door in DOORS if door.name not in PUBLIC]
SCOPED = [door for door in CLOSED if door.name not in OF_EVERY_CALLER]


def test_every_route_has_one_permission_or_is_listed_as_public() -> None:
    assert len(DOORS) > 80
    assert {door.name for door in DOORS if len(door.requirements) != 1} == {name for name in PUBLIC if " " in name}
    assert {door.name for door in CLOSED if door.requirements[0].scope is None} == OF_EVERY_CALLER
    assert {door.name: set(door.scopes) for door in SCOPED if len(door.scopes) > 1} == OF_TWO_SCOPES
    assert {door.name for door in CLOSED if door.requirements[0].of_operator} == OF_OPERATOR


def test_every_page_without_a_permission_is_listed_as_public() -> None:
    found = {str(context.path) for context in iter_route_contexts(API.routes)} - {door.path for door in DOORS}
    assert found == {name for name in PUBLIC if " " not in name}


@dataclass(frozen=True, slots=True)
class House:
    """A guarded API with a worker, and one of everything in the tenant `default`."""

    guarded: Guarded
    owner: str
    ids: dict[str, str]

    async def ask(self, door: Door, key: str | None, method: str | None = None) -> httpx.Response:
        """Send a request that its route accepts, about what the owner has; `method`: HEAD in place of GET."""
        ids = self.ids | ({"run_id": self.ids["broken_id"]} if failed(door) else {}) | IDS.get(door.name, {})
        ids["review_id"] = ids["step_review_id" if door.path.endswith("/decision") else "review_id"]
        request: dict[str, Any] = {}
        if door.method == "POST" and door.path in UPLOADS:
            request["files"] = {
                "file": ("a.zip", packed()) if door.path.endswith("/zip") else ("a.pdf", SAMPLE.read_bytes())
            }
        elif door.path.endswith("/append"):
            request["json"] = {"document_ids": [ids["document_id"]]}
        elif body := example_of(door):
            request["json"] = body
        if door.name in QUERIES:
            request["params"] = QUERIES[door.name]
        return await self.guarded.ask(key, method or door.method, door.path.format(**ids), **request)


ASKING = {"id": "asking", "steps": [{"id": "greet", "human": {"form": {"type": "object"}, "title": "Pay?"}}]}
KEEP_EXPORT = """
INSERT INTO exports (tenant_id, export_id, status, wanted, documents, path, sha256, size_bytes, created_by, ended_at)
VALUES ('default', $1, 'ready', $2, 0, $3, $4, $5, 'owner', now())"""
IDS = {
    "DELETE /v1/definitions/{definition_id}/aliases/{alias}": {"definition_id": "aliased", "alias": "canary"},
    "DELETE /v1/triggers/{trigger}": {"trigger": "spare"},
}
QUERIES = {
    "GET /v1/runs/counts": {"definitions": "hello", "failed_since": "2026-11-01T00:00:00Z"},
    "GET /v1/definitions/{definition_id}/diff": {"from": "1", "to": "1"},
    "DELETE /v1/documents/{document_id}/fields/{field}": {"token": "1"},
    "DELETE /v1/quotas/{quota}": {"tenant": "acme"},
}
BODIES: dict[str, Json] = {
    "POST /v1/runs": {"definition": "hello"},
    "POST /v1/workflow": {"definition": "hello"},
    "POST /v1/workflow/trigger/{execution_id}": {"inputs": {}},
    "POST /v1/definitions": {"definition": HELLO},
    "POST /v1/definitions/plan": {"definition": HELLO},
    "PUT /v1/definitions/{definition_id}/aliases/{alias}": {"version": 1},
    "POST /v1/runs/{run_id}/steps/{step_id}/resolve": {"action": "skip"},
    "POST /v1/runs/{run_id}/retry": {},
    "POST /v1/triggers": {"name": "made", "definition": "hello", "cron": "0 3 1 1 *"},
    "PUT /v1/routing": {"routing": "rules: []\n"},
    "POST /v1/runs/{run_id}/waits/{step_id}": {"answer": 1},
    "POST /v1/callbacks/{token}": {},
}


def failed(door: Door) -> bool:
    return "dead-letters" in door.path or door.path.endswith(("/retry", "/resolve"))


def example_of(door: Door) -> Json:
    """Return the example of the route's body in the OpenAPI document, or one that fits what the owner has."""
    if door.name in BODIES:
        return BODIES[door.name]
    body = DOCUMENT["paths"][door.path][door.method.lower()].get("requestBody")
    if body is None:
        return None
    schema = body["content"]["application/json"]["schema"]
    [reference] = [each["$ref"] for each in (schema, *schema.get("anyOf", ())) if "$ref" in each]
    return DOCUMENT["components"]["schemas"][reference.rpartition("/")[2]]["examples"][0]


@pytest.fixture(scope="module")
async def house(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("house"))
    async with serve_with_worker(settings) as service:
        service.guard()
        guarded = Guarded(service)
        await publish_shipped(service.app, "globex")
        await apply_schedule(Connection(embedded.temporal_address), settings.task_queue, "0 3 1 1 *")
        owner = await guarded.key(name="owner")
        yield House(guarded, owner, await furnish(guarded, owner))


async def furnish(guarded: Guarded, owner: str) -> dict[str, str]:
    """Give the default tenant one of everything that has an id."""

    async def make(path: str, field: str, **request: Any) -> str:
        made = await guarded.ask(owner, "POST", path, **request)
        assert made.is_success, made.text
        return str(made.json()[field])

    document = await make("/v1/documents", "document_id", files={"file": ("a.pdf", SAMPLE.read_bytes())})
    await make("/v1/definitions", "definition_id", json={"definition": HELLO})
    run = await make("/v1/runs", "run_id", json={"definition": "hello"})
    broken = await make("/v1/runs", "run_id", json={"definition": BROKEN})
    asking = await make("/v1/runs", "run_id", json={"definition": ASKING})
    for number in (1, 2):
        await make(
            "/v1/definitions", "definition_id", json={"definition": HELLO | {"id": "aliased", "title": str(number)}}
        )
    moved = await guarded.ask(owner, "PUT", "/v1/definitions/aliased/aliases/canary", json={"version": 1, "percent": 5})
    limited = await guarded.ask(owner, "PUT", "/v1/quotas/open_runs", json={"tenant": "acme", "value": 9})
    assert moved.is_success, moved.text
    assert limited.is_success, limited.text
    for trigger in ("owned", "spare"):
        await make("/v1/triggers", "name", json={"name": trigger, "definition": "hello", "cron": "0 3 1 1 *"})
    execution = await make("/v1/workflow", "execution_id", json={"definition": "hello"})
    found: dict[str, str] = {}

    async def is_furnished() -> bool:
        reviews = (await guarded.ask(owner, "GET", "/v1/reviews")).json()["reviews"]
        for item in reviews:
            found["step_review_id" if item["run_id"] == asking else "review_id"] = item["review_id"]
        letter = await guarded.ask(owner, "GET", f"/v1/dead-letters/{broken}/greet")
        report = (await guarded.ask(owner, "GET", f"/v1/runs/{run}")).json()
        return len(found) == 2 and letter.is_success and report["status"] == "completed"

    await eventually(is_furnished, "the runs of the owner to end")
    spare = await guarded.key(name="spare")
    db = guarded.service.app.db
    export_id = await _exported(guarded)
    await open_session(db, await verify_key(db, spare), key=spare)
    sessions = (await guarded.ask(owner, "GET", "/v1/sessions")).json()["sessions"]
    return found | {
        "document_id": document,
        "run_id": run,
        "broken_id": broken,
        "execution_id": execution,
        "session_id": sessions[0]["session_id"],
        "key_id": spare.split("_")[1],
        "definition_id": "hello",
        "export_id": export_id,
        "batch_id": await make("/v1/batches", "batch_id", json={"name": "owned"}),
        "step_id": "greet",
        "alias": "stable",
        "field": "total",
        "number": "1",
        "name": "echo",
        "tag": "database",
        "quota": "open_runs",
        "schedule": "maintenance",
        "trigger": "owned",
    }


async def _exported(guarded: Guarded) -> str:
    """Keep the export of no document, with its file."""
    service, export_id = guarded.service, f"exp_{uuid.uuid4().hex[:26]}"
    file = await service.app.exports.write("default", export_id, ".xlsx", b"a file")
    values = (export_id, {"to": {"format": "xlsx"}}, file.path, file.sha256, file.size)
    await service.pool.execute(KEEP_EXPORT, *values)
    return export_id


@pytest.mark.parametrize("door", cases(CLOSED))
async def test_without_credentials_it_is_401(house: House, door: Door) -> None:
    refused = await house.ask(door, None)
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")
    assert refused.headers["www-authenticate"] == 'Bearer realm="docrail"'


@pytest.mark.parametrize(("door", "lacking"), each_scope(SCOPED))
async def test_with_all_scopes_but_its_own_it_is_403(house: House, door: Door, lacking: Scope) -> None:
    key = await house.guarded.key(*(scope for scope in Scope if scope is not lacking))
    refused = await house.ask(door, key)
    assert (refused.status_code, refused.json()["scope"]) == (403, lacking)


@pytest.mark.parametrize("door", cases(SCOPED))
async def test_with_its_own_scopes_alone_it_answers(house: House, door: Door) -> None:
    """A conflict is an answer too: another test may have changed the thing before."""
    answer = await house.ask(door, await house.guarded.key(*door.scopes))
    assert answer.is_success or answer.status_code == 409, answer.text


@pytest.mark.parametrize("door", cases([door for door in SCOPED if door.has_id and door.name not in OF_OPERATOR]))
async def test_an_id_of_another_tenant_is_404(house: House, door: Door) -> None:
    stranger = await house.guarded.key(tenant="globex", name="eve")
    answer = await house.ask(door, stranger)
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-found"), answer.text


@pytest.mark.parametrize("door", cases([door for door in SCOPED if not door.has_id and door.method == "GET"]))
async def test_a_list_has_nothing_of_another_tenant(house: House, door: Door) -> None:
    if door.name in OF_OPERATOR:
        return
    answer = await house.ask(door, await house.guarded.key(tenant="globex", name="eve"))
    assert answer.status_code == 200
    unique = [value for name, value in house.ids.items() if name.endswith("_id") and value not in ("greet", "hello")]
    assert [value for value in unique if value in answer.text] == []


@pytest.mark.parametrize("door", cases([door for door in SCOPED if door.name in OF_OPERATOR]))
async def test_what_all_tenants_share_takes_a_key_of_the_operators_tenant(house: House, door: Door) -> None:
    refused = await house.ask(door, await house.guarded.key(tenant="globex", name="eve"))
    assert refused.status_code == 403
    assert f"of the tenant '{DEFAULT_TENANT}'" in refused.json()["detail"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/docs", "/openapi.json"])
async def test_a_public_page_names_no_tenant(house: House, path: str) -> None:
    answer = await house.guarded.ask(None, "GET", path)
    assert answer.status_code == 200
    assert "globex" not in answer.text
