"""The inbox: sending documents, finding them, and approving many, by mouse and by keyboard alone."""

import asyncio
import base64
import io
import re
import zipfile
from contextlib import AsyncExitStack
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.async_api import Browser, FilePayload, Locator, Page, Route, expect

from docrail.adapters.postgres.pool import Database
from docrail.invoices.model import FieldValue
from docrail.services.access.models import DEFAULT_TENANT
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.reviewing import Reviewer, reading, said, waiting
from tests.api.service import settings_for
from tests.console.site import DESKTOP, LAPTOP, PHONE, Scheme, Site, Watch, axe, screenshot, serve_site, visit
from tests.postgres import migrated_database
from tests.stack import Servers

SAMPLES = Path(__file__).parents[2] / "samples"
HOSTILE = '\u202egnp<img src=x onerror="document.title=1"><script>document.title=2</script>'

DROP = """async ([files]) => {
  const transfer = new DataTransfer()
  for (const [name, content] of files) {
    const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0))
    transfer.items.add(new File([bytes], name))
  }
  for (const type of ['dragenter', 'dragover', 'drop'])
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }))
}"""


async def drop(page: Page, files: dict[str, bytes]) -> None:
    """Drop files on the page, as from a folder of the person's machine."""
    await expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()
    given = [[name, base64.b64encode(content).decode()] for name, content in files.items()]
    await page.evaluate(DROP, [given])


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has_text=name)


def uploaded(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name="Uploads").get_by_role("listitem").filter(has_text=name)


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Documents by status").get_by_role("link", name=name)


def clerk(site: Site) -> Reviewer:
    return Reviewer(site.service.http, DEFAULT_TENANT, "bob")


async def to_review(site: Site, *names: str) -> None:
    """Store documents without problems, of a vendor each, that wait for a person."""
    for name in names:
        item = await waiting_of(site, reading(vendor_name=said(name), iban=FieldValue()))
        await named(site.service.app.db, item, f"{name}.pdf")


async def waiting_of(site: Site, invoice: object) -> str:
    item = await waiting(site.service, clerk(site), invoice)  # type: ignore[arg-type]
    return str(item["document_id"])


async def named(db: Database, document_id: str, name: str) -> None:
    for table in ("documents", "reviews"):
        await db.execute(f"UPDATE {table} SET file_name = $2 WHERE document_id = $1", document_id, name)


