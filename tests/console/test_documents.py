"""The Document page: its history in words, its readings, its runs, and its original."""

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from docrail.dag.values.json_values import Json
from docrail.invoices.facts import Source
from docrail.services.documents.models import reading_version
from docrail.services.documents.repository.readings import save_extraction
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.reviewing import Reviewer, reading, said, waiting
from tests.api.test_corrections import correct
from tests.api.test_exports import CSV, ended, ordered
from tests.console.site import LOOKS, Scheme, Site, Visitor, Watch, axe, screenshot, visit


async def story(site: Site) -> Json:
    """Read a document twice, correct, approve and export it; return its review item."""
    who = Reviewer(site.service.http, "default")
    item = await waiting(site.service, who, reading(vendor_name=said("Mustr GmbH", Source.OCR_LABEL)))
    sha256 = await site.service.pool.fetchval(
        "SELECT sha256 FROM documents WHERE document_id = $1", item["document_id"]
    )
    model = reading(vendor_name=said("Mustr AG")).model_copy(update={"reader": "gemini", "model": "gemini-9"})
    await save_extraction(site.service.pool, "default", sha256, reading_version("gemini-9", "p1"), model)
    await correct(who, item, "vendor_name", "Muster <b>GmbH</b>", why="a typo")
    await who.post(f"/reviews/{item['review_id']}/approve", await who.verdict(item, why="checked by phone"))
    await ended(who, await ordered(who, CSV))
    return item


async def opened(visitor: Visitor, item: Json) -> Page:
    page = await visitor.tab(f"/documents/{item['document_id']}")
    await expect(page.get_by_role("region", name="History").get_by_text("Exported by")).to_be_visible()
    return page


async def test_the_history_tells_the_story_in_words(site: Site, visitor: Visitor) -> None:
    page = await opened(visitor, await story(site))
    history = page.get_by_role("region", name="History")
    for words in ("corrected Vendor", "Muster <b>GmbH</b>", "a typo", "Approved by", "checked by phone", "as CSV"):
        await expect(history.get_by_text(words).first).to_be_visible()
    assert await history.locator("b").count() == 0
    await expect(page.get_by_role("region", name="Details").get_by_text("Approved")).to_be_visible()


async def test_a_copy_is_received_before_it_is_read(site: Site, visitor: Visitor) -> None:
    http, files = site.service.http, {"file": ("copy.xml", e_invoice(unique("C")))}
    first = (await http.post("/v1/documents", files=files)).json()
    await site.service.closed(first["run_id"])
    page = await visitor.tab(f"/documents/{(await http.post('/v1/documents', files=files)).json()['document_id']}")
    events = page.get_by_role("region", name="History").locator(".mantine-Timeline-item")
    await expect(events).to_have_count(2)
    await expect(events.first).to_contain_text("Uploaded by")
    await expect(events.last).to_contain_text("Already read, for an earlier document with the same content")


async def test_readings_that_differ_are_marked(site: Site, visitor: Visitor) -> None:
    page = await opened(visitor, await story(site))
    readings = page.get_by_role("region", name="Readings")
    row = readings.get_by_role("row", name="Vendor differs")
    await expect(row.get_by_role("cell", name="Mustr AG")).to_be_visible()
    await expect(row.get_by_role("cell", name="Mustr GmbH")).to_be_visible()
    await expect(readings.get_by_role("row", name="Currency")).to_be_visible()
    await readings.get_by_role("switch").click()
    await expect(readings.get_by_role("row", name="Currency")).to_be_hidden()
    await expect(row).to_be_visible()


async def test_the_original_is_a_download(site: Site, visitor: Visitor) -> None:
    script = b"<script>alert(1)</script>"
    sent = await site.service.http.post("/v1/documents", files={"file": ("<script>.html", script)})
    page = await visitor.tab(f"/documents/{sent.json()['document_id']}")
    async with page.expect_download() as saving:
        await page.get_by_role("link", name="Download original").click()
    assert Path(await (await saving.value).path()).read_bytes() == script
    await expect(page.get_by_role("region", name="Runs").get_by_role("link", name="invoice")).to_be_visible()


async def test_a_document_that_does_not_exist_says_so(visitor: Visitor) -> None:
    page = await visitor.tab(f"/documents/doc_{'0' * 26}")
    await expect(page.get_by_role("alert").get_by_text("Not found")).to_be_visible()


@LOOKS
async def test_the_page_is_accessible_in_both_themes(
    browser: Browser, site: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    item = await story(site)
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await opened(visitor, item)
        await expect(page.get_by_role("row", name="Vendor differs")).to_be_visible()
        await screenshot(page, f"document-{scheme}-{size[0]}", pictures)
        assert await axe(page) == []
    assert watch.found() == []
