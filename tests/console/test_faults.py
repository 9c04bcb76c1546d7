"""Faults and extremes: services that fail, sessions that end, hostile text, huge documents, two people, many tabs."""

import asyncio
import io
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from playwright.async_api import Browser, Page, expect

from docrail.adapters.postgres.migrate import migrate
from docrail.embedded.postgres import PostgresServer, start_postgres
from docrail.embedded.temporal import TemporalServer, start_temporal
from docrail.services.access.models import DEFAULT_TENANT, local_name
from docrail.services.reviews.models import review_id_of
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.reviewing import reading, said
from tests.api.service import run_background_tasks, settings_for
from tests.console.site import PHONE, Site, Visitor, Watch, axe, screenshot, serve_site, visit
from tests.console.test_decide import ask
from tests.console.test_inbox import named, row, tab, waiting_of
from tests.console.test_live import streams
from tests.console.test_review import (
    Item,
    end_claim,
    eventually_set,
    field,
    has_claim,
    invoice_pdf,
    path_of,
    put,
    shown,
    signed_in,
)
from tests.console.test_shell import key_of
from tests.invoices.documents import make_pdf, pdf_bytes
from tests.invoices.test_long_documents import long_pdf
from tests.postgres import migrated_database
from tests.stack import Servers, eventually, frozen

ZOOMED = (720, 450)
"""The size of the window that a page has at twice the size on a screen of 1440 x 900."""
RIGHT_TO_LEFT = "\u202egnp.\u2066exe\u2069"
MARKUP = "<img src=x onerror=\"document.title='ran'\"><script>document.title='ran'</script>"


@pytest.fixture(scope="module")
async def temporal(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TemporalServer]:
    """Start a Temporal of this file's own, which its tests stop."""
    server = await start_temporal(tmp_path_factory.mktemp("temporal"), 0, 0, report=print)
    yield server
    await server.process.kill()


@pytest.fixture
async def fragile_site(
    temporal: TemporalServer, embedded: Servers, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Site]:
    """Serve the console on the Temporal that is stopped."""
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(temporal.address, dsn, tmp_path_factory.mktemp("fragile"))
        async with serve_site(settings.model_copy(update={"access": "local"})) as served:
            yield served


@asynccontextmanager
async def unavailable(server: TemporalServer | PostgresServer, how: str) -> AsyncIterator[None]:
    """Kill a server, or freeze it so that it takes requests and never answers."""
    if how == "killed":
        await server.process.kill()
        try:
            yield
        finally:
            await server.process.start()
        return
    pid = server.process.pid
    assert pid is not None
    with frozen([pid]):
        yield


async def waiting_document(site: Site) -> tuple[Item, str]:
    """Upload an invoice whose run waits for the decision about it; return the item and the run's id."""
    name, http = "invoice_with_approval", site.service.http
    files = {"file": ("invoice.xml", e_invoice(unique("F")))}
    sent = await http.post("/v1/documents", files=files, data={"definition": name})
    assert sent.status_code == 202, sent.text
    document_id = sent.json()["document_id"]
    item = Item(site, review_id_of(DEFAULT_TENANT, document_id), document_id)

    async def is_asked() -> bool:
        query = "SELECT count(*) FROM reviews WHERE run_id = $1 AND step_id = 'approval'"
        return bool(await site.service.app.db.fetchval(query, f"{name}.{document_id}"))

    await eventually(is_asked, "the run to wait for the decision")
    return item, f"{name}.{document_id}"


@pytest.mark.parametrize("how", ["killed", "frozen"])
async def test_a_document_is_decided_while_temporal_is_unavailable_and_its_run_goes_on_afterwards(
    browser: Browser, fragile_site: Site, temporal: TemporalServer, how: str
) -> None:
    item, run_id = await waiting_document(fragile_site)
    watch = Watch(fragile_site.url, expected=["answered 503"])
    async with visit(browser, watch) as visitor:
        page = await visitor.tab(path_of(item, "none"))
        await shown(page)
        async with unavailable(temporal, how):
            await expect(page.get_by_text("Temporal is not available.")).to_be_visible(timeout=60_000)
            await expect(page.get_by_text("Runs go on with your decisions when it is back.")).to_be_visible()
            await page.keyboard.press("Control+Enter")
            await expect(page.get_by_text("The desk is empty")).to_be_visible(timeout=60_000)
            assert (await item.state())["status"] == "approved"
        await expect(page.get_by_text("Temporal is not available.")).to_be_hidden(timeout=60_000)

    async def has_the_decision() -> bool:
        await run_background_tasks(fragile_site.service)  # as each minute
        run = (await fragile_site.service.http.get(f"/v1/runs/{run_id}")).json()
        return bool(run["status"] == "completed")

    await eventually(has_the_decision, "the run to go on with the decision", timeout_seconds=120)
    assert watch.found() == []


