import uuid

import httpx
import pytest

from docrail.dag.values.json_values import Json
from tests.api.service import HELLO

FIVE_MISTAKES = """
id: wrong
steps:
  - {id: extract, handler: extract_invoce, config: {document_id: x}}
  - {id: save_json, handler: save_json, depends_on: [extrakt], config: {invoice: "{{ extract.invoice_ref }}"}}
  - {id: wait, handler: sleep, config: {seconds: soon}}
  - {id: left, handler: noop, depends_on: [right]}
  - {id: right, handler: noop, depends_on: [left]}
  - {id: last, handler: noop, trigger_rule: sometimes}
"""


async def test_publishing_the_same_content_again_is_the_same_version(http: httpx.AsyncClient) -> None:
    first = await http.post("/v1/definitions", json={"definition": {**HELLO, "id": "twice"}})
    assert first.status_code == 201, first.text
    assert first.headers["location"] == "/v1/definitions/twice?version=1"
    text = "id: twice\nsteps:\n  - {node_id: greet, handler: echo, params: {value: hi}}\n"
    again = await http.post("/v1/definitions", json={"definition": text})
    assert again.json() == first.json()


async def test_other_content_is_the_next_version_and_the_first_one_stays(http: httpx.AsyncClient) -> None:
    first = (await http.post("/v1/definitions", json={"definition": {**HELLO, "id": "grows"}})).json()
    second = (await http.post("/v1/definitions", json={"definition": {**HELLO, "id": "grows", "title": "2"}})).json()
    assert (first["version"], second["version"]) == (1, 2)
    assert (await http.get("/v1/definitions/grows")).json()["body"]["title"] == "2"
    assert (await http.get("/v1/definitions/grows", params={"version": 1})).json()["digest"] == first["digest"]


async def test_the_shipped_definition_is_published_at_start(http: httpx.AsyncClient) -> None:
    shipped = (await http.get("/v1/definitions/invoice")).json()
    assert [step["id"] for step in shipped["body"]["steps"]] == [
        "extract",
        "split",
        "ask_gemini",
        "save_parquet",
        "save_json",
        "record_metrics",
        "create_review",
    ]
    assert shipped["source"].startswith("#")


