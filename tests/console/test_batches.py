"""The pages of batches: the list, one batch live, its failures, and what may be done to it."""

import uuid
from pathlib import Path

from playwright.async_api import Browser, Route, expect

from tests.api.test_batches import QUICK, act, order, packed, publish, send_zip, some, until
from tests.console.site import LOOKS, Scheme, Site, Visitor, Watch, axe, screenshot, visit

BROKEN = {
    **QUICK,
    "steps": [{"id": "say", "handler": "fail", "config": {"times": 9, "error": "ConnectionError"}, "max_retries": 0}],
    "outputs": {},
}


async def failed_batch(site: Site) -> tuple[str, str]:
    """Run a batch whose documents fail, and return its id and name."""
    http, name = site.service.http, f"November {uuid.uuid4().hex[:6]}"
    batch_id = await order(http, definition=await publish(http, BROKEN), name=name)
    await send_zip(http, batch_id, packed(some(3)))
    await until(http, batch_id, "the failures", lambda batch: batch["completed_at"])
    return batch_id, name


async def test_a_batch_is_followed_live_paused_and_resumed(site: Site, visitor: Visitor) -> None:
    http, name = site.service.http, f"Folder {uuid.uuid4().hex[:6]}"
    batch_id = await order(http, definition=await publish(http, QUICK), name=name)
    page = await visitor.tab("/batches")
    await page.get_by_role("link", name=name, exact=True).click()
    await expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    await expect(page.get_by_text("No documents yet")).to_be_visible()
    await page.get_by_role("button", name="Pause", exact=True).click()
    await expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    await send_zip(http, batch_id, packed(some(4)))
    await expect(page.get_by_text("0 of 4", exact=True)).to_be_visible()
    await page.get_by_role("button", name="Resume", exact=True).click()
    await expect(page.get_by_text("4 of 4", exact=True)).to_be_visible()
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()
    await expect(page.get_by_role("link", name="folder/0.txt", exact=True)).to_be_visible()
    async with page.expect_download() as saving:
        await page.get_by_role("link", name="Result as CSV").click()
    assert (await saving.value).suggested_filename == f"{batch_id}.csv"


async def test_a_batch_that_runs_says_how_fast_and_how_long_it_still_takes(site: Site, visitor: Visitor) -> None:
    batch_id = await order(site.service.http, definition=await publish(site.service.http, QUICK))

    async def busy(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json=await answer.json() | {"per_minute": 120, "seconds_left": 200})

    page = await visitor.tab("/batches")
    await page.route(f"**/v1/batches/{batch_id}", busy)
    await page.goto(f"{site.url}/batches/{batch_id}")
    progress = page.get_by_role("region", name="Progress")
    await expect(progress).to_contain_text("120 a minute")
    await expect(progress).to_contain_text("minutes left")


async def test_batches_and_their_documents_are_opened_by_keyboard(site: Site, visitor: Visitor) -> None:
    batch_id, name = await failed_batch(site)
    page = await visitor.tab("/batches")
    await expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    row = page.locator("tbody tr[aria-current]")
    await expect(row).to_contain_text(name)  # the newest is the first one
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(f"{site.url}/batches/{batch_id}")
    await expect(page.get_by_role("link", name="folder/2.txt", exact=True)).to_be_visible()
    second = await page.locator("tbody tr[data-list-row]").nth(1).get_by_role("link").first.inner_text()
    await page.keyboard.press("j")
    await expect(row).to_contain_text(second)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1, name=second.removeprefix("folder/"))).to_be_visible()


async def test_failures_are_grouped_filtered_and_retried(site: Site, visitor: Visitor) -> None:
    batch_id, _ = await failed_batch(site)
    first_end = (await site.service.http.get(f"/v1/batches/{batch_id}")).json()["completed_at"]
    page = await visitor.tab(f"/batches/{batch_id}")
    failures = page.get_by_role("region", name="Failures")
    await expect(failures.get_by_text("ConnectionError").first).to_be_visible()
    await page.get_by_role("button", name="0 Done").click()
    await expect(page).to_have_url(f"{site.url}/batches/{batch_id}?state=done")
    await expect(page.get_by_text("No document is in this state")).to_be_visible()
    await failures.get_by_role("button", name="Retry 3 documents").click()
    again = await until(
        site.service.http, batch_id, "another end", lambda batch: batch["completed_at"] not in (None, first_end)
    )
    assert again["counts"]["failed"] == 3


async def test_a_batch_is_cancelled_after_a_question(site: Site, visitor: Visitor) -> None:
    http = site.service.http
    batch_id = await order(http, definition=await publish(http, QUICK))
    await act(http, batch_id, "pause")
    await send_zip(http, batch_id, packed(some(2)))
    page = await visitor.tab(f"/batches/{batch_id}")
    await page.get_by_role("button", name="Cancel batch", exact=True).click()
    dialog = page.get_by_role("dialog", name="Cancel this batch?")
    await dialog.get_by_role("button", name="Cancel batch", exact=True).click()
    await expect(page.get_by_role("button", name="2 Cancelled")).to_be_visible()


@LOOKS
async def test_the_pages_are_accessible_in_both_themes(
    browser: Browser, site: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    batch_id, name = await failed_batch(site)
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab("/batches")
        await expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
        assert await axe(page) == []
        await screenshot(page, f"batches-{scheme}-{size[0]}", pictures)
        await page.goto(f"{site.url}/batches/{batch_id}")
        await expect(page.get_by_role("link", name="folder/0.txt", exact=True)).to_be_visible()
        assert await axe(page) == []
        await screenshot(page, f"batch-{scheme}-{size[0]}", pictures)
    assert watch.found() == []
