"""A German console speaks German, also in values, drawings, editors and keycaps."""

import re
from uuid import uuid4

import pytest
from playwright.async_api import Browser, expect

from tests.api.customer import unique
from tests.console.site import Site, Watch, visit
from tests.console.test_definitions import ASK, payment
from tests.console.test_review import eventually_set, field, invoice_pdf, path_of, put, shown


@pytest.mark.parametrize(
    ("locale", "step", "arrow", "zoom", "hint"),
    [
        ("de-DE", "Schritt", "Von read nach small", "Vergrößern", "Mit Enter öffnen."),
        ("en-GB", "step", "From read to small", "Zoom in", "Press Enter to open it."),
    ],
)
async def test_a_drawing_is_described_in_the_language_of_the_texts(
    browser: Browser, site: Site, locale: str, step: str, arrow: str, zoom: str, hint: str
) -> None:
    name, watch = f"said_{uuid4().hex[:8]}", Watch(site.url)
    definition = payment(name, 500, ASK)
    (await site.service.http.post("/v1/definitions", json={"definition": definition})).raise_for_status()
    async with visit(browser, watch, locale=locale) as visitor:
        page = await visitor.tab(f"/definitions/{name}")
        node = page.locator(".react-flow__node").filter(has_text="Small enough?")
        await expect(node).to_have_attribute("aria-roledescription", step)
        await expect(node).to_have_accessible_description(hint)
        await expect(page.get_by_role("img", name=arrow)).to_be_attached()
        await expect(page.get_by_role("button", name=zoom)).to_be_visible()
    assert watch.found() == []


async def test_keys_are_named_as_on_a_german_keyboard(browser: Browser, site: Site) -> None:
    watch = Watch(site.url)
    async with visit(browser, watch, locale="de-DE") as visitor:
        page = await visitor.tab()
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Tastenkürzel")
        for command, caps in (
            ("Ablehnen, mit Begründung", "StrgUmschaltEnter"),
            ("Nächste Seite", "Bild ↓"),
            ("Erste Zeile", "Pos1"),
        ):
            await expect(keys.get_by_role("button", name=command)).to_contain_text(caps)
        await keys.get_by_role("button", name="Tastenkürzel").click()
        await page.keyboard.press("Control+k")
        await expect(keys.get_by_text("Strg+K bedeutet bereits „Befehlspalette“")).to_be_visible()
    assert watch.found() == []


async def test_values_are_written_as_in_german(browser: Browser, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("G")))
    watch = Watch(site.url)
    async with visit(browser, watch, locale="de-DE") as visitor:
        page = await visitor.tab(path_of(item, "none"))
        await shown(page)
        await field(page, "Rechnungsnr.").focus()
        await page.keyboard.press("Escape")
        await page.keyboard.press("w")
        await expect(page.get_by_test_id("why")).to_contain_text(re.compile(r"\+\d,\d"))
        await field(page, "Gesamt").fill("1234,5")
        await page.keyboard.press("Escape")
        await eventually_set(item, {"total": "1234.5"})
        await page.goto(f"{site.url}/documents/{item.document_id}")
        await expect(page.get_by_role("region", name="Verlauf")).to_contain_text("119,00 → 1.234,50")
        await expect(page.get_by_role("row", name="Art Rechnung", exact=True)).to_be_visible()
    assert watch.found() == []


async def test_suggestions_of_the_editor_are_named_in_german(browser: Browser, site: Site) -> None:
    watch = Watch(site.url)
    async with visit(browser, watch, locale="de-DE") as visitor:
        page = await visitor.tab("/definitions/invoice/edit")
        editor = page.get_by_label("Text der Definition")
        await editor.click()
        await page.keyboard.press("Control+End")
        await page.keyboard.press("Enter")
        await page.keyboard.press("Control+Space")
        await expect(page.get_by_role("listbox", name="Vorschläge")).to_be_visible()
    assert watch.found() == []
