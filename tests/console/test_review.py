"""The review screen: a clerk corrects and decides documents by keyboard, and sees what a decision needs."""

import datetime as dt
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Locator, Page, Position, Route, expect

from docrail.dag.values.json_values import Json
from docrail.invoices.readers.read import read_document
from docrail.services.access.models import DEFAULT_TENANT, Principal, Scope
from docrail.services.access.service import create_key
from docrail.services.documents.repository.documents import insert_document
from tests.api.customer import unique
from tests.api.reviewing import open_item
from tests.console.site import LOOKS, Scheme, Site, Visitor, Watch, axe, screenshot, visit
from tests.invoices.documents import make_pdf, pdf_bytes
from tests.postgres import new_document_id
from tests.stack import eventually

TODAY = dt.date(2026, 11, 21)


@dataclass(frozen=True, slots=True)
class Item:
    """A document that waits for a person."""

    site: Site
    review_id: str
    document_id: str

    async def state(self) -> Json:
        return await self.site.service.app.db.fetchrow("SELECT * FROM reviews WHERE review_id = $1", self.review_id)

    async def values(self) -> dict[str, str]:
        """Return what people have set."""
        rows = await self.site.service.app.db.fetch(
            "SELECT field, value FROM corrections WHERE document_id = $1 AND undone_at IS NULL ORDER BY correction_id",
            self.document_id,
        )
        return {row["field"]: row["value"] for row in rows}


def invoice_pdf(
    number: str, *, vendor: str = "Muster GmbH", total: str = "119,00", pages: int = 1, country: bool = True
) -> bytes:
    """Return an invoice whose total is wrong if it is not 119,00; without a `country`, no one can tell where it is."""
    lines = [(60, 60, vendor), (60, 75, "Hauptstrasse 1, 10115 Berlin"), (60, 130, f"Rechnung Nr. {number}")]
    lines += [(60, 150, "Rechnungsdatum: 12.04.2026"), (60, 170, "Zahlbar bis: 12.05.2026")]
    lines += [(60, 220, "Beschreibung"), (300, 220, "Menge"), (380, 220, "Einzelpreis"), (480, 220, "Betrag")]
    lines += [(60, 240, "Beratung"), (300, 240, "2"), (380, 240, "25,00"), (480, 240, "50,00")]
    lines += [(60, 256, "Reise"), (300, 256, "1"), (380, 256, "50,00"), (480, 256, "50,00")]
    lines += [(380, 300, "Summe netto"), (480, 300, "100,00"), (380, 316, "USt 19 %"), (480, 316, "19,00")]
    lines += [(380, 332, "Gesamtbetrag"), (480, 332, f"{total} EUR")]
    lines += [(60, 400, "IBAN: DE02 1203 0000 0000 2020 51"), (60, 416, "USt-IdNr. DE136695976")] if country else []
    return pdf_bytes(make_pdf(lines, *([(60, 60, f"Anlage {page}")] for page in range(2, pages + 1))))


async def put(site: Site, data: bytes, file_name: str = "rechnung.pdf") -> Item:
    """Store a document as a run would that has read it, and open its item."""
    service = site.service
    blob = await service.app.blobs.put(data)
    document = await insert_document(
        *(service.app.db, DEFAULT_TENANT, new_document_id(), blob),
        media_type="application/pdf",
        file_name=file_name,
        sla_hours=24,
    )
    review = await open_item(service, document, read_document(data, today=TODAY))
    return Item(site, review.review_id, document.document_id)


def path_of(item: Item, text: str) -> str:
    """Return the address of an item, as part of the list of those that a text finds, oldest first."""
    return f"/review/{item.review_id}?queue={quote(f'status=attention&text={text}&sort=oldest')}"


async def shown(page: Page) -> Locator:
    """Wait until the document is painted; the first picture of all waits for the process that draws."""
    sheet = page.locator("[data-testid=review][data-painted]")
    await expect(sheet).to_be_visible(timeout=30_000)
    return sheet


