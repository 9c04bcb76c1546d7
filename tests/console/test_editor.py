"""The editor of definitions: problems while typing, the drawing, the draft, tests and publishing."""

from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from docrail.dag.values.json_values import Json
from tests.console.site import LOOKS, Scheme, Site, Visitor, Watch, axe, screenshot, visit
from tests.console.test_runs import place_at_rest

TEXT = """\
dsl: 1
id: {0}
title: Pay a supplier

steps:
  - id: read
    title: Read the order
    handler: echo
    config: {{value: Blume GmbH}}

  - id: approve
    title: Ask a person
    depends_on: [read]
    human: {{title: "Pay {{{{ read.value }}}}?", form: {{type: object}}}}

tests:
  - name: an approved order
    steps:
      read: {{output: {{value: Blume GmbH}}}}
      approve: {{answer: {{approved: true}}}}
    expect: {{status: completed}}
"""
MISTAKEN = "    handler: ecko"


def text_editor(page: Page) -> Locator:
    return page.get_by_label("Text of the definition")


def problems(page: Page) -> Locator:
    return page.get_by_role("region", name="Problems")


PASTE = """(element, text) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', text)
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
}"""


async def paste(page: Page, text: str) -> None:
    """Paste a text into the editor, which indents and closes what is typed."""
    await text_editor(page).evaluate(PASTE, text)


async def write(page: Page, text: str) -> None:
    """Replace the whole text."""
    await text_editor(page).focus()
    await page.keyboard.press("Control+a")
    await paste(page, text)


async def publish(site: Site, text: str, **more: Json) -> Json:
    sent = await site.service.http.post("/v1/definitions", json={"definition": text, **more})
    assert sent.status_code == 201, sent.text
    return sent.json()


@pytest.fixture
async def published(site: Site) -> str:
    """Publish a definition, and return its id."""
    name = f"pay_{uuid4().hex[:10]}"
    await publish(site, TEXT.format(name))
    return name


async def test_a_mistake_is_underlined_with_the_servers_message_and_fixed_by_keyboard(page: Page, site: Site) -> None:
    name = f"new_{uuid4().hex[:10]}"
    await page.goto(f"{site.url}/definitions/new")
    await write(page, TEXT.format(name).replace("    handler: echo", MISTAKEN))
    found = problems(page).get_by_role("button")
    await expect(found).to_contain_text("Line 8")
    await expect(found).to_contain_text("Did you mean echo?")
    await expect(page.locator(".cm-lintRange-error")).to_have_text("ecko")
    await expect(page.get_by_role("button", name="Publish…")).to_be_disabled()

    await page.keyboard.press("F8")
    await page.keyboard.press("Control+Shift+ArrowRight")
    await page.keyboard.type("echo")
    await expect(problems(page)).to_contain_text("No errors")
    await expect(page.locator(".cm-lintRange-error")).to_have_count(0)
    await expect(page.get_by_role("group", name="Read the order")).to_be_visible()
    await expect(page.get_by_role("group", name="Ask a person")).to_be_visible()
    await page.keyboard.press("Control+Enter")
    dialog = page.get_by_role("dialog", name=f"Publish {name}")
    await page.keyboard.type("the first one")
    await page.keyboard.press("Control+Enter")
    await expect(dialog).to_be_hidden()
    stored = (await site.service.http.get(f"/v1/definitions/{name}")).json()
    assert (stored["version"], stored["source"].partition("\n")[0]) == (1, "dsl: 1")


async def test_the_suggested_word_is_written_by_its_button(page: Page, site: Site) -> None:
    await page.goto(f"{site.url}/definitions/new")
    await write(page, TEXT.format("some_new").replace("    handler: echo", MISTAKEN))
    await page.locator(".cm-lintRange-error").hover()
    await page.get_by_role("button", name="Write echo").click()
    await expect(problems(page)).to_contain_text("No errors")