def zipped(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


async def test_the_first_visit_shows_how_to_send_a_document(
    browser: Browser, embedded: Servers, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        dsn = await stack.enter_async_context(migrated_database(embedded.dsn))
        settings = settings_for(embedded.temporal_address, dsn, tmp_path).model_copy(update={"access": "local"})
        site = await stack.enter_async_context(serve_site(settings))
        visitor = await stack.enter_async_context(visit(browser, Watch(site.url)))
        await _send_the_sample(await visitor.tab())


async def _send_the_sample(page: Page) -> None:
    await expect(page.get_by_role("heading", name="Send your first document")).to_be_visible()
    await page.get_by_role("button", name="Try it with a sample invoice").click()
    await expect(uploaded(page, "sample-invoice.pdf").get_by_text("Ready")).to_be_visible(timeout=60_000)
    await expect(row(page, "sample-invoice.pdf")).to_be_visible()
    await expect(row(page, "sample-invoice.pdf")).to_contain_text("Sure")


async def test_dropped_files_are_seen_to_become_ready_duplicate_or_failed(page: Page) -> None:
    one, inner = e_invoice(unique("E")), e_invoice(unique("E"))
    archive = zipped({"march/inner.xml": inner, "__MACOSX/x": b"x"})
    files = {"one.xml": one, "unreadable.pdf": b"%PDF-1.7 " + unique("x").encode(), "all.zip": archive, "no.zip": b"no"}
    await drop(page, files)
    for name, stage in (("one.xml", "Ready"), ("inner.xml", "Ready"), ("unreadable.pdf", "Failed")):
        await expect(uploaded(page, name)).to_contain_text(stage, timeout=60_000)
    await expect(page.get_by_role("region", name="Uploads")).to_contain_text("3 of 3 documents done")
    await expect(page.get_by_role("alert").filter(has_text="no.zip could not be unpacked")).to_be_visible()
    await drop(page, {"one again.xml": one})
    await expect(uploaded(page, "one again.xml")).to_contain_text("Duplicate", timeout=60_000)
    await expect(row(page, "one again.xml")).to_contain_text("Duplicate")
    await tab(page, "Failed").click()
    await expect(row(page, "unreadable.pdf")).to_contain_text("begins like a PDF but is damaged")


async def test_a_dropped_file_is_followed_however_many_newer_documents_there_are(page: Page, site: Site) -> None:
    db = site.service.app.db
    newer = (
        "INSERT INTO documents (tenant_id, document_id, sha256, size_bytes, media_type, file_name, sla_hours,"
        " received_at, decision) SELECT $1, 'doc_newer' || n, repeat(md5(n::text), 2), 1, 'x/y', 'newer.pdf', 24,"
        " now() + interval '1 hour', 'rejected' FROM generate_series(1, 600) AS n"
    )
    await db.execute(newer, DEFAULT_TENANT)
    try:
        await drop(page, {"old.xml": e_invoice(unique("OLD"))})
        await expect(uploaded(page, "old.xml")).to_contain_text("Ready", timeout=60_000)
    finally:
        await db.execute("DELETE FROM documents WHERE file_name = 'newer.pdf'")


async def test_a_document_that_is_not_sent_yet_is_cancelled(page: Page, site: Site) -> None:
    tag, held = unique("C"), asyncio.Event()

    async def hold(route: Route) -> None:
        await held.wait()
        await route.continue_()

    await page.route(lambda url: url.endswith("/v1/documents"), hold)
    await drop(page, {f"{tag}-{number}.xml": e_invoice(unique("E")) for number in range(4)})  # three are sent at once
    last = uploaded(page, f"{tag}-3.xml")
    await last.get_by_role("button", name="Cancel").click()
    await expect(last).to_contain_text("Cancelled")
    held.set()
    await expect(page.get_by_role("region", name="Uploads")).to_contain_text("3 ready", timeout=60_000)
    listed = (await clerk(site).get("/documents", text=tag))["documents"]
    assert sorted(each["file_name"] for each in listed) == [f"{tag}-{number}.xml" for number in range(3)]


async def test_the_page_asks_before_it_is_left_while_documents_are_not_sent_yet(page: Page) -> None:
    tag, held = unique("L"), asyncio.Event()

    async def hold(route: Route) -> None:
        await held.wait()
        await route.continue_()

    await page.route(lambda url: url.endswith("/v1/documents"), hold)
    await drop(page, {f"{tag}-{number}.xml": e_invoice(unique("E")) for number in range(4)})
    await uploaded(page, f"{tag}-3.xml").click()  # a browser asks only about pages that were used
    async with page.expect_event("dialog") as asked:
        await page.evaluate("setTimeout(() => location.reload())")
    dialog = await asked.value
    assert dialog.type == "beforeunload"
    await dialog.dismiss()
    held.set()
    uploads = page.get_by_role("region", name="Uploads")
    await expect(uploads).to_contain_text("4 ready", timeout=60_000)
    await page.reload()
    await expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()
    await expect(uploads).to_be_hidden()


async def test_a_failed_document_is_sent_again_or_dismissed(page: Page) -> None:
    await drop(page, {"bad.pdf": b"%PDF-1.7 " + unique("x").encode()})
    await expect(uploaded(page, "bad.pdf")).to_contain_text("Failed", timeout=60_000)
    await tab(page, "Failed").click()
    failed = row(page, "bad.pdf")
    await failed.get_by_role("button", name="Send again").click()
    await expect(failed.get_by_role("button", name="Dismiss")).to_be_enabled(timeout=60_000)
    await failed.get_by_role("button", name="Dismiss").click()
    await expect(failed).to_be_hidden()
    await tab(page, "All").click()
    await expect(row(page, "bad.pdf")).to_contain_text("Dismissed")


async def test_the_address_is_the_state_and_a_search_finds_by_every_column(page: Page, site: Site) -> None:
    await to_review(site, "Quirin GmbH", "Zacharias AG")
    await expect(row(page, "Zacharias")).to_be_visible()
    for words in ("quirin", "Quirin GmbH.pdf", "119,00"):
        await page.keyboard.press("Escape")
        await page.keyboard.press("/")
        await expect(page.get_by_role("searchbox")).to_be_focused()
        await page.keyboard.press("Control+a")
        await page.keyboard.type(words)
        await expect(page).to_have_url(re.compile("text="))
        await expect(row(page, "Quirin GmbH")).to_be_visible()
    await page.get_by_role("searchbox").fill("quirin")
    await expect(row(page, "Zacharias")).to_be_hidden()
    await expect(tab(page, "Needs attention")).to_contain_text("1")
    await page.reload()
    await expect(row(page, "Quirin GmbH")).to_be_visible()
    await expect(row(page, "Zacharias")).to_be_hidden()
    await page.get_by_role("searchbox").fill("nothing like it")
    await page.get_by_role("button", name="Clear the search").last.click()
    await expect(row(page, "Zacharias")).to_be_visible()


async def test_many_are_approved_by_keyboard_alone_after_a_preview(page: Page, site: Site) -> None:
    await to_review(site, "Kara One", "Kara Two", "Kara Three")
    wrong = await waiting_of(site, reading(vendor_name=said("Kara Four"), iban=FieldValue(), net=said(Decimal("1.00"))))
    await named(site.service.app.db, wrong, "Kara Four.pdf")
    await page.goto(f"{site.url}/?text=kara")
    await expect(row(page, "Kara Four")).to_be_visible()
    before = await page.get_by_role("row").count() - 1
    for _ in range(before):
        await page.keyboard.press("j")
        await page.keyboard.press("x")
    await expect(page.get_by_text(f"{before} selected")).to_be_visible()
    await page.keyboard.press("Shift+A")
    dialog = page.get_by_role("dialog", name="Approve documents")
    await expect(dialog).to_contain_text("3 documents will be approved")
    await expect(dialog).to_contain_text("357.00")
    await expect(dialog.get_by_role("row").filter(has_text="Kara Four.pdf")).to_be_visible()
    await page.keyboard.press("Control+Enter")
    await expect(dialog).to_contain_text("3 documents approved")
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_text("selected")).to_be_hidden()
    await expect(row(page, "Kara One")).to_be_hidden()
    await expect(row(page, "Kara Four")).to_be_visible()
    await expect(tab(page, "Approved")).to_contain_text("3")


async def test_the_selection_ends_with_the_view(page: Page, site: Site) -> None:
    await to_review(site, "Nora Ltd")
    await page.goto(f"{site.url}/?text=nora")
    await expect(row(page, "Nora Ltd")).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await expect(page.get_by_text("1 selected")).to_be_visible()
    await tab(page, "Approved").click()
    await tab(page, "Needs attention").click()
    await expect(row(page, "Nora Ltd")).to_be_visible()
    await expect(page.get_by_text("1 selected")).to_be_hidden()


async def test_enter_opens_the_review_and_back_returns_to_the_same_row(page: Page, site: Site) -> None:
    await to_review(site, *(f"Olga {number:02}" for number in range(30)))
    await page.goto(f"{site.url}/?text=olga")
    await expect(row(page, "Olga 29")).to_be_visible()
    for _ in range(25):
        await page.keyboard.press("j")
    await expect(page.locator("[data-active][role=row]")).to_contain_text("Olga 05")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(r"/review/rev_\w+\?queue=status%3Dattention%26text%3Dolga"))
    await page.go_back()
    await expect(page.locator("[data-active][role=row]")).to_contain_text("Olga 05")
    await expect(row(page, "Olga 05")).to_be_in_viewport()
    await page.keyboard.press("j")
    await expect(page.locator("[data-active][role=row]")).to_contain_text("Olga 04")


