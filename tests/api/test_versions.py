"""Versions of a definition: listed, compared; the schema that editors check definitions with."""

import httpx
import pytest
from jsonschema import Draft202012Validator

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