async def test_warnings_are_listed_apart_and_do_not_hinder(page: Page, site: Site) -> None:
    await page.goto(f"{site.url}/definitions/new")
    await write(page, "id: outer\nsteps:\n  - {id: inner, workflow: {id: not_published_at_all}}\n")
    await expect(problems(page)).to_contain_text("No errors")
    await expect(problems(page)).to_contain_text("1 warning")
    await expect(page.get_by_role("button", name="Publish…")).to_be_enabled()


async def test_any_text_can_be_typed(page: Page, site: Site) -> None:
    await page.goto(f"{site.url}/definitions/new")
    await write(page, "steps: [{{{ \u202e<img src=x onerror=alert(1)> \t- :")
    await expect(problems(page)).to_contain_text("needs quotes")
    await write(page, "")
    await expect(problems(page)).to_contain_text("there is no definition in this text")
    assert await page.locator("img[src=x]").count() == 0


async def test_what_can_be_written_is_suggested_with_what_it_means(page: Page, site: Site) -> None:
    await page.goto(f"{site.url}/definitions/new")
    await write(page, "id: x\nsteps:\n  - id: a\n    handler: ")
    await page.keyboard.press("Control+Space")
    suggested = page.get_by_role("listbox")
    await expect(suggested).to_contain_text("send_webhook")
    await page.keyboard.type("send_w")
    await suggested.get_by_role("option", name="send_webhook", exact=True).click()  # Enter rests while the list is new
    await expect(text_editor(page)).to_contain_text("handler: send_webhook")
    await paste(page, "\n    config:\n      ")
    await page.keyboard.press("Control+Space")
    await expect(page.get_by_role("listbox")).to_contain_text("url")
    await page.keyboard.press("Escape")
    await page.get_by_text("handler", exact=True).hover()
    await expect(page.locator(".cm-meaning")).to_contain_text("The code that the step runs.")


async def test_the_keyboard_leaves_the_editor(page: Page, site: Site) -> None:
    await page.goto(f"{site.url}/definitions/new")
    await expect(page.get_by_text("leaves the editor")).to_be_visible()
    await text_editor(page).focus()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Tab")
    await expect(text_editor(page)).not_to_be_focused()


async def test_a_draft_survives_a_reload_and_can_be_compared_and_discarded(
    visitor: Visitor, published: str, pictures: Path
) -> None:
    page = await visitor.tab(f"/definitions/{published}/edit")
    await expect(page.get_by_text("Nothing is changed.")).to_be_visible()
    await page.get_by_text("Pay a supplier", exact=False).first.wait_for()
    await write(page, TEXT.format(published).replace("Pay a supplier", "Pay somebody else"))
    await expect(page.get_by_text("Differs from version 1.")).to_be_visible()
    await page.reload()
    await expect(text_editor(page)).to_contain_text("Pay somebody else")
    await page.get_by_role("button", name="Show the differences").click()
    dialog = page.get_by_role("dialog", name="Your draft and version 1")
    await expect(dialog.locator(".cm-deletedChunk")).to_contain_text("Pay a supplier")
    await screenshot(page, "editor-differences", pictures)
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Discard").click()
    await page.get_by_role("dialog").get_by_role("button", name="Discard", exact=True).click()
    await expect(text_editor(page)).to_contain_text("Pay a supplier")
    await page.reload()
    await expect(page.get_by_text("Nothing is changed.")).to_be_visible()


async def test_a_version_that_someone_else_publishes_meanwhile_is_not_passed_over(
    visitor: Visitor, site: Site, published: str
) -> None:
    page = await visitor.tab(f"/definitions/{published}/edit")
    mine = TEXT.format(published).replace("Pay a supplier", "Mine")
    await write(page, mine)
    await expect(page.get_by_text("Differs from version 1.")).to_be_visible()
    await expect(problems(page)).to_contain_text("No errors")
    await page.get_by_role("button", name="Publish…").click()
    await publish(site, TEXT.format(published).replace("Pay a supplier", "Theirs"))
    await page.get_by_role("button", name="Publish", exact=True).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("alert")).to_contain_text("you read version 1, expected the current one, 2")
    await dialog.get_by_role("button", name="Compare with the newest version").click()
    await expect(page.get_by_role("dialog", name="Your text and version 2")).to_contain_text("Theirs")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Go on from version 2").click()
    await page.get_by_role("button", name="Publish…").click()
    await page.get_by_role("button", name="Publish", exact=True).click()
    await expect(page.get_by_text("is published as version 3.")).to_be_visible()
    stored = (await site.service.http.get(f"/v1/definitions/{published}")).json()
    assert (stored["version"], stored["body"]["title"]) == (3, "Mine")


