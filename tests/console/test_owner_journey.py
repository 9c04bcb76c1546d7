"""An owner's journey: write and publish a process, watch a run of it, decide, see why a step failed, and fix it."""

from pathlib import Path
from time import monotonic
from uuid import uuid4

from playwright.async_api import Page, expect

from tests.console.site import Site, axe, screenshot
from tests.console.test_decide import choose
from tests.console.test_editor import problems, write
from tests.console.test_runs import answer, has_state, node, replace

PROCESS = """\
dsl: 1
id: {0}
title: Check a supplier

steps:
  - id: read
    title: Read the request
    handler: echo
    config: {{value: Blume GmbH}}

  - {{id: bank, title: Wait for the bank, wait: {{for: signal}}, depends_on: [read]}}
  - {{id: register, title: Wait for the register, wait: {{for: signal}}, depends_on: [read]}}
  - {{id: carrier, title: Wait for the carrier, wait: {{for: signal}}, depends_on: [read]}}

  - id: approve
    title: Approve the supplier
    depends_on: [bank, register, carrier]
    human:
      title: "Approve {{{{ read.value }}}}?"
      form: {{type: object, required: [approved], properties: {{approved: {{type: boolean, title: Approve it}}}}}}

  - id: vat
    title: Check the VAT id
    handler: fale
    depends_on: [approve]
    max_retries: 0
    config: {{times: 9, error: ValueError, message: "The VAT id has 8 digits, expected 9"}}

  - id: file
    title: File the supplier
    handler: noop
    depends_on: [vat]
"""
WAITS = {"bank": "Wait for the bank", "register": "Wait for the register", "carrier": "Wait for the carrier"}


async def publish(page: Page, site: Site, name: str) -> None:
    """Write the process in the editor, where a mistake is underlined, fix it and publish, by keyboard."""
    await page.goto(f"{site.url}/definitions/new")
    await write(page, PROCESS.format(name))
    await expect(page.locator(".cm-lintRange-error")).to_have_text("fale")
    await expect(problems(page)).to_contain_text("there is no handler 'fale'")
    await expect(problems(page)).to_contain_text("Did you mean fail?")
    await page.keyboard.press("F8")
    await page.keyboard.press("Control+Shift+ArrowRight")
    await page.keyboard.type("fail")
    await page.keyboard.press("Escape")
    await expect(problems(page)).to_contain_text("No errors")
    await expect(page.get_by_role("group", name="File the supplier")).to_be_visible()
    await expect(page.get_by_role("button", name="Publish…")).to_be_enabled()
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("dialog", name=f"Publish {name}").get_by_role("textbox")).to_be_focused()
    await page.keyboard.type("suppliers are checked from now on")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text(f"{name} is published as version 1.")).to_be_visible()


async def start(page: Page, name: str) -> str:
    """Start a run on the page of the definition, where the editor leads to."""
    await page.wait_for_url(f"**/definitions/{name}")
    await page.get_by_role("button", name="Start a run").click()
    await expect(page.get_by_role("dialog").get_by_role("button", name="Start")).to_be_enabled()
    await page.keyboard.press("Control+Enter")
    await page.wait_for_url(f"**/runs/{name}.*")
    return page.url.rpartition("/")[2]


async def watch(page: Page, site: Site, run_id: str) -> None:
    """See states change: the quickest of three within a second, as other tests run at the same time."""
    seconds = []
    for step, title in WAITS.items():
        await has_state(page, title, "Waiting")
        await answer(site, run_id, step, True)
        begun = monotonic()
        await has_state(page, title, "Completed")
        seconds.append(monotonic() - begun)
    assert min(seconds) <= 1, seconds


async def decide(page: Page) -> None:
    """Follow the link of the waiting step to its question, answer it, and go back."""
    await has_state(page, "Approve the supplier", "Waiting")
    await node(page, "Approve the supplier").click()
    panel = page.get_by_role("complementary", name="Step approve")
    await panel.get_by_role("link", name="Open the question").click()
    await expect(page.get_by_role("heading", level=1, name="Approve Blume GmbH?")).to_be_visible()
    await choose(page, "Approve it", "Yes")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("heading", name="This is answered")).to_be_visible()
    await page.go_back()


async def fix(page: Page, pictures: Path) -> None:
    """See why the step failed, edit its config with the preview of what happens, and retry."""
    await has_state(page, "Check the VAT id", "Failed")
    await node(page, "Check the VAT id").click()
    panel = page.get_by_role("complementary", name="Step vat")
    await expect(panel).to_contain_text("The VAT id has 8 digits, expected 9")
    await expect(panel.get_by_role("tabpanel", name="Why")).to_contain_text("fail")
    await screenshot(page, "owner-failed", pictures)
    assert await axe(page) == []
    await panel.get_by_role("button", name="Edit and retry").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("What will happen").first).to_contain_text("2 run again · 5 kept")
    await replace(page, dialog.get_by_label("Config"), '{"times": 0}')
    await expect(dialog.get_by_label("What will happen").first).to_contain_text("2 run again · 5 kept")
    await page.keyboard.press("Control+Enter")
    await expect(dialog).to_be_hidden()


async def test_an_owner_publishes_watches_decides_repairs_and_sees_the_run_complete(
    page: Page, site: Site, pictures: Path
) -> None:
    name = f"supplier_{uuid4().hex[:8]}"
    await publish(page, site, name)
    run_id = await start(page, name)
    await watch(page, site, run_id)
    await decide(page)
    await fix(page, pictures)
    await expect(page.locator("header [data-status=completed]")).to_be_visible()
    await has_state(page, "File the supplier", "Completed")
