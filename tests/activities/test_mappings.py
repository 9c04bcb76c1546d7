"""The handlers that only hand values on: `transform`, `input`, `output`, `parse_http_request`."""

from typing import cast

import pytest
from pydantic import ValidationError

from docrail.activities.handlers import input as input_
from docrail.activities.handlers import output, parse_http_request, transform
from docrail.dag.values.json_values import Json
from docrail.services.tools import Tools
from tests.activities.outside import run

NO_TOOLS = cast("Tools", None)


async def made(config: Json) -> Json:
    return await run(transform.HANDLER, config, NO_TOOLS)


@pytest.mark.parametrize(
    "mapping",
    [
        {},
        {"amount": 12.5, "iban": "NL02", "lines": [{"a": None}]},
        {"copy": 1, "json": 2, "model_config": 3, "model_dump": 4, "root": 5, "_private": 6, "result": 7, "ü": 8},
    ],
)
async def test_a_mapping_comes_back_as_it_is(mapping: Json) -> None:
    assert await made(mapping) == mapping
    assert await run(input_.HANDLER, mapping, NO_TOOLS) == mapping
    assert await run(output.HANDLER, mapping, NO_TOOLS) == mapping


@pytest.mark.parametrize("word", ["data", "input"])
async def test_data_is_the_result(word: str) -> None:
    assert await made({word: [1], "more": 2}) == {word: [1], "more": 2, "result": [1]}
    assert await made({word: [1], "result": "own"}) == {word: [1], "result": "own"}


@pytest.mark.parametrize(
    ("operation", "data", "result"),
    [
        ("uppercase", "über", "ÜBER"),
        ("lowercase", "ABC", "abc"),
        ("trim", "  a b ", "a b"),
        ("length", "abc", 3),
        ("length", {"a": 1}, 1),
        ("reverse", "abc", "cba"),
        ("reverse", [1, 2], [2, 1]),
        ("sum", [1, 2.5], 3.5),
        ("sum", [], 0),
        ("join", ["a", 1, {"b": 2}], 'a 1 {"b":2}'),
        ("first", [1, 2], 1),
        ("last", [1, 2], 2),
        ("first", [], None),
        ("last", [], None),
        ("sort", [3, 1, 2], [1, 2, 3]),
        ("unique", [1, {"a": 1}, 1, {"a": 1}, True], [1, {"a": 1}, True]),
        ("merge", [{"a": 1, "b": 1}, {"b": 2}], {"a": 1, "b": 2}),
    ],
)
async def test_an_operation_makes_the_result(operation: str, data: Json, result: Json) -> None:
    assert await made({"operation": operation, "data": data}) == {"result": result}
    assert await made({"operation": operation, "input": data, "note": 1}) == {"note": 1, "result": result}


async def test_join_and_pick_take_what_more_they_need() -> None:
    assert await made({"operation": "join", "data": ["a", "b"], "separator": ", "}) == {"result": "a, b"}
    picked = await made({"operation": "pick", "data": {"a": 1, "b": 2, "c": 3}, "fields": ["c", "a"]})
    assert picked == {"result": {"c": 3, "a": 1}}
    with pytest.raises(KeyError, match="d"):
        await made({"operation": "pick", "data": {"a": 1}, "fields": ["d"]})


@pytest.mark.parametrize(
    ("operation", "data", "reported"),
    [
        ("uppercase", [1], "the operation 'uppercase' expects a text as data, found a list"),
        ("sum", "12", "the operation 'sum' expects a list as data, found the text '12'"),
        ("length", 3, "expects a text or a list or an object as data, found the number 3"),
        ("merge", [1], "expects a list of objects, found the number 1 in it"),
        ("sum", ["a"], "the operation 'sum' expects a list of numbers, found other items"),
        ("sort", ["a", 1], "the operation 'sort' expects a list of either texts or numbers"),
    ],
)
async def test_data_that_does_not_fit_is_named(operation: str, data: Json, reported: str) -> None:
    with pytest.raises(TypeError, match=reported):
        await made({"operation": operation, "data": data})


@pytest.mark.parametrize(
    ("config", "reported"),
    [
        ({"operation": "shout", "data": 1}, "Input should be 'uppercase'"),
        ({"operation": "sum"}, "the operation 'sum' needs 'data'"),
        ({"data": 1, "input": 2}, "'input' is an alias of 'data'"),
    ],
)
def test_a_config_that_can_never_be_right_is_refused_at_submit(config: Json, reported: str) -> None:
    with pytest.raises(ValidationError, match=reported):
        transform.Config.model_validate(config)


@pytest.mark.parametrize("word", ["body", "request"])
async def test_the_fields_that_matter_are_taken(word: str) -> None:
    config = {word: {"decision": "process", "by": "ann"}, "take_params": ["decision"]}
    assert await run(parse_http_request.HANDLER, config, NO_TOOLS) == {"decision": "process"}


async def test_a_field_that_is_not_there_is_named() -> None:
    config = {"body": {"by": "ann"}, "take_params": ["decision", "by"]}
    with pytest.raises(ValueError, match="the request has no decision; it has by"):
        await run(parse_http_request.HANDLER, config, NO_TOOLS)
