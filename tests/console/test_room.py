"""What a clerk decides by has room in every window and language: heading, confidences, the buttons of a decision."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from docrail.services.access.models import DEFAULT_TENANT
from docrail.services.reviews.models import review_id_of
from tests.api.customer import unique
from tests.api.reviewing import reading, said
from tests.console.site import DESKTOP, PHONE, Site, Watch, screenshot, visit
from tests.console.test_inbox import row, waiting_of
from tests.console.test_review import Item, invoice_pdf, path_of, put, shown

NARROW = (1280, 800)
GERMAN, ENGLISH = "de-DE", "en-GB"

HIDDEN = """([what, within]) => [...document.querySelectorAll(what)].filter((each) => {
  const [inner, outer] = [each, each.closest(within)].map((one) => one.getBoundingClientRect())
  const isInside = inner.left >= outer.left && inner.right <= Math.min(outer.right, innerWidth)
  const isWhole = [each, ...each.querySelectorAll('*')].every((part) => part.scrollWidth <= part.clientWidth + 1
    || getComputedStyle(part).overflowX === 'visible')
  return !isInside || !isWhole
}).map((each) => each.textContent)"""


async def hidden(page: Page, what: str, within: str) -> list[str]:
    """Return the texts of the elements that are cut off by another one, by the window or by themselves."""
    assert await page.locator(what).count() > 0
    found: list[str] = await page.evaluate(HIDDEN, [what, within])
    return found


@pytest.mark.parametrize("locale", [GERMAN, ENGLISH])
@pytest.mark.parametrize("size", [DESKTOP, NARROW, PHONE])
async def test_the_buttons_of_a_decision_are_whole(
    browser: Browser, site: Site, pictures: Path, size: tuple[int, int], locale: str
) -> None:
    item = await put(site, invoice_pdf(unique("B")))
    watch = Watch(site.url)
    async with visit(browser, watch, size=size, locale=locale) as visitor:
        page = await visitor.tab(path_of(item, "none"))
        await shown(page)
        await screenshot(page, f"footer-{size[0]}-{locale}", pictures)
        assert await hidden(page, "footer button", "footer") == []
        await page.keyboard.press("p")
        await expect(page.locator("footer").get_by_role("textbox").last).to_be_focused()
        assert await hidden(page, "footer button", "footer") == []
    assert watch.found() == []


@pytest.mark.parametrize("locale", [GERMAN, ENGLISH])
@pytest.mark.parametrize("size", [DESKTOP, NARROW, PHONE])
async def test_the_deadline_is_whole_and_on_a_phone_the_whole_heading(
    browser: Browser, site: Site, pictures: Path, size: tuple[int, int], locale: str
) -> None:
    item = await put(site, invoice_pdf(unique("D"), vendor="Gesellschaft für lange Namen mbH & Co. KG"))
    late = "UPDATE reviews SET due_at = now() - interval '1 hour' WHERE review_id = $1"
    await site.service.app.db.execute(late, item.review_id)
    words = {GERMAN: "Entscheidung überfällig", ENGLISH: "Decision overdue"}[locale]
    watch = Watch(site.url)
    async with visit(browser, watch, size=size, locale=locale) as visitor:
        page = await visitor.tab(path_of(item, "D_"))
        await shown(page)
        await expect(page.locator("header [class*=place]")).to_be_visible()
        await expect(page.locator("header [class*=deadline]")).to_contain_text(words)
        await screenshot(page, f"heading-{size[0]}-{locale}", pictures)
        assert await hidden(page, "header [class*=deadline]", "header") == []
        if size == PHONE:
            assert await hidden(page, "header [class*=headline]", "header") == []
    assert watch.found() == []


@pytest.mark.parametrize("locale", [GERMAN, ENGLISH])
@pytest.mark.parametrize("size", [DESKTOP, NARROW])
async def test_the_numbers_of_confidences_are_whole(
    browser: Browser, site: Site, pictures: Path, size: tuple[int, int], locale: str
) -> None:
    vendor = unique("Sicher")
    document_id = await waiting_of(site, reading(vendor_name=said(vendor)))
    item = Item(site, review_id_of(DEFAULT_TENANT, document_id), document_id)
    watch = Watch(site.url)
    async with visit(browser, watch, size=size, locale=locale) as visitor:
        for certainty, confidence in (("low", 0.34), ("medium", 0.89)):
            change = "UPDATE reviews SET summary = jsonb_set(summary, '{confidence}', $2) WHERE document_id = $1"
            await site.service.app.db.execute(change, document_id, confidence)
            page = await visitor.tab(f"/?text={vendor}")
            await expect(row(page, vendor).locator(f"[data-certainty={certainty}]")).to_be_visible()
            await screenshot(page, f"inbox-{certainty}-{size[0]}-{locale}", pictures)
            assert await hidden(page, "[data-certainty] .numbers", "[data-column=confidence]") == []
        page = await visitor.tab(path_of(item, "none"))
        await shown(page)
        await screenshot(page, f"fields-{size[0]}-{locale}", pictures)
        assert await hidden(page, "[data-field] > div > .numbers", "[data-field] > div") == []
    assert watch.found() == []
