"""HEAD, OPTIONS, wrong methods and wrong media types on every route."""

import re
from collections.abc import Iterator

import httpx
import pytest
from fastapi.routing import APIRoute

from docrail.api.body_sizes import UPLOADS
from tests.api.service import HELLO, Service
from tests.api.test_routes import ROUTES, TAKES_BODY
from tests.security.callers import accepting_token
from tests.security.test_boundary import problem_of

PATHS = sorted({str(route.values[1]) for route in ROUTES})
GETS = [route for route in ROUTES if route.values[0] == "GET"]
PAGES = ("/docs", "/docs/start.js", "/docs/assets/swagger-ui.css", "/openapi.json")
VARYING = {"date", "content-length"}
"""Headers whose value is another one a moment later; /metrics has grown since."""
EXPIRES = re.compile("expires=[^;]+")
"""The part of a cookie whose value is another one a moment later."""

WRONG_TYPES = (
    "text/plain",
    "",
    "application/xml",
    "application/x-www-form-urlencoded",
    "json",
    "\x80/;=,",
    "a/b" * 3000,
)
BROKEN = (b"{", b"\xff\xfe", b"", b"null", b'"\\ud800"', b"[" * 40_000, b"1" * 5000, b"\x00")
CHARSETS = ("application/json; charset=latin-1", "application/json;charset=none", "application/json; charset=\x80")


@pytest.fixture
def token(service: Service) -> Iterator[str]:
    """Yield a token that the API accepts: with another one, a callback is 404 whatever its body."""
    with accepting_token(service) as token:
        yield token


@pytest.mark.parametrize("path", PATHS)
async def test_every_method_of_a_path_is_in_allow_and_no_other(http: httpx.AsyncClient, path: str) -> None:
    allowed = set((await http.options(path)).headers["allow"].split(", "))
    assert allowed > {str(route.values[0]) for route in ROUTES if route.values[1] == path}
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"):
        found = await http.request(method, path, headers={"X-Test-Scopes": ""})  # nothing is done
        assert (found.status_code != 405) == (method in allowed)
        assert found.status_code != 405 or set(found.headers["allow"].split(", ")) == allowed


@pytest.mark.parametrize("path", [*PATHS, *PAGES])
async def test_options_does_nothing(http: httpx.AsyncClient, path: str) -> None:
    found = await http.options(path)
    assert (found.status_code, found.content) == (204, b"")
    assert "OPTIONS" in found.headers["allow"]


async def test_a_path_of_several_routers_has_the_methods_of_all(http: httpx.AsyncClient) -> None:
    assert (await http.options("/v1/documents")).headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert (await http.options("/docs/assets/swagger-ui.css")).headers["allow"] == "GET, HEAD, OPTIONS"


async def test_an_unknown_path_has_no_methods(http: httpx.AsyncClient) -> None:
    for method in ("GET", "HEAD", "OPTIONS", "DELETE"):
        found = await http.request(method, "/nothing")
        assert (found.status_code, found.headers.get("allow")) == (404, None)


@pytest.mark.parametrize("path", [*(str(route.values[1]) for route in GETS), *PAGES])
async def test_head_has_the_headers_of_get_and_no_body(http: httpx.AsyncClient, path: str) -> None:
    got, head = await http.get(path), await http.head(path)
    assert head.status_code == got.status_code
    assert head.content == b""
    assert head.headers.keys() == got.headers.keys()
    assert {n: EXPIRES.sub("", head.headers[n]) for n in head.headers.keys() - VARYING} == {
        n: EXPIRES.sub("", got.headers[n]) for n in got.headers.keys() - VARYING
    }


async def test_head_of_a_document_has_its_length_and_the_connection_goes_on(service: Service) -> None:
    content = b"plain text"
    stored = (await service.http.post("/v1/documents", files={"file": ("a.txt", content)})).json()
    path = f"/v1/documents/{stored['document_id']}/original"
    for _ in range(3):
        head = await service.http.head(path)
        assert (head.status_code, head.headers["content-length"]) == (200, str(len(content)))
    assert (await service.http.get(path)).content == content


async def test_head_is_counted_by_its_route(http: httpx.AsyncClient) -> None:
    await http.head("/healthz")
    assert (
        'docrail_http_requests_total{method="HEAD",route="/healthz",status="200"}' in (await http.get("/metrics")).text
    )


@pytest.mark.parametrize(("method", "path", "route"), TAKES_BODY)
async def test_a_body_of_another_media_type_is_415(
    http: httpx.AsyncClient, token: str, method: str, path: str, route: APIRoute
) -> None:
    for media_type in WRONG_TYPES:
        if path in UPLOADS and not media_type:
            continue  # a form without a file
        headers = [(b"Content-Type", media_type.encode("latin-1"))]
        refused = await http.request(method, path.replace("{token}", token), content=b'{"a": 1}', headers=headers)
        assert problem_of(refused) == (415, "/problems/unsupported-media-type"), (media_type, refused.text)
        assert len(refused.content) < 1000


@pytest.mark.parametrize(("method", "path", "route"), TAKES_BODY)
async def test_a_broken_body_is_422_and_never_a_bug(
    http: httpx.AsyncClient, token: str, method: str, path: str, route: APIRoute
) -> None:
    for media_type in ("application/json", *CHARSETS):
        for body in BROKEN:
            headers = [(b"Content-Type", media_type.encode("latin-1"))]
            refused = await http.request(method, path.replace("{token}", token), content=body, headers=headers)
            assert refused.status_code < 500, (media_type, body[:20], refused.text)
            if path in UPLOADS:
                assert refused.status_code == 415
            elif body not in (b"", b"null", b'"\\ud800"'):
                assert refused.status_code == 422, (media_type, body[:20], refused.text)


@pytest.mark.parametrize("media_type", ["application/json", "text/plain"])
@pytest.mark.parametrize("body", [b"{}", *filter(None, BROKEN)], ids=lambda body: ascii(body)[:20])
async def test_an_unknown_token_is_404_whatever_the_body(http: httpx.AsyncClient, media_type: str, body: bytes) -> None:
    refused = await http.post("/v1/callbacks/x.y", content=body, headers={"Content-Type": media_type})
    assert problem_of(refused) == (404, "/problems/not-found")


@pytest.mark.parametrize("body", [b'"\\ud800"', b'{"a": "\\u0000"}', b"[NaN]"], ids=ascii)
async def test_an_answer_that_nothing_can_carry_is_422(http: httpx.AsyncClient, token: str, body: bytes) -> None:
    """It has no digest either, by which a callback knows a repeated answer."""
    headers = {"Content-Type": "application/json"}
    refused = await http.post(f"/v1/callbacks/{token}", content=body, headers=headers)
    assert problem_of(refused) == (422, "/problems/invalid-input")


async def test_the_usual_variants_of_json_are_read(http: httpx.AsyncClient) -> None:
    body = httpx.Request("POST", "http://x", json={"definition": HELLO}).content
    for media_type in ("application/json; charset=utf-8", "APPLICATION/JSON", "application/problem+json"):
        assert (await http.post("/v1/runs", content=body, headers={"Content-Type": media_type})).status_code < 300
