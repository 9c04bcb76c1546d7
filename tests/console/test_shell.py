"""The frame of the console: navigation, sign-in, appearance, keys, pages that do not exist."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Route, expect

from docrail.services.access.models import Principal, Scope
from docrail.services.access.service import create_key
from tests.console.site import LOOKS_WITH_PHONE, Scheme, Site, Visitor, Watch, axe, focused, screenshot, visit

PAGES = ("Inbox", "Decisions", "Exports", "Batches", "Runs", "Failures", "Definitions", "Operations")


async def test_the_navigation_leads_to_every_page_by_keyboard(page: Page) -> None:
    navigation = page.get_by_role("navigation", name="Navigation")
    for name in PAGES:
        link = navigation.get_by_role("link", name=name, exact=True)
        await link.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
        await expect(page).to_have_title(f"{name} · Docrail")
        await expect(link).to_have_attribute("data-active", "true")


async def test_the_first_tab_key_skips_the_navigation(page: Page) -> None:
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.keyboard.press("Tab")
    assert await focused(page) == "Skip to the content"
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "content"
    assert page.url.endswith("/")


async def test_the_palette_goes_to_a_page(page: Page) -> None:
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("dialog").locator("input")).to_be_focused()
    await page.keyboard.type("expo")
    found = page.get_by_role("dialog").get_by_role("button")
    await expect(found.filter(has_text="Decisions")).to_have_count(0)  # the whole list has Exports, too
    await expect(found.filter(has_text="Exports")).to_be_visible()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1, name="Exports")).to_be_visible()


async def test_what_is_typed_right_after_the_palettes_key_goes_into_it_and_the_focus_comes_back(page: Page) -> None:
    search = page.get_by_role("searchbox")
    await search.focus()
    await page.evaluate(
        """async () => {
            const press = (key, more) => document.activeElement.dispatchEvent(
                new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, ...more}))
            press('k', {ctrlKey: true})
            await Promise.resolve()
            window.focusedNext = document.activeElement?.closest('[role=dialog]') !== null
        }"""
    )
    assert await page.evaluate("window.focusedNext")
    await page.keyboard.press("Escape")
    await expect(search).to_be_focused()


async def test_a_key_can_be_changed_and_single_keys_switched_off(page: Page) -> None:
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.keyboard.press("?")
    help_ = page.get_by_role("dialog", name="Keyboard shortcuts")
    await help_.get_by_role("button", name="Keyboard shortcuts").click()
    await page.keyboard.press("Control+k")
    await expect(help_.get_by_text("already means “Command palette”")).to_be_visible()
    await help_.get_by_role("button", name="Keyboard shortcuts").click()
    await page.keyboard.press("F1")
    await expect(help_.get_by_text("F1")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(help_).to_be_hidden()
    await page.reload()
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.keyboard.press("?")
    await expect(help_).to_be_hidden()
    await page.keyboard.press("F1")
    await expect(help_).to_be_visible()
    await help_.get_by_text("Reset all").click()
    await help_.get_by_role("switch", name="Single keys run commands").press("Space")
    await page.keyboard.press("Escape")
    await expect(help_).to_be_hidden()
    await page.keyboard.press("?")
    await expect(help_).to_be_hidden()


async def test_the_language_changes_at_once_and_is_kept(page: Page) -> None:
    await page.get_by_role("button", name="Without sign-in").click()
    await page.get_by_role("combobox", name="Language").click()
    await page.get_by_role("option", name="Deutsch").click()
    await expect(page.get_by_role("heading", level=1, name="Eingang")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("link", name="Fehler")).to_be_visible()
    assert await page.evaluate("document.documentElement.lang") == "de"


async def test_the_browsers_language_is_spoken_if_there_are_texts(browser: Browser, site: Site) -> None:
    for locale, heading in (("de-AT", "Eingang"), ("fr-FR", "Inbox")):
        async with visit(browser, Watch(site.url), locale=locale) as visitor:
            page = await visitor.tab()
            await expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()


async def test_a_chosen_appearance_is_there_before_the_first_paint(page: Page) -> None:
    await page.get_by_role("button", name="Without sign-in").click()
    await page.get_by_text("Dark", exact=True).click()
    scheme = "document.documentElement.getAttribute('data-mantine-color-scheme')"
    await expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    await page.add_init_script(f"addEventListener('DOMContentLoaded', () => {{ window.first = {scheme} }})")
    await page.reload()
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert await page.evaluate("window.first") == "dark"


async def test_a_mistyped_address_is_a_page_that_does_not_exist(visitor: Visitor, site: Site) -> None:
    page = await visitor.tab("/invoces/4711?x=1")
    await expect(page.get_by_text("This page does not exist")).to_be_visible()
    await page.get_by_role("link", name="Go to the inbox").click()
    await expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()
    assert (await site.service.http.get("/invoces/4711", headers={"accept": "text/html"})).status_code == 404


async def test_a_newer_console_on_the_server_is_offered_and_the_page_goes_on(page: Page, visitor: Visitor) -> None:
    async def upgraded(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, body=(await answer.text()).replace("assets/index-", "assets/index-N"))

    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.route("**/", upgraded)
    await show_again(page)
    await expect(page.get_by_text("A new version of the console is available.")).to_be_visible()
    await page.get_by_role("link", name="Runs", exact=True).click()
    await expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()
    assert await axe(page) == []
    await page.unroute("**/")
    await page.get_by_role("button", name="Reload").click()
    await expect(page.get_by_text("A new version of the console is available.")).to_be_hidden()


@pytest.mark.parametrize("misses", [1, 99])
async def test_a_missing_chunk_is_loaded_by_one_reload_or_explained(page: Page, visitor: Visitor, misses: int) -> None:
    asked: list[str] = []

    async def gone(route: Route) -> None:
        asked.append(route.request.url)
        await (route.continue_() if len(asked) > misses else route.fulfill(status=404, body=""))

    visitor.watch.expected += ["answered 404", "dynamically imported module"]
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.route("**/assets/RunsPage-*.js", gone)
    await page.get_by_role("link", name="Runs", exact=True).press("Enter")
    heading = "Runs" if misses == 1 else "This page has stopped working"
    await expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()


async def test_a_server_that_does_not_answer_is_named_and_asked_again(visitor: Visitor) -> None:
    visitor.watch.expected += ["ERR_FAILED", "ERR_CONNECTION"]
    await visitor.context.route("**/v1/me", lambda route: route.abort("connectionrefused"))
    page = await visitor.tab()
    await expect(page.get_by_text("Docrail does not answer")).to_be_visible()
    assert await axe(page) == []
    await visitor.context.unroute("**/v1/me")
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()


@LOOKS_WITH_PHONE
async def test_the_frame_has_no_serious_finding_of_axe(
    browser: Browser, site: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab("/failures")
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        name = f"shell-{size[0]}-{scheme}"
        await screenshot(page, name, pictures)
        assert await axe(page) == []
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        await screenshot(page, f"{name}-keys", pictures)
        assert await axe(page) == []
    assert watch.found() == []


@pytest.fixture
async def stranger(browser: Browser, guarded_site: Site) -> AsyncIterator[Visitor]:
    watch = Watch(guarded_site.url)
    async with visit(browser, watch) as visiting:
        yield visiting
    assert watch.found() == []


async def key_of(site: Site, *scopes: Scope, name: str = "ann") -> str:
    by = Principal("default", "tests", frozenset(Scope))
    return (await create_key(site.service.app.db, by, name, scopes or Scope)).key


async def sign_in(page: Page, key: str) -> None:
    await page.get_by_label("API key").fill(key)
    await page.get_by_role("button", name="Sign in").click()


async def test_a_person_signs_in_with_a_key_and_out(stranger: Visitor, guarded_site: Site, pictures: Path) -> None:
    page = await stranger.tab("/runs")
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert await axe(page) == []
    await screenshot(page, "sign-in", pictures)
    await sign_in(page, "docrail_0123456789abcdef_wrong")
    await expect(page.get_by_text("This key is not valid")).to_be_visible()
    await sign_in(page, await key_of(guarded_site))
    await expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()
    await page.get_by_role("button", name="ann").click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_an_ended_session_asks_again_over_the_page_which_then_goes_on(
    stranger: Visitor, guarded_site: Site, pictures: Path
) -> None:
    page = await stranger.tab("/failures")
    key = await key_of(guarded_site)
    await sign_in(page, key)
    await expect(page.get_by_role("heading", level=1, name="Failures")).to_be_visible()
    await page.evaluate("window.stays = true")
    await stranger.context.clear_cookies()
    await show_again(page)
    dialog = page.get_by_role("dialog", name="Sign in again")
    await expect(dialog).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_visible()
    await screenshot(page, "session-ended", pictures)
    assert await axe(page) == []
    await sign_in(page, key)
    await expect(dialog).to_be_hidden()
    assert await page.evaluate("window.stays")
    await expect(page.get_by_role("heading", level=1, name="Failures")).to_be_visible()


async def test_someone_else_who_signs_in_then_gets_a_page_of_their_own(stranger: Visitor, guarded_site: Site) -> None:
    page = await stranger.tab("/failures")
    await sign_in(page, await key_of(guarded_site))
    await expect(page.get_by_role("button", name="ann")).to_be_visible()
    await page.evaluate("window.stays = true")
    await stranger.context.clear_cookies()
    await show_again(page)
    await sign_in(page, await key_of(guarded_site, name="bob"))
    await expect(page.get_by_role("button", name="bob")).to_be_visible()
    assert not await page.evaluate("window.stays")


async def show_again(page: Page) -> None:
    """Have the page do what it does when its tab is shown again."""
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', {bubbles: true}))")


async def test_a_person_sees_the_pages_of_their_scopes(stranger: Visitor, guarded_site: Site) -> None:
    page = await stranger.tab()
    await sign_in(page, await key_of(guarded_site, Scope.SUBMIT, name="scanner"))
    await expect(page.get_by_role("button", name="scanner")).to_be_visible()
    await expect(page.get_by_role("navigation", name="Navigation").get_by_role("link")).to_have_count(0)
