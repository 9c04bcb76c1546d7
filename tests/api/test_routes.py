from collections.abc import Iterator

import httpx
import pytest
from fastapi.routing import APIRoute, iter_route_contexts

from docrail.api.auth import Requirement
from docrail.api.body_sizes import MAX_JSON_BYTES
from docrail.services.access.models import Scope
from tests.api.described import API, DOCUMENT
from tests.api.service import Service

OPEN_TO_ALL = {
    *("/healthz", "/readyz", "/v1/callbacks/{token}"),
    *("/v1/session", "/v1/session/oidc", "/v1/session/oidc/callback", "/v1/session/methods"),
}
"""Probes and customers have no keys; a customer's URL is signed. Whoever signs in has no session yet."""
OF_ANYONE = {"/v1/me", "/v1/health"}
"""Of every caller, whatever their scopes."""


def api_routes() -> Iterator[tuple[str, str, APIRoute]]:
    for context in iter_route_contexts(API.routes):
        if isinstance(context.original_route, APIRoute):
            for method in context.methods or ():
                yield method, str(context.path), context.original_route


def scopes_of(route: APIRoute) -> list[Scope]:
    calls = [dependency.call for dependency in route.dependant.dependencies]
    return [call.scope for call in calls if isinstance(call, Requirement) and call.scope]


ROUTES = [pytest.param(*found, id=f"{found[0]} {found[1]}") for found in api_routes()]
TAKES_BODY = [parameter for parameter in ROUTES if parameter.values[2].body_field is not None]  # type: ignore[union-attr]
GUARDED = [parameter for parameter in ROUTES if parameter.values[1] not in OPEN_TO_ALL | OF_ANYONE]


def test_the_routes_are_found() -> None:
    assert len(ROUTES) >= 19


@pytest.mark.parametrize(("method", "path", "route"), GUARDED)
def test_every_route_has_a_permission_in_its_signature(method: str, path: str, route: APIRoute) -> None:
    assert len(scopes_of(route)) == 1


@pytest.mark.parametrize(("method", "path", "route"), GUARDED)
async def test_a_principal_without_the_scope_is_refused(
    service: Service, method: str, path: str, route: APIRoute
) -> None:
    [needed] = scopes_of(route)
    others = " ".join(scope for scope in Scope if scope is not needed)
    files = {"file": ("a", b"a")} if path == "/v1/documents" and method == "POST" else None
    body = {"definition": "hello"} if method == "POST" and files is None and "{" not in path else None
    response = await service.http.request(method, path, headers={"X-Test-Scopes": others}, files=files, json=body)
    assert (response.status_code, response.json().get("scope")) == (403, needed)


@pytest.mark.parametrize(("method", "path", "route"), ROUTES)
def test_the_openapi_document_describes_every_route(method: str, path: str, route: APIRoute) -> None:
    operation = DOCUMENT["paths"][path][method.lower()]
    assert operation["description"]
    assert operation["tags"]
    refusals = {status for status in operation["responses"] if status >= "400"}
    if path not in OPEN_TO_ALL:
        assert {"403", "503"} <= refusals
    for status in refusals - ({"503"} if path == "/readyz" else set()):
        assert list(operation["responses"][status]["content"]) == ["application/problem+json"]
        assert operation["responses"][status]["content"]["application/problem+json"]["schema"]


def test_every_refusal_in_the_openapi_document_has_an_example() -> None:
    for methods in DOCUMENT["paths"].values():
        for operation in methods.values():
            for response in operation["responses"].values():
                problem = response.get("content", {}).get("application/problem+json")
                assert problem is None or problem["examples"]


def test_the_openapi_document_has_413_for_every_route_with_a_body() -> None:
    refusing = {
        (method, path): "413" in operation["responses"]
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }
    bodies = {(str(route.values[0]).lower(), route.values[1]) for route in TAKES_BODY}
    assert {route for route, may_refuse in refusing.items() if may_refuse} == bodies
    assert len(bodies) >= 7


@pytest.mark.parametrize(("method", "path", "route"), TAKES_BODY)
async def test_a_body_that_is_too_large_is_refused(
    http: httpx.AsyncClient, method: str, path: str, route: APIRoute
) -> None:
    refused = await http.request(method, path, content=b" " * (MAX_JSON_BYTES + 1))
    assert (refused.status_code, refused.json()["type"]) == (413, "/problems/too-large")


async def test_the_openapi_document_is_served(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    assert document["info"]["title"] == "Docrail"
    assert "HTTPValidationError" not in document["components"]["schemas"]
