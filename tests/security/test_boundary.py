"""Requests as a browser sends them for a foreign page, on real sockets."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from fastapi import Request
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from docrail.api.errors import SAFE_HEADERS
from tests.api.described import DOCUMENT
from tests.api.service import HELLO, SLOW, Service, serve, settings_for
from tests.api.test_routes import ROUTES
from tests.stack import Servers

EVIL = "http://evil.example"
CHANGING = [route for route in ROUTES if route.values[0] != "GET"]
SIMPLE_FORMS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x")
"""The media types that a page may send to any server without being asked by it."""


def problem_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["type"]


@pytest.mark.parametrize(("method", "path", "route"), ROUTES)
async def test_no_route_answers_under_a_foreign_name(
    http: httpx.AsyncClient, method: str, path: str, route: APIRoute
) -> None:
    refused = await http.request(method, path, headers={"Host": "evil.example:8000"})
    assert problem_of(refused) == (421, "/problems/unknown-host")


@pytest.mark.parametrize("path", ["/docs", "/docs/assets/swagger-ui.css", "/openapi.json", "/nothing"])
async def test_no_page_is_shown_under_a_foreign_name(http: httpx.AsyncClient, path: str) -> None:
    assert problem_of(await http.get(path, headers={"Host": "evil.example"})) == (421, "/problems/unknown-host")


@pytest.mark.parametrize(("method", "path", "route"), CHANGING)
@pytest.mark.parametrize("header", [{"Origin": EVIL}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}])
async def test_no_route_is_changed_by_a_foreign_page(
    http: httpx.AsyncClient, method: str, path: str, route: APIRoute, header: dict[str, str]
) -> None:
    refused = await http.request(method, path, headers=header)
    if path.startswith("/v1/callbacks/"):
        assert refused.status_code == 422  # judged by its signed URL
    else:
        assert problem_of(refused) == (403, "/problems/cross-site")


@pytest.mark.parametrize("media_type", SIMPLE_FORMS)
async def test_a_foreign_page_starts_and_aborts_no_run(service: Service, media_type: str) -> None:
    run_id = (await service.http.post("/v1/runs", json={"definition": SLOW})).json()["run_id"]
    page = {"Origin": EVIL, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Content-Type": media_type}
    for path, body in ((f"/v1/runs/{run_id}/abort", {}), ("/v1/runs", {"definition": HELLO})):
        refused = await service.http.post(path, content=json.dumps(body), headers=page)
        assert problem_of(refused) == (403, "/problems/cross-site")
    assert (await service.http.get(f"/v1/runs/{run_id}")).json()["status"] in ("running", "waiting")
    assert (await service.http.post(f"/v1/runs/{run_id}/abort", json={})).status_code < 300


async def test_a_foreign_page_uploads_nothing(http: httpx.AsyncClient) -> None:
    files = {"file": ("a.pdf", b"%PDF-1.4")}
    refused = await http.post("/v1/documents", files=files, headers={"Origin": EVIL})
    assert problem_of(refused) == (403, "/problems/cross-site")


async def test_no_answer_grants_another_site_to_read_it(http: httpx.AsyncClient) -> None:
    asked = {"Origin": EVIL, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    for response in (
        await http.options("/v1/runs", headers=asked),
        await http.get("/v1/runs", headers={"Origin": EVIL}),
    ):
        assert not [name for name in response.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("path", ["/healthz", "/v1/runs", "/v1/runs/none", "/nothing", "/openapi.json", "/metrics"])
async def test_every_answer_forbids_to_be_embedded(http: httpx.AsyncClient, path: str) -> None:
    found = (await http.get(path)).headers
    assert {name: found[name] for name in SAFE_HEADERS} == SAFE_HEADERS


async def test_the_docs_page_keeps_its_own_policy(http: httpx.AsyncClient) -> None:
    headers = (await http.get("/docs")).headers
    assert "script-src 'self'" in headers["content-security-policy"]
    assert headers.get_list("content-security-policy") == [headers["content-security-policy"]]
    assert headers["cross-origin-resource-policy"] == "same-origin"


@dataclass(frozen=True, slots=True)
class Proxied:
    """An API that trusts a proxy on this machine, and one that does not."""

    trusting: httpx.AsyncClient
    wary: httpx.AsyncClient


async def seen(request: Request) -> JSONResponse:
    assert request.client is not None
    return JSONResponse([request.client.host, request.url.scheme])


@pytest.fixture
async def proxied(embedded: Servers, dsn: str, tmp_path: Path) -> AsyncIterator[Proxied]:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path)
    public = {"public_url": "https://docrail.example"}
    trusting = settings.model_validate({**settings.model_dump(), **public, "trusted_proxies": "127.0.0.0/8"})
    wary = settings.model_validate({**settings.model_dump(), **public, "trusted_proxies": "10.0.0.0/8"})
    async with serve(trusting) as one, serve(wary) as other:
        for service in (one, other):
            service.api.add_route("/seen", seen)
        yield Proxied(one.http, other.http)


async def test_only_a_trusted_proxy_names_the_caller_and_the_scheme(proxied: Proxied) -> None:
    forwarded = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
    assert (await proxied.trusting.get("/seen", headers=forwarded)).json() == ["203.0.113.7", "https"]
    assert (await proxied.wary.get("/seen", headers=forwarded)).json() == ["127.0.0.1", "http"]


async def test_only_a_trusted_proxy_names_the_host(proxied: Proxied) -> None:
    forwarded = {"X-Forwarded-Host": "evil.example"}
    assert (await proxied.trusting.get("/healthz", headers=forwarded)).status_code == 421
    assert (await proxied.wary.get("/healthz", headers=forwarded)).status_code == 200
    behind = {"Host": "api:8000", "X-Forwarded-Host": "docrail.example"}
    assert (await proxied.trusting.get("/healthz", headers=behind)).status_code == 200
    assert (await proxied.wary.get("/healthz", headers=behind)).status_code == 421


async def test_a_page_of_the_public_name_may_change_things_through_the_proxy(proxied: Proxied) -> None:
    page = {"X-Forwarded-Host": "docrail.example", "Origin": "https://docrail.example"}
    assert (await proxied.trusting.post("/v1/runs", json={}, headers=page)).status_code == 422
    assert (await proxied.trusting.post("/v1/runs", json={}, headers=page | {"Origin": EVIL})).status_code == 403


def test_the_refusals_are_documented() -> None:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            assert "421" in operation["responses"]
            forbidden = operation["responses"].get("403", {"content": {}})["content"]
            cross_site = "cross-site" in forbidden.get("application/problem+json", {"examples": {}})["examples"]
            assert cross_site == (method != "get" and not path.startswith("/v1/callbacks/"))
