"""Versions of a definition: listed, compared; the schema that editors check definitions with."""

import uuid

import httpx
import pytest
from jsonschema import Draft202012Validator

from docrail.dag.values.json_values import Json
from tests.api.service import HELLO
from tests.api.test_aliases import publish, published, put


async def test_versions_are_listed_newest_first_in_pages(http: httpx.AsyncClient) -> None:
    path = f"/v1/definitions/{await published(http, 3)}/versions"
    first = (await http.get(path, params={"limit": 2})).json()
    second = (await http.get(path, params={"after": first["after"]})).json()
    assert [line["version"] for line in first["versions"] + second["versions"]] == [3, 2, 1]
    assert (first["aliases"], second["after"]) == ({"stable": {"version": 3, "percent": None}}, None)


async def test_definitions_are_listed_with_their_aliases(http: httpx.AsyncClient) -> None:
    tenant = {"X-Test-Tenant": "registrar"}
    for title in ("1", "2"):
        body = {"definition": {**HELLO, "title": title}, "promote": False}
        await http.post("/v1/definitions", json=body, headers=tenant)
    [line] = (await http.get("/v1/definitions", headers=tenant)).json()["definitions"]
    assert (line["version"], line["aliases"]) == (2, {"stable": {"version": 1, "percent": None}})


async def test_by_default_the_newest_version_is_compared_with_what_new_runs_get(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    await publish(http, definition_id, "2", promote=False)
    found = (await http.get(f"/v1/definitions/{definition_id}/diff")).json()
    assert (found["from_version"], found["to_version"]) == (1, 2)
    assert found["fields"] == [{"kind": "changed", "path": "title", "old": "1", "new": "2"}]


async def test_a_comparison_lists_steps_added_removed_and_changed(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    steps = [
        {"id": "greet", "handler": "echo", "config": {"value": "hello"}, "max_retries": 5},
        {"id": "after", "handler": "noop", "depends_on": ["greet"]},
    ]
    await http.post("/v1/definitions", json={"definition": {"id": definition_id, "title": "1", "steps": steps}})
    there = (await http.get(f"/v1/definitions/{definition_id}/diff", params={"from": "v1", "to": "stable"})).json()
    assert (there["added"], there["removed"], there["reordered"], there["fields"]) == (["after"], [], False, [])
    [step] = there["changed"]
    changes = {change["path"]: (change["old"], change["new"]) for change in step["changes"]}
    assert (step["id"], changes) == ("greet", {"config.value": ("hi", "hello"), "max_retries": (3, 5)})
    back = (await http.get(f"/v1/definitions/{definition_id}/diff", params={"from": "2", "to": "1"})).json()
    assert back["removed"] == ["after"]


async def test_the_same_version_has_no_difference(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    await put(http, definition_id, "pilot", version=1)
    found = (await http.get(f"/v1/definitions/{definition_id}/diff", params={"to": "pilot"})).json()
    assert [found[name] for name in ("added", "removed", "changed", "reordered", "fields")] == [[], [], [], False, []]


@pytest.mark.parametrize("query", [{"from": "7"}, {"to": "7"}, {"from": "nobody"}, {"to": "a b"}, {"from": ""}])
async def test_unknown_versions_cannot_be_compared(http: httpx.AsyncClient, query: dict[str, str]) -> None:
    response = await http.get(f"/v1/definitions/{await published(http, 1)}/diff", params=query)
    assert response.status_code == 404


async def test_the_schema_accepts_what_is_shipped_and_knows_every_handler(http: httpx.AsyncClient) -> None:
    schema = (await http.get("/v1/definitions/schema")).json()
    shipped = (await http.get("/v1/definitions/invoice")).json()["body"]
    assert list(Draft202012Validator(schema).iter_errors(shipped)) == []
    assert "config.extract_invoice" in schema["$defs"]


def allowed(actions: list[Json]) -> dict[str, str]:
    """Return the reason of each refused action, and an empty one for those that are allowed."""
    return {action["name"]: action["reason"] for action in actions}


async def page_of(http: httpx.AsyncClient, definition_id: str, **headers: str) -> Json:
    response = await http.get(f"/v1/definitions/{definition_id}/versions", headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_version_says_who_published_it_and_why(http: httpx.AsyncClient) -> None:
    body = {"definition": {**HELLO, "id": f"d_{uuid.uuid4().hex}"}, "reason": "the first one"}
    published = (await http.post("/v1/definitions", json=body, headers={"X-Test-Name": "ann"})).json()
    again = (await http.post("/v1/definitions", json=body | {"reason": "again"}, headers={"X-Test-Name": "ben"})).json()
    [line] = (await page_of(http, published["definition_id"]))["versions"]
    for each in (published, again, line):
        assert (each["published_by"], each["reason"]) == ("ann", "the first one")


async def test_versions_say_what_may_be_done_with_each(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 1)
    page = await page_of(http, definition_id)
    assert allowed(page["actions"]) == {
        "start": "",
        "publish": "",
        "roll_back": "new runs never got another version",
    }
    assert page["undo"] == []
    await publish(http, definition_id, "2")
    page = await page_of(http, definition_id)
    assert [move["after"]["version"] for move in page["undo"]] == [1]
    in_use = "new runs get this version already"
    assert [allowed(line["actions"]) for line in page["versions"]] == [
        {"promote": in_use, "canary": in_use},
        {"promote": "", "canary": ""},
    ]
    page = await page_of(http, definition_id, **{"X-Test-Scopes": "read"})
    assert set(allowed(page["actions"]).values()) == {"this needs the scope 'submit'", "this needs the scope 'operate'"}


async def test_a_list_says_what_changed_last_and_by_whom(http: httpx.AsyncClient) -> None:
    definition_id = await published(http, 2)
    move = {"version": 1}
    moved = await http.put(
        f"/v1/definitions/{definition_id}/aliases/stable", json=move, headers={"X-Test-Name": "cleo"}
    )
    assert moved.status_code == 200, moved.text
    response = await http.get("/v1/definitions", params={"limit": 500})
    [line] = [each for each in response.json()["definitions"] if each["definition_id"] == definition_id]
    assert (line["version"], line["title"], line["changed_by"]) == (2, "1", "cleo")
    assert line["changed_at"] > line["created_at"]


async def test_steps_that_run_a_definition_are_listed_with_the_versions_in_use(http: httpx.AsyncClient) -> None:
    inner, outer = await published(http, 2), f"outer_{uuid.uuid4().hex}"
    before = {"id": outer, "steps": [{"id": "old", "workflow": {"id": inner}}]}
    steps = [{"id": "first", "workflow": {"id": inner}}, {"id": "pinned", "workflow": {"id": inner, "version": 1}}]
    for definition in (before, {"id": outer, "steps": steps}):
        response = await http.post("/v1/definitions", json={"definition": definition})
        assert response.status_code == 201, response.text
    found = (await http.get(f"/v1/definitions/{inner}/dependants")).json()
    common = {"definition_id": outer, "version": 2, "aliases": ["stable"]}
    assert found == {
        "dependants": [
            {**common, "step_id": "first", "nested_version": None},
            {**common, "step_id": "pinned", "nested_version": 1},
        ],
        "complete": True,
    }
    theirs = await http.get(f"/v1/definitions/{inner}/dependants", headers={"X-Test-Tenant": "another"})
    assert theirs.status_code == 404
