"""What an operator does with a run and its steps: hold it, end it, skip a step, treat items of a list one by one."""

from pathlib import Path

from playwright.async_api import Page, expect

from docrail.dag.values.json_values import Json
from tests.api.test_item_edits import FOUR, list_of
from tests.console.site import Site, Visitor, axe, screenshot
from tests.console.test_runs import SUPPLIER, has_state, replace, start
from tests.stack import eventually

HIDDEN = "\u202egnp.\u2066exe"


async def act(page: Page, name: str, title: str) -> None:
    """Choose an action of the run, and confirm it."""
    button = page.get_by_role("button", name=name, exact=True)
    if not await button.is_visible():
        await page.get_by_role("button", name="More actions").click()
        button = page.get_by_role("menuitem", name=name, exact=True)
    await button.click()
    await page.get_by_role("dialog", name=title).get_by_role("button", name=name, exact=True).click()


async def has_status(page: Page, status: str) -> None:
    await expect(page.locator(f"header [data-status={status}]")).to_be_visible()


async def test_a_run_is_paused_resumed_and_cancelled(page: Page, site: Site) -> None:
    run_id = await start(site, SUPPLIER)
    await page.goto(f"{site.url}/runs/{run_id}")
    await has_state(page, "Wait for the bank", "Waiting")
    await act(page, "Pause", "Pause this run?")
    await has_status(page, "paused")
    await act(page, "Resume", "Resume this run?")
    await has_status(page, "waiting")
    await act(page, "Cancel run", "Cancel this run?")
    await has_status(page, "cancelled")


async def test_a_failed_step_is_skipped_with_a_preview_of_what_follows(page: Page, site: Site) -> None:
    steps: list[Json] = [
        {"id": "check", "handler": "fail", "config": {"times": 9, "message": HIDDEN}, "max_retries": 0},
        {"id": "file", "handler": "noop", "depends_on": ["check"]},
    ]
    run_id = await start(site, {"id": "skipped", "steps": steps})
    await page.goto(f"{site.url}/runs/{run_id}")
    await has_state(page, "check", "Failed")
    await page.keyboard.press("n")
    panel = page.get_by_role("complementary", name="Step check")
    await expect(panel.get_by_role("alert")).to_contain_text("⟨U+202E⟩gnp.⟨U+2066⟩exe")
    assert "\u202e" not in await page.locator("body").inner_text()
    await panel.get_by_role("button", name="Skip").click()
    dialog = page.get_by_role("dialog", name="Skip check")
    await expect(dialog.get_by_label("What will happen").first).to_contain_text("skipped")
    await dialog.get_by_label("Reason").fill("checked by phone")
    await dialog.get_by_role("button", name="Skip").click()
    await expect(dialog).to_be_hidden()
    await has_state(page, "check", "Skipped")


async def test_a_failed_step_is_retried_and_then_given_its_output(page: Page, site: Site) -> None:
    steps: list[Json] = [
        {"id": "check", "handler": "fail", "config": {"times": 9}, "max_retries": 0},
        {"id": "file", "handler": "echo", "config": {"value": "{{ check.attempts }}"}, "depends_on": ["check"]},
    ]
    run_id = await start(site, {"id": "given", "steps": steps, "outputs": {"filed": "{{ file.value }}"}})
    await page.goto(f"{site.url}/runs/{run_id}?step=check")
    panel = page.get_by_role("complementary", name="Step check")
    await panel.get_by_role("button", name="Retry", exact=True).click()
    dialog = page.get_by_role("dialog", name="Retry check")
    await expect(dialog.get_by_label("What will happen").first).to_contain_text("2 run again")
    await dialog.get_by_role("button", name="Retry", exact=True).click()
    await expect(dialog).to_be_hidden()

    async def failed_twice() -> bool:
        again = (await site.service.http.get(f"/v1/dead-letters/{run_id}/check")).json()
        return bool(again["failed_again"] == 1)

    await eventually(failed_twice, "the step to fail again")
    await panel.get_by_role("button", name="Give an output").click()
    dialog = page.get_by_role("dialog", name="Give the output of check")
    await replace(page, dialog.get_by_label("Output"), '{"attempts": 3}')
    await dialog.get_by_role("button", name="Give an output").click()
    await expect(dialog).to_be_hidden()
    await has_status(page, "completed")
    assert (await site.service.closed(run_id))["outputs"] == {"filed": 3}


async def test_items_of_a_list_are_edited_and_skipped_one_by_one(page: Page, site: Site, pictures: Path) -> None:
    run_id = await start(site, list_of(FOUR, on_failure="park"))
    await page.goto(f"{site.url}/runs/{run_id}?step=bad&panel=items")
    panel = page.get_by_role("complementary", name="Step bad")
    await expect(panel.get_by_role("button", name="Actions on k9")).to_be_visible()
    await panel.get_by_text("Failed", exact=True).first.click()
    await expect(panel.get_by_role("tabpanel")).not_to_contain_text("k1")
    await expect(panel.get_by_role("button", name="Actions on k9")).to_be_visible()
    await screenshot(page, "run-items", pictures)
    assert await axe(page) == []
    await item(page, "k7", "Edit and retry")
    dialog = page.get_by_role("dialog", name="Edit and retry bad")
    await expect(dialog.get_by_label("Config")).to_contain_text("times")
    await replace(page, dialog.get_by_label("Config"), '{"times": 0}')
    await page.reload()
    await item(page, "k7", "Edit and retry")
    await expect(dialog.get_by_label("Config")).to_have_text('{"times": 0}')
    await dialog.get_by_role("button", name="Edit and retry").click()
    await expect(dialog).to_be_hidden()
    for key in ("k8", "k9"):
        await item(page, key, "Skip")
        dialog = page.get_by_role("dialog", name="Skip bad")
        await dialog.get_by_role("button", name="Skip").click()
        await expect(dialog).to_be_hidden()
    await has_status(page, "completed")
    states = (await site.service.http.get(f"/v1/runs/{run_id}/steps/bad/items")).json()["items"]
    assert {each["key"]: each["status"] for each in states} == {
        "k1": "completed",
        "k7": "completed",
        "k8": "skipped",
        "k9": "skipped",
    }


