import httpx
import pytest

from docrail.api.errors import KINDS
from docrail.services import errors
from tests.api.service import Service


def test_every_refusal_has_a_status() -> None:
    refusals = {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.OperationError) and kind is not errors.OperationError
    }
    assert refusals == set(KINDS)


def test_types_of_problems_are_unique() -> None:
    assert len({kind.name for kind in KINDS.values()}) == len(KINDS)


async def test_an_unknown_path_is_a_problem(http: httpx.AsyncClient) -> None:
    response = await http.get("/v2/nothing")
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")
    assert response.json()["type"] == "/problems/not-found"


async def test_a_wrong_method_is_refused_with_the_allowed_ones(http: httpx.AsyncClient) -> None:
    response = await http.delete("/v1/documents")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    assert response.json()["type"] == "/problems/method-not-allowed"


async def test_a_body_that_is_no_json_is_a_problem(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/runs", content=b"{", headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input")


async def test_a_body_in_another_encoding_is_a_problem(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/runs", content=b"\xff\xfe{", headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422)
    assert response.headers["content-type"] == "application/problem+json"


async def test_a_large_json_body_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/runs", json={"definition": "x" * 2**22})
    assert (response.status_code, response.json()["type"]) == (413, "/problems/too-large")


async def test_inputs_above_temporals_limit_are_refused(http: httpx.AsyncClient) -> None:
    definition = {
        "id": "wide",
        "inputs": {"text": {"type": "string"}},
        "steps": [{"id": "a", "handler": "noop"}],
    }
    response = await http.post("/v1/runs", json={"definition": definition, "inputs": {"text": "x" * 2_200_000}})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input")


async def test_a_bug_is_a_problem_without_its_insides(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "postgresql://user:secret@db"

    async def broken() -> None:
        raise RuntimeError(secret)

    from docrail.api.parameters import app_of

    monkeypatch.setitem(service.api.dependency_overrides, app_of, broken)
    response = await service.http.get("/v1/runs")
    assert (response.status_code, response.json()["type"]) == (500, "/problems/internal")
    assert "secret" not in response.text
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
