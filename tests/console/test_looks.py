"""All pages look alike, have a heading and a title, and none hangs over the edge of its window."""

import json
import re

import pytest
from playwright.async_api import Browser, expect

from docrail.api.console import PAGES
from tests.api.test_batches import order
from tests.console.site import DESKTOP, LAPTOP, PHONE, Site, Visitor, Watch, visit
from tests.console.test_decide import ask, upload
from tests.console.test_failures import broken, fail
from tests.console.test_review import invoice_pdf, put

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


async def test_every_page_has_one_heading_and_a_title_also_if_what_it_is_about_does_not_exist(
    busy: Site, visitor: Visitor
) -> None:
    item = await put(busy, invoice_pdf("H-1"))
    run_id, question = await ask(busy)
    real = {
        "/review/{review_id}": item.review_id,
        "/decide/{review_id}": question,
        "/batches/{batch_id}": await order(busy.service.http, definition="invoice"),
        "/documents/{document_id}": item.document_id,
        "/runs/{run_id}": run_id,
        "/definitions/{definition_id}": "invoice",
        "/definitions/{definition_id}/edit": "invoice",
        "/operations/{part}": "quotas",
    }
    assert {path for path in PAGES if "{" in path} == set(real)
    page, titles = await visitor.tab(), set[str]()
    for path in PAGES:
        for id_ in (real[path], "none") if path in real else ("",):
            await page.goto(busy.url + re.sub(r"\{\w+\}", id_, path))
            await expect(page.get_by_label("Loading")).to_have_count(0)
            await expect(page.get_by_role("heading", level=1)).to_have_count(1)
            await expect(page).to_have_title(re.compile(r"^(?!Docrail).+ · Docrail$"))
            titles.add(await page.title())
    assert len(titles) > len(PAGES)


async def test_the_current_tab_is_in_sight_on_a_phone(browser: Browser, busy: Site) -> None:
    async with visit(browser, Watch(busy.url), size=PHONE) as visitor:
        page = await visitor.tab()
        await page.goto(f"{busy.url}/?status=all")
        current = page.get_by_label("Documents by status").locator("[aria-current]")
        await expect(current).to_have_text(re.compile("All"))
        await expect(current).to_be_in_viewport(ratio=0.9)
