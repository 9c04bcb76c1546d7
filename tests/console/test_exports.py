"""The Export page: choose, preview, order, download, download again."""

import csv
import datetime as dt
import io
import re
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from playwright.async_api import Browser, Download, Page, expect

from docrail.invoices.model import FieldValue
from tests.api.reviewing import Reviewer, reading, said, waiting
from tests.console.site import LOOKS, Scheme, Site, Visitor, Watch, axe, screenshot, visit

HOSTILE = "=cmd|'/C'!A0 \u202egpj.exe <img src=x onerror=alert(1)> " + "x" * 10_000


async def approve(site: Site, **fields: FieldValue[Any]) -> str:
    """Approve a document of the local person and return its id."""
    who = Reviewer(site.service.http, "default")
    item = await waiting(site.service, who, reading(**fields))
    await who.post(f"/reviews/{item['review_id']}/approve", await who.verdict(item, why="it is right"))
    return str(item["document_id"])


def dated(day: str) -> str:
    """Return the choice of the invoices of a day: the site also has the documents of other tests."""
    return f"&of=invoice_date&since={day}&until={day}"


@pytest.fixture
async def german(browser: Browser, site: Site) -> AsyncIterator[Visitor]:
    """Give a browser of a person in Berlin."""
    watch = Watch(site.url)
    async with visit(browser, watch, locale="de-DE") as visiting:
        yield visiting
    assert watch.found() == []


async def content(download: Download) -> bytes:
    return Path(await download.path()).read_bytes()


async def ordered(page: Page, button: str = "Export") -> Download:
    """Order what the page shows and return the file that it saves."""
    async with page.expect_download() as saving:
        await page.get_by_role("button", name=button, exact=True).click()
    return await saving.value


async def test_a_workbook_is_previewed_made_and_downloaded_again(site: Site, visitor: Visitor) -> None:
    await approve(
        site,
        date=said(dt.date(2026, 10, 5)),
        vendor_name=said("Größe & Söhne"),
        total=said(Decimal("-1119.50")),
        invoice_number=said("007"),
    )
    page = await visitor.tab("/exports?format=xlsx&lines=true" + dated("2026-10-05"))
    preview = page.get_by_role("region", name="Preview")
    await expect(preview.get_by_role("heading", name="1 document")).to_be_visible()
    await expect(preview).to_contain_text("Not yet exported · Invoice date: 05/10/2026")
    await expect(preview.get_by_role("cell", name="-1,119.50")).to_be_visible()
    await expect(preview.get_by_role("cell", name="05/10/2026")).to_be_visible()
    saved = await ordered(page)
    first = await content(saved)
    book = load_workbook(io.BytesIO(first))
    headings, invoice = book["Invoices"].iter_rows(values_only=True)
    found = dict(zip(headings, invoice, strict=True))
    assert (found["Vendor"], found["Invoice no."], found["Total"]) == ("Größe & Söhne", "007", -1119.5)
    assert found["Date"] == dt.datetime(2026, 10, 5)  # noqa: DTZ001  # Excel has no zones
    assert [line[3] for line in book["Line items"].iter_rows(values_only=True)] == ["Description", "Beratung"]
    earlier = page.get_by_role("region", name="Earlier exports")
    row = earlier.get_by_role("row").filter(has_text=saved.suggested_filename)
    await expect(row.get_by_text("Ready")).to_be_visible()
    async with page.expect_download() as again:
        await row.get_by_role("link", name="again").click()
    assert await content(await again.value) == first
    await expect(preview.get_by_text("Nothing to export")).to_be_visible()


async def test_csv_follows_the_locale_and_the_page_is_german(site: Site, german: Visitor) -> None:
    day = said(dt.date(2026, 10, 6))
    await approve(site, date=day, total=said(Decimal("1234.50")), vendor_name=said(HOSTILE))
    page = await german.tab("/exports?format=csv" + dated("2026-10-06"))
    preview = page.get_by_role("region", name="Vorschau")
    await expect(preview.get_by_role("cell", name="1.234,50")).to_be_visible()
    await expect(preview.get_by_text("⟨U+202E⟩").first).to_be_visible()
    data = await content(await ordered(page, "Exportieren"))
    assert data.startswith(b"\xef\xbb\xbfLieferant;")
    headings, row = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=";")
    found = dict(zip(headings, row, strict=True))
    assert found["Gesamt"] == "1234,50"
    assert found["Lieferant"].startswith("'=cmd|")
    assert len(found["Lieferant"]) > 10_000


async def test_other_columns_are_chosen_and_the_usual_ones_come_back(site: Site, visitor: Visitor) -> None:
    await approve(site, date=said(dt.date(2026, 10, 7)))
    page = await visitor.tab("/exports?format=csv&columns=%5B%22vendor_name%22,%22total%22%5D" + dated("2026-10-07"))
    await page.get_by_role("combobox", name="Columns").click()
    await page.get_by_role("option", name="Buyer").click()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("region", name="Preview").get_by_role("columnheader")).to_have_count(3)
    data = await content(await ordered(page))
    assert data.decode("utf-8-sig").splitlines()[0] == "Vendor,Total,Buyer"
    await page.get_by_role("button", name="Usual columns").click()
    await expect(page).not_to_have_url(re.compile("columns="))


async def test_the_choice_is_in_the_address(site: Site, visitor: Visitor) -> None:
    await approve(site)
    page = await visitor.tab("/exports")
    await page.get_by_text("All approved", exact=True).click()
    await page.get_by_text("CSV", exact=True).click()
    await page.get_by_label("From").fill("2026-11-01")
    await page.get_by_role("checkbox", name="With line items").check()
    await expect(page).to_have_url(site.url + "/exports?which=all&format=csv&since=2026-11-01&lines=true")
    await page.reload()
    await expect(page.get_by_label("From")).to_have_value("2026-11-01")
    await expect(page.get_by_role("radio", name="CSV")).to_be_checked()
    await expect(page.get_by_role("checkbox", name="With line items")).to_be_checked()


async def test_an_export_is_made_by_keyboard_alone(site: Site, visitor: Visitor) -> None:
    await approve(site)
    page = await visitor.tab("/exports")
    await expect(page.get_by_role("button", name="Export", exact=True)).to_be_enabled()
    async with page.expect_download() as saving:
        await page.keyboard.press("Control+Enter")
    assert (await saving.value).suggested_filename.endswith(".xlsx")


async def test_a_webhook_that_is_not_allowed_fails_with_the_reason(site: Site, visitor: Visitor) -> None:
    await approve(site)
    page = await visitor.tab("/exports?format=webhook")
    await expect(page.get_by_role("button", name="Export", exact=True)).to_be_disabled()
    await page.get_by_label("Address").fill("http://192.0.2.1/hook")
    await expect(page.get_by_role("button", name="Export", exact=True)).to_be_enabled()
    await page.get_by_role("button", name="Export", exact=True).click()
    earlier = page.get_by_role("region", name="Earlier exports")
    await expect(earlier.get_by_text("Failed").first).to_be_visible()
    await expect(earlier.get_by_text("192.0.2.1").first).to_be_visible()


@LOOKS
async def test_the_page_is_accessible_in_both_themes(
    browser: Browser, site: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    for number in range(3):
        await approve(site, vendor_name=said(f"Muster {number} GmbH"))
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab("/exports?format=csv&which=all")
        await expect(page.get_by_role("cell", name="Muster 2 GmbH").first).to_be_visible()
        await screenshot(page, f"exports-{scheme}-{size[0]}", pictures)
        assert await axe(page) == []
    assert watch.found() == []
