"""The README's pictures are of real pages with the invoices of the demo: `make screenshots` draws docs/pictures."""

import datetime as dt
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from docrail.samples.desk import Kind, draw_desk
from tests.console.site import DESKTOP, Scheme, Site, Watch, screenshot, visit

SIZE = DESKTOP
FOLDER = "PICTURES"
"""The variable that names the folder; without it the pictures are drawn and thrown away."""


@pytest.fixture(scope="module")
async def runs(site: Site) -> dict[Kind, str]:
    """Read the invoices of the demo, and return the id of a run of each kind."""
    started = {}
    for file in draw_desk(dt.datetime.now(dt.UTC).date()):
        sent = await site.service.http.post(
            "/v1/documents", files={"file": (file.name, file.content)}, data={"sla_hours": str(file.sla_hours)}
        )
        assert sent.status_code == 202, sent.text
        started[file.name] = file.kind, sent.json()["run_id"]
    for _, run_id in started.values():
        await site.service.closed(run_id)
    return dict(started.values())


@pytest.fixture(params=["light", "dark"])
async def opened(browser: Browser, site: Site, request: pytest.FixtureRequest) -> AsyncIterator[tuple[Page, Scheme]]:
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=request.param, size=SIZE) as visitor:
        yield await visitor.tab(), request.param
    assert watch.found() == []


async def test_the_inbox(opened: tuple[Page, Scheme], runs: dict[Kind, str], folder: Path) -> None:
    page, scheme = opened
    await expect(page.get_by_text("Lindner").first).to_be_visible()
    await screenshot(page, f"inbox-{scheme}", folder)


async def test_the_review(opened: tuple[Page, Scheme], runs: dict[Kind, str], site: Site, folder: Path) -> None:
    page, scheme = opened
    reviews = (await site.service.http.get("/v1/reviews", params={"vendor": "Lindner"})).json()["reviews"]
    await page.goto(f"{site.url}/review/{reviews[0]['review_id']}")
    await expect(page.locator("[data-testid=review][data-painted]")).to_be_visible(timeout=30_000)
    await page.keyboard.press("Enter")  # to the field that a problem is about
    await screenshot(page, f"review-{scheme}", folder)


async def test_the_run(opened: tuple[Page, Scheme], runs: dict[Kind, str], site: Site, folder: Path) -> None:
    page, scheme = opened
    await page.goto(f"{site.url}/runs/{runs[Kind.WRONG_TOTAL]}")
    await expect(page.get_by_text("save_parquet").first).to_be_visible()
    await screenshot(page, f"run-{scheme}", folder)


@pytest.fixture
def folder(pictures: Path) -> Path:
    return Path(os.environ[FOLDER]).absolute() if FOLDER in os.environ else pictures