@pytest.fixture
async def postgres(tmp_path: Path) -> AsyncIterator[PostgresServer]:
    """Start a PostgreSQL of one test's own, which it stops."""
    server = await start_postgres(tmp_path, report=print)
    await migrate(server.dsn)
    yield server
    await server.process.stop()


async def test_what_is_typed_while_the_database_is_unavailable_is_saved_when_it_is_back(
    browser: Browser, embedded: Servers, postgres: PostgresServer, tmp_path: Path
) -> None:
    settings = settings_for(embedded.temporal_address, postgres.dsn, tmp_path).model_copy(update={"access": "local"})
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(serve_site(settings, worker=False))
        item = await put(site, invoice_pdf(unique("D")))
        watch = Watch(site.url, expected=[r"\b503\b"])
        page = await (await stack.enter_async_context(visit(browser, watch))).tab(path_of(item, "none"))
        await shown(page)
        await eventually(lambda: has_claim(item, local_name()), "the claim")
        async with unavailable(postgres, "killed"):
            await expect(page.get_by_text("The database is not available.")).to_be_visible()
            await expect(page.get_by_text("What you type is kept in this browser.")).to_be_visible()
            await field(page, "Vendor").fill("Muster & Töchter")
            await field(page, "Vendor").press("Enter")
            await expect(page.get_by_text("Not sent yet: Docrail does not answer.")).to_be_visible()
            assert await axe(page) == []
        await expect(page.get_by_text("The database is not available.")).to_be_hidden()
        await eventually_set(item, {"vendor_name": "Muster & Töchter"})
        assert watch.found() == []


async def test_an_ended_session_keeps_what_is_typed_and_where(browser: Browser, guarded_site: Site) -> None:
    item = await put(guarded_site, invoice_pdf(unique("E")))
    async with signed_in(browser, guarded_site, "eve") as eve:
        page = await eve.tab(path_of(item, "none"))
        await shown(page)
        await eventually(lambda: has_claim(item, "eve"), "the claim")
        key = await key_of(guarded_site, name="eve")
        await field(page, "Vendor").fill("Muster & Töchter")
        await eve.context.clear_cookies()
        await field(page, "Vendor").press("Enter")
        dialog = page.get_by_role("dialog", name="Sign in again")
        await expect(dialog).to_be_visible()
        await expect(field(page, "Vendor")).to_have_value("Muster & Töchter")
        await dialog.get_by_label("API key").fill(key)
        await dialog.get_by_role("button", name="Sign in").click()
        await expect(dialog).to_be_hidden()
        await expect(page).to_have_url(re.compile(item.review_id))

        async def is_saved() -> bool:
            return await item.values() == {"vendor_name": "Muster & Töchter"}

        await eventually(is_saved, "the field to be saved")


async def test_what_was_not_sent_is_forgotten_at_sign_out(browser: Browser, guarded_site: Site) -> None:
    item = await put(guarded_site, invoice_pdf(unique("O")))
    async with signed_in(browser, guarded_site, "oda") as oda:
        page = await oda.tab(path_of(item, "none"))
        await shown(page)
        await page.route("**/text", lambda route: route.abort("connectionrefused"))
        await field(page, "Vendor").fill("Muster & Töchter")
        await field(page, "Vendor").press("Enter")
        await expect(page.get_by_text("Not sent yet")).to_be_visible()
        drafts = "Object.keys(localStorage).filter((name) => name.startsWith('docrail.draft'))"
        assert len(await page.evaluate(drafts)) == 1
        await page.get_by_role("button", name="oda").click()
        await page.get_by_role("menuitem", name="Sign out").click()
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert await page.evaluate(drafts) == []


