"""A running Docrail with its console, and browser pages that fail their test for whatever the browser complains of."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, Response, expect

from deploy.node import CONSOLE
from docrail.api.console import BUILT
from docrail.services.definitions.service import publish_shipped
from docrail.settings import Settings
from tests.api.service import Service, is_ready, serve, work
from tests.stack import eventually

Scheme = Literal["light", "dark"]
DESKTOP, LAPTOP, PHONE = (1440, 900), (1024, 768), (390, 844)
"""The sizes of window in which pages are looked at."""
LOOKS = pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", LAPTOP)], ids=["light", "dark"])
"""Each theme and each window once: colours do not depend on the window, nor the layout on the theme."""
LOOKS_WITH_PHONE = pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESKTOP), ("dark", LAPTOP), ("light", PHONE)], ids=["light", "dark", "phone"]
)
TIMEOUT_SECONDS = 60
"""Tests of servers run at the same time, on few cores."""
expect.set_options(timeout=TIMEOUT_SECONDS * 1000)
SERVER_ERROR = 500
AXE = CONSOLE / "node_modules" / "axe-core" / "axe.min.js"
REFUSED = re.compile(r"Failed to load resource: the server responded with a status of 4\d\d")
"""Chromium's own line for every answer that is a refusal. The page handles those, and tests look at what it shows."""


@dataclass(frozen=True, slots=True)
class Site:
    """A running API with the built console, its own database and a worker."""

    service: Service

    @property
    def url(self) -> str:
        """Return the address, without a trailing slash."""
        return str(self.service.http.base_url).rstrip("/")


@asynccontextmanager
async def serve_site(settings: Settings, *, worker: bool = True) -> AsyncIterator[Site]:
    """Serve the console and the API as users have them: with their own authentication, unlike other tests' API."""
    assert (BUILT / "index.html").exists(), "the console is not built: run `make console`"
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(serve(settings))
        service.guard()
        await publish_shipped(service.app)
        if worker:
            await stack.enter_async_context(work(settings))
            await eventually(lambda: is_ready(service), "the API to be ready")
        yield Site(service)


@dataclass
class Watch:
    """What went wrong in the pages of a test: errors in the console, other sites, answers of a broken server."""

    url: str
    complaints: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    """Patterns of complaints that the test is about."""

    def follow(self, page: Page) -> None:
        """Note what the page complains of from now on."""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        page.on("request", self._request)
        page.on("response", self._response)

    def found(self) -> list[str]:
        """Return the complaints that the test does not expect."""
        return [each for each in self.complaints if not any(re.search(known, each) for known in self.expected)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not REFUSED.match(message.text):
            self.complaints.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        target = urlsplit(request.url)
        if target.scheme not in ("data", "blob") and target.netloc != urlsplit(self.url).netloc:
            self.complaints.append(f"asked another site: {request.url[:200]}")

    def _response(self, response: Response) -> None:
        missing = "/assets/" in response.url and response.status >= 400
        if missing or response.status >= SERVER_ERROR:
            self.complaints.append(f"answered {response.status}: {response.request.method} {response.url[:200]}")


@dataclass(frozen=True, slots=True)
class Visitor:
    """A browser of its own for a person: other tabs share its session and its storage, other visitors do not."""

    context: BrowserContext
    watch: Watch

    async def tab(self, path: str = "/") -> Page:
        """Open a page in a new tab."""
        page = await self.context.new_page()
        page.set_default_timeout(TIMEOUT_SECONDS * 1000)
        self.watch.follow(page)
        await page.goto(self.watch.url + path)
        return page


@asynccontextmanager
async def visit(
    browser: Browser,
    watch: Watch,
    *,
    scheme: Scheme = "light",
    size: tuple[int, int] = DESKTOP,
    locale: str = "en-GB",
    zone: str = "Europe/Berlin",
) -> AsyncIterator[Visitor]:
    """Start a browser session without cookies and storage. Animations are off: what is shown is shown at once."""
    context = await browser.new_context(
        base_url=watch.url,
        color_scheme=scheme,
        viewport={"width": size[0], "height": size[1]},
        locale=locale,
        timezone_id=zone,
        reduced_motion="reduce",
    )
    try:
        yield Visitor(context, watch)
    finally:
        await context.close()


async def axe(page: Page) -> list[str]:
    """Return the serious findings of axe about the page as it is now; a test asserts that there are none."""
    # Evaluated by the browser's debugger, which the page's policy does not bind.
    await page.evaluate(AXE.read_text("utf-8"))
    found: dict[str, Any] = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
    return [f"{each['id']}: {json.dumps([node['html'][:200] for node in each['nodes']])}" for each in serious]


async def screenshot(page: Page, name: str, folder: Path) -> Path:
    """Take a picture of the page as it is now, and return its file."""
    await page.evaluate("document.fonts.ready.then(() => true)")
    path = folder / f"{name}.png"
    folder.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=path)
    return path


async def tab_to(page: Page, control: Locator) -> None:
    """Press Tab until the control has the focus."""
    for _ in range(100):
        if await control.evaluate("each => each === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"{control} cannot be reached with Tab")


async def focused(page: Page) -> str:
    """Return the accessible name, or else the text, of what has the focus."""
    script = "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''"
    return cast(str, await page.evaluate(script))
