"""A clerk's day by keyboard alone: sixty files are sent, corrected, approved, rejected, postponed and exported."""

import datetime as dt
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from openpyxl import load_workbook
from playwright.async_api import Locator, Page, expect

from docrail.samples.desk import DeskFile, Kind, draw_desk
from tests.console.clerk import REJECTED, Clerk, missing_number
from tests.console.site import Site

VENDOR = "Lindner"
"""The vendor whose invoices are cleared one by one before the others."""
CLEAN = {Kind.PLAIN, Kind.LONG, Kind.E_INVOICE}
COPIES = {Kind.DUPLICATE, Kind.LOOK_ALIKE}

Files = Mapping[str, DeskFile]
"""Files by the id of their review items."""


async def test_sixty_files_are_cleared_by_keyboard_alone(page: Page, site: Site) -> None:
    files = draw_desk(dt.datetime.now(dt.UTC).date())
    clerk = Clerk(page)
    await clerk.send(files)
    await expect(page.get_by_role("region", name="Uploads")).to_contain_text("59 ready · 2 duplicates · 1 failed")
    await dismiss_the_broken(clerk)
    items = await items_of(site, files)
    postponed = await clear_one_vendor(clerk, items)
    await approve_the_clean(clerk, files)
    await clear_the_rest(clerk, items)
    approved = [each for each in files if each.kind not in {*REJECTED, Kind.BROKEN} and each is not postponed]
    assert len(approved) == 60 - 1 - 4 - 1
    exported = await export(clerk, len(approved))
    assert sorted(exported) == sorted(row_of(each) for each in approved)


async def items_of(site: Site, files: list[DeskFile]) -> Files:
    by_name = {each.name: each for each in files}
    listed = (await site.service.http.get("/v1/documents", params={"limit": 100})).json()["documents"]
    assert {each["file_name"] for each in listed} == set(by_name)
    return {each["review_id"]: by_name[each["file_name"]] for each in listed if each["review_id"]}


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Documents by status").get_by_role("link", name=name)


async def dismiss_the_broken(clerk: Clerk) -> None:
    broken = clerk.page.get_by_role("row").filter(has_text="Scan_defekt.pdf")
    await clerk.choose("Failed")
    await expect(broken).to_contain_text("begins like a PDF but is damaged")
    await clerk.choose("Dismiss")
    await expect(broken).to_be_hidden()


async def clear_one_vendor(clerk: Clerk, items: Files) -> DeskFile:
    """Put the vendor's newest invoice off, which is returned, and clear the others; one of them has a wrong total."""
    await clerk.choose("Needs attention")
    await clerk.search(VENDOR)
    await expect(tab(clerk.page, "Needs attention")).to_contain_text("4")
    first = await clerk.open_next()
    await clerk.postpone()
    await clear_queue(clerk, items, await clerk.next_after(first))
    await clerk.search("")
    return items[first]


async def clear_queue(clerk: Clerk, items: Files, review_id: str | None) -> None:
    while review_id is not None:
        await clerk.decide(items[review_id])
        review_id = await clerk.next_after(review_id)
    await expect(clerk.page.get_by_text("The desk is empty").first).to_be_visible()


async def approve_the_clean(clerk: Clerk, files: list[DeskFile]) -> None:
    page = clerk.page
    await expect(tab(page, "Needs attention")).to_contain_text("55")
    await clerk.go_to("Select all")
    await clerk.press("Space", "Shift+A")
    dialog = page.get_by_role("dialog", name="Approve documents")
    clean = [each.bill for each in files if each.kind in CLEAN and each.bill and VENDOR not in each.bill.vendor.name]
    copies = [each for each in files if each.kind in COPIES]
    count = len(clean) - len(copies)  # what has come twice stays open, too
    await expect(dialog).to_contain_text(f"{count} documents will be approved")
    await clerk.press("Control+Enter")
    await expect(dialog).to_contain_text(f"{count} documents approved", timeout=60_000)
    await clerk.press("Escape")
    await expect(dialog).to_be_hidden()


async def clear_the_rest(clerk: Clerk, items: Files) -> None:
    await clear_queue(clerk, items, await clerk.open_next())


async def export(clerk: Clerk, count: int) -> list[tuple[Any, ...]]:
    """Order a workbook of everything that is approved; return its rows."""
    page = clerk.page
    await clerk.press("e")
    await expect(page.get_by_role("heading", name=f"{count} documents")).to_be_visible()
    async with page.expect_download(timeout=60_000) as saving:
        await clerk.press("Control+Enter")
    saved = await saving.value
    assert saved.suggested_filename.endswith(".xlsx")
    headings, *rows = load_workbook(BytesIO(Path(await saved.path()).read_bytes()))["Invoices"].iter_rows(
        values_only=True
    )
    found = [dict(zip(headings, row, strict=True)) for row in rows]
    wanted = ("Vendor", "Invoice no.", "Date", "Total", "Currency")
    return [tuple(str(each[name]) for name in wanted) for each in found]


def row_of(file: DeskFile) -> tuple[str, ...]:
    """Return the row that the export has of a file that was cleared."""
    bill = file.bill
    assert bill is not None
    total = float(bill.net + bill.tax)
    number = bill.number or missing_number(file)
    date = dt.datetime.combine(bill.date, dt.time())
    shown = int(total) if total == int(total) else total
    return (bill.vendor.name, number, str(date), str(shown), bill.vendor.currency)
