"""What a clerk looks at in a review: its heading, the way to a doubt, why a value is sure, and the pages."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.async_api import Browser, FloatRect, Locator, Page, expect

from docrail.invoices.facts import Source
from docrail.invoices.model import Candidate, FieldValue
from docrail.services.access.models import DEFAULT_TENANT, local_name
from docrail.services.reviews.models import review_id_of
from tests.api.customer import unique
from tests.api.reviewing import reading
from tests.console.site import DESKTOP, LAPTOP, Site, Visitor, Watch, screenshot, visit
from tests.console.test_inbox import waiting_of
from tests.console.test_review import (
    Item,
    eventually_set,
    field,
    has_claim,
    invoice_pdf,
    path_of,
    place,
    put,
    shown,
)
from tests.stack import eventually


def heading(page: Page) -> Locator:
    return page.locator("header").filter(has=page.get_by_role("heading", level=1))


@pytest.mark.parametrize("size", [DESKTOP, LAPTOP])
async def test_the_heading_says_what_the_document_is_and_where_in_its_list(
    browser: Browser, site: Site, pictures: Path, size: tuple[int, int]
) -> None:
    text, vendor = unique("K"), "Gesellschaft für lange Namen mbH & Co. KG"
    first, _ = [await put(site, invoice_pdf(f"{text}-{n}", vendor=vendor), f"{text} {'x' * 60}.pdf") for n in (1, 2)]
    await site.service.app.db.execute("UPDATE reviews SET due_at = now() - interval '1 hour', band = 2")
    watch = Watch(site.url)
    async with visit(browser, watch, size=size) as visitor:
        page = await visitor.tab(path_of(first, text))
        await shown(page)
        for words in (vendor, "€119.00", f"{text} x", "Invoice", "Decision overdue", "1 of 2"):
            await expect(heading(page).get_by_text(words).first).to_be_visible()
        await expect(heading(page).get_by_role("button", name="Previous document")).to_be_disabled()
        await expect(heading(page).get_by_role("button", name="Next document")).to_be_enabled()
        parts = heading(page).locator("h1, h1 + *, [class*=Badge-root], button, [class*=place]")
        boxes = [box for part in await parts.all() if (box := await part.bounding_box())]
        side = await heading(page).bounding_box()
        assert side is not None
        assert all(box["x"] >= side["x"] and box["x"] + box["width"] <= side["x"] + side["width"] for box in boxes)
        assert not any(overlap(one, two) for i, one in enumerate(boxes) for two in boxes[i + 1 :])
        await screenshot(page, f"review-heading-{size[0]}", pictures)
    assert watch.found() == []


def overlap(one: FloatRect, two: FloatRect) -> bool:
    across = min(one["x"] + one["width"], two["x"] + two["width"]) - max(one["x"], two["x"])
    down = min(one["y"] + one["height"], two["y"] + two["height"]) - max(one["y"], two["y"])
    return across > 1 and down > 1


async def test_a_problem_leads_to_its_field_and_its_box_on_the_page(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("J")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await field(page, "Net").or_(page.get_by_role("button", name="more fields")).first.click()
    await field(page, "Net").fill("150,00")
    await field(page, "Net").press("Escape")
    problems = page.get_by_role("list", name="Problems").get_by_role("button")
    await problems.filter(has_text="not the total 119").click()
    await expect(field(page, "Total")).to_be_focused()
    await expect(page.get_by_test_id("focused-box")).to_be_in_viewport()
    await problems.filter(has_text="Line items").click()
    await expect(page.get_by_label("Row 1, Description")).to_be_focused()


async def test_why_shows_the_parts_of_a_confidence_and_a_lock_says_who_and_when(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("Y")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await field(page, "Vendor").focus()
    await expect(page.get_by_test_id("mode")).to_contain_text("In the field")
    await page.keyboard.press("Escape")
    await expect(page.get_by_test_id("mode")).to_contain_text("why")
    await page.keyboard.press("w")
    why = page.get_by_test_id("why")
    await expect(why).to_contain_text("Source:")
    await expect(why).to_contain_text("Together:")
    await field(page, "Vendor").fill("Muster AG")
    await field(page, "Vendor").press("Escape")
    row = page.locator("[data-field=vendor_name]").filter(has=field(page, "Vendor"))
    await expect(row).to_contain_text("confirmed")
    await field(page, "Vendor").focus()
    await expect(row.get_by_text("Set by")).to_be_visible()
    await row.get_by_role("button", name="Unlock").click()
    await expect(field(page, "Vendor")).to_have_value("Muster GmbH")
    await expect(row.get_by_text("Set by")).to_be_hidden()


async def test_a_candidate_is_taken_by_keyboard_and_taken_back_on_the_server(visitor: Visitor, site: Site) -> None:
    values = (Decimal("119.00"), Decimal("191.00"))
    candidates = tuple(Candidate[Decimal](value=each, source=Source.TEXT_LABEL) for each in values)
    total = FieldValue[Decimal](value=values[0], source=Source.TEXT_LABEL, candidates=candidates)
    document_id = await waiting_of(site, reading(total=total))
    item = Item(site, review_id_of(DEFAULT_TENANT, document_id), document_id)
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await field(page, "Total").focus()
    chip = page.get_by_role("listbox", name="Other values of Total").get_by_role("option")
    await expect(chip).to_contain_text("191.00")
    await page.keyboard.press("ArrowDown")
    await expect(chip).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("Enter")
    await eventually_set(item, {"total": "191.00"})
    await page.keyboard.press("Control+Shift+Z")
    await eventually_set(item, {})
    await expect(field(page, "Total")).to_have_value("119.00")


async def test_pages_are_turned_and_zoomed_by_keyboard_and_a_reload_shows_the_same_page(
    visitor: Visitor, site: Site
) -> None:
    item = await put(site, invoice_pdf(unique("G"), pages=3))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await page.keyboard.press("PageDown")
    await page.keyboard.press("PageDown")
    await expect(page.get_by_text("3 / 3")).to_be_visible()
    await page.keyboard.press("PageUp")
    second = page.get_by_role("img", name="Page 2 of 3")
    await expect(second).to_be_visible()
    await page.reload()
    await expect(second).to_be_visible()
    assert "page=2" in page.url
    await page.keyboard.press("0")
    whole = await width_at_rest(second)
    await page.keyboard.press("+")
    larger = await width_at_rest(second)
    await page.keyboard.press("-")
    assert whole < larger
    assert abs(await width_at_rest(second) - whole) < 1


async def width_at_rest(picture: Locator) -> float:
    """Return a picture's width once it stays the same: it is zoomed gently."""
    return (await at_rest(picture))["width"]