def field(page: Page, name: str) -> Locator:
    return page.get_by_label(name, exact=True)


async def test_two_fields_are_corrected_by_keyboard_and_the_next_document_is_shown(
    visitor: Visitor, site: Site
) -> None:
    text = unique("K")
    first, second = [await put(site, invoice_pdf(f"{text}-{each}")) for each in (1, 2)]
    page = await visitor.tab(path_of(first, text))
    await shown(page)
    await expect(page.get_by_text("1 of 2")).to_be_visible()
    await field(page, "Total").focus()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("119,00 €")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Control+a")
    await page.keyboard.type("eur")
    await page.keyboard.press("Escape")
    await expect(field(page, "Currency")).to_have_value("EUR")
    await expect(page.get_by_text("confirmed")).to_have_count(2)
    await page.keyboard.press("Control+Enter")
    await expect(page).to_have_url(re.compile(second.review_id))
    await expect(field(page, "Invoice no.")).to_have_value(f"{text}-2")
    await eventually_approved(first)
    assert await first.values() == {"total": "119.00", "currency": "EUR"}
    await shown(page)
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_text("The desk is empty")).to_be_visible()
    await eventually_approved(second)


async def test_a_held_key_approves_one_document_only(visitor: Visitor, site: Site) -> None:
    text = unique("H")
    first, second, third = [await put(site, invoice_pdf(f"{text}-{each}")) for each in range(3)]
    page = await visitor.tab(path_of(first, text))
    await shown(page)
    await page.keyboard.down("Control")
    await page.keyboard.down("Enter")
    await expect(page).to_have_url(re.compile(second.review_id))
    await shown(page)
    for _ in range(20):
        await page.keyboard.down("Enter")  # repeats: the key is still held
    await page.evaluate("dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', code: 'Enter', ctrlKey: true}))")
    await expect(page).to_have_url(re.compile(second.review_id))
    assert (await second.state())["status"] == "open"
    await page.keyboard.up("Enter")
    await page.keyboard.down("Enter")
    await expect(page).to_have_url(re.compile(third.review_id))
    await page.keyboard.up("Enter")
    await page.keyboard.up("Control")
    await eventually_approved(second)
    assert (await third.state())["status"] == "open"


@pytest.mark.parametrize(
    ("label", "name", "text", "second"),
    [("Total", "total", "1.234", "1.2340"), ("Date", "date", "01/02/24", "2024-01-02")],
)
async def test_an_ambiguous_value_asks_which_reading_is_meant(
    visitor: Visitor, site: Site, label: str, name: str, text: str, second: str
) -> None:
    item = await put(site, invoice_pdf(unique("A"), vendor=unique("Anywhere"), country=False))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    asked = field(page, label)
    await asked.fill(text)
    await asked.press("Enter")
    await expect(page.get_by_role("alert")).to_contain_text("can be read in two ways")
    await asked.press("ArrowDown")
    await asked.press("ArrowDown")
    await asked.press("Enter")
    await expect(page.get_by_role("alert")).to_have_count(0)
    await eventually_set(item, {name: second})


async def test_a_document_of_html_and_script_is_shown_as_text(visitor: Visitor, site: Site) -> None:
    vendor, name = "<img src=x onerror=alert(1)> GmbH", '"><script>alert(2)</script>\u202efdp.exe'
    item = await put(site, invoice_pdf(unique("X"), vendor=vendor), name)
    page = await visitor.tab()
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    await page.goto(path_of(item, "none"))
    await shown(page)
    await field(page, "Vendor").fill(vendor)
    await field(page, "Vendor").press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text(vendor)
    await expect(page.get_by_text("script>alert(2)</script>⟨U+202E⟩fdp")).to_be_visible()
    assert await page.locator("[data-testid=review] script, [data-testid=review] img[src=x]").count() == 0
    assert asked == []


