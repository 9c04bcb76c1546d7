"""The address is the state of every screen: a reload shows the same, and so does the way back from another page."""

import re
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Browser, Page, expect

from docrail.invoices.model import FieldValue
from tests.api.customer import unique
from tests.api.reviewing import reading, said
from tests.api.test_batches import QUICK, order, packed, publish, send_zip, some, until
from tests.console.site import Site, Visitor, Watch, visit
from tests.console.test_decide import ask
from tests.console.test_definitions import two_versions
from tests.console.test_failures import broken, fail
from tests.console.test_inbox import waiting_of
from tests.console.test_review import invoice_pdf, path_of, put
from tests.console.test_runs import SUPPLIER, start

Opened = tuple[str, str]
"""An address, and what a person sees there and not at the address without its parameters."""


async def inbox(site: Site) -> Opened:
    number = unique("N")
    await waiting_of(site, reading(invoice_number=said(number), iban=FieldValue()))
    await waiting_of(site, reading(iban=FieldValue()))
    return f"/?status=all&text={number}&sort=total", "[role=rowgroup] > [role=row]:first-child:last-child"


async def review(site: Site) -> Opened:
    text = unique("R")
    first, _ = [await put(site, invoice_pdf(f"{text}-{n}", pages=2)) for n in (1, 2)]
    return path_of(first, text) + "&page=2", "img[alt='Page 2 of 2']"


async def decision(site: Site) -> Opened:
    files = {"file": ("two.pdf", invoice_pdf(unique("D"), pages=2))}
    sent = (await site.service.http.post("/v1/documents", files=files)).json()
    _, review_id = await ask(site, document_id=sent["document_id"])
    return f"/decide/{review_id}?page=2", "img[alt='Page 2 of two.pdf']"


async def exports(site: Site) -> Opened:
    return "/exports?format=csv&separator=tab&of=received", "text=Separator"


async def run(site: Site) -> Opened:
    run_id = await start(site, SUPPLIER)
    return f"/runs/{run_id}?view=steps&step=read&panel=attempts", "[role=tab][aria-selected=true]:has-text('Attempts')"


async def runs(site: Site) -> Opened:
    await start(site, SUPPLIER)
    return "/runs?definition=supplier_check&time=ended&within=7d", "text=Ended: Last 7 days"


async def failures(site: Site) -> Opened:
    name = unique("broken")
    [run_id] = await fail(site, broken(name), 1)
    return f"/failures?error=ValueError&definition={name}&step=check", f"td a:has-text('{run_id}')"


async def batch(site: Site) -> Opened:
    http = site.service.http
    batch_id = await order(http, definition=await publish(http, QUICK))
    await send_zip(http, batch_id, packed(some(2)))
    await until(http, batch_id, "the end", lambda found: found["completed_at"])
    return f"/batches/{batch_id}?state=failed", "text=No document is in this state"


async def definition(site: Site) -> Opened:
    name = await two_versions(site)
    return f"/definitions/{name}?version=2&tab=changes&from=1", "text=Step added"


async def operations(site: Site) -> Opened:
    return "/operations/audit?act=no_such_act", "text=No event matches"


SCREENS = (inbox, review, decision, exports, run, runs, failures, batch, definition, operations)


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
async def test_a_reload_and_the_way_back_show_the_same(
    visitor: Visitor, site: Site, screen: Callable[[Site], Awaitable[Opened]]
) -> None:
    address, seen = await screen(site)
    page = await visitor.tab(address)
    await sees(page, seen)
    shared = page.url
    await page.reload()
    await sees(page, seen)
    assert page.url == shared
    await page.evaluate("document.activeElement?.blur()")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("Operations" if "/operations" not in address else "Exports")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page).not_to_have_url(shared)
    await page.go_back()
    await expect(page).to_have_url(shared)
    await sees(page, seen)


async def sees(page: Page, what: str) -> None:
    await expect(page.locator(what).first).to_be_visible(timeout=30_000)


@pytest.mark.parametrize(("zone", "clock"), [("America/Denver", "16:30"), ("Asia/Kolkata", "05:00")])
@pytest.mark.parametrize(("locale", "day"), [("en-GB", "01/11/2026"), ("de-DE", "01.11.2026")])
async def test_a_date_is_the_same_in_every_zone_and_a_time_names_its_zone(
    browser: Browser, site: Site, zone: str, clock: str, locale: str, day: str
) -> None:
    number = unique("Z")
    document_id = await waiting_of(site, reading(invoice_number=said(number), iban=FieldValue()))
    at = "UPDATE documents SET received_at = '2026-01-02T23:30:00Z' WHERE document_id = $1"
    watch = Watch(site.url)
    async with visit(browser, watch, zone=zone, locale=locale) as visitor:
        page = await visitor.tab(f"/?text={number}")
        await expect(page.locator("[role=gridcell][data-column=date]")).to_have_text(day)
        await site.service.app.db.execute(at, document_id)
        await page.goto(f"{site.url}/documents/{document_id}")
        received = page.locator("dd time").first
        await expect(received).to_be_visible()
        shown = f"{await received.inner_text()} {await received.get_attribute('title')}"
        assert clock in shown
        assert {"America/Denver": "GMT-7", "Asia/Kolkata": "GMT+5:30"}[zone] in shown.replace("\u2212", "-")
        await page.get_by_role("button", name=re.compile("Without sign-in|Ohne Anmeldung")).click()
        await page.get_by_role("radiogroup").filter(has_text="UTC").get_by_text("UTC").click()
        await expect(received).to_contain_text("23:30 UTC")
    assert watch.found() == []
