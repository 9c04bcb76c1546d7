"""Unreadable and invalid requests are refused with what was found and what was expected."""

import contextlib
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from pydantic import ValidationError, create_model

from docrail.api.body_sizes import UPLOADS
from docrail.dag.values.json_values import Json
from docrail.services.errors import LONGEST_ID
from tests.api.described import DOCUMENT
from tests.api.service import HELLO, Service
from tests.api.test_routes import GUARDED, TAKES_BODY

JSON = {"Content-Type": "application/json"}


async def problem_of(http: httpx.AsyncClient, path: str, **request: Any) -> tuple[str, str]:
    """Send a request that is refused, and return its only problem's path and message."""
    response = await http.post(path, **request)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input"), response.text
    [problem] = response.json()["problems"]
    return problem["path"], problem["message"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"definition": }', "is not JSON: Expecting value at character 15"),
        (b"\xff\xfe{", "is not UTF-8"),
        (b'{"inputs": ' + b"[" * 40_000, "is nested too deeply to be read"),
        (b'{"inputs": {"a": ' + b"1" * 5000 + b"}}", "contains a number that is too long: Exceeds the limit"),
    ],
    ids=["syntax", "encoding", "depth", "number"],
)
async def test_a_body_that_cannot_be_read_says_why(http: httpx.AsyncClient, body: bytes, message: str) -> None:
    path, found = await problem_of(http, "/v1/runs", content=body, headers=JSON)
    assert path == "body"
    assert found.startswith(message)


@pytest.mark.parametrize(
    "body", [rb'{"definition": 1, "\ud800": 2}', rb'{"definition": "a\ud800", "version": "\udfff"}']
)
async def test_half_a_character_is_refused_though_no_answer_can_repeat_it(http: httpx.AsyncClient, body: bytes) -> None:
    response = await http.post("/v1/runs", content=body, headers=JSON)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input"), response.text
    assert "?" in response.json()["detail"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, ("definition", "is required")),
        ({"definition": "hello", "inptus": {}}, ("inptus", "is not known here")),
        ({"definition": "hello", "version": 0}, ("version", "must be at least 1, found the number 0")),
        ({"definition": "hello", "version": True}, ("version", "must be a whole number, found true")),
        ({"definition": "hello", "version": "1"}, ("version", "must be a whole number, found the text '1'")),
        ({"definition": "hello", "inputs": None}, ("inputs", "must be an object, found null")),
        ([], ("body", "must be an object, found an empty list")),
    ],
)
async def test_a_field_that_does_not_fit_says_what_was_found(
    http: httpx.AsyncClient, body: Json, expected: tuple[str, str]
) -> None:
    assert await problem_of(http, "/v1/runs", json=body) == expected


@pytest.mark.parametrize(("method", "path", "route"), TAKES_BODY)
def test_no_json_body_takes_a_text_for_a_number_or_a_number_for_the_truth(
    method: str, path: str, route: APIRoute
) -> None:
    assert route.body_field is not None
    model = route.body_field.field_info.annotation
    model = next((part for part in getattr(model, "__args__", ()) if hasattr(part, "model_fields")), model)
    if path in ("/v1/documents", "/v1/batches/{batch_id}/zip"):
        return  # a form has only texts
    for name, field in getattr(model, "model_fields", {}).items():
        alone = create_model("Alone", value=(field.annotation, field))
        for wrong in ("1", "true", 1, True):
            with contextlib.suppress(ValidationError):
                taken = alone.model_validate(dict.fromkeys(("value", name, field.alias or name), wrong)).value  # type: ignore[attr-defined]
                kinds = [(isinstance(value, str), isinstance(value, bool)) for value in (taken, wrong)]
                assert kinds[0] == kinds[1], f"{name} ({field.annotation}) takes {wrong!r}"


@pytest.mark.parametrize(
    ("method", "path", "route"),
    [each for each in GUARDED if each.values[1] != "/metrics"],  # scrapers may add parameters
)
async def test_a_parameter_that_would_not_be_heeded_is_refused(
    http: httpx.AsyncClient, method: str, path: str, route: APIRoute
) -> None:
    response = await http.request(method, f"{path}?statu=failed")
    problems = {problem["path"]: problem for problem in response.json()["problems"]}
    assert response.status_code == 422
    assert problems["statu"]["message"] == "this request has no such parameter"


async def test_an_unknown_parameter_suggests_the_nearest_and_a_repeated_one_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.get("/v1/runs?statu=failed&limit=1&limit=2")
    found = [(problem["path"], problem["suggestion"]) for problem in response.json()["problems"]]
    assert found == [("statu", "status"), ("limit", None)]


async def test_probes_take_any_parameter(http: httpx.AsyncClient) -> None:
    for page in ("/healthz", "/metrics"):
        assert (await http.get(f"{page}?now=1")).status_code == 200


async def test_a_second_file_is_refused_and_nothing_is_kept(http: httpx.AsyncClient) -> None:
    files = [("file", ("a.xml", b"first")), ("file", ("b.xml", b"second"))]
    path, message = await problem_of(http, "/v1/documents", files=files)
    assert (path, message) == ("file", "is given 2 times, expected one part of the form of that name")


UPLOADED = {path: {"file": ("a.zip" if path.endswith("/zip") else "a.xml", b"bytes")} for path in UPLOADS}


@pytest.mark.parametrize("path", UPLOADED)
async def test_a_part_of_a_form_that_would_be_ignored_is_refused_and_nothing_is_kept(
    service: Service, path: str
) -> None:
    known = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]["$ref"]
    parts = DOCUMENT["components"]["schemas"][known.rpartition("/")[2]]["properties"]
    meant = next(name for name in parts if name != "file")
    count = "SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM batch_documents)"
    before = await service.pool.fetchval(count)
    misspelt = {meant[:-1]: "1", "nothing_like_it": "1"}
    url = path.format(batch_id="bat_none")
    refused = await service.http.post(url, files=UPLOADED[path], data=misspelt)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-input")
    found = {each["path"]: (each["message"], each["suggestion"]) for each in refused.json()["problems"]}
    none = "this request has no such part of the form"
    assert found == {meant[:-1]: (none, meant), "nothing_like_it": (none, None)}
    assert await service.pool.fetchval(count) == before


async def test_a_file_without_a_name_is_refused(http: httpx.AsyncClient) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nbytes\r\n--x--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    path, message = await problem_of(http, "/v1/documents", content=body, headers=headers)
    assert (path, message) == ("file", "must be a file: a part of the form that has a file name")


async def test_a_form_that_cannot_be_read_says_why(http: httpx.AsyncClient) -> None:
    path, message = await problem_of(http, "/v1/documents", files={"file": ("x" * 5000, b"bytes")})
    assert path == "body"
    assert message.startswith("is not a readable form: ")
    assert message != "is not a readable form: Invalid multipart data."


async def test_an_id_of_any_length_is_not_repeated_whole(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/runs", json={"definition": "x" * 3_000_000})
    assert response.status_code == 404
    assert len(response.json()["detail"]) < LONGEST_ID + 100


async def test_a_definition_with_a_wrong_version_is_not_run_by_another(http: httpx.AsyncClient) -> None:
    assert (await http.post("/v1/definitions", json={"definition": HELLO})).status_code == 201
    assert (await http.post("/v1/workflow", json={"definition": "hello", "version": "1"})).status_code == 422