async def test_a_document_that_changed_since_it_was_shown_is_not_approved(visitor: Visitor, site: Site) -> None:
    number = unique("C")
    item = await put(site, invoice_pdf(number))
    page = await visitor.tab(path_of(item, number))
    await shown(page)
    await put(site, invoice_pdf(number, pages=2))  # the same invoice once more: a duplicate
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("alert")).to_contain_text("Changed since it was shown to you")
    await expect(page.get_by_role("list", name="Problems").locator("[data-changed]").first).to_be_visible()
    assert (await item.state())["status"] == "open"
    await page.keyboard.press("Control+Enter")
    await eventually_approved(item)


async def test_with_a_broken_rule_the_reason_is_asked_in_place(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("B")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await field(page, "Total").fill("200")
    await field(page, "Total").press("Escape")
    await expect(page.get_by_role("list", name="Problems")).to_contain_text("not the total 200")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("group", name="A rule is broken")).to_be_visible()
    await page.keyboard.press("Control+Enter")  # without a reason nothing happens
    await page.keyboard.type("a deposit is in it")
    await page.keyboard.press("Control+Enter")
    await eventually_approved(item)
    assert (await item.state())["decision"] == {"approved": True, "reason": "a deposit is in it"}


async def test_a_click_on_a_word_fills_the_focused_field(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("W"), total="200,00"))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await field(page, "Total").focus()
    await expect(page.get_by_test_id("focused-box")).to_be_visible()
    words = page.get_by_test_id("page-words")
    await words.hover(trial=True)  # until the page has moved to the field
    await words.hover(position=await place(page, 0.83, 0.39))
    await words.click(position=await place(page, 0.83, 0.352))
    await expect(field(page, "Total")).to_have_value("100,00")
    await field(page, "Total").press("Enter")
    await eventually_set(item, {"total": "100.00"})
    row = await site.service.app.db.fetchrow(
        "SELECT page, box FROM corrections WHERE document_id = $1", item.document_id
    )
    assert row is not None
    assert (row["page"], [round(edge, 1) for edge in row["box"]]) == (1, [0.8, 0.3, 0.9, 0.4])


async def place(page: Page, x: float, y: float) -> Position:
    """Return a place on the page's picture, in shares, as one on the screen."""
    box = await page.get_by_test_id("page-words").bounding_box()
    assert box is not None
    return {"x": x * box["width"], "y": y * box["height"]}