@pytest.mark.parametrize("kind", ["markup", "direction", "long"])
async def test_names_and_text_of_any_kind_are_shown_as_text(visitor: Visitor, site: Site, kind: str) -> None:
    word = {"markup": MARKUP, "direction": RIGHT_TO_LEFT, "long": "W" * 10_000}[kind]
    number = unique("N")
    invoice = reading(vendor_name=said(word), invoice_number=said(number))
    document_id = await waiting_of(site, invoice)
    await named(site.service.app.db, document_id, f"{word}.pdf")
    review = f"/review/{review_id_of(DEFAULT_TENANT, document_id)}"
    for path in (f"/?text={number}", review, f"/documents/{document_id}"):
        page = await visitor.tab(path)
        await expect(page.get_by_text(number).or_(page.locator(f"input[value='{number}']")).first).to_be_visible()
        await expect(page).not_to_have_title("ran")
        assert await page.locator("#content script, #content img[src=x]").count() == 0
        assert "\u202e" not in await page.locator("body").inner_text()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        await page.close()


async def test_a_field_takes_ten_thousand_characters_or_says_why_not(visitor: Visitor, site: Site) -> None:
    item = await put(site, invoice_pdf(unique("F")))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await field(page, "Vendor").fill("W" * 10_000)
    await field(page, "Vendor").press("Enter")
    await expect(page.get_by_role("alert").first).to_be_visible()
    await expect(field(page, "Vendor")).to_have_value("W" * 10_000)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def tall_picture() -> bytes:
    """Return a scan of 1,900 x 20,000 pixels with a mark at its end."""
    picture = Image.new("L", (1900, 20_000), "white")
    ImageDraw.Draw(picture).rectangle((100, 19_000, 1800, 19_900), fill="black")
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


async def test_a_page_of_twenty_thousand_pixels_is_shown_whole(visitor: Visitor, site: Site) -> None:
    item = await put(site, tall_picture(), "tall.png")
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await page.get_by_role("button", name="Whole page").click()
    picture = page.get_by_test_id("review").locator("img").first
    size = await picture.evaluate("image => [image.naturalWidth, image.naturalHeight]")
    assert size[0] * size[1] <= 2_200_000
    assert abs(size[1] / size[0] - 20_000 / 1900) < 0.1
    await expect(page.get_by_role("button", name="Approve and next")).to_be_in_viewport()

    async def is_whole() -> bool:  # it is moved there gently
        box = await picture.bounding_box()
        return box is not None and box["y"] + box["height"] <= 901

    await eventually(is_whole, "the whole page")


async def test_a_document_of_300_pages_is_shown_to_its_end(visitor: Visitor, site: Site, pictures: Path) -> None:
    item = await put(site, long_pdf(300))
    page = await visitor.tab(path_of(item, "none"))
    await shown(page)
    await expect(page.get_by_role("list", name="Problems")).to_contain_text(
        "Of 300 pages, the first 40 and the last 10"
    )
    strip = page.get_by_role("navigation", name="Pages")
    assert await strip.get_by_role("button").count() < 40
    await field(page, "Total").focus()  # it is on the last page
    await expect(page.get_by_text("300 / 300")).to_be_visible()
    await expect(strip.get_by_role("button", name="Page 300 of 300")).to_have_attribute("aria-current", "page")
    last = page.get_by_role("img", name="Page 300 of 300")
    await expect(last).to_have_js_property("complete", value=True)
    assert await last.evaluate("image => image.naturalWidth") > 500
    await screenshot(page, "review-300-pages", pictures)
    response = await visitor.context.request.get(f"/v1/documents/{item.document_id}/pages/150/words")
    assert [word["text"] for word in (await response.json())["words"]] == ["Anlage", "150"]


async def test_ten_thousand_rows_are_walked_to_the_last_by_keyboard(page: Page, site: Site) -> None:
    await site.service.app.db.execute(
        "INSERT INTO documents (tenant_id, document_id, sha256, size_bytes, media_type, file_name, sla_hours,"
        " received_at, decision) SELECT $1, 'doc_' || lpad(n::text, 26, '0'), repeat(md5(n::text), 2), 1, 'x/y',"
        " 'many ' || n || '.pdf', 24, now() - n * interval '1 minute', 'rejected' FROM generate_series(1, 10000) AS n",
        DEFAULT_TENANT,
    )
    await page.goto(f"{site.url}/?status=rejected")
    await expect(tab(page, "Rejected")).to_contain_text("10,000", timeout=30_000)
    await expect(row(page, "many 1.pdf")).to_be_visible()
    await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    await page.keyboard.press("j")

    async def is_at_the_end() -> bool:
        await page.keyboard.press("End")
        return await row(page, "many 10000.pdf").is_visible()

    await eventually(is_at_the_end, "the last of 10,000 rows", timeout_seconds=180)
    assert await page.get_by_role("row").count() < 80
    await expect(page.locator("[data-active][role=row]")).to_contain_text("many 10000.pdf")


