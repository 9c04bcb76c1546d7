"""A router looks at its routes only for paths that may be theirs."""

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from docrail.api.prefix_router import PrefixRouter

ROUTES = {"/v1/runs": "/{run_id}", "/v1/runs/{run_id}": "/steps/{step_id}", "/v1/documents": ""}


async def status(path: str, root_path: str = "") -> int:
    """Request a path of an API with ROUTES, each of a router of its own, below the path of a proxy."""
    api = FastAPI(openapi_url=None)
    for prefix, rest in ROUTES.items():
        router = PrefixRouter(prefix=prefix)
        router.add_api_route(rest, lambda: "found")
        api.include_router(router)
    transport = httpx.ASGITransport(api, root_path=root_path)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as http:
        return (await http.get(root_path + path)).status_code


@pytest.mark.parametrize("root_path", ["", "/v1", "/proxy"])
@pytest.mark.parametrize("path", ["/v1/runs/r1", "/v1/runs/r1/steps/s1", "/v1/documents"])
async def test_each_route_is_found(path: str, root_path: str) -> None:
    assert await status(path, root_path) == 200


async def test_routes_of_other_paths_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: set[str] = set()
    matches = APIRoute.matches

    def noted(route: APIRoute, scope: Scope) -> tuple[Match, Scope]:
        looked_at.add(route.path)
        return matches(route, scope)

    monkeypatch.setattr(APIRoute, "matches", noted)
    assert await status("/v1/documents") == 200
    assert looked_at == {"/v1/documents"}
