"""An object of JSON that has a key twice is refused wherever JSON comes in: readers differ in which value counts."""

import json
from collections.abc import AsyncIterator

import pytest
import typer

from docrail.cli.answer import parse_answer
from docrail.cli.terminal import parse_json
from docrail.dag.language.source.source import read_source
from docrail.dag.values.json_values import Json
from tests.api.service import Service, serve, settings_for
from tests.postgres import migrated_database
from tests.security.callers import accepting_token
from tests.stack import Servers

STEPS = '"steps": [{"id": "a", "handler": "echo", "config": {"value": 1, "value": 2}}]'
REPEATED = f'{{"definition": {{"id": "x",\n"id": "y",\n{STEPS}}}}}'


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("keys"))
        async with serve(settings) as served:
            yield served


async def sent(service: Service, path: str, body: str | bytes, method: str = "POST") -> Json:
    headers = {"Content-Type": "application/json"}
    answer = await service.http.request(method, path, content=body, headers=headers)
    assert answer.status_code == 422, answer.text
    return answer.json()["problems"]


@pytest.mark.parametrize("path", ["/v1/definitions", "/v1/definitions/validate", "/v1/definitions/plan", "/v1/runs"])
async def test_each_repeated_key_of_a_definition_is_shown_with_its_lines(service: Service, path: str) -> None:
    problems = await sent(service, path, REPEATED)
    assert [(each["path"], each["message"]) for each in problems] == [
        ("definition.id", "'id' is given twice in this object, first on line 1, and again on line 2"),
        (
            "definition.steps[0].config.value",
            "'value' is given twice in this object, first on line 3, and again on line 3",
        ),
    ]


async def test_it_is_refused_in_every_body(service: Service) -> None:
    """Each operation with a JSON body: the body of none has a key twice."""
    paths = (await service.http.get("/openapi.json")).json()["paths"]
    operations = [
        (method.upper(), path)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    assert len(operations) > 20
    with accepting_token(service) as token:
        for method, path in operations:
            filled = path.replace("{token}", token).replace("{", "").replace("}", "")
            problems = await sent(service, filled, '{"a": {"b": 1, "\\u0062": 2}}', method)
            assert [each["path"] for each in problems] == ["a.b"], path


async def test_it_is_refused_in_other_encodings_too(service: Service) -> None:
    [problem] = await sent(service, "/v1/runs", '{"a": 1, "a": 2}'.encode("utf-16"))
    assert (problem["path"], problem["message"]) == ("body", "an object has the key 'a' twice")


async def test_a_definition_as_text_shows_the_line_of_the_second(service: Service) -> None:
    for text in ("id: x\nsteps: []\nid: y\n", '{"id": "x",\n"steps": [],\n"id": "y"}'):
        [problem] = [each for each in read_source(text).problems if each.code == "duplicate-key"]
        assert (problem.path, problem.line) == ("id", 3)
        problems = await sent(service, "/v1/definitions", json.dumps({"definition": text}))
        assert ("duplicate-key", 3) in [(each["code"], each["line"]) for each in problems]


def test_it_is_refused_in_options_of_commands() -> None:
    with pytest.raises(typer.BadParameter, match="expected JSON"):
        parse_json("--output", '{"a": 1, "a": 2}')
    with pytest.raises(typer.BadParameter, match="expected JSON"):
        parse_answer([], '{"a": 1, "a": 2}')