async def test_of_two_simultaneous_decisions_one_wins_and_the_other_sees_why(
    browser: Browser, guarded_site: Site
) -> None:
    item = await put(guarded_site, invoice_pdf(unique("S")))
    async with signed_in(browser, guarded_site, "ann") as ann, signed_in(browser, guarded_site, "bob") as bob:
        hers = await ann.tab(path_of(item, "none"))
        await shown(hers)
        await eventually(lambda: has_claim(item, "ann"), "the claim")
        await hers.route("**/view", lambda route: None)  # her claim ends while she reads: she does not hear of his
        await end_claim(guarded_site, item)
        his = await bob.tab(path_of(item, "none"))
        await shown(his)
        await eventually(lambda: has_claim(item, "bob"), "his claim")
        await asyncio.gather(hers.keyboard.press("Control+Enter"), his.keyboard.press("Control+Enter"))
        await expect(his.get_by_text("The desk is empty")).to_be_visible()
        refusal = hers.get_by_role("alert")
        await expect(refusal).to_contain_text(re.compile("Your claim has ended|Already decided"))
        state = await item.state()
        assert (state["status"], state["decided_by"]) == ("approved", "bob")


@pytest.fixture(scope="module")
async def four_eyes_site(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Serve the console to people with keys, where two must approve a total above 1,000."""
    async with AsyncExitStack() as stack:
        dsn = await stack.enter_async_context(migrated_database(embedded.dsn))
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("four-eyes"))
        limited = settings.model_copy(update={"access": "keys", "four_eyes_above": Decimal(1000)})
        yield await stack.enter_async_context(serve_site(limited, worker=False))


async def test_a_second_person_is_known_to_be_needed_before_the_first_approves(
    browser: Browser, four_eyes_site: Site, pictures: Path
) -> None:
    number = unique("Q")
    item = await put(four_eyes_site, large_invoice(number))
    async with signed_in(browser, four_eyes_site, "ann") as ann, signed_in(browser, four_eyes_site, "bob") as bob:
        hers = await ann.tab(path_of(item, number))
        await shown(hers)
        await expect(hers.get_by_role("note")).to_contain_text("Two people must approve")
        await expect(hers.get_by_role("note")).to_contain_text("above 1000")
        await screenshot(hers, "review-second-needed", pictures)
        await hers.keyboard.press("Control+Enter")
        await expect(hers.get_by_text("someone else must approve it too")).to_be_visible()
        await hers.goto(f"{four_eyes_site.url}/?status=second&text={number}")
        await expect(row(hers, "rechnung.pdf")).to_contain_text("ann")
        await hers.goto(four_eyes_site.url + path_of(item, number))
        await shown(hers)
        await expect(hers.get_by_role("status").filter(has_text="waits for a second person")).to_be_visible()
        await expect(hers.get_by_role("button", name="Approve and next")).to_be_disabled()
        await expect(hers.get_by_role("note")).not_to_contain_text("Yours")
        await screenshot(hers, "review-second-waits", pictures)
        his = await bob.tab(path_of(item, number))
        await shown(his)
        await expect(his.get_by_role("note")).to_contain_text("ann")
        await his.keyboard.press("Control+Enter")
        await expect(his.get_by_text("The desk is empty")).to_be_visible()
        state = await item.state()
        assert (state["status"], state["decided_by"]) == ("approved", "bob")
        await hers.goto(f"{four_eyes_site.url}/?status=approved&text={number}")
        await expect(row(hers, "rechnung.pdf")).to_be_visible()


def large_invoice(number: str) -> bytes:
    """Return an invoice over 1,190, on which all sums agree."""
    lines = [(60, 60, "Muster GmbH"), (60, 75, "Hauptstrasse 1, 10115 Berlin"), (60, 130, f"Rechnung Nr. {number}")]
    lines += [(60, 150, "Rechnungsdatum: 12.04.2026"), (380, 300, "Summe netto"), (480, 300, "1.000,00")]
    lines += [(380, 316, "USt 19 %"), (480, 316, "190,00"), (380, 332, "Gesamtbetrag"), (480, 332, "1.190,00 EUR")]
    return pdf_bytes(make_pdf(lines))


async def test_ten_tabs_have_one_stream(site: Site, visitor: Visitor) -> None:
    item = await put(site, invoice_pdf(unique("T")))
    paths = [
        "/",
        "/runs",
        "/failures",
        "/decide",
        "/exports",
        f"/documents/{item.document_id}",
        "/",
        "/runs",
        "/decide",
    ]
    tabs = [await visitor.tab(path) for path in [*paths, path_of(item, "none")]]
    await shown(tabs[-1])
    await eventually(lambda: streams(site) == 1, "one stream for ten tabs")
    for each in tabs[:-1]:
        await expect(each.get_by_role("heading", level=1)).to_be_visible()
    assert streams(site) == 1


@pytest.mark.parametrize("size", [ZOOMED, PHONE])
async def test_small_windows_hide_nothing(browser: Browser, site: Site, pictures: Path, size: tuple[int, int]) -> None:
    number = unique("V")
    item = await put(site, invoice_pdf(number))
    run_id, question = await ask(site)
    paths = {"inbox": f"/?text={number}", "decide": f"/decide/{question}", "run": f"/runs/{run_id}"}
    paths |= {"review": path_of(item, number)} if size == ZOOMED else {}
    watch = Watch(site.url)
    async with visit(browser, watch, size=size) as visitor:
        for name, path in paths.items():
            page = await visitor.tab(path)
            await expect(page.get_by_role("heading", level=1)).to_be_visible()
            await (shown(page) if name == "review" else expect(page.get_by_role("main")).to_be_visible())
            await expect(page.get_by_label("Loading")).to_have_count(0)
            await screenshot(page, f"{name}-{size[0]}", pictures)
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
            assert await cut_off(page) == [], name
            assert await axe(page) == [], name
            await page.close()
    assert watch.found() == []


async def cut_off(page: Page) -> list[str]:
    """Return the buttons and fields that lie outside of the window and cannot be scrolled into it."""
    script = """() => [...document.querySelectorAll('button, a[href], input, textarea, select')]
      .filter((each) => each.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }))
      .filter((each) => !each.matches('.skip-link'))
      .filter((each) => {
        each.scrollIntoView({ block: 'nearest', inline: 'nearest' })
        const box = each.getBoundingClientRect()
        const isHidden = box.width <= 1 || box.height <= 1 || each.closest('[data-visually-hidden]')
        const isInside = box.right <= innerWidth + 1 && box.left >= -1 && box.bottom <= innerHeight + 1 && box.top >= -1
        return !isHidden && !isInside
      })
      .map((each) => each.getAttribute('aria-label') ?? each.textContent ?? each.outerHTML.slice(0, 80))"""
    found: list[str] = await page.evaluate(script)
    return found


async def test_the_server_speaks_german_in_a_german_console(browser: Browser, site: Site, pictures: Path) -> None:
    number, rule = unique("D"), "Netto, Steuer und Gesamt widersprechen sich"
    wrong = reading(vendor_name=said("Müller KG"), invoice_number=said(number), net=said(Decimal("1.00")))
    document_id = await waiting_of(site, wrong)
    watch = Watch(site.url)
    async with visit(browser, watch, locale="de-DE") as visitor:
        page = await visitor.tab(f"/?text={number}")
        await expect(row(page, "Müller KG")).to_contain_text(rule)
        await screenshot(page, "inbox-german", pictures)
        await page.keyboard.press("j")
        await page.keyboard.press("x")
        await page.keyboard.press("Shift+A")
        await expect(page.get_by_role("dialog").get_by_role("row").nth(1)).to_contain_text(rule)
        await page.keyboard.press("Escape")
        review_id = review_id_of(DEFAULT_TENANT, document_id)
        await page.goto(f"{site.url}/review/{review_id}")
        await shown(page)
        await expect(page.get_by_role("list", name="Probleme")).to_contain_text(rule)
        total = page.get_by_label("Gesamt", exact=True)
        await total.fill("viel")
        await total.press("Tab")
        await expect(page.get_by_text("Erwartet wird ein Betrag")).to_be_visible()
        await total.fill("1.234")
        await total.press("Tab")
        await expect(page.get_by_text("so schreibt man es im Land des Lieferanten")).to_be_visible()
        decided = "UPDATE reviews SET status = 'rejected', decided_by = 'eve' WHERE review_id = $1"
        await site.service.app.db.execute(decided, review_id)
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_role("textbox", name="Grund")).to_be_focused()
        await page.keyboard.type("geprüft")
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_text("eve hat dies schon entschieden").first).to_be_visible()
        await screenshot(page, "review-german", pictures)
    assert watch.found() == []
