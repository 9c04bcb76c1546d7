"""Which definition an uploaded document takes: as named, by the tenant's rules, else the default."""

import uuid

import httpx
import pytest

from docrail.dag.language.version_refs import in_canary
from docrail.dag.values.json_values import Json
from docrail.services.intake.service import start_waiting_documents
from tests.api.service import Service

PROCESS = {
    "id": "letters",
    "inputs": {"document_id": {"type": "string", "required": True}},
    "steps": [{"id": "see", "handler": "echo", "config": {"value": "{{ document }}"}}],
    "outputs": {"seen": "{{ see.value }}", "document_id": "{{ inputs.document_id }}"},
}
NEEDS_MORE = {
    "id": "needs_more",
    "inputs": {"amount": {"type": "number", "required": True}},
    "steps": [{"id": "a", "handler": "noop"}],
}


class Tenant:
    """A tenant of its own, whose rules no other test sets."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.headers = {"X-Test-Tenant": f"t{uuid.uuid4().hex}"}

    async def publish(self, definition: Json, **more: Json) -> None:
        body = {"definition": definition, **more}
        response = await self.http.post("/v1/definitions", json=body, headers=self.headers)
        assert response.status_code == 201, response.text

    async def route(self, *rules: Json, **more: Json) -> httpx.Response:
        body = {"routing": {"rules": list(rules)}, **more}
        return await self.http.put("/v1/routing", json=body, headers=self.headers)

    async def upload(self, *, media_type: str = "text/plain", key: str | None = None, **fields: str) -> httpx.Response:
        files = {"file": ("letter.txt", uuid.uuid4().bytes if key is None else key.encode(), media_type)}
        headers = self.headers if key is None else {**self.headers, "Idempotency-Key": key}
        return await self.http.post("/v1/documents", files=files, data=fields, headers=headers)

    async def attempt(self, **facts: Json) -> Json:
        return (await self.http.post("/v1/routing/try", json=facts, headers=self.headers)).json()


@pytest.fixture
async def tenant(http: httpx.AsyncClient) -> Tenant:
    found = Tenant(http)
    await found.publish(PROCESS)
    return found


async def test_a_document_takes_what_the_first_matching_rule_says(tenant: Tenant, service: Service) -> None:
    await tenant.publish({**PROCESS, "id": "pictures"})
    await tenant.route(
        {"when": 'type == "image/png"', "definition": "pictures"}, {"when": "size < 1000", "definition": "letters"}
    )
    picture = (await tenant.upload(media_type="image/png")).json()
    letter = (await tenant.upload(source="email")).json()
    assert (picture["definition"], letter["definition"]) == ("pictures", "letters")
    assert letter["run_id"] == f"letters.{letter['document_id']}"
    assert letter["source"] == "email"
    assert letter["run_started_at"] is not None


async def test_the_run_sees_the_document_and_gets_only_inputs_it_has(tenant: Tenant, service: Service) -> None:
    await service.http.post("/v1/definitions", json={"definition": PROCESS})
    files = {"file": ("letter.txt", uuid.uuid4().bytes, "text/plain")}
    answer = await service.http.post(
        "/v1/documents", files=files, data={"definition": "letters", "source": "scanner 2"}
    )
    run = await service.ended(answer.json()["run_id"])
    assert run["status"] == "completed", run
    assert run["outputs"]["document_id"] == answer.json()["document_id"]
    assert (run["outputs"]["seen"]["source"], run["outputs"]["seen"]["size_bytes"]) == ("scanner 2", 16)


async def test_without_a_matching_rule_a_document_takes_the_default(tenant: Tenant) -> None:
    await tenant.route({"when": "size > 1000000", "definition": "letters"})
    refused = await tenant.upload()
    assert (refused.status_code, refused.json()["detail"]) == (404, "there is no definition 'invoice'")
    await tenant.publish({**PROCESS, "id": "invoice"})
    assert (await tenant.upload()).json()["definition"] == "invoice"


async def test_an_upload_that_names_its_definition_asks_no_rule(tenant: Tenant) -> None:
    await tenant.publish({**PROCESS, "title": "2"})
    await tenant.route({"definition": "nowhere_yet"})
    answer = (await tenant.upload(definition="letters@v1")).json()
    assert answer["definition"] == "letters@1"


@pytest.mark.parametrize("definition", ["nowhere", "letters@7", "letters@nobody", "a b", "letters@"])
async def test_an_upload_that_names_what_is_not_there_is_not_kept(tenant: Tenant, definition: str) -> None:
    assert (await tenant.upload(definition=definition)).status_code == 404


async def test_a_definition_that_no_document_can_run_is_refused(tenant: Tenant) -> None:
    await tenant.publish(NEEDS_MORE)
    response = await tenant.upload(definition="needs_more")
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "definition")
    assert "'amount'" in response.json()["detail"]


async def test_the_same_key_stays_with_its_definition_when_the_rules_change(tenant: Tenant) -> None:
    await tenant.publish({**PROCESS, "id": "pictures"})
    await tenant.route({"definition": "letters"})
    first = (await tenant.upload(key="k1")).json()
    await tenant.route({"definition": "pictures"})
    assert (await tenant.upload(key="k1")).json() == first
    assert (await tenant.upload(key="k2")).json()["definition"] == "pictures"


@pytest.mark.parametrize("fields", [{"definition": "letters@1"}, {"source": "fax"}])
async def test_the_same_key_with_another_wish_is_a_conflict(tenant: Tenant, fields: dict[str, str]) -> None:
    await tenant.upload(key="k1", definition="letters")
    response = await tenant.upload(key="k1", **{"definition": "letters", **fields})
    assert (response.status_code, response.json()["differences"]) == (409, list(fields))


@pytest.mark.parametrize("source", ["-x", "a\x1b[31m", "x" * 101, "\n"])
async def test_a_source_that_is_no_label_is_refused(tenant: Tenant, source: str) -> None:
    response = await tenant.upload(definition="letters", source=source)
    assert (response.status_code, response.json()["problems"][0]["path"]) == (422, "source")


async def test_a_document_gets_the_canary_by_its_id(tenant: Tenant) -> None:
    await tenant.publish({**PROCESS, "title": "2"}, promote=False)
    path = "/v1/definitions/letters/aliases/canary"
    await tenant.http.put(path, json={"version": 2, "percent": 50}, headers=tenant.headers)
    await tenant.route({"definition": "letters"})
    versions = {}
    for _ in range(12):
        document = (await tenant.upload()).json()
        run = (await tenant.http.get(f"/v1/runs/{document['run_id']}", headers=tenant.headers)).json()
        versions[document["document_id"]] = run["version"]
    assert versions == {name: 2 if in_canary("letters", name, 50) else 1 for name in versions}


async def test_a_document_whose_upload_was_cut_short_still_takes_what_was_chosen(
    tenant: Tenant, service: Service
) -> None:
    await tenant.publish({**PROCESS, "id": "pictures"})
    await tenant.route({"definition": "letters@1"})
    document = (await tenant.upload()).json()
    other = (await tenant.upload()).json()["document_id"]
    await service.app.db.execute("DELETE FROM documents WHERE document_id = $1", other)
    await service.app.db.execute(
        "UPDATE documents SET run_started_at = NULL WHERE document_id = $1", document["document_id"]
    )
    await tenant.route({"definition": "pictures"})
    assert await start_waiting_documents(service.app, older_than_seconds=0) >= 1
    path = f"/v1/documents/{document['document_id']}"
    again = (await tenant.http.get(path, headers=tenant.headers)).json()
    assert (again["run_id"], again["definition"]) == (document["run_id"], "letters@1")


async def test_rules_are_shown_as_written_and_counted(tenant: Tenant) -> None:
    empty = (await tenant.http.get("/v1/routing", headers=tenant.headers)).json()
    assert (empty["revision"], empty["rules"], empty["default"]) == (0, [], "invoice")
    text = "rules:\n  # mail first\n  - {when: source == 'email', definition: letters}\n"
    placed = await tenant.http.put("/v1/routing", json={"routing": text}, headers=tenant.headers)
    assert (placed.status_code, placed.json()["warnings"]) == (200, [])
    shown = (await tenant.http.get("/v1/routing", headers=tenant.headers)).json()
    assert (shown["revision"], shown["source"], shown["set_by"]) == (1, text, "tester")
    assert shown["rules"] == [{"title": "", "when": "source == 'email'", "definition": "letters"}]
    assert "size" in shown["names"]


async def test_a_change_to_rules_that_have_changed_meanwhile_is_refused(tenant: Tenant) -> None:
    assert (await tenant.route({"definition": "letters"}, revision=0)).status_code == 200
    outdated = await tenant.route(revision=0)
    assert (outdated.status_code, outdated.json()["type"], outdated.json()["current"]) == (409, "/problems/outdated", 1)
    assert (await tenant.route(revision=1)).json()["revision"] == 2


async def test_rules_that_cannot_work_are_refused_with_all_their_problems(tenant: Tenant) -> None:
    await tenant.publish(NEEDS_MORE)
    text = """\