async def test_look_alikes_are_grouped_and_the_reviews_follow_the_list(page: Page, site: Site) -> None:
    tag = unique("Twin")
    twin = reading(vendor_name=said(f"Twin {tag}"), invoice_number=said(tag), iban=FieldValue())
    for name in ("a", "b", "c", "d"):
        own = twin if name in "ad" else reading(vendor_name=said(f"{name} {tag}"), iban=FieldValue())
        await named(site.service.app.db, await waiting_of(site, own), f"{tag} {name}.pdf")
    await page.goto(f"{site.url}/?text={tag}")
    files = page.locator("[role=row] [data-column=file] a")
    await expect(files).to_have_text([f"{tag} {name}.pdf" for name in "dacb"])
    await expect(page.get_by_role("row").nth(1)).to_contain_text("1 look-alike")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    for place, name in enumerate("dacb", start=1):
        await at_place(page, f"{place} of 4", f"{tag} {name}.pdf")
        await page.keyboard.press("]")
    await page.keyboard.press("[")
    await page.keyboard.press("[")
    await at_place(page, "2 of 4", f"{tag} a.pdf")
    await page.keyboard.press("[")
    await at_place(page, "1 of 4", f"{tag} d.pdf")
    await reject(page)  # the one that the other follows: it has left the list
    await at_place(page, "1 of 3", f"{tag} a.pdf")
    await page.reload()
    await at_place(page, "1 of 3", f"{tag} a.pdf")
    await reject(page)
    await at_place(page, "1 of 2", f"{tag} c.pdf")


