"""The console is served from files of this server: one page for its addresses, lasting files, a strict policy."""

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from docrail.api import console
from docrail.api.app import create_app
from docrail.api.console import PAGES
from docrail.settings import Settings
from tests.test_layout import ROOT

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SCRIPT = "console.log('<base href=\"/\"')"
INDEX = (ROOT / "console" / "index.html").read_text("utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder as the build leaves it."""
    tmp_path = tmp_path_factory.mktemp("built")
    assets = tmp_path / "assets"
    assets.mkdir()
    (tmp_path / "index.html").write_text(INDEX, "utf-8")
    (assets / "index-DvLVuLDM.js").write_text(SCRIPT)
    (assets / "index-DvLVuLDM.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (assets / "colour-scheme.js").write_text("1")
    (tmp_path / "secret.txt").write_text("not served")
    return tmp_path


@pytest.fixture(scope="module")
async def http(built: Path) -> AsyncIterator[httpx.AsyncClient]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console, "BUILT", built)
        api = create_app(Settings())
    async with client_of(api) as client:
        yield client


def client_of(api: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://127.0.0.1")


def policy(response: httpx.Response) -> dict[str, list[str]]:
    directives = (directive.split() for directive in response.headers["content-security-policy"].split(";"))
    return {name: sources for name, *sources in directives}


@pytest.mark.parametrize("path", PAGES)
async def test_every_address_of_a_page_has_the_page(http: httpx.AsyncClient, path: str) -> None:
    shown = await http.get(path.replace("{", "").replace("}", ""), headers=BROWSER)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert '<div id="root">' in shown.text


def test_the_pages_are_those_of_the_consoles_routes() -> None:
    routes = "".join(path.read_text("utf-8") for path in (ROOT / "console" / "src").rglob("route.tsx"))
    listed = {re.sub(r"\$(\w+)", "{}", path) for path in re.findall(r"^  path: '(.*)',$", routes, re.MULTILINE)}
    assert listed == {re.sub(r"\{\w+\}", "{}", page) for page in PAGES}


async def test_the_page_is_never_stale_and_may_do_nothing_but_what_it_needs(http: httpx.AsyncClient) -> None:
    shown = await http.get("/")
    allowed = policy(shown)
    assert allowed["default-src"] == allowed["frame-ancestors"] == allowed["form-action"] == ["'none'"]
    assert allowed["script-src"] == allowed["connect-src"] == allowed["worker-src"] == ["'self'"]
    assert "unsafe" not in shown.headers["content-security-policy"]
    assert shown.headers["cache-control"] == "no-cache"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert shown.headers["referrer-policy"] == "no-referrer"


async def test_each_answer_has_a_nonce_of_its_own_for_styles(http: httpx.AsyncClient) -> None:
    nonces = set()
    for _ in range(2):
        shown = await http.get("/")
        [nonce] = re.findall(r'name="csp-nonce" content="([\w-]{16,})"', shown.text)
        assert policy(shown)["style-src"] == ["'self'", f"'nonce-{nonce}'"]
        nonces.add(nonce)
    assert len(nonces) == 2


def test_the_page_has_no_script_of_its_own_and_no_address_of_another_server() -> None:
    assert re.findall(r"<script(?![^>]*\ssrc=)", INDEX) == []
    assert re.findall(r"\son\w+=|style=|//\w", INDEX) == []


async def test_a_file_named_by_its_content_is_kept_for_ever_by_browsers(http: httpx.AsyncClient) -> None:
    script = await http.get("/assets/index-DvLVuLDM.js", headers={"Accept-Encoding": "identity"})
    assert (script.status_code, script.text) == (200, SCRIPT)
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert script.headers["x-content-type-options"] == "nosniff"
    assert (await http.get("/assets/colour-scheme.js")).headers["cache-control"] == "no-cache"


async def test_a_file_is_sent_compressed_to_who_accepts_it(http: httpx.AsyncClient) -> None:
    for accepted, encoding in (("gzip, br", "gzip"), ("br", None), ("deflate", None)):
        script = await http.get("/assets/index-DvLVuLDM.js", headers={"Accept-Encoding": accepted})
        assert (script.text, script.headers.get("content-encoding")) == (SCRIPT, encoding)
        assert script.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "path", ["none-12345678.js", "index-DvLVuLDM.js.gz", "..%2Fsecret.txt", "%2e%2e/secret.txt", ""]
)
async def test_a_missing_file_is_an_error_and_never_the_page(http: httpx.AsyncClient, path: str) -> None:
    refused = await http.get(f"/assets/{path}", headers=BROWSER)
    assert refused.status_code == 404
    assert "not served" not in refused.text
    assert "root" not in refused.text


async def test_a_mistyped_address_is_a_page_for_browsers_and_a_problem_for_programs(http: httpx.AsyncClient) -> None:
    page = await http.get("/invoces", headers=BROWSER)
    assert (page.status_code, '<div id="root">' in page.text) == (404, True)
    problem = await http.get("/invoces")
    assert (problem.status_code, problem.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/nothing"), ("POST", "/invoces"), ("GET", "/docs/assets/x")])
async def test_what_programs_ask_for_is_never_a_page(http: httpx.AsyncClient, method: str, path: str) -> None:
    refused = await http.request(method, path, headers=BROWSER)
    assert (refused.status_code, refused.headers["content-type"]) == (404, "application/problem+json")


async def test_no_page_is_shown_under_a_foreign_name(http: httpx.AsyncClient) -> None:
    for path in ("/", "/runs", "/invoces", "/assets/index-DvLVuLDM.js"):
        refused = await http.get(path, headers=BROWSER | {"Host": "evil.example"})
        assert (refused.status_code, refused.json()["type"]) == (421, "/problems/unknown-host")


async def test_the_page_works_under_the_path_of_the_public_url(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "BUILT", built)
    public = Settings().model_copy(update={"public_url": "https://docs.example/a'b/docrail/"})
    async with client_of(create_app(public)) as client:
        page = (await client.get("/")).text
    assert re.findall('<base href="(.*?)"', page) == ["/a&#x27;b/docrail/"]


async def test_a_console_that_is_not_built_says_how_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "BUILT", tmp_path)
    async with client_of(create_app(Settings())) as client:
        shown = await client.get("/runs", headers=BROWSER)
        assert (shown.status_code, "make console" in shown.text) == (503, True)
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/invoces", headers=BROWSER)).headers["content-type"] == "application/problem+json"


async def test_how_people_sign_in_is_shown_to_anyone() -> None:
    for mode, needs_key in (("keys", True), ("local", False)):
        async with client_of(create_app(Settings().model_copy(update={"access": mode}))) as client:
            shown = await client.get("/v1/session/methods")
        assert (shown.status_code, shown.json()) == (200, {"key": needs_key, "single_sign_on": False})