async def test_problems_of_a_text_come_all_at_once_with_their_places(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/definitions/validate", json={"definition": FIVE_MISTAKES})
    assert response.status_code == 200
    assert response.json()["valid"] is False
    problems = response.json()["problems"]
    found = {(problem["code"], problem["line"], problem["suggestion"]) for problem in problems}
    assert ("unknown-handler", 4, "extract_invoice") in found
    assert {problem["line"] for problem in problems} >= {4, 5, 6, 7, 9}
    assert any("left" in problem["message"] and "right" in problem["message"] for problem in problems)
    refused = await http.post("/v1/definitions", json={"definition": FIVE_MISTAKES})
    assert (refused.status_code, refused.json()["problems"]) == (422, problems)


NESTING = """id: {0}_outer
steps:
  - {{id: pay, workflow: {{id: {0}_pay}}}}
  - {{id: book, workflow: {{id: {0}_book, version: 2}}}}
  - {{id: again, workflow: {{id: {0}_pay}}, depends_on: [pay]}}
"""


async def test_an_unpublished_nested_definition_is_a_warning_until_it_is_published(http: httpx.AsyncClient) -> None:
    name = f"d_{uuid.uuid4().hex}"
    text = NESTING.format(name)
    await http.post("/v1/definitions", json={"definition": {**HELLO, "id": f"{name}_book"}})
    published = await http.post("/v1/definitions", json={"definition": text})
    assert published.status_code == 201
    warnings = published.json()["warnings"]
    assert {(found["code"], found["severity"]) for found in warnings} == {("unknown-definition", "warning")}
    assert [(found["path"], found["line"]) for found in warnings] == [
        ("steps[0].workflow.id", 3),
        ("steps[1].workflow.version", 4),
        ("steps[2].workflow.id", 5),
    ]
    until = "which is not published: publish it before a run is started"
    assert warnings[0]["message"] == f"step 'pay' runs '{name}_pay', {until}"
    assert warnings[1]["message"] == f"step 'book' runs version 2 of '{name}_book', {until}"
    looked_at = (await http.post("/v1/definitions/validate", json={"definition": text})).json()
    assert (looked_at["valid"], looked_at["problems"]) == (True, warnings)
    elsewhere = await http.post(
        "/v1/definitions/validate", json={"definition": text}, headers={"X-Test-Tenant": "globex"}
    )
    assert "version 2 of" in elsewhere.json()["problems"][1]["message"]

    await http.post("/v1/definitions", json={"definition": {**HELLO, "id": f"{name}_book", "title": "2"}})
    await http.post("/v1/definitions", json={"definition": {**HELLO, "id": f"{name}_pay"}})
    again = (await http.post("/v1/definitions", json={"definition": text})).json()
    assert (again["version"], again["warnings"]) == (1, [])


async def test_a_definition_given_as_an_object_is_warned_of_too(http: httpx.AsyncClient) -> None:
    name = f"d_{uuid.uuid4().hex}"
    nested = {"id": name, "steps": [{"id": "pay", "workflow": {"id": f"{name}_pay", "version": 2**62}}]}
    [warning] = (await http.post("/v1/definitions/plan", json={"definition": nested})).json()["warnings"]
    assert (warning["code"], warning["path"]) == ("unknown-definition", "steps[0].workflow.id")


@pytest.mark.parametrize(
    ("runs", "path", "meant"),
    [
        ({"id": "inovice"}, "id", "invoice"),
        ({"id": "Invoice", "version": 2}, "id", "invoice"),
        ({"id": "invoice", "version": 99}, "version", None),
        ({"id": "zzyzx_zzyz"}, "id", None),
    ],
    ids=["a slip", "a slip with a version", "no such version", "never itself"],
)
async def test_a_published_definition_that_is_meant_is_suggested(
    http: httpx.AsyncClient, runs: dict[str, Json], path: str, meant: str | None
) -> None:
    tenant = {"X-Test-Tenant": f"t{uuid.uuid4().hex[:12]}"}
    for name in ("invoice", "zzyzx_zzyzx"):
        await http.post("/v1/definitions", json={"definition": {**HELLO, "id": name}}, headers=tenant)
    definition = {"id": "zzyzx_zzyzx", "steps": [{"id": "pay", "workflow": runs}]}
    response = await http.post("/v1/definitions/validate", json={"definition": definition}, headers=tenant)
    [warning] = response.json()["problems"]
    assert (warning["code"], warning["path"], warning["suggestion"]) == (
        "unknown-definition",
        f"steps[0].workflow.{path}",
        meant,
    )


async def test_definitions_of_other_tenants_are_not_suggested(http: httpx.AsyncClient) -> None:
    own, other = ({"X-Test-Tenant": f"t{uuid.uuid4().hex[:12]}"} for _ in range(2))
    await http.post("/v1/definitions", json={"definition": {**HELLO, "id": "pay_out"}}, headers=own)
    definition = {"id": "mine", "steps": [{"id": "pay", "workflow": {"id": "pay_uot"}}]}
    reported = []
    for tenant in (own, other):
        response = await http.post("/v1/definitions/validate", json={"definition": definition}, headers=tenant)
        [warning] = response.json()["problems"]
        reported.append((warning["code"], warning["suggestion"]))
    assert reported == [("unknown-definition", "pay_out"), ("unknown-definition", None)]


async def test_a_valid_definition_is_said_to_be_valid_and_not_stored(http: httpx.AsyncClient) -> None:
    definition = {**HELLO, "id": "only_looked_at"}
    response = await http.post("/v1/definitions/validate", json={"definition": definition})
    assert response.json() == {"valid": True, "problems": [], "id": "only_looked_at", "graph": None}
    assert (await http.get("/v1/definitions/only_looked_at")).status_code == 404


async def test_a_plan_shows_layers_and_the_longest_chain(http: httpx.AsyncClient) -> None:
    text = (await http.get("/v1/definitions/invoice")).json()["source"]
    plan = (await http.post("/v1/definitions/plan", json={"definition": text})).json()
    saves = ["save_parquet", "save_json", "record_metrics"]
    assert plan["layers"] == [["extract"], ["split", "ask_gemini"], saves, ["create_review"]]
    assert plan["critical_path"] == ["extract", "ask_gemini", "save_parquet", "create_review"]
    assert plan["mermaid"].startswith("flowchart")
    assert plan["definition"]["steps"][0]["max_retries"] == 3


async def test_an_invalid_definition_has_no_plan(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/definitions/plan", json={"definition": FIVE_MISTAKES})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-definition")


async def test_definitions_are_listed_page_by_page_with_their_newest_version(http: httpx.AsyncClient) -> None:
    tenant = {"X-Test-Tenant": "librarian"}
    for name in ("b", "a", "c"):
        await http.post("/v1/definitions", json={"definition": {**HELLO, "id": name}}, headers=tenant)
    await http.post("/v1/definitions", json={"definition": {**HELLO, "id": "b", "title": "2"}}, headers=tenant)
    first = (await http.get("/v1/definitions", params={"limit": 2}, headers=tenant)).json()
    second = (await http.get("/v1/definitions", params={"after": first["after"]}, headers=tenant)).json()
    found = [(line["definition_id"], line["version"]) for line in first["definitions"] + second["definitions"]]
    assert found == [("a", 1), ("b", 2), ("c", 1)]
    assert second["after"] is None


async def test_another_tenants_definition_does_not_exist(http: httpx.AsyncClient) -> None:
    await http.post("/v1/definitions", json={"definition": HELLO})
    other = {"X-Test-Tenant": "globex"}
    assert (await http.get("/v1/definitions/hello", headers=other)).status_code == 404
    assert (await http.post("/v1/runs", json={"definition": "hello"}, headers=other)).status_code == 404


@pytest.mark.parametrize("path", ["nowhere", "a%00b", "x" * 300, "invoice?version=4711"])
async def test_an_unknown_definition_is_not_found(http: httpx.AsyncClient, path: str) -> None:
    response = await http.get(f"/v1/definitions/{path}")
    assert (response.status_code, response.json()["type"]) == (404, "/problems/not-found")


@pytest.mark.parametrize("path", ["invoice?version=0", "invoice?version=99999999999", "?after=a%00"])
async def test_a_query_that_cannot_be_is_refused(http: httpx.AsyncClient, path: str) -> None:
    response = await http.get(f"/v1/definitions/{path}" if path[0] != "?" else f"/v1/definitions{path}")
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input")


@pytest.mark.parametrize("body", [{}, {"definition": 7}, {"definition": "id: a", "more": 1}, [], "text"])
async def test_a_body_of_the_wrong_shape_is_refused(http: httpx.AsyncClient, body: object) -> None:
    response = await http.post("/v1/definitions", json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"


async def test_a_valid_definition_is_drawn_if_that_is_wanted(http: httpx.AsyncClient) -> None:
    body = {"definition": "id: draft\nsteps:\n  - {id: a, handler: noop}\n  - {id: b, handler: noop}\n"}
    drawn = (await http.post("/v1/definitions/validate", params={"draw": True}, json=body)).json()
    assert (drawn["id"], [node["id"] for node in drawn["graph"]["nodes"]]) == ("draft", ["a", "b"])
    assert (await http.post("/v1/definitions/validate", json=body)).json()["graph"] is None
    wrong = {"definition": FIVE_MISTAKES}
    refused = (await http.post("/v1/definitions/validate", params={"draw": True}, json=wrong)).json()
    assert (refused["id"], refused["graph"]) == (None, None)


async def test_the_groups_of_a_drawn_definition_can_be_opened(http: httpx.AsyncClient) -> None:
    steps = [{"id": f"s{number}", "handler": "noop"} for number in range(400)]
    body = {"definition": {"id": "wide", "steps": [*steps[:1], *({**s, "depends_on": ["s0"]} for s in steps[1:])]}}
    closed = (await http.post("/v1/definitions/validate", params={"draw": True}, json=body)).json()["graph"]
    group = next(node["id"] for node in closed["nodes"] if node["kind"] is None)
    params = {"draw": True, "open": group}
    opened = (await http.post("/v1/definitions/validate", params=params, json=body)).json()["graph"]
    assert (closed["open"], opened["open"]) == ([], [group])
    assert len(closed["nodes"]) < len(opened["nodes"]) <= 300


async def test_a_definition_that_someone_else_published_meanwhile_is_not_passed_over(http: httpx.AsyncClient) -> None:
    first = {**HELLO, "id": f"d_{uuid.uuid4().hex}"}
    await http.post("/v1/definitions", json={"definition": first, "based_on": 0})
    await http.post("/v1/definitions", json={"definition": {**first, "title": "theirs"}, "based_on": 1})
    mine = {"definition": {**first, "title": "mine"}, "based_on": 1}
    refused = await http.post("/v1/definitions", json=mine)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/outdated")
    assert refused.json()["current"] == 2
    assert refused.json()["detail"].endswith("changed meanwhile: you read version 1, expected the current one, 2")
    published = await http.post("/v1/definitions", json={**mine, "based_on": 2})
    assert published.json()["version"] == 3