async def at_place(page: Page, place: str, file_name: str) -> None:
    await expect(page.locator("[data-testid=review][data-painted]")).to_be_visible(timeout=30_000)
    heading = page.locator("header").filter(has=page.get_by_role("heading", level=1))
    await expect(heading).to_contain_text(file_name)
    await expect(heading).to_contain_text(place)


async def reject(page: Page) -> None:
    await page.keyboard.press("Control+Shift+Enter")
    await page.keyboard.type("twice")
    await page.keyboard.press("Control+Enter")


async def test_a_folder_is_sent_with_all_its_files(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "November"
    (folder / "week 1").mkdir(parents=True)
    (folder / "one.xml").write_bytes(e_invoice(unique("E")))
    (folder / "week 1" / "two.xml").write_bytes(e_invoice(unique("E")))
    await page.get_by_role("button", name="Upload").click()
    async with page.expect_file_chooser() as choosing:
        await page.get_by_role("menuitem", name="folder").click()
    await (await choosing.value).set_files(folder)
    for name in ("one.xml", "two.xml"):
        await expect(uploaded(page, name)).to_contain_text("Ready", timeout=60_000)


async def test_a_key_uploads_from_any_page(page: Page, site: Site) -> None:
    page.on("filechooser", lambda _: None)  # from now on: to begin with the key would be too late at times
    await page.goto(f"{site.url}/runs")
    await expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()
    async with page.expect_file_chooser() as choosing:
        await page.keyboard.press("u")
    content = e_invoice(unique("E"))
    await (await choosing.value).set_files([FilePayload(name="any.xml", mimeType="", buffer=content)])
    await expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()
    await expect(uploaded(page, "any.xml")).to_contain_text("Ready", timeout=60_000)


async def test_a_file_name_that_is_html_and_turns_text_around_does_nothing(page: Page, site: Site) -> None:
    await drop(page, {"plain.xml": e_invoice(unique("E"))})
    await expect(uploaded(page, "plain.xml")).to_contain_text("Ready", timeout=60_000)
    [document] = (await clerk(site).get("/documents", text="plain.xml"))["documents"]
    db = site.service.app.db
    await named(db, document["document_id"], HOSTILE)
    await db.execute(
        "UPDATE seen_invoices SET vendor_name = $2 WHERE document_id = $1", document["document_id"], HOSTILE * 40
    )
    await page.reload()
    found = row(page, "<img src=x")
    await expect(found).to_contain_text("⟨U+202E⟩gnp<img src=x onerror")
    await expect(page).to_have_title("Inbox · Docrail")
    assert await page.locator("[role=grid] img, [role=grid] script").count() == 0


@pytest.mark.parametrize("size", [DESKTOP, LAPTOP, PHONE])
async def test_who_has_a_document_is_shown_in_each_window(browser: Browser, site: Site, size: tuple[int, int]) -> None:
    name = unique("Held")
    await to_review(site, name)
    await site.service.app.db.execute(
        "UPDATE reviews SET claimed_by = 'ann', claimed_until = now() + interval '9 minutes' WHERE file_name = $1",
        f"{name}.pdf",
    )
    watch = Watch(site.url)
    async with visit(browser, watch, size=size) as visitor:
        page = await visitor.tab(f"/?text={name}")
        await expect(row(page, name).get_by_text("ann", exact=True).filter(visible=True)).to_have_count(1)
    assert watch.found() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_inbox_is_accessible_and_fits_each_window(
    browser: Browser, site: Site, scheme: Scheme, pictures: Path
) -> None:
    names = ("i2d_coolblue1.pdf", "xr_01.01a_ubl.xml", "i2d_azureinterior.pdf", "broken.pdf")
    http = site.service.http
    async with asyncio.TaskGroup() as sending:
        for name in names:
            file = {"file": (name, (SAMPLES / name).read_bytes())}
            sending.create_task(http.post("/v1/documents", files=file))
    findings: list[str] = []
    for size in ((1440, 900), LAPTOP, PHONE):
        watch = Watch(site.url)
        async with visit(browser, watch, scheme=scheme, size=size) as visitor:
            page = await visitor.tab()
            await expect(row(page, "i2d_coolblue1.pdf").first).to_be_visible(timeout=60_000)
            await screenshot(page, f"inbox-{scheme}-{size[0]}", pictures)
            findings += await axe(page)
            width = await page.evaluate("document.documentElement.scrollWidth")
            assert width <= size[0]
        assert watch.found() == []
    assert findings == []