async def item(page: Page, key: str, action: str) -> None:
    """Choose an action on an item, once it failed and may be changed."""
    await page.get_by_role("button", name=f"Actions on {key}").click()
    await page.get_by_role("menuitem", name=action).click()


async def test_a_completed_run_runs_again_from_a_step_and_with_another_input(
    page: Page, site: Site, pictures: Path
) -> None:
    definition: Json = {
        "id": "again",
        "inputs": {"amount": {"type": "number", "default": 5}, "note": {"type": "string", "default": "first"}},
        "steps": [
            {"id": "count", "handler": "echo", "config": {"value": "{{ inputs.amount }}"}},
            {"id": "note", "handler": "echo", "config": {"value": "{{ inputs.note }}"}},
            {"id": "file", "handler": "echo", "config": {"value": "{{ count.value }}"}, "depends_on": ["count"]},
        ],
        "outputs": {"filed": "{{ file.value }}", "noted": "{{ note.value }}"},
    }
    run_id = await start(site, definition)
    await site.service.closed(run_id)
    await page.goto(f"{site.url}/runs/{run_id}?step=file")
    panel = page.get_by_role("complementary", name="Step file")
    await panel.get_by_role("button", name="Run again from here").click()
    dialog = page.get_by_role("dialog", name="Run again")
    preview = dialog.get_by_label("What will happen").first
    await expect(preview).to_contain_text("1 runs again · 2 kept")
    await expect(dialog.get_by_label("Amount")).to_have_value("5")
    await expect(dialog.get_by_label("Note")).to_have_value("first")
    await dialog.get_by_label("Amount").fill("seven")
    await expect(dialog.get_by_role("button", name="Run again", exact=True)).to_be_disabled()
    await dialog.get_by_label("Amount").fill("7")
    await expect(preview).to_contain_text("2 run again · 1 kept")
    await expect(preview).to_contain_text("reads the input amount, which has changed")
    await screenshot(page, "run-again", pictures)
    assert await axe(page) == []
    await dialog.get_by_label("Reason").fill("a typing error")
    await dialog.get_by_role("button", name="Run again", exact=True).click()
    await expect(dialog).to_be_hidden()

    async def is_filed() -> bool:
        outputs = (await site.service.closed(run_id))["outputs"]
        return bool(outputs == {"filed": 7, "noted": "first"})

    await eventually(is_filed, "the run with the other amount")
    await has_status(page, "completed")
    listed = (await site.service.http.get(f"/v1/runs/{run_id}/actions")).json()["actions"]
    assert [(each["action"], each["details"]["reason"]) for each in listed] == [("retry_run", "a typing error")]


async def test_a_large_output_is_cut_and_the_panel_is_in_the_address(page: Page, site: Site) -> None:
    value = "9007199254740993 " * 6_000  # an integer that a browser would round
    steps: list[Json] = [{"id": "say", "handler": "echo", "config": {"value": value}}]
    run_id = await start(site, {"id": "long_output", "steps": steps})
    await site.service.ended(run_id)
    await page.goto(f"{site.url}/runs/{run_id}?step=say")
    panel = page.get_by_role("complementary", name="Step say")
    await panel.get_by_role("tab", name="Output").click()
    await expect(panel).to_contain_text("the first 64 KiB are shown")
    await expect(panel.locator("pre")).to_contain_text("9007199254740993")
    assert "panel=output" in page.url
    await page.reload()
    async with page.expect_download() as saving:
        await panel.get_by_role("link", name="Download").click()
    assert value in Path(await (await saving.value).path()).read_text("utf-8")
    await panel.get_by_role("tab", name="Attempts").click()
    await expect(panel).to_contain_text("1 of at most")
    await page.get_by_role("heading", level=1).click()
    await page.keyboard.press("w")
    await expect(panel.get_by_role("tab", name="Why")).to_have_attribute("aria-selected", "true")


async def test_the_history_of_a_run_in_temporal_is_one_click_away(visitor: Visitor, site: Site) -> None:
    run_id = await start(site, {"id": "linked", "steps": [{"id": "say", "handler": "noop"}]})
    page = await visitor.tab(f"/runs/{run_id}")
    url = (await site.service.http.get(f"/v1/runs/{run_id}")).json()["history_url"]
    link = page.get_by_role("link", name="History in Temporal")
    await expect(link).to_have_attribute("href", url)
    await expect(link).to_have_attribute("rel", "noreferrer")
