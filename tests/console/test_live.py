"""Live updates: one stream for each browser, polling without one, and nothing typed is lost when the API stops."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast
from uuid import uuid4

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from docrail.adapters.store import blobs
from docrail.embedded.claims import claim_port
from docrail.services.access.models import Principal, Scope, local_name
from docrail.services.access.service import create_key
from docrail.services.events.service import Events
from tests.api.customer import unique
from tests.console.site import Site, Visitor, Watch, visit
from tests.console.test_decide import ask, asking, choose
from tests.console.test_review import eventually_set, field, has_claim, invoice_pdf, path_of, put, shown
from tests.stack import ROOT, eventually


def streams(site: Site) -> int:
    """Return how many streams browsers have open."""
    return len(cast(Events, site.service.api.state.events)._streams)  # noqa: SLF001 - of this very process


async def ask_titled(site: Site) -> str:
    """Ask a question of a new title, and return the title."""
    title, definition = f"Pay {uuid4().hex[:8]}?", asking()
    definition["steps"][0]["human"]["title"] = title
    await ask(site, definition)
    return title


async def test_eight_tabs_have_one_stream_and_all_show_a_change(site: Site, visitor: Visitor) -> None:
    tabs = [await visitor.tab("/decide") for _ in range(8)]
    for tab in tabs:
        await expect(tab.get_by_role("heading", level=1, name="Decisions")).to_be_visible()
    await eventually(lambda: streams(site) == 1, "one stream for the browser")
    title = await ask_titled(site)
    for tab in tabs:
        await expect(tab.get_by_role("link", name=title)).to_be_visible()
    assert streams(site) == 1


async def test_the_stream_moves_when_its_tab_is_closed(site: Site, visitor: Visitor) -> None:
    first, second = await visitor.tab("/decide"), await visitor.tab("/decide")
    await eventually(lambda: streams(site) == 1, "the stream")
    await first.close()
    title = await ask_titled(site)
    await expect(second.get_by_role("link", name=title)).to_be_visible()
    await eventually(lambda: streams(site) == 1, "the stream of the other tab")


async def test_a_change_is_shown_within_a_second(site: Site, visitor: Visitor) -> None:
    page = await visitor.tab("/decide")
    await eventually(lambda: streams(site) == 1, "the stream")
    found = [await seconds_until_shown(site, page)]
    while found[-1] > 1.0 and len(found) < 4:  # other tests run at the same time
        found.append(await seconds_until_shown(site, page))
    assert min(found) <= 1.0, found


async def seconds_until_shown(site: Site, page: Page) -> float:
    title = await ask_titled(site)
    began = time.monotonic()
    await expect(page.get_by_role("link", name=title)).to_be_visible()
    return time.monotonic() - began


async def test_a_blocked_stream_is_replaced_by_polling(site: Site, visitor: Visitor) -> None:
    visitor.watch.expected.append(r"net::ERR_FAILED")
    await visitor.context.route("**/v1/events*", lambda route: route.abort())
    page = await visitor.tab("/decide")
    await expect(page.get_by_text("Live updates are interrupted.")).to_be_visible()
    title = await ask_titled(site)
    await expect(page.get_by_role("link", name=title)).to_be_visible(timeout=20_000)  # it asks every 5 s
    await visitor.context.unroute("**/v1/events*")
    await expect(page.get_by_text("Live updates are interrupted.")).to_be_hidden()


async def test_a_proxy_that_keeps_the_stream_to_itself_is_noticed_by_its_silence(site: Site, visitor: Visitor) -> None:
    page = await visitor.tab()
    await page.clock.install()
    await visitor.context.route("**/v1/events*", lambda route: None)  # neither an answer nor an error
    await page.goto(f"{site.url}/decide")
    await expect(page.get_by_role("heading", level=1, name="Decisions")).to_be_visible()
    title = await ask_titled(site)
    await page.clock.fast_forward("00:30")
    await expect(page.get_by_text("Live updates are interrupted.")).to_be_visible()
    await page.clock.fast_forward("00:06")
    await expect(page.get_by_role("link", name=title)).to_be_visible()


HIDE = """isHidden => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
}"""


async def test_a_tab_that_slept_catches_up_without_a_reload(site: Site, visitor: Visitor) -> None:
    page = await visitor.tab()
    await page.clock.install()
    await page.goto(f"{site.url}/decide")
    await expect(page.get_by_role("heading", level=1, name="Decisions")).to_be_visible()
    await eventually(lambda: streams(site) == 1, "the stream")
    await page.evaluate(HIDE, True)
    await page.clock.fast_forward("00:40")
    await eventually(lambda: streams(site) == 0, "the end of the stream")
    title = await ask_titled(site)
    await page.evaluate(HIDE, False)
    await expect(page.get_by_role("link", name=title)).to_be_visible()
    await eventually(lambda: streams(site) == 1, "the stream again")


@asynccontextmanager
async def api_at(site: Site, port: int, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run one more API of the site, in a process of its own, and kill it at the end."""
    settings = site.service.settings
    environment = {
        "DOCRAIL_ACCESS": "local",
        "DOCRAIL_API_PORT": str(port),
        "DOCRAIL_DATABASE_URL": settings.database_url,
        "DOCRAIL_DATA_DIR": str(settings.data_dir),
        "DOCRAIL_TASK_QUEUE": settings.task_queue,
        "DOCRAIL_TEMPORAL_ADDRESS": settings.temporal_address or "",
        "DOCRAIL_TEMPORAL_ENVCONFIG": "false",
    }
    with (folder / "api.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "docrail", "server", "start"),
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )

    async def listens() -> bool:
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=5) as http:
                return (await http.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200
        except httpx.HTTPError:
            return False

    try:
        await eventually(listens, "the API to listen", timeout_seconds=120)
        yield process
    finally:
        process.kill()
        await process.wait()


async def test_an_api_that_is_killed_while_a_field_is_typed_loses_nothing(
    browser: Browser, site: Site, tmp_path: Path
) -> None:
    run_id, review_id = await ask(site)
    port = claim_port(0, "the API")
    watch = Watch(f"http://127.0.0.1:{port}", expected=[r"net::ERR_", r"answered 50\d"])
    async with visit(browser, watch) as visitor:
        async with api_at(site, port, tmp_path):
            page = await visitor.tab(f"/decide/{review_id}")
            await choose(page, "Pay it", "Yes")
            await page.get_by_label("Comment").press_sequentially("as ")
        await expect(page.get_by_text("Docrail does not answer.")).to_be_visible()
        await page.get_by_label("Comment").press_sequentially("ordered")
        async with api_at(site, port, tmp_path):
            await expect(page.get_by_text("Docrail does not answer.")).to_be_hidden(timeout=60_000)
            await expect(page.get_by_label("Comment")).to_have_value("as ordered")
            await page.reload()
            await expect(page.get_by_label("Comment")).to_have_value("as ordered")
            await page.get_by_role("button", name="Send the answer").click()
            await expect(page.get_by_role("heading", name="This is answered")).to_be_visible()
    assert watch.found() == []
    output = (await site.service.http.get(f"/v1/runs/{run_id}/steps/approval/output")).json()["output"]
    assert (output["approved"], output["comment"]) == (True, "as ordered")


async def test_a_field_of_a_review_is_saved_when_the_api_that_was_killed_is_back(
    browser: Browser, site: Site, tmp_path: Path
) -> None:
    item = await put(site, invoice_pdf(unique("K")))
    port = claim_port(0, "the API")
    watch = Watch(f"http://127.0.0.1:{port}", expected=[r"net::ERR_", r"answered 50\d"])
    async with visit(browser, watch) as visitor:
        async with api_at(site, port, tmp_path):
            page = await visitor.tab(path_of(item, "none"))
            await shown(page)
            await eventually(lambda: has_claim(item, local_name()), "the claim")
            await field(page, "Vendor").fill("Muster")
        await field(page, "Vendor").press_sequentially(" & Töchter")
        await field(page, "Vendor").press("Enter")
        await expect(page.get_by_text("Not sent yet: Docrail does not answer.")).to_be_visible()
        async with api_at(site, port, tmp_path):
            await eventually_set(item, {"vendor_name": "Muster & Töchter"})
            await expect(page.get_by_text("Not sent yet")).to_be_hidden()
    assert watch.found() == []


async def test_an_unavailable_store_is_said_with_what_works(
    site: Site, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, review_id = await ask(site)
    page = await visitor.tab(f"/decide/{review_id}")
    with monkeypatch.context() as full:
        full.setattr(blobs, "LEAST_FREE_BYTES", 2**80)
        await expect(page.get_by_text("The file store is not available.")).to_be_visible()
        await expect(page.get_by_text("Deciding and correcting work.")).to_be_visible()
        await choose(page, "Pay it", "Yes")
        await page.get_by_role("button", name="Send the answer").click()
        await expect(page.get_by_role("heading", name="This is answered")).to_be_visible()
    await expect(page.get_by_text("The file store is not available.")).to_be_hidden()


async def test_a_missing_worker_is_said_with_what_works(browser: Browser, guarded_site: Site) -> None:
    by = Principal("default", "tests", frozenset(Scope))
    key = (await create_key(guarded_site.service.app.db, by, "ann", Scope)).key
    watch = Watch(guarded_site.url)
    async with visit(browser, watch) as visitor:
        page = await visitor.tab("/decide")
        await page.get_by_label("API key").fill(key)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_text("No worker is running.")).to_be_visible()
        await expect(page.get_by_text("Uploads and decisions are kept.")).to_be_visible()
    assert watch.found() == []