async def test_a_canary_is_published_for_a_share_of_new_runs(visitor: Visitor, site: Site, published: str) -> None:
    page = await visitor.tab(f"/definitions/{published}/edit")
    await write(page, TEXT.format(published).replace("Pay a supplier", "Tried out"))
    await expect(problems(page)).to_contain_text("No errors")
    await page.get_by_role("button", name="Publish…").click()
    await page.get_by_label("A share of new runs (canary)").check()
    await page.get_by_label("Share of new runs", exact=True).fill("25")
    await page.get_by_role("button", name="Publish", exact=True).click()
    await expect(page.get_by_text("is published as version 2.")).to_be_visible()
    aliases = (await site.service.http.get(f"/v1/definitions/{published}/aliases")).json()["aliases"]
    assert aliases["stable"]["version"] == 1
    assert aliases["canary"] == {"version": 2, "percent": 25}


async def test_tests_run_before_publishing_and_say_what_they_found(
    visitor: Visitor, site: Site, published: str
) -> None:
    page = await visitor.tab(f"/definitions/{published}/edit")
    await expect(problems(page)).to_contain_text("No errors")
    await page.get_by_role("button", name="Run tests").click()
    results = page.get_by_role("dialog", name="Tests")
    await expect(results.get_by_role("img", name="Passed")).to_be_visible()
    await expect(results).to_contain_text("an approved order")
    await page.keyboard.press("Escape")
    failing = TEXT.format(published).replace("expect: {status: completed}", "expect: {status: failed}")
    await write(page, failing.replace("Pay a supplier", "Broken"))
    await expect(problems(page)).to_contain_text("No errors")
    await page.get_by_role("button", name="Publish…").click()
    await page.get_by_role("button", name="Publish", exact=True).click()
    await expect(page.get_by_role("dialog")).to_contain_text("1 of the definition's 1 tests failed")
    await expect(page.get_by_role("dialog")).to_contain_text("an approved order")
    assert await axe(page) == []
    assert (await site.service.http.get(f"/v1/definitions/{published}")).json()["version"] == 1


@LOOKS
async def test_the_editor_has_no_serious_finding_of_axe(
    browser: Browser, site: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab("/definitions/invoice/edit")
        await place_at_rest(page.get_by_role("group", name="Queue for review"))
        await screenshot(page, f"editor-{size[0]}-{scheme}", pictures)
        assert await axe(page) == []
        await text_editor(page).click()
        await page.keyboard.press("Control+Home")
        await page.keyboard.type("dls: 1\nstep: []\n")
        await expect(page.locator(".cm-lintRange-error").first).to_be_visible()
        await screenshot(page, f"editor-wrong-{size[0]}-{scheme}", pictures)
        assert await axe(page) == []
        await page.goto(f"{site.url}/definitions/new")
        await expect(page.get_by_role("group", name="Say hello")).to_be_visible()
        await page.get_by_role("button", name="Publish…").click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await screenshot(page, f"editor-publish-{size[0]}-{scheme}", pictures)
        assert await axe(page) == []
    assert watch.found() == []


async def test_a_drawing_says_how_many_arrows_it_leaves_out(page: Page, site: Site) -> None:
    first = [f"a{number}" for number in range(45)]
    lines = [f"  - {{id: {name}, handler: noop}}" for name in first]
    lines += [f"  - {{id: b{number}, handler: noop, depends_on: [{', '.join(first)}]}}" for number in range(45)]
    await page.goto(f"{site.url}/definitions/new")
    await write(page, "\n".join(["id: dense", "steps:", *lines, ""]))
    await expect(page.get_by_text("25 arrows are not drawn")).to_be_visible(timeout=20_000)
