"""A walk over all routes with texts that storage cannot take or programs read in two ways: none is an error of ours."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from docrail.api.errors import MEDIA_TYPE
from docrail.dag.values.json_values import Json
from tests.api.described import DOCUMENT
from tests.security.callers import dsn
from tests.security.test_permissions import CLOSED, Door, House, cases, failed, house

__all__ = ["dsn", "house"]

TEXTS = ("\0", "a\0b", "\ud800", "\udfff\ud800", "\u202e\u2066", "\x1b[2J\r\n", "x" * 5_000, "1e400", "-0", "../..", "")
SEGMENTS = (
    "%00",
    "a%00b",
    "%ED%A0%80",
    "%FF",
    "%2e%2e%2f",
    "%0d%0aX-Evil:1",
    "%E2%80%AE",
    "a" * 5_000,
    "%25",
    "%3f%23",
)
PLAIN: dict[str, Json] = {"object": {"a": "b"}, "integer": 1, "number": 1, "boolean": True, "null": None}


def described(door: Door) -> dict[str, Any]:
    operation: dict[str, Any] = DOCUMENT["paths"][door.path][door.method.lower()]
    return operation


def names_in(door: Door, place: str) -> list[str]:
    return [each["name"] for each in described(door).get("parameters", ()) if each["in"] == place]


def schema_of(door: Door) -> dict[str, Any] | None:
    """Return the schema of the body; None: the route takes none in JSON."""
    content: dict[str, Any] | None = described(door).get("requestBody", {}).get("content", {}).get("application/json")
    return None if content is None else dict(content["schema"])


async def send(house: House, door: Door, url: str, body: Json = None) -> httpx.Response:
    """Send any JSON, also such as no encoder of another library would write."""
    headers = {"Authorization": f"Bearer {house.owner}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body)
    http = house.guarded.service.http
    async with http.stream(door.method, url, content=content, headers=headers) as answer:
        if answer.is_error:  # what is streamed to a caller may have no end
            await answer.aread()
    return answer


def check(answer: httpx.Response, sent: object) -> None:
    assert answer.status_code < 500, (sent, answer.text)
    assert answer.status_code != 401, sent
    assert "x-evil" not in answer.headers
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == MEDIA_TYPE, sent


def path_of(house: House, door: Door) -> str:
    ids = house.ids | ({"run_id": house.ids["broken_id"]} if failed(door) else {})
    return door.path.format(**ids)


@pytest.mark.parametrize("door", cases([door for door in CLOSED if "{" in door.path]))
async def test_in_the_path(house: House, door: Door) -> None:
    schema, names = schema_of(door), names_in(door, "path")
    body = None if schema is None else example_of(schema)
    for segment in SEGMENTS:
        for name in names:
            url = door.path.format(**house.ids | {name: segment})
            check(await send(house, door, url, body), url)


@pytest.mark.parametrize("door", cases([door for door in CLOSED if names_in(door, "query")]))
async def test_in_the_query(house: House, door: Door) -> None:
    for name in names_in(door, "query"):
        for segment in SEGMENTS:
            check(await send(house, door, f"{path_of(house, door)}?{name}={segment}"), (name, segment))


@pytest.mark.parametrize("door", cases([door for door in CLOSED if schema_of(door)]))
async def test_in_the_body(house: House, door: Door) -> None:
    schema = schema_of(door)
    assert schema is not None
    for body in bodies(schema):
        check(await send(house, door, path_of(house, door), body), body)


def bodies(schema: dict[str, Any]) -> Iterator[Json]:
    """Yield the example of a body with each of its fields and their parts made hostile, one at a time."""
    example, full = example_of(schema), filled(schema)
    yield from hostile(example)
    if isinstance(full, dict) and isinstance(example, dict):
        for name in full.keys() - example.keys():
            yield from ({**example, name: changed} for changed in hostile(full[name]))


def example_of(schema: dict[str, Any]) -> Json:
    schema = next((each for each in resolved(schema).get("anyOf", ()) if "$ref" in each), schema)
    return next(iter(resolved(schema).get("examples", ())), filled(schema))


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def filled(schema: dict[str, Any], depth: int = 0) -> Json:
    """Return a value that has each field of a schema, with a text wherever one is possible."""
    schema = resolved(schema)
    match schema:
        case {"anyOf": branches} | {"oneOf": branches} | {"allOf": branches}:
            values = [filled(branch, depth) for branch in branches]
            return next((value for value in values if isinstance(value, dict | list | str)), values[0])
        case {"properties": properties} if depth < 8:
            return {name: filled(part, depth + 1) for name, part in properties.items()}
        case {"type": "array", "items": items} if depth < 8:
            return [filled(items, depth + 1)]
        case {"const": constant}:
            return constant
    return next(iter(schema.get("enum", ())), PLAIN.get(schema.get("type", ""), "text"))


def hostile(value: Json) -> Iterator[Json]:
    """Yield a value as often as it has texts and keys, each time with one of them replaced."""
    match value:
        case str():
            yield from TEXTS
        case dict():
            for name, part in value.items():
                yield from ({**value, name: changed} for changed in hostile(part))
            yield from ({**value, text: 1} for text in TEXTS)
        case list():
            for number, part in enumerate(value):
                yield from ([*value[:number], changed, *value[number + 1 :]] for changed in hostile(part))
