import asyncpg
import httpx
import pytest
from fastapi import FastAPI

from docrail.api.errors import KINDS, OF_SERVER, ProblemOut, register
from docrail.services import errors
from docs.generate import REFERENCE
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


def test_every_field_of_a_problem_is_described() -> None:
    assert {field for kind in KINDS.values() for field in kind.fields} <= ProblemOut.model_fields.keys()


def test_every_type_of_problem_is_documented_with_what_to_do() -> None:
    page = (REFERENCE / "problems.md").read_text("utf-8")
    rows = {line.split(" | ")[0].strip("| `"): line.split(" | ") for line in page.splitlines() if "| `" in line}
    kinds = {kind.name: kind for kind in (*KINDS.values(), *OF_SERVER)}
    assert rows.keys() == kinds.keys()
    for name, row in rows.items():
        assert row[1:3] == [str(int(kinds[name].status)), kinds[name].title]
        assert row[3].endswith("."), f"{name}: what can its caller do?"


@pytest.mark.parametrize(
    "body",
    [
        b"--b\r\nContent-Disposition: form-data\r\n\r\na\r\n--b--\r\n",
        b"".join(b'--b\r\nContent-Disposition: form-data; name="p%d"\r\n\r\na\r\n' % n for n in range(1_100)),
        b'--b\r\nContent-Disposition: form-data; name="source"\r\n\r\n' + b"a" * 1_040_000 + b"\r\n--b--\r\n",
    ],
    ids=["without a name", "many parts", "a large part"],
)
async def test_a_form_that_cannot_be_read_is_a_problem_of_a_documented_type(
    http: httpx.AsyncClient, body: bytes
) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    response = await http.post("/v1/documents", content=body, headers=headers)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input")


@pytest.mark.parametrize(
    "error", [asyncpg.InternalClientError("killed in a statement"), asyncpg.InterfaceError("closed")]
)
async def test_a_statement_cut_off_by_the_database_is_unavailable(error: Exception) -> None:
    app = FastAPI()
    register(app)

    @app.get("/")
    async def cut_off() -> None:
        raise error

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        response = await client.get("/")
    assert (response.status_code, response.json()["type"]) == (503, "/problems/unavailable")
    assert "PostgreSQL is starting, stopping or unreachable" in response.json()["detail"]


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
