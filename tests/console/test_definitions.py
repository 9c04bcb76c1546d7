"""The screens of definitions: the list, versions and their changes, what new runs get, tests, starting a run."""

from pathlib import Path
from uuid import uuid4

from playwright.async_api import Browser, Locator, Page, expect

from docrail.dag.values.json_values import Json
from docrail.services.access.models import Scope
from tests.console.site import LOOKS, Scheme, Site, Visitor, Watch, axe, screenshot, visit
from tests.console.test_shell import key_of, sign_in


def payment(definition_id: str, limit: int, *more: Json) -> Json:
    """Return a definition: payments up to a limit need no one's consent."""
    return {
        "id": definition_id,
        "title": "Release a payment",
        "inputs": {
            "supplier": {"type": "string", "required": True, "maxLength": 80},
            "amount": {"type": "number", "required": True, "minimum": 0},
            "urgent": {"type": "boolean", "default": False},
        },
        "steps": [
            {"id": "read", "title": "Read the order", "handler": "echo", "config": {"value": {"limit": limit}}},
            {
                "id": "small",
                "title": "Small enough?",
                "switch": [{"when": f"inputs.amount <= {limit}", "branch": "yes"}, {"else": "no"}],
                "depends_on": ["read"],
            },
            {"id": "pay", "title": "Pay it", "handler": "noop", "depends_on": ["small.yes"]},
            *more,
        ],
        "tests": [
            {
                "name": "a small payment is paid",
                "inputs": {"supplier": "Blume GmbH", "amount": 10},
                "steps": {"read": {"output": {"value": {"limit": limit}}}, "pay": {"output": {}}},
                "expect": {"status": "completed", "steps": {"pay": "completed"}},
            },
            {
                "name": "a payment of 800 is paid",
                "inputs": {"supplier": "Blume GmbH", "amount": 800},
                "steps": {"read": {"output": {"value": {"limit": limit}}}, "pay": {"output": {}}},
                "expect": {"status": "completed", "steps": {"pay": "completed"}},
            },
        ],
    }


ASK: Json = {"id": "ask", "title": "Ask the owner", "handler": "noop", "depends_on": ["small.no"]}


TABS = {
    "graph": "Small enough?",
    "changes": "Step added",
    "tests": "They run without handlers",
    "source": "Release a payment",
    "history": "as the board decided",
    "dependants": "No other definition runs this one",
}
"""What is seen in each tab once it is loaded."""


async def publish(site: Site, definition: Json, *, reason: str = "", promote: bool = True) -> int:
    body = {"definition": definition, "reason": reason, "promote": promote}
    response = await site.service.http.post("/v1/definitions", json=body)
    assert response.status_code == 201, response.text
    return int(response.json()["version"])


async def two_versions(site: Site) -> str:
    """Publish two versions; new runs get the first."""
    definition_id = f"payment_{uuid4().hex[:8]}"
    await publish(site, payment(definition_id, 500), reason="as the board decided")
    await publish(site, payment(definition_id, 1000, ASK), reason="the new limit", promote=False)
    return definition_id


async def aliases(site: Site, definition_id: str) -> Json:
    response = await site.service.http.get(f"/v1/definitions/{definition_id}/aliases")
    return {name: (target["version"], target["percent"]) for name, target in response.json()["aliases"].items()}


def heading(page: Page, definition_id: str) -> Locator:
    return page.locator("header").filter(has=page.get_by_role("heading", name=definition_id, exact=True))


