"""Escape in a dialog closes the dialog, and does nothing on the page below it."""

import pytest
from playwright.async_api import Page, expect

from tests.api.customer import unique
from tests.console.site import Site, Visitor
from tests.console.test_inbox import row, to_review
from tests.console.test_review import invoice_pdf, path_of, put, shown


@pytest.mark.parametrize("key", ["Control+k", "?"])
async def test_escape_in_a_dialog_does_not_leave_the_document(visitor: Visitor, site: Site, key: str) -> None:
    item = await put(site, invoice_pdf(unique("E")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await page.keyboard.press(key)
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    assert f"/review/{item.review_id}" in page.url
    await page.keyboard.press("Escape")  # without a dialog, it leaves
    await expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()


async def test_escape_in_the_approval_dialog_keeps_the_selection(page: Page, site: Site) -> None:
    await to_review(site, "Ida One", "Ida Two")
    await page.goto(f"{site.url}/?text=ida")
    await expect(row(page, "Ida Two")).to_be_visible()
    for _ in range(2):
        await page.keyboard.press("j")
        await page.keyboard.press("x")
    await expect(page.get_by_text("2 selected")).to_be_visible()
    await page.keyboard.press("Shift+A")
    dialog = page.get_by_role("dialog", name="Approve documents")
    await expect(dialog).to_contain_text("2 documents will be approved")
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_text("2 selected")).to_be_visible()
    await page.keyboard.press("Escape")  # without a dialog, it ends the selection
    await expect(page.get_by_text("2 selected")).to_be_hidden()
