"""The README's pictures are of real pages with the invoices of the demo: `make screenshots` draws docs/pictures."""

import datetime as dt
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.async_api import Browser, Page, expect

from docrail.dag.values.json_values import Json
from docrail.samples.desk import draw_desk
from tests.console.site import DESKTOP, Scheme, Site, Watch, screenshot, visit
from tests.console.test_runs import SUPPLIER, has_state, node, place_at_rest, start

SIZE = DESKTOP
FOLDER = "PICTURES"
"""The variable that names the folder; without it the pictures are drawn and thrown away."""
COLOURS, MOST_BYTES = 256, 100_000
SEARCH: Json = {"id": "search", "title": "Search the register", "handler": "sleep", "config": {"seconds": 600}}


@pytest.fixture(scope="module")
async def desk(site: Site) -> None:
    """Read the invoices of the demo."""
    started = []
    for file in draw_desk(dt.datetime.now(dt.UTC).date()):
        sent = await site.service.http.post(
            "/v1/documents", files={"file": (file.name, file.content)}, data={"sla_hours": str(file.sla_hours)}
        )
        assert sent.status_code == 202, sent.text
        started.append(sent.json()["run_id"])
    for run_id in started:
        await site.service.closed(run_id)


@pytest.fixture(scope="module")
async def run_id(site: Site) -> AsyncIterator[str]:
    """Give a run with steps that run, wait, have failed and are still to come."""
    steps = [*SUPPLIER["steps"][:-1], SEARCH | {"depends_on": ["read"]}, SUPPLIER["steps"][-1]]
    run_id = await start(site, SUPPLIER | {"steps": steps}, key="blume")
    yield run_id
    await site.service.http.post(f"/v1/runs/{run_id}/abort")


@pytest.fixture(params=["light", "dark"])
async def opened(browser: Browser, site: Site, request: pytest.FixtureRequest) -> AsyncIterator[tuple[Page, Scheme]]:
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=request.param, size=SIZE) as visitor:
        yield await visitor.tab(), request.param
    assert watch.found() == []


@pytest.mark.usefixtures("desk")
async def test_the_inbox(opened: tuple[Page, Scheme], folder: Path) -> None:
    page, scheme = opened
    await expect(page.get_by_text("Lindner").first).to_be_visible()
    await draw(page, f"inbox-{scheme}", folder)


@pytest.mark.usefixtures("desk")
async def test_the_review(opened: tuple[Page, Scheme], site: Site, folder: Path) -> None:
    page, scheme = opened
    reviews = (await site.service.http.get("/v1/reviews", params={"vendor": "Lindner"})).json()["reviews"]
    await page.goto(f"{site.url}/review/{reviews[0]['review_id']}")
    await expect(page.locator("[data-testid=review][data-painted]")).to_be_visible(timeout=30_000)
    await page.keyboard.press("Enter")  # to the field that a problem is about
    await draw(page, f"review-{scheme}", folder)


async def test_the_run(opened: tuple[Page, Scheme], run_id: str, site: Site, folder: Path) -> None:
    page, scheme = opened
    await page.goto(f"{site.url}/runs/{run_id}")
    await has_state(page, "Search the register", "Running")
    await has_state(page, "Check the VAT id", "Failed")
    await expect(page.get_by_label("What the run waits for")).to_contain_text("waits for an answer from outside")
    await place_at_rest(node(page, "Search the register"))
    await draw(page, f"run-{scheme}", folder)


async def draw(page: Page, name: str, folder: Path) -> None:
    """Take a picture, and keep it small: everyone who clones the repository loads it."""
    path = await screenshot(page, name, folder)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    assert path.stat().st_size <= MOST_BYTES


@pytest.fixture
def folder(pictures: Path) -> Path:
    return Path(os.environ[FOLDER]).absolute() if FOLDER in os.environ else pictures
