"""The /docs page works offline: it loads only files of this server, and may load no others."""

import re

import httpx
import pytest

LOADED = (
    ("docs/assets/swagger-ui.css", "text/css"),
    ("docs/assets/favicon-32x32.png", "image/png"),
    ("docs/assets/swagger-ui-bundle.js", "text/javascript"),
    ("docs/start.js", "text/javascript"),
)
ADDRESS = r"(?:[a-z]+:)?//[^\s\"')]+"


def policy(page: httpx.Response) -> dict[str, set[str]]:
    directives = (directive.split() for directive in page.headers["content-security-policy"].split(";"))
    return {name: set(sources) for name, *sources in directives}


async def test_the_page_loads_these_files_and_no_others(http: httpx.AsyncClient) -> None:
    page = await http.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert re.findall(r"(?:src|href)=\"([^\"]*)\"", page.text) == [path for path, _ in LOADED]
    assert re.findall(ADDRESS, page.text) == []


@pytest.mark.parametrize(("path", "media_type"), LOADED)
async def test_the_files_that_it_loads_are_served(http: httpx.AsyncClient, path: str, media_type: str) -> None:
    file = await http.get(f"/{path}")
    assert (file.status_code, file.headers["content-type"].partition(";")[0]) == (200, media_type)
    assert file.content


async def test_its_style_sheet_loads_nothing(http: httpx.AsyncClient) -> None:
    sheet = (await http.get("/docs/assets/swagger-ui.css")).text
    assert {target[:5] for target in re.findall(r"url\([\"']?([^)]+)", sheet)} == {"data:"}
    assert "@import" not in sheet


async def test_its_script_reads_our_document_and_calls_no_other_server(http: httpx.AsyncClient) -> None:
    script = (await http.get("/docs/start.js")).text
    assert re.findall(ADDRESS, script) == []
    assert 'url: "openapi.json"' in script
    assert "validatorUrl: null" in script
    assert (await http.get("/openapi.json")).status_code == 200


async def test_its_policy_allows_this_server_and_nothing_else(http: httpx.AsyncClient) -> None:
    allowed = policy(await http.get("/docs"))
    assert allowed["default-src"] == allowed["frame-ancestors"] == allowed["base-uri"] == {"'none'"}
    assert allowed["script-src"] == allowed["style-src"] == allowed["connect-src"] == {"'self'"}
    assert set().union(*allowed.values()) == {"'none'", "'self'", "data:"}


@pytest.mark.parametrize(
    "path", ["/redoc", "/docs/oauth2-redirect", "/docs/assets/none.js", "/docs/assets/%2e%2e/main.py"]
)
async def test_no_other_documentation_pages_exist(http: httpx.AsyncClient, path: str) -> None:
    refused = await http.get(path)
    assert (refused.status_code, refused.headers["content-type"]) == (404, "application/problem+json")