rules:
  - {when: typ == "application/pdf", definition: leters}
  - {when: size >, definition: letters@7}
  - {when: size, definition: letters@nobody}
  - {definition: needs_more}
"""
    refused = await tenant.http.put("/v1/routing", json={"routing": text}, headers=tenant.headers)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-routing")
    problems = [(found["code"], found["line"], found["suggestion"]) for found in refused.json()["problems"]]
    assert problems == [
        ("unknown-name", 2, "type"),
        ("unknown-definition", 2, "letters"),
        ("bad-expression", 3, None),
        ("unknown-definition", 3, None),
        ("bad-condition", 4, None),
        ("unknown-alias", 4, None),
        ("missing-input", 5, None),
    ]
    checked = await tenant.http.post("/v1/routing/validate", json={"routing": text}, headers=tenant.headers)
    assert checked.json() == {"valid": False, "problems": refused.json()["problems"]}
    assert (await tenant.http.get("/v1/routing", headers=tenant.headers)).json()["revision"] == 0


@pytest.mark.parametrize("text", ["rules: [", "rules: []\nrules: []", "\tx", "7"])
async def test_a_text_that_holds_no_rules_is_refused(tenant: Tenant, text: str) -> None:
    refused = await tenant.http.put("/v1/routing", json={"routing": text}, headers=tenant.headers)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-routing")


async def test_rules_can_be_tried_without_a_document(tenant: Tenant) -> None:
    await tenant.route({"when": "size > 100", "definition": "letters@1"})
    assert await tenant.attempt(size=101) == {"definition": "letters@1", "rule": 0, "faults": {}}
    assert await tenant.attempt(size=100) == {"definition": "invoice", "rule": None, "faults": {}}


async def test_an_alias_that_a_rule_names_cannot_be_removed(tenant: Tenant) -> None:
    path = "/v1/definitions/letters/aliases/pilot"
    await tenant.http.put(path, json={"version": 1}, headers=tenant.headers)
    await tenant.route({"when": "size > 5", "definition": "letters"}, {"definition": "letters@pilot"})
    refused = await tenant.http.delete(path, headers=tenant.headers)
    assert refused.status_code == 422
    assert "the routing rule 1 sends documents to it" in refused.json()["detail"]


async def test_another_tenants_rules_are_not_seen(tenant: Tenant, http: httpx.AsyncClient) -> None:
    await tenant.route({"definition": "letters"})
    assert (await http.get("/v1/routing", headers=Tenant(http).headers)).json()["revision"] == 0
