"""The README's pictures are of real pages with the sample documents: `make screenshots` draws docs/pictures."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from docrail.cli.demo import SAMPLES, SUFFIXES
from tests.console.site import DESKTOP, Scheme, Site, Watch, screenshot, visit

SIZE = DESKTOP
FOLDER = "PICTURES"
"""The variable that names the folder; without it the pictures are drawn and thrown away."""


@pytest.fixture(scope="module")
async def runs(site: Site) -> dict[str, str]:
    """Read the sample documents, and return the id of the run of each file."""
    started = {}
    for path in sorted(SAMPLES.iterdir()):
        if path.suffix in SUFFIXES:
            sent = await site.service.http.post("/v1/documents", files={"file": (path.name, path.read_bytes())})
            assert sent.status_code == 202, sent.text
            started[path.name] = sent.json()["run_id"]
    for run_id in started.values():
        await site.service.closed(run_id)
    return started


@pytest.fixture(params=["light", "dark"])
async def opened(browser: Browser, site: Site, request: pytest.FixtureRequest) -> AsyncIterator[tuple[Page, Scheme]]:
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=request.param, size=SIZE) as visitor:
        yield await visitor.tab(), request.param
    assert watch.found() == []


async def test_the_inbox(opened: tuple[Page, Scheme], runs: dict[str, str], folder: Path) -> None:
    page, scheme = opened
    await expect(page.get_by_text("Coolblue").first).to_be_visible()
    await screenshot(page, f"inbox-{scheme}", folder)


async def test_the_review(opened: tuple[Page, Scheme], runs: dict[str, str], site: Site, folder: Path) -> None:
    page, scheme = opened
    reviews = (await site.service.http.get("/v1/reviews", params={"vendor": "Coolblue"})).json()["reviews"]
    await page.goto(f"{site.url}/review/{reviews[0]['review_id']}")
    await expect(page.get_by_text("Coolblue").or_(page.get_by_label("Vendor")).first).to_be_visible()
    await expect(page.locator("img").first).to_be_visible()
    await screenshot(page, f"review-{scheme}", folder)


async def test_the_run(opened: tuple[Page, Scheme], runs: dict[str, str], site: Site, folder: Path) -> None:
    page, scheme = opened
    await page.goto(f"{site.url}/runs/{runs['i2d_coolblue1.pdf']}")
    await expect(page.get_by_text("save_parquet").first).to_be_visible()
    await screenshot(page, f"run-{scheme}", folder)


@pytest.fixture
def folder(pictures: Path) -> Path:
    return Path(os.environ[FOLDER]).absolute() if FOLDER in os.environ else pictures