async def test_pasted_rows_become_line_items_with_their_sum(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("L")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await page.get_by_role("button", name="2 line items").click()
    await expect(page.get_by_test_id("lines-sum")).to_contain_text("€100.00")
    cell = page.get_by_label("Row 2, Description")
    await cell.focus()
    rows = "Fahrt\t1\t10,00\t10,00\nHotel\t1\t60,00\t60,00"
    await cell.evaluate(
        """(cell, rows) => {
            const data = new DataTransfer()
            data.setData('text/plain', rows)
            cell.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))
        }""",
        rows,
    )
    await expect(page.get_by_label("Row 3, Description")).to_have_value("Hotel")
    await expect(page.get_by_test_id("lines-sum")).to_contain_text("€120.00")
    await expect(page.get_by_test_id("lines-sum")).to_contain_text("differs")
    await page.get_by_label("Row 3, Amount").fill("40")
    await page.keyboard.press("Escape")
    await page.get_by_label("Row 3, Amount").fill("40")
    await page.keyboard.press("ArrowUp")
    await expect(page.get_by_test_id("lines-sum")).to_contain_text("€100.00")
    await page.keyboard.press("Control+Shift+Z")
    await expect(page.get_by_test_id("lines-sum")).to_contain_text("€120.00")


async def test_a_cell_that_is_being_typed_is_saved_before_the_approval(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("C")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await page.get_by_role("button", name="2 line items").click()
    await page.get_by_label("Row 2, Description").fill("Bahnfahrt")
    await page.keyboard.press("Control+Enter")
    await eventually_approved(item)
    assert (await lines_of(item))[1]["description"] == "Bahnfahrt"


async def lines_of(item: Item) -> Json:
    fields = await item.site.service.http.get(f"/v1/documents/{item.document_id}/fields")
    return fields.json()["line_items"]


async def test_a_cell_that_the_server_did_not_take_survives_a_reload_and_is_sent_again(
    visitor: Visitor, site: Site
) -> None:
    item = await put(site, invoice_pdf(unique("C")))
    visitor.watch.expected += ["ERR_FAILED", "ERR_CONNECTION"]
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await page.route("**/line-items", lambda route: route.abort("connectionrefused"))
    await page.get_by_role("button", name="2 line items").click()
    cell = page.get_by_label("Row 2, Description")
    await cell.fill("Bahnfahrt")
    await cell.press("Tab")
    await expect(page.get_by_text("Not sent yet")).to_be_visible()
    await page.reload()
    await shown(page)
    await expect(cell).to_have_value("Bahnfahrt")
    await cell.focus()
    await cell.press("Tab")
    await expect(page.get_by_text("Not sent yet")).to_be_visible()
    await page.unroute("**/line-items")

    async def is_saved() -> bool:
        return bool((await lines_of(item))[1]["description"] == "Bahnfahrt")

    await eventually(is_saved, "the cell to be sent again")


async def test_what_is_typed_survives_a_reload(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("T")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await field(page, "Vendor").fill("Muster & Söhne")
    await page.reload()
    await shown(page)
    await expect(field(page, "Vendor")).to_have_value("Muster & Söhne")
    await field(page, "Vendor").press("Enter")
    await eventually_set(item, {"vendor_name": "Muster & Söhne"})


@pytest.mark.parametrize("way", ["reload", "leave and come back"])
async def test_a_field_that_was_left_while_the_server_was_down_is_sent_when_its_page_is_opened_again(
    visitor: Visitor, site: Site, way: str
) -> None:
    item = await put(site, invoice_pdf(unique("W")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    visitor.watch.expected.append("ERR_CONNECTION_REFUSED")
    await page.route("**/text", lambda route: route.abort("connectionrefused"))
    await field(page, "Vendor").fill("Muster & Söhne")
    await page.keyboard.press("Escape")
    await expect(page.get_by_text("Not sent yet")).to_be_visible()
    if way == "leave and come back":
        await page.keyboard.press("Escape")  # to the list
        await eventually(lambda: has_claim(item, None), "the release")
    await page.unroute("**/text")
    await page.goto(f"{site.url}{path_of(item, 'none')}")
    await shown(page)
    await eventually_set(item, {"vendor_name": "Muster & Söhne"})
    await expect(page.get_by_text("Not sent yet")).to_be_hidden()


async def test_a_claim_that_has_ended_is_taken_again_or_is_seen_to_be_someone_elses(
    browser: Browser, guarded_site: Site
) -> None:
    item = await put(guarded_site, invoice_pdf(unique("L")))
    async with signed_in(browser, guarded_site, "ann") as ann, signed_in(browser, guarded_site, "bob") as bob:
        hers = await ann.tab(path_of(item, "none"))
        await shown(hers)
        await eventually(lambda: has_claim(item, "ann"), "the claim")
        await end_claim(guarded_site, item)
        ann.watch.expected.append(r"\b409\b")
        await field(hers, "Vendor").fill("Muster AG")
        await hers.keyboard.press("Escape")
        await eventually_set(item, {"vendor_name": "Muster AG"})
        assert await has_claim(item, "ann")
        await end_claim(guarded_site, item)
        await shown(await bob.tab(path_of(item, "none")))
        await eventually(lambda: has_claim(item, "bob"), "the other claim")
        await expect(hers.get_by_role("status").filter(has_text="bob has this until")).to_be_visible()
        await expect(field(hers, "Vendor")).not_to_be_editable()


async def test_texts_that_wait_in_two_tabs_of_a_person_are_both_sent(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("Y")))
    visitor.watch.expected.append("ERR_CONNECTION_REFUSED")
    tabs = [await visitor.tab(path_of(item, "none")) for _ in range(2)]
    await visitor.context.route("**/text", lambda route: route.abort("connectionrefused"))
    for page, label, text in zip(tabs, ("Vendor", "Invoice no."), ("Muster & Söhne", "R-77"), strict=True):
        await shown(page)
        await field(page, label).fill(text)
        await page.keyboard.press("Escape")
        await expect(page.get_by_text("Not sent yet")).to_be_visible()
    await visitor.context.unroute("**/text")
    await eventually_set(item, {"vendor_name": "Muster & Söhne", "invoice_number": "R-77"})
    for page in tabs:
        await expect(page.get_by_text("Not sent yet")).to_be_hidden()


async def test_what_waits_does_not_overwrite_what_someone_else_wrote_after_the_claim_had_ended(
    browser: Browser, guarded_site: Site
) -> None:
    item = await put(guarded_site, invoice_pdf(unique("V")))
    async with signed_in(browser, guarded_site, "ann") as ann, signed_in(browser, guarded_site, "bob") as bob:
        hers = await ann.tab(path_of(item, "none"))
        await shown(hers)
        await eventually(lambda: has_claim(item, "ann"), "the claim")
        ann.watch.expected.append(r"\b409\b")
        await field(hers, "Vendor").fill("Muster AG")
        await hers.route("**/view", lambda route: route.abort("connectionrefused"))  # she does not hear of his claim
        await end_claim(guarded_site, item)
        his = await bob.tab(path_of(item, "none"))
        await shown(his)
        await field(his, "Vendor").fill("Muster & Söhne")
        await field(his, "Vendor").press("Escape")
        await eventually_set(item, {"vendor_name": "Muster & Söhne"})
        await his.keyboard.press("Escape")
        await eventually(lambda: has_claim(item, None), "the release")
        await hers.unroute("**/view")
        await hers.keyboard.press("Escape")
        waits = hers.get_by_text("Your time with this document is over")
        await expect(waits).to_be_visible()
        await expect(waits).to_be_hidden()  # it has been looked at again
        await expect(hers.get_by_text("bob wrote “Muster & Söhne”.")).to_be_visible()
        await expect(field(hers, "Vendor")).to_have_value("Muster AG")
        assert await item.values() == {"vendor_name": "Muster & Söhne"}


async def test_of_two_texts_that_wait_only_the_one_whose_field_is_unchanged_is_sent(
    browser: Browser, guarded_site: Site
) -> None:
    item = await put(guarded_site, invoice_pdf(unique("V")))
    async with signed_in(browser, guarded_site, "ann") as ann, signed_in(browser, guarded_site, "bob") as bob:
        hers = await ann.tab(path_of(item, "none"))
        await shown(hers)
        await eventually(lambda: has_claim(item, "ann"), "the claim")
        for path in ("**/view", "**/text"):
            await hers.route(path, lambda route: route.abort("connectionrefused"))
        ann.watch.expected += [r"\b409\b", "ERR_CONNECTION_REFUSED"]
        for label, text in (("Vendor", "Muster AG"), ("Invoice no.", "R-77")):
            await field(hers, label).fill(text)
            await hers.keyboard.press("Escape")
        await expect(hers.get_by_text("Not sent yet")).to_have_count(2)
        await end_claim(guarded_site, item)
        his = await bob.tab(path_of(item, "none"))
        await shown(his)
        await field(his, "Invoice no.").fill("B-1")
        await his.keyboard.press("Escape")
        await eventually_set(item, {"invoice_number": "B-1"})
        await his.keyboard.press("Escape")
        await eventually(lambda: has_claim(item, None), "the release")

        async def see_again(route: Route) -> None:
            await hers.unroute("**/view")
            await route.continue_()

        await hers.route("**/claim", see_again)  # she sees what he wrote when she has the claim again, and not before
        await hers.unroute("**/text")
        await expect(hers.get_by_text("bob wrote “B-1”.")).to_be_visible()
        await eventually_set(item, {"invoice_number": "B-1", "vendor_name": "Muster AG"})
        await expect(field(hers, "Invoice no.")).to_have_value("R-77")


async def test_the_reason_of_a_rejection_survives_a_reload_until_it_is_sent(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("R")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    reason = page.get_by_role("textbox", name="Reason")
    await page.keyboard.press("Control+Shift+Enter")
    await reason.fill("not ours")
    await page.reload()
    await shown(page)
    await page.keyboard.press("Control+Shift+Enter")
    await expect(reason).to_have_value("not ours")
    await page.keyboard.press("Control+Enter")
    await eventually(lambda: is_decided(item, {"approved": False, "reason": "not ours"}), "the rejection")
    await eventually(lambda: has_no_reason(page), "the kept reason to be dropped")


async def has_no_reason(page: Page) -> bool:
    return bool(await page.evaluate("!Object.keys(localStorage).some((key) => key.includes('why'))"))


async def is_decided(item: Item, decision: Json) -> bool:
    return bool((await item.state())["decision"] == decision)


async def test_who_may_only_read_is_led_to_the_document(browser: Browser, guarded_site: Site) -> None:
    number = unique("O")
    item = await put(guarded_site, invoice_pdf(number))
    async with signed_in(browser, guarded_site, "olga", Scope.READ) as olga:
        page = await olga.tab(f"/?text={number}")
        await page.get_by_role("row").nth(1).get_by_role("link").click()
        await expect(page).to_have_url(re.compile(f"/documents/{item.document_id}"))
        await expect(page.get_by_role("region", name="Details")).to_be_visible()
        await expect(page.get_by_role("region", name="Details").get_by_text("Review", exact=True)).to_be_hidden()


async def test_a_rejection_and_a_postponement_lead_on(visitor: Visitor, site: Site) -> None:
    text = unique("R")
    first, second = [await put(site, invoice_pdf(f"{text}-{each}")) for each in (1, 2)]
    page = await visitor.tab(path_of(first, text))
    await shown(page)
    await page.keyboard.press("Control+Shift+Enter")
    await page.keyboard.press("Control+Enter")  # without a reason nothing happens
    await page.keyboard.type("not ours")
    await page.keyboard.press("Control+Enter")
    await expect(page).to_have_url(re.compile(second.review_id))
    await shown(page)

    async def is_rejected() -> bool:
        return bool((await first.state())["decision"] == {"approved": False, "reason": "not ours"})

    await eventually(is_rejected, "the rejection")
    await page.keyboard.press("p")
    await page.get_by_role("button", name="Postpone").click()
    await expect(page.get_by_text("The desk is empty")).to_be_visible()
    assert (await second.state())["postponed_until"] is not None


@asynccontextmanager
async def signed_in(browser: Browser, site: Site, name: str, *scopes: Scope) -> AsyncIterator[Visitor]:
    by = Principal(DEFAULT_TENANT, "tests", frozenset(Scope))
    key = (await create_key(site.service.app.db, by, name, scopes or (Scope.READ, Scope.REVIEW))).key
    async with visit(browser, Watch(site.url)) as visitor:
        page = await visitor.tab()
        await page.get_by_label("API key").fill(key)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("navigation").first).to_be_visible()
        yield visitor


async def test_a_second_person_reads_only_until_the_first_has_left(browser: Browser, guarded_site: Site) -> None:
    item = await put(guarded_site, invoice_pdf(unique("P")))
    async with signed_in(browser, guarded_site, "ann") as ann, signed_in(browser, guarded_site, "bob") as bob:
        hers = await ann.tab(path_of(item, "none"))
        await shown(hers)
        await eventually(lambda: has_claim(item, "ann"), "the claim")
        his = await bob.tab(path_of(item, "none"))
        await shown(his)
        await expect(his.get_by_role("status").filter(has_text="ann has this until")).to_be_visible()
        await expect(field(his, "Total")).not_to_be_editable()
        await expect(his.get_by_role("button", name="Approve and next")).to_be_disabled()
        await his.keyboard.press("Control+Enter")
        await hers.keyboard.press("Escape")  # to the list
        await eventually(lambda: has_claim(item, None), "the release")
        await his.get_by_role("button", name="Work on it").click()
        await expect(field(his, "Total")).to_be_editable()
        await eventually(lambda: has_claim(item, "bob"), "the other claim")
        assert (await item.state())["status"] == "open"


async def test_a_field_that_someone_else_changed_meanwhile_shows_both_values(
    browser: Browser, guarded_site: Site
) -> None:
    item = await put(guarded_site, invoice_pdf(unique("B")))
    async with signed_in(browser, guarded_site, "ann") as ann, signed_in(browser, guarded_site, "bob") as bob:
        hers = await ann.tab(path_of(item, "none"))
        await shown(hers)
        await eventually(lambda: has_claim(item, "ann"), "the claim")
        await hers.route("**/text", lambda route: route.abort("connectionrefused"))
        await field(hers, "Vendor").fill("Muster AG")
        await hers.keyboard.press("Escape")
        await expect(hers.get_by_text("Not sent yet")).to_be_visible()
        await hers.keyboard.press("Escape")  # to the list
        await eventually(lambda: has_claim(item, None), "the release")
        his = await bob.tab(path_of(item, "none"))
        await shown(his)
        await field(his, "Vendor").fill("Muster & Söhne")
        await field(his, "Vendor").press("Escape")
        await eventually_set(item, {"vendor_name": "Muster & Söhne"})
        await his.keyboard.press("Escape")
        await eventually(lambda: has_claim(item, None), "the other release")
        await hers.goto(f"{guarded_site.url}{path_of(item, 'none')}")
        await shown(hers)
        await expect(field(hers, "Vendor")).to_have_value("Muster AG")
        await expect(hers.get_by_text("bob wrote “Muster & Söhne”.")).to_be_visible()
        await hers.get_by_role("button", name="Take it").click()
        await expect(field(hers, "Vendor")).to_have_value("Muster & Söhne")


async def end_claim(site: Site, item: Item) -> None:
    """Let the claim's time pass."""
    over = "UPDATE reviews SET claimed_until = now() - interval '1 second' WHERE review_id = $1"
    await site.service.app.db.execute(over, item.review_id)


async def has_claim(item: Item, name: str | None) -> bool:
    return bool((await item.state())["claimed_by"] == name)


@LOOKS
async def test_the_page_has_no_serious_finding_of_axe(
    browser: Browser, site: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    item = await put(site, invoice_pdf(unique("S"), total="200,00", pages=3))
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab(path_of(item, "none"))
        await shown(page)
        await field(page, "Total").focus()
        await page.get_by_role("button", name="Why?").click()
        await page.get_by_role("button", name="line items").click()
        await screenshot(page, f"review-{size[0]}-{scheme}", pictures)
        assert await axe(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert watch.found() == []


async def test_at_twice_the_size_everything_can_be_reached(browser: Browser, site: Site, pictures: Path) -> None:
    item = await put(site, invoice_pdf(unique("Z")))
    async with visit(browser, Watch(site.url), size=(720, 450)) as visitor:
        page = await visitor.tab(path_of(item, "none"))
        await shown(page)
        await field(page, "Total").focus()
        await expect(page.get_by_role("button", name="Approve and next")).to_be_in_viewport()
        await screenshot(page, "review-200-percent", pictures)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def eventually_approved(item: Item) -> None:
    async def is_approved() -> bool:
        return bool((await item.state())["status"] == "approved")

    await eventually(is_approved, "the approval")


async def eventually_set(item: Item, values: dict[str, str]) -> None:
    async def is_set() -> bool:
        return await item.values() == values

    await eventually(is_set, f"{values} to be saved")
