"""All pages look alike, and none hangs over the edge of its window."""

import json
import re

import pytest
from playwright.async_api import Browser, expect

from tests.console.site import DESKTOP, LAPTOP, PHONE, Site, Visitor, Watch, visit
from tests.console.test_decide import ask, upload
from tests.console.test_failures import broken, fail

PATHS = (
    "/",
    "/decide",
    "/exports",
    "/runs",
    "/failures?definition=looked_at",
    "/batches",
    "/definitions",
    "/definitions/invoice?tab=history",
    "/definitions/invoice/edit",
    "/operations/fleet",
    "/operations/limits",
    "/operations/triggers",
    "/operations/keys",
    "/operations/audit",
    "/documents/doc_0f9c6c4b3a2d4e5f8a7b6c5d4e",
    "/no/such/page",
)
HEADS = """() => [...document.querySelectorAll('thead th, [role=columnheader]')].map((each) => {
  const { color, fontSize, fontWeight, textTransform } = getComputedStyle(each)
  return JSON.stringify([color, fontSize, fontWeight, textTransform])
})"""


@pytest.fixture(scope="module")
async def busy(site: Site) -> Site:
    """A site in which most lists have a row."""
    await site.service.closed((await site.service.http.get(f"/v1/documents/{await upload(site)}")).json()["run_id"])
    await ask(site)
    await fail(site, broken("looked_at"), 1)
    return site


async def test_the_headings_of_all_lists_look_alike(busy: Site, visitor: Visitor) -> None:
    page, looks, lists = await visitor.tab(), set[str](), 0
    for path in PATHS:
        await page.goto(busy.url + path)
        await expect(page.get_by_role("heading").first).to_be_visible()
        await expect(page.get_by_label("Loading")).to_have_count(0)
        found: list[str] = await page.evaluate(HEADS)
        looks |= set(found)
        lists += bool(found)
    assert lists >= 6
    assert len(looks) == 1, [json.loads(look) for look in looks]


@pytest.mark.parametrize("size", [DESKTOP, LAPTOP, PHONE])
async def test_no_page_is_wider_than_its_window(browser: Browser, busy: Site, size: tuple[int, int]) -> None:
    watch, wide = Watch(busy.url), []
    async with visit(browser, watch, size=size) as visitor:
        page = await visitor.tab()
        for path in PATHS:
            await page.goto(busy.url + path)
            await expect(page.get_by_role("heading").first).to_be_visible()
            await expect(page.get_by_label("Loading")).to_have_count(0)
            if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(path)
    assert wide == []
    assert watch.found() == []


async def test_the_current_tab_is_in_sight_on_a_phone(browser: Browser, busy: Site) -> None:
    async with visit(browser, Watch(busy.url), size=PHONE) as visitor:
        page = await visitor.tab()
        await page.goto(f"{busy.url}/?status=all")
        current = page.get_by_label("Documents by status").locator("[aria-current]")
        await expect(current).to_have_text(re.compile("All"))
        await expect(current).to_be_in_viewport(ratio=0.9)
