"""Provide a real browser, and a site with the built console for the tests of each file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.api.service import settings_for
from tests.console.chromium import OPTIONS, find_chromium
from tests.console.site import Site, Visitor, Watch, serve_site, visit
from tests.postgres import migrated_database
from tests.stack import Servers


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Start Chromium, which reaches this machine only."""
    chromium = find_chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium.program,
            args=[*OPTIONS, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
            env=dict(chromium.environment) or None,
        )
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
async def site(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Serve the console in local mode, without sign-in, with a worker and a database for this file's tests."""
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("site"))
        async with serve_site(settings.model_copy(update={"access": "local"})) as served:
            yield served


@pytest.fixture(scope="module")
async def guarded_site(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Serve the console to people with keys, without a worker, with a database for this file's tests."""
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("guarded"))
        async with serve_site(settings.model_copy(update={"access": "keys"}), worker=False) as served:
            yield served


@pytest.fixture
async def visitor(browser: Browser, site: Site) -> AsyncIterator[Visitor]:
    """Give a person's browser at the site. The test fails for whatever its pages complain of."""
    watch = Watch(site.url)
    async with visit(browser, watch) as visiting:
        yield visiting
    assert watch.found() == []


@pytest.fixture
async def page(visitor: Visitor) -> Page:
    """Give a tab on the inbox."""
    return await visitor.tab()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder for screenshots, which pytest keeps after a failure."""
    return tmp_path_factory.mktemp("pictures", numbered=False)
