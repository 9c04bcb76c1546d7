"""Numbers and page tokens out of every range are refused: 422, never a 500, on every route that takes one."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services.paging import after_of
from docrail.services.reviews.models import ReviewFilter, Sort
from tests.api.service import HELLO, Service, serve_with_worker, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers

NO_NUMBERS = [str(2**63), str(2**64), str(-(2**63) - 1), "9" * 4000, "-" + "9" * 4000, "1" + "0" * 20_000]
NO_NUMBERS += [
    "1e400",
    "NaN",
    "Infinity",
    "-Infinity",
    "٣",
    "\uff11\uff12",
    "³",
    "1.5",
    "0x10",
    "",
    " ",
    "null",
    "true",
    "\0",
]
NO_TIMES = ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "10000-01-01T00:00:00Z", "-0001-01-01T00:00:00Z"]
NO_TIMES += ["2026-02-30T00:00:00Z", "2026-01-01T00:00:00+99:00", "9" * 400, "1e400", "NaN", "٢٠٢٦-01-01T00:00:00Z"]
NO_TOKENS = [*NO_NUMBERS, "a/\0", "\0/b", "a/b/c", "=" * 40, "é", "AAAAAAAAAAAA", "a" * 4097]
PLACES = {"definition_id": "hello", "run_id": "hello.x", "document_id": "doc_1", "review_id": "rev_1", "number": "1"}


@dataclass(frozen=True, slots=True)
class Place:
    """A parameter of a route."""

    method: str
    path: str
    name: str
    where: str
    schema: dict[str, Json]

    def request(self, value: str) -> tuple[str, dict[str, str]]:
        filled = {name: "x" for name in self.path.split("{")[1:] for name in [name.partition("}")[0]]} | PLACES
        if self.where == "path":
            filled[self.name] = "%2F".join(httpx.QueryParams({"a": value}).__str__()[2:].split("/"))
        return self.path.format(**filled), {} if self.where == "path" else {self.name: value}


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("numbers"))
        async with serve_with_worker(settings) as served:
            for title in ("one", "two"):
                body = {"definition": {**HELLO, "title": title}}
                (await served.http.post("/v1/definitions", json=body)).raise_for_status()
            order = {"definition": "hello", "key": "x"}
            (await served.http.post("/v1/runs", json=order)).raise_for_status()
            await served.ended("hello.x")
            yield served


async def parameters(service: Service) -> list[Place]:
    """Return every parameter of every route."""
    paths = (await service.http.get("/openapi.json")).json()["paths"]
    return [
        Place(method, path, each["name"], each["in"], schema)
        for path, methods in paths.items()
        for method, operation in methods.items()
        for each in operation.get("parameters", ())
        for schema in each["schema"].get("anyOf", [each["schema"]])
    ]


async def refused(service: Service, place: Place, value: str) -> str | None:
    """Return how a value was answered if that is not a 422 that names its parameter; in a path also a 404."""
    path, query = place.request(value)
    answer = await service.http.request(place.method, path, params=query)
    if place.where == "path" and answer.status_code == 404:
        return None
    named = answer.status_code == 422 and any(place.name in each["path"] for each in answer.json()["problems"])
    return None if named else f"{place.method} {place.path} {place.name}={value[:30]!r}: {answer.text[:200]}"


async def test_no_number_out_of_range_is_accepted(service: Service) -> None:
    numbers = [each for each in await parameters(service) if each.schema.get("type") in ("integer", "number")]
    assert len(numbers) > 15
    assert {each.schema.get("maximum", "none") for each in numbers} & {"none"} == set()
    wrong = [await refused(service, place, value) for place in numbers for value in NO_NUMBERS]
    assert [each for each in wrong if each] == []


async def test_the_smallest_and_largest_numbers_are_no_error_of_the_server(service: Service) -> None:
    numbers = [each for each in await parameters(service) if each.schema.get("type") == "integer"]
    for place in numbers:
        for value in (place.schema["minimum"], place.schema["maximum"]):
            path, query = place.request(str(value))
            answer = await service.http.request(place.method, path, params=query)
            assert answer.status_code < 500, (place, value, answer.text)


async def test_no_time_out_of_range_is_accepted(service: Service) -> None:
    times = [each for each in await parameters(service) if each.schema.get("format") == "date-time"]
    assert len(times) >= 3
    wrong = [await refused(service, place, value) for place in times for value in NO_TIMES]
    assert [each for each in wrong if each] == []


async def test_no_token_that_was_not_issued_is_an_error_of_the_server(service: Service) -> None:
    """Some lists go on after a name, which may be any; the others refuse what they did not issue."""
    tokens = [each for each in await parameters(service) if each.name == "after" and each.schema["type"] == "string"]
    opaque = {"/v1/documents", "/v1/runs", "/v1/runs/{run_id}/waits", "/v1/runs/{run_id}/steps"}
    opaque |= {"/v1/reviews", "/v1/dead-letters"}
    assert opaque < {each.path for each in tokens}
    for place in tokens:
        for value in filter(None, NO_TOKENS):  # an empty one is the first page's
            path, query = place.request(value)
            answer = await service.http.get(path, params=query)
            assert answer.status_code in ({422} if place.path in opaque else {200, 422}), (path, value, answer.text)


def forged_places() -> Iterator[bytes]:
    """Yield places in the list of reviews that Docrail never issues."""
    now, never = "2026-11-30T00:00:00Z", "9999-12-31T23:59:59-14:00"
    due, place = (
        f'"{now}"',
        '{"as_of":"%s","review_id":"%s","band":%s,"priority":%s,"due_at":%s,"created_at":"%s","part":%s}',
    )
    for band in (2**31, -(2**63), 10**4000, "NaN"):
        yield (place % (now, "rev_1", band, 1.0, due, now, 0.0)).encode()
    for priority in ("1e999", "NaN", 10**400):
        yield (place % (now, "rev_1", 1, priority, due, now, priority)).encode()
    yield (place % (now, r"\u0000", 1, 1.0, due, now, 0.0)).encode()
    yield (place % ("0001-01-01T00:00:00+14:00", "rev_1", 1, 1.0, due, never, 0.0)).encode()
    yield (place % (now, "rev_1", 1, 1.0, f'"{never}"', now, 0.0)).encode()
    yield b"\xff"


@pytest.mark.parametrize("token", [*forged_places()], ids=lambda token: ascii(token)[:60])
async def test_a_forged_place_in_the_list_of_reviews_is_refused(service: Service, token: bytes) -> None:
    after = after_of(token, f"default {Sort.PRIORITY} {ReviewFilter()}")
    answer = await service.http.get("/v1/reviews", params={"after": after})
    assert answer.status_code == 422, answer.text
    assert answer.json()["problems"][0]["path"].endswith("after")
