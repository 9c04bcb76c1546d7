"""People sign in to the console at their identity provider, and come back to the page where they were."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Page, expect

from tests.api.service import Service
from tests.console.site import Visitor, Watch, axe, visit
from tests.oidc_issuer import LoopbackIssuer
from tests.single_sign_on import api, issuer, trusting, url_of

__all__ = ["api", "issuer", "trusting"]

PAGE = "/runs?status=failed&text=%22a%20b%22"


@pytest.fixture
async def visitor(browser: Browser, api: Service, issuer: LoopbackIssuer) -> AsyncIterator[Visitor]:
    watch = Watch(url_of(api), expected=[f"asked another site: {issuer.url}/authorize"])
    async with visit(browser, watch) as visiting:
        yield visiting
    assert watch.found() == []


async def test_a_person_comes_back_to_the_page_that_they_opened(visitor: Visitor) -> None:
    page = await visitor.tab(PAGE)
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert await axe(page) == []
    await sign_in(page)
    await expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()
    assert address(page) == PAGE


async def test_a_person_whose_session_has_ended_comes_back_to_the_same_page(visitor: Visitor) -> None:
    page = await visitor.tab("/failures")
    await sign_in(page)
    await expect(page.get_by_role("heading", level=1, name="Failures")).to_be_visible()
    await visitor.context.clear_cookies()
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', {bubbles: true}))")
    await expect(page.get_by_role("dialog", name="Sign in again")).to_be_visible()
    await sign_in(page)
    await expect(page.get_by_role("heading", level=1, name="Failures")).to_be_visible()
    assert address(page) == "/failures"


async def test_an_address_that_is_too_long_to_come_back_to_leads_to_its_page(visitor: Visitor) -> None:
    page = await visitor.tab("/runs?text=" + "x" * 600)
    await sign_in(page)
    await expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()
    assert address(page) == "/runs"


async def sign_in(page: Page) -> None:
    await page.get_by_role("link", name="Sign in with single sign-on").click()


def address(page: Page) -> str:
    """Return the path and the query of a tab."""
    found = urlsplit(page.url)
    return found.path + (f"?{found.query}" if found.query else "")