async def test_two_versions_are_compared_step_by_step(visitor: Visitor, site: Site, pictures: Path) -> None:
    definition_id = await two_versions(site)
    page = await visitor.tab(f"/definitions/{definition_id}")
    versions = page.get_by_role("navigation", name="Versions").get_by_role("listitem")
    await expect(versions).to_have_count(2)
    await expect(versions.first).to_contain_text("the new limit")
    await expect(versions.last).to_contain_text("New runs")
    await versions.first.get_by_role("link").click()
    await expect(page.get_by_role("heading", name="Version 2", exact=True)).to_be_visible()
    await page.get_by_role("tab", name="Changes").click()
    changes = page.get_by_role("list", name="Changes")
    await expect(changes.get_by_role("listitem").filter(has_text="Step added")).to_contain_text("ask")
    read = changes.get_by_role("listitem").filter(has_text="Step changed").filter(has_text="read")
    await expect(read.get_by_role("row")).to_contain_text("500 → 1000")
    assert "version=2" in page.url
    await screenshot(page, "definition-changes", pictures)
    await page.reload()
    await expect(changes).to_contain_text("ask")
    await page.go_back()
    await expect(page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()


async def test_a_version_becomes_a_canary_is_promoted_and_rolled_back(
    visitor: Visitor, site: Site, pictures: Path
) -> None:
    definition_id = await two_versions(site)
    page = await visitor.tab(f"/definitions/{definition_id}?version=2")
    head = heading(page, definition_id)
    await page.get_by_role("button", name="Give it to a share").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Share of new runs").fill("25")
    await dialog.get_by_label("Reason").fill("a week on trial")
    await expect(dialog).to_contain_text("25 % of new runs get version 2, the others version 1.")
    await expect(dialog).to_contain_text("Steps compared with version 1: 1 added, 0 removed, 2 changed")
    await screenshot(page, "definition-canary", pictures)
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Set the share").click()
    await expect(head).to_contain_text("Canary · 25% · v2")
    assert await aliases(site, definition_id) == {"stable": (1, None), "canary": (2, 25)}

    await page.get_by_role("button", name="Let all new runs get it").click()
    await expect(dialog).to_contain_text("New runs get version 2 instead of version 1.")
    await expect(dialog).to_contain_text("The canary of version 2 ends.")
    await expect(dialog).to_contain_text("0 open runs go on")
    await dialog.get_by_role("button", name="Let all new runs get it").click()
    await expect(head).to_contain_text("New runs · v2")
    await expect(head).not_to_contain_text("Canary")
    assert await aliases(site, definition_id) == {"stable": (2, None)}
    refused = page.get_by_role("button", name="Let all new runs get it")
    await expect(refused).to_have_attribute("aria-description", "new runs get this version already")

    await page.get_by_role("button", name="Roll back").click()
    await expect(dialog).to_contain_text("New runs get version 1 instead of version 2.")
    await dialog.get_by_label("Reason").fill("totals are wrong")
    await dialog.get_by_role("button", name="Roll back").click()
    await expect(head).to_contain_text("New runs · v1")
    await page.get_by_role("tab", name="History").click()
    moves = page.get_by_role("table", name="Moves").get_by_role("row")
    await expect(moves.nth(1)).to_contain_text("New runs: v2 → v1 rolled back")
    await expect(moves.nth(1)).to_contain_text("totals are wrong")
    await screenshot(page, "definition-history", pictures)


async def test_the_tests_of_a_version_are_run_with_a_result_for_each(
    visitor: Visitor, site: Site, pictures: Path
) -> None:
    definition_id = await two_versions(site)
    page = await visitor.tab(f"/definitions/{definition_id}?tab=tests")
    await page.get_by_role("button", name="Run the tests").click()
    await expect(page.get_by_role("tabpanel").get_by_role("status")).to_contain_text("1 of 2 tests passed")
    results = page.get_by_role("list", name="Tests").get_by_role("listitem")
    await expect(results.first).to_contain_text("Passed")
    await expect(results.last).to_contain_text("Failed")
    await expect(results.last).to_contain_text("tests[1].expect.steps.pay")
    await screenshot(page, "definition-tests", pictures)


async def test_a_run_is_started_from_its_inputs_by_keyboard_alone(visitor: Visitor, site: Site, pictures: Path) -> None:
    definition_id = await two_versions(site)
    page = await visitor.tab(f"/definitions/{definition_id}")
    start = page.get_by_role("button", name="Start a run", exact=True)
    await start.focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Amount").focus()
    await page.keyboard.type("many")
    await page.keyboard.press("Control+Enter")
    await expect(dialog.get_by_label("Supplier")).to_have_attribute("aria-invalid", "true")
    await expect(dialog.get_by_label("Amount")).to_have_attribute("aria-invalid", "true")
    await screenshot(page, "definition-start", pictures)
    await dialog.get_by_label("Supplier").focus()
    await page.keyboard.type("Blume GmbH")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Control+a")
    await page.keyboard.type("-5")
    await page.keyboard.press("Control+Enter")
    await expect(dialog).to_contain_text("expected at least 0")
    await page.keyboard.press("Control+a")
    await page.keyboard.type("120,50")
    await page.keyboard.press("Control+Enter")
    await page.wait_for_url(f"**/runs/{definition_id}.*")
    response = await site.service.http.get(f"/v1/runs/{page.url.rpartition('/')[2]}")
    assert response.json()["version"] == 1


async def test_definitions_that_run_this_one_are_listed(visitor: Visitor, site: Site) -> None:
    inner = await two_versions(site)
    outer = f"monthly_{uuid4().hex[:8]}"
    inputs = {"supplier": "Blume GmbH", "amount": 1}
    nested = {"id": "each", "workflow": {"id": inner, "version": 1, "inputs": inputs}}
    await publish(site, {"id": outer, "steps": [nested]})
    page = await visitor.tab(f"/definitions/{inner}?tab=dependants")
    row = page.get_by_role("row").filter(has_text=outer)
    await expect(row).to_contain_text("always version 1")
    await row.get_by_role("link", name=outer).click()
    await expect(page.get_by_role("heading", name=outer, exact=True)).to_be_visible()
    await expect(page.get_by_role("complementary", name="Step each")).to_contain_text(inner)


async def test_the_list_says_what_new_runs_get_and_opens_by_keyboard(visitor: Visitor, site: Site) -> None:
    definition_id = await two_versions(site)
    waiting = {"id": f"held_{uuid4().hex[:8]}", "steps": [{"id": "bank", "wait": {"for": "signal"}}]}
    started = await site.service.http.post("/v1/runs", json={"definition": waiting})
    assert started.status_code == 202, started.text
    held = waiting["id"]
    page = await visitor.tab("/definitions")
    row = page.get_by_role("row").filter(has_text=definition_id)
    await expect(row.locator("[data-alias=stable]")).to_have_text("v1")
    await expect(row).to_contain_text("version 2 waits")
    await expect(row).to_contain_text("Release a payment")
    open_runs = page.get_by_role("row").filter(has_text=str(held)).get_by_role("link", name="1 open run")
    await expect(open_runs).to_be_visible(timeout=40_000)
    await page.get_by_label("Find a definition").fill(definition_id)
    await expect(page.get_by_role("row")).to_have_count(2)
    await page.keyboard.press("Tab")
    await page.get_by_role("heading", name="Definitions", exact=True).click()
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**/definitions/{definition_id}")


async def test_a_reader_is_shown_no_actions(browser: Browser, guarded_site: Site) -> None:
    watch = Watch(guarded_site.url)
    async with visit(browser, watch) as reader:
        page = await reader.tab("/definitions/invoice")
        await sign_in(page, await key_of(guarded_site, Scope.READ, name="reader"))
        await expect(page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()
        for name in ("Let all new runs get it", "Roll back", "Start a run"):
            await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
        await expect(page.get_by_role("link", name="Edit", exact=True)).to_have_count(0)
    assert watch.found() == []


@LOOKS
async def test_definitions_have_no_serious_finding_of_axe(
    browser: Browser, site: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    definition_id = await two_versions(site)
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab("/definitions")
        await expect(page.get_by_role("row").filter(has_text=definition_id)).to_be_visible()
        look = f"{size[0]}-{scheme}"
        await screenshot(page, f"definitions-{look}", pictures)
        assert await axe(page) == []
        for tab, seen in TABS.items():
            await page.goto(f"{site.url}/definitions/{definition_id}?version=2&tab={tab}")
            await expect(page.get_by_text(seen).first).to_be_visible()
            await screenshot(page, f"definition-{tab}-{look}", pictures)
            assert await axe(page) == [], tab
    assert watch.found() == []
