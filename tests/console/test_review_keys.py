"""The review by keyboard: doubts, other values by digits, line items, and a document that someone else has taken."""

import asyncio
import re
from decimal import Decimal

from playwright.async_api import Browser, Locator, Page, Route, expect

from docrail.invoices.facts import Source
from docrail.invoices.model import Candidate, FieldValue
from docrail.services.access.models import DEFAULT_TENANT
from docrail.services.reviews.models import review_id_of
from tests.api.customer import unique
from tests.api.reviewing import reading
from tests.console.site import Site, Visitor
from tests.console.test_inbox import waiting_of
from tests.console.test_review import (
    Item,
    eventually_approved,
    eventually_set,
    field,
    has_claim,
    invoice_pdf,
    lines_of,
    path_of,
    put,
    shown,
    signed_in,
)
from tests.stack import eventually


async def read_as(site: Site, **fields: FieldValue[Decimal] | FieldValue[str]) -> Item:
    """Store a document that was read so."""
    document_id = await waiting_of(site, reading(**fields))
    return Item(site, review_id_of(DEFAULT_TENANT, document_id), document_id)


def of_two(first: str, second: str) -> FieldValue[Decimal]:
    """Return a value with another candidate."""
    values = (Decimal(first), Decimal(second))
    candidates = tuple(Candidate[Decimal](value=each, source=Source.TEXT_LABEL) for each in values)
    return FieldValue[Decimal](value=values[0], source=Source.TEXT_LABEL, candidates=candidates)


async def test_a_digit_takes_another_value_and_z_takes_it_back_but_a_field_takes_both_as_text(
    visitor: Visitor, site: Site
) -> None:
    item = await read_as(site, total=of_two("119.00", "191.00"))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    number = field(page, "Invoice no.")
    await number.fill("")
    await number.press_sequentially("1z")
    await expect(number).to_have_value("1z")
    await field(page, "Total").focus()
    cap = page.get_by_role("option").filter(has_text="191.00").locator("kbd")
    await expect(cap).to_be_hidden()
    await page.keyboard.press("Escape")
    await expect(cap).to_have_text("1")
    await page.keyboard.press("1")
    await eventually_total(item, "191.00")
    await page.keyboard.press("z")
    await eventually_total(item, None)
    await expect(field(page, "Total")).to_have_value("119.00")


async def eventually_total(item: Item, value: str | None) -> None:
    async def is_set() -> bool:
        return (await item.values()).get("total") == value

    await eventually(is_set, f"the total to be {value}")


async def test_enter_leads_from_doubt_to_doubt_and_then_approves(visitor: Visitor, site: Site) -> None:
    unknown: FieldValue[str] = FieldValue()  # nothing from which the vendor of another test's document would be known
    item = await read_as(site, vendor_name=unknown, invoice_number=unknown, vendor_vat_id=unknown, iban=unknown)
    values = {"Vendor": unique("Muster"), "Invoice no.": unique("E")}
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    first, second = await page.locator("[data-field][data-doubt] label").all_inner_texts()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")  # into the field
    for label in (first, second):
        await expect(field(page, label)).to_be_focused()
        await page.keyboard.type(values[label])
        await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Approve and next")).to_be_focused()
    await page.keyboard.press("Enter")
    await eventually_approved(item)
    assert await item.values() == {"vendor_name": values["Vendor"], "invoice_number": values["Invoice no."]}


async def test_p_asks_until_when_and_escape_goes_back(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("P")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    question = page.get_by_role("group", name="Postpone until")
    await page.keyboard.press("p")
    await expect(question.get_by_label("Reason")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(question).to_be_hidden()
    await page.keyboard.press("p")
    await page.keyboard.type("price list")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_text("The desk is empty")).to_be_visible()
    assert (await item.state())["postponed_until"] is not None


async def test_rows_of_the_line_items_are_added_walked_and_deleted_by_keyboard(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("R")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await page.get_by_role("button", name="2 line items").press("Enter")
    await cell(page, 1).focus()
    await page.keyboard.press("ArrowDown")
    await expect(cell(page, 2)).to_be_focused()
    await page.keyboard.press("Enter")  # on the last row
    await expect(cell(page, 3)).to_be_focused()
    await page.keyboard.type("Porto")
    await page.keyboard.press("ArrowUp")
    await expect(cell(page, 2)).to_be_focused()
    await eventually(lambda: has_lines(item, "Beratung", "Reise", "Porto"), "the new row to be saved")
    await page.get_by_role("button", name="Delete row 2").press("Enter")
    await eventually(lambda: has_lines(item, "Beratung", "Porto"), "the row to be deleted")


def cell(page: Page, row: int) -> Locator:
    return page.get_by_label(f"Row {row}, Description")


async def has_lines(item: Item, *descriptions: str) -> bool:
    return [line["description"] for line in await lines_of(item)] == list(descriptions)


async def test_a_document_that_someone_else_has_taken_meanwhile_is_passed_over_with_a_sentence(
    browser: Browser, guarded_site: Site
) -> None:
    text = unique("O")
    first, second, third = [await put(guarded_site, invoice_pdf(f"{text}-{n}"), f"{text}-{n}.pdf") for n in range(3)]
    async with signed_in(browser, guarded_site, "ann") as ann, signed_in(browser, guarded_site, "bob") as bob:
        held = asyncio.Event()
        await ann.context.route("**/v1/events*", lambda _: held.wait())  # she hears of nothing
        hers = await ann.tab(path_of(first, text))
        await shown(hers)
        await expect(hers.get_by_text("1 of 3")).to_be_visible()
        await hers.route(f"**/{first.document_id}/neighbours*", lambda _: held.wait())  # nor by asking again
        his = await bob.tab(path_of(second, text))
        await shown(his)
        await eventually(lambda: has_claim(second, "bob"), "his claim")
        await hers.keyboard.press("Control+Enter")
        await expect(hers.get_by_text("bob works on")).to_be_visible()  # for six seconds
        await expect(hers).to_have_url(re.compile(third.review_id))
        await eventually(lambda: has_claim(third, "ann"), "her next claim")
        assert await has_claim(second, "bob")
        held.set()


async def test_an_answer_that_was_asked_for_before_a_save_does_not_undo_it(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("U")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    is_read, first, others = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        turn = others if is_read.is_set() else first
        answer = await route.fetch()
        is_read.set()
        await turn.wait()
        await route.fulfill(response=answer)

    await page.route("**/view", hold)
    vendor = field(page, "Vendor")
    row = page.locator("[data-field=vendor_name]").filter(has=vendor)
    await vendor.fill("Muster AG")
    await vendor.press("Escape")
    await expect(row).to_contain_text("confirmed")
    await asyncio.wait_for(is_read.wait(), 30)  # the event about the save
    await vendor.fill("Muster KG")
    async with page.expect_response(lambda response: response.url.endswith("/text")):
        await vendor.press("Escape")
    await eventually_set(item, {"vendor_name": "Muster KG"})
    async with page.expect_event("requestfinished", lambda request: request.url.endswith("/view")):
        first.set()
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    assert await vendor.input_value() == "Muster KG"
    others.set()


async def test_a_page_is_darkened_and_stays_dark(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("D")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    button, picture = page.get_by_role("button", name="Dark page"), page.get_by_role("img", name="Page 1 of 1")
    await expect(picture).to_have_css("filter", "none")
    await button.click()
    await expect(picture).to_have_css("filter", re.compile("invert"))
    await page.reload()
    await expect(button).to_have_attribute("aria-pressed", "true")
    await expect(picture).to_have_css("filter", re.compile("invert"))