async def at_rest(picture: Locator) -> FloatRect:
    """Return where a picture is once it stays there."""
    boxes: list[FloatRect] = []

    async def rests() -> bool:
        boxes.extend([box] if (box := await picture.bounding_box()) else [])
        return len(boxes) > 10 and all(box == boxes[-1] for box in boxes[-10:])

    await eventually(rests, "the picture to rest")
    return boxes[-1]


async def test_ctrl_and_the_wheel_zoom_the_page_at_the_pointer_and_the_wheel_alone_moves_it(
    visitor: Visitor, site: Site
) -> None:
    page = await visitor.tab(path_of(await put(site, invoice_pdf(unique("W"))), "none"))
    await shown(page)
    # Chromium zooms its window where no one prevents it, but not in tests: there only this can be seen.
    await page.evaluate("addEventListener('wheel', (event) => { window.isPrevented = event.defaultPrevented })")
    picture = page.get_by_role("img", name="Page 1 of 1")
    before = await at_rest(picture)
    x, y = before["x"] + before["width"] / 3, before["y"] + 200
    await page.mouse.move(x, y)
    await page.keyboard.down("Control")
    await page.mouse.wheel(0, -150)
    zoomed = await at_rest(picture)
    assert await page.evaluate("window.isPrevented")
    assert zoomed["width"] > 1.3 * before["width"]
    assert (x - zoomed["x"]) / zoomed["width"] == pytest.approx((x - before["x"]) / before["width"], abs=0.01)
    assert (y - zoomed["y"]) / zoomed["height"] == pytest.approx((y - before["y"]) / before["height"], abs=0.01)
    await page.mouse.wheel(0, 150)
    assert abs((await at_rest(picture))["width"] - before["width"]) < 1
    await page.keyboard.up("Control")
    await page.mouse.wheel(0, 100)
    moved = await at_rest(picture)
    assert (moved["width"], moved["y"]) == pytest.approx((before["width"], before["y"] - 100), abs=1)


@pytest.mark.parametrize("turns", [1, 2, 3])
async def test_the_words_of_a_page_that_was_turned_are_where_they_are_seen(
    visitor: Visitor, site: Site, turns: int
) -> None:
    item = await put(site, invoice_pdf(unique("O"), total="200,00"))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    for _ in range(turns):
        await page.get_by_role("button", name="Rotate").click()
    await page.get_by_role("button", name="Whole page").click()
    await field(page, "Total").focus()
    words = page.get_by_test_id("page-words")
    await words.hover(trial=True)  # until the page has moved to the field
    at = {1: (1 - 0.352, 0.83), 2: (1 - 0.83, 1 - 0.352), 3: (0.352, 1 - 0.83)}[turns]
    await words.click(position=await place(page, *at))
    await expect(field(page, "Total")).to_have_value("100,00")


async def test_fetching_the_next_document_ahead_claims_nothing_and_a_claim_is_renewed_while_someone_works(
    visitor: Visitor, site: Site
) -> None:
    text = unique("A")
    first, second = [await put(site, invoice_pdf(f"{text}-{n}")) for n in (1, 2)]
    page = await visitor.tab()
    await page.clock.install()
    ahead = f"/v1/documents/{second.document_id}/pages/1.png"
    async with page.expect_response(lambda response: ahead in response.url):
        await page.goto(path_of(first, text))
    await shown(page)
    await eventually(lambda: has_claim(first, local_name()), "the claim")
    assert (await second.state())["claimed_by"] is None
    until: dt.datetime = (await first.state())["claimed_until"]
    await page.keyboard.press("j")
    async with page.expect_response(lambda response: response.url.endswith("/renew")) as renewal:
        await page.clock.fast_forward("05:00")
    assert (await renewal.value).status == 200
    assert (await first.state())["claimed_until"] > until
