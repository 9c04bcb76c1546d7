"""The screens of runs: the list, and one run as it happens."""

import asyncio
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import pytest
from playwright.async_api import Browser, FloatRect, Locator, Page, Route, expect

from docrail.dag.values.json_values import Json
from tests.console.site import LOOKS_WITH_PHONE, Scheme, Site, Visitor, Watch, axe, screenshot, visit
from tests.stack import eventually

SUPPLIER: dict[str, Json] = {
    "id": "supplier_check",
    "title": "Check a supplier",
    "steps": [
        {"id": "read", "title": "Read the request", "handler": "echo", "config": {"value": {"supplier": "Blume GmbH"}}},
        {
            "id": "vat",
            "title": "Check the VAT id",
            "handler": "fail",
            "depends_on": ["read"],
            "config": {"times": 9, "error": "ValueError", "message": "The VAT id has 8 digits, expected 9"},
            "max_retries": 0,
        },
        {"id": "hold", "title": "Wait for the bank", "wait": {"for": "signal"}, "depends_on": ["read"]},
        {
            "id": "decide",
            "title": "Approve the supplier",
            "human": {"title": "Approve {{ read.value.supplier }}?", "form": {"type": "object"}},
            "depends_on": ["hold"],
        },
        {"id": "file", "title": "File the supplier", "handler": "noop", "depends_on": ["vat", "decide"]},
    ],
}
MOST_MOUNTED = 300
SAME_PLACES = 20
"""Equal places in a row, 20 ms apart at least, after which an element rests."""


async def start(site: Site, definition: Json, **more: Any) -> str:
    response = await site.service.http.post("/v1/runs", json={"definition": definition, **more})
    assert response.status_code == 202, response.text
    return str(response.json()["run_id"])


async def answer(site: Site, run_id: str, step_id: str, value: Json) -> None:
    async def accepted() -> bool:
        path = f"/v1/runs/{run_id}/waits/{step_id}"
        return (await site.service.http.post(path, json={"answer": value})).status_code == 200

    await eventually(accepted, f"the answer to {step_id}")


async def replace(page: Page, editor: Locator, text: str) -> None:
    """Type another text into an editor, as a person does."""
    await editor.click()
    await page.keyboard.press("Control+a")
    await page.keyboard.type(text)


def node(page: Page, title: str) -> Locator:
    return page.locator(".react-flow__node").get_by_role("group", name=f"{title}:")


async def has_state(page: Page, title: str, status: str) -> None:
    await expect(page.get_by_role("group", name=f"{title}: {status}")).to_be_visible()


async def test_an_owner_starts_a_run_watches_it_fails_edits_the_step_and_sees_it_complete(
    page: Page, site: Site, pictures: Path
) -> None:
    published = await site.service.http.post("/v1/definitions", json={"definition": SUPPLIER})
    assert published.status_code == 201, published.text
    await page.goto(f"{site.url}/runs")
    await page.get_by_role("button", name="Start a run").click()
    await page.get_by_role("combobox", name="Definition").fill("supplier")
    await page.get_by_role("option", name="supplier_check").click()
    await page.get_by_role("dialog").get_by_role("button", name="Start").click()
    await page.wait_for_url("**/runs/supplier_check.*")
    run_id = page.url.rpartition("/")[2]

    await has_state(page, "Check the VAT id", "Failed")
    await has_state(page, "Wait for the bank", "Waiting")
    await expect(page.get_by_label("What the run waits for")).to_contain_text("waits for an answer from outside")
    await answer(site, run_id, "hold", True)
    await has_state(page, "Approve the supplier", "Waiting")
    await expect(page.get_by_label("What the run waits for")).to_contain_text("Approve Blume GmbH?")
    await answer(site, run_id, "decide", {"ok": True})
    await expect(page.locator("header [data-status=failed]")).to_be_visible()

    await node(page, "Check the VAT id").click()
    panel = page.get_by_role("complementary", name="Step vat")
    await expect(panel).to_contain_text("The VAT id has 8 digits, expected 9")
    await screenshot(page, "run-failed", pictures)
    assert await axe(page) == []
    await panel.get_by_role("button", name="Edit and retry").click()
    dialog = page.get_by_role("dialog")
    editor = dialog.get_by_label("Config")
    await expect(editor).to_contain_text("expected 9")
    await expect(dialog.get_by_label("What will happen").first).to_contain_text("2 run again · 3 kept")
    await replace(page, editor, '{"times": "none"}')
    await expect(dialog.get_by_role("alert")).to_contain_text("times")
    await replace(page, editor, '{"times": 0}')
    await expect(dialog.get_by_role("alert")).to_be_hidden()
    await screenshot(page, "run-edit", pictures)
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Edit and retry").click()
    await expect(dialog).to_be_hidden()

    await expect(page.locator("header [data-status=completed]")).to_be_visible()
    await has_state(page, "File the supplier", "Completed")
    await panel.get_by_role("tab", name="Input").click()
    await expect(panel).to_contain_text("Given by a person")


async def place_at_rest(found: Locator) -> FloatRect | None:
    """Return where an element is once the view, which is fitted after the nodes are drawn, has come to rest."""
    places: list[FloatRect | None] = []

    async def rests() -> bool:
        places.append(await found.bounding_box())
        return len(places) > SAME_PLACES and all(place == places[-1] for place in places[-SAME_PLACES:])

    await eventually(rests, "the view to come to rest")
    return places[-1]


async def test_a_state_changes_on_the_page_soon_and_without_a_new_layout(page: Page, site: Site) -> None:
    run_id = await start(site, SUPPLIER)
    await page.goto(f"{site.url}/runs/{run_id}")
    await has_state(page, "Wait for the bank", "Waiting")
    before = await place_at_rest(node(page, "Wait for the bank"))
    layouts: list[str] = []
    page.on("request", lambda request: layouts.append(request.url) if "/graph" in request.url else None)
    await answer(site, run_id, "hold", True)
    begun = monotonic()
    await has_state(page, "Wait for the bank", "Completed")
    assert monotonic() - begun < 3  # a second, and what a loaded machine adds
    assert await node(page, "Wait for the bank").bounding_box() == before
    assert layouts == []


async def test_a_run_of_two_thousand_steps_opens_quickly_and_mounts_few_nodes(
    page: Page, site: Site, pictures: Path
) -> None:
    steps: list[Json] = [{"id": "first", "wait": {"for": "signal"}}]
    steps += [{"id": f"load_{n}", "handler": "noop", "depends_on": ["first"]} for n in range(1_000)]
    steps += [{"id": f"join_{n}", "handler": "noop", "depends_on": [f"load_{n}"]} for n in range(999)]
    run_id = await start(site, {"id": "two_thousand", "steps": steps})

    async def is_waiting() -> bool:
        found = await site.service.http.get(f"/v1/runs/{run_id}/states")
        return found.status_code == 200 and found.json()["run"]["status"] == "waiting"

    await eventually(is_waiting, "the run to wait")
    begun = monotonic()
    await page.goto(f"{site.url}/runs/{run_id}")
    await has_state(page, "first", "Waiting")
    opened = monotonic() - begun
    assert opened < 6  # two seconds, and what a loaded machine adds
    await page.get_by_text("Layer 2 · 1000 steps").click()
    await page.get_by_text("Layer 2 · 50 steps").first.click()
    await expect(page.get_by_role("group", name="load_0: Pending")).to_be_attached()
    pane = page.locator(".react-flow__pane")
    box = await pane.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 300, box["y"] + 30)
    await page.mouse.down()
    for at in range(20):
        await page.mouse.move(box["x"] + 300, box["y"] + 30 + at * 20)
        assert await page.locator(".react-flow__node").count() <= MOST_MOUNTED
    await page.mouse.up()
    await screenshot(page, "run-2000", pictures)
    await page.get_by_role("textbox", name="Find a step").fill("load_777")
    await page.get_by_role("textbox", name="Find a step").press("Enter")
    await expect(page.get_by_role("complementary", name="Step load_777")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("complementary", name="Step load_777")).to_be_visible()
    await site.service.http.post(f"/v1/runs/{run_id}/abort")


async def test_filters_are_in_the_url_and_visible_and_can_be_removed(visitor: Visitor, site: Site) -> None:
    run_id = await start(site, SUPPLIER)
    page = await visitor.tab("/runs?status=waiting&definition=supplier_check&time=started&within=24h")
    await expect(page.get_by_role("link", name=run_id)).to_be_visible()
    for chip in ("Status: Waiting", "Definition: supplier_check", "Started: Last 24 hours"):
        await expect(page.get_by_text(chip)).to_be_visible()
    await page.get_by_role("button", name="Remove the filter Status: Waiting").click()
    await expect(page.get_by_text("Status: Waiting")).to_be_hidden()
    assert "status" not in page.url
    assert "definition=supplier_check" in page.url


async def test_selected_runs_are_aborted_at_once_by_keyboard(visitor: Visitor, site: Site) -> None:
    definition = SUPPLIER | {"id": f"many_{uuid4().hex[:8]}"}
    runs = [await start(site, definition) for _ in range(2)]
    page = await visitor.tab(f"/runs?definition={definition['id']}")
    for run_id in runs:
        await expect(page.get_by_role("link", name=run_id)).to_be_visible()
    await page.keyboard.press("x")
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await page.get_by_role("toolbar", name="2 selected").get_by_role("button", name="Abort").click()
    dialog = page.get_by_role("dialog", name="Abort 2 runs?")
    assert await axe(page) == []
    await dialog.get_by_label("Reason").fill("sent twice")
    await page.keyboard.press("Enter")
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_role("toolbar")).to_be_hidden()

    async def are_aborted() -> bool:
        found = [(await site.service.http.get(f"/v1/runs/{run_id}")).json()["status"] for run_id in runs]
        return found == ["aborted", "aborted"]

    await eventually(are_aborted, "both runs to be aborted")
    await expect(page.get_by_role("row").get_by_text("Aborted")).to_have_count(2)


async def test_an_action_that_is_not_allowed_says_why(page: Page, site: Site) -> None:
    run_id = await start(site, {"id": "quick", "steps": [{"id": "greet", "handler": "noop"}]})
    await site.service.ended(run_id)
    await page.goto(f"{site.url}/runs/{run_id}")
    await page.get_by_role("button", name="More actions").click()
    pause = page.get_by_role("menuitem", name="Pause")
    await expect(pause).to_be_disabled()
    await expect(pause).to_contain_text("the run is completed")


async def test_the_timeline_and_the_list_show_the_steps(page: Page, site: Site, pictures: Path) -> None:
    run_id = await start(site, SUPPLIER)
    await page.goto(f"{site.url}/runs/{run_id}")
    await has_state(page, "Wait for the bank", "Waiting")
    await page.get_by_text("Timeline", exact=True).click()
    await expect(page.get_by_label("Timeline", exact=True).get_by_role("button")).to_have_count(3)
    await screenshot(page, "run-timeline", pictures)
    assert await axe(page) == []
    await page.get_by_text("Steps", exact=True).click()
    await page.keyboard.press("j")
    await expect(page.get_by_role("complementary", name="Step read")).to_be_visible()
    await page.keyboard.press("n")
    await expect(page.get_by_role("complementary", name="Step vat")).to_be_visible()
    await page.keyboard.press("j")
    await expect(page.get_by_role("complementary", name="Step hold")).to_be_visible()
    await page.keyboard.press("p")
    await expect(page.get_by_role("complementary", name="Step vat")).to_be_visible()
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("complementary")).to_be_hidden()


async def test_a_step_that_is_being_fetched_is_announced(page: Page, site: Site) -> None:
    run_id = await start(site, SUPPLIER)
    fetch = asyncio.Event()

    async def hold(route: Route) -> None:
        await fetch.wait()
        await route.continue_()

    await page.route(f"**/v1/runs/{run_id}/steps/read*", hold)
    await page.goto(f"{site.url}/runs/{run_id}?step=read")
    panel = page.get_by_role("complementary", name="Step read")
    await expect(panel.get_by_role("status", name="Loading")).to_be_visible()
    assert await axe(page) == []
    fetch.set()
    await expect(panel.get_by_role("tab", name="Input")).to_be_visible()


async def test_text_from_a_definition_is_never_markup(page: Page, site: Site) -> None:
    nasty = "<img src=x onerror=alert(1)>\u202egnp.exe"
    steps = [{"id": "greet", "title": nasty, "handler": "echo", "config": {"value": "<script>alert(1)</script>" * 9}}]
    run_id = await start(site, {"id": "nasty", "title": nasty, "steps": steps})
    await site.service.ended(run_id)
    await page.goto(f"{site.url}/runs/{run_id}?step=greet")
    await page.get_by_role("tab", name="Output").click()
    await expect(page.get_by_role("complementary")).to_contain_text("<script>alert(1)</script>")
    assert await page.locator("img[src=x]").count() == 0


@pytest.fixture(scope="module")
async def shown_run(site: Site) -> str:
    run_id = await start(site, SUPPLIER)

    async def is_waiting() -> bool:
        run = (await site.service.http.get(f"/v1/runs/{run_id}")).json()
        return bool(run["steps"]["vat"]["status"] == "failed")

    await eventually(is_waiting, "the step to fail")
    return run_id


@LOOKS_WITH_PHONE
async def test_runs_have_no_serious_finding_of_axe(
    browser: Browser, site: Site, shown_run: str, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab("/runs")
        await expect(page.get_by_role("link", name=shown_run)).to_be_visible()
        take = partial(screenshot, page, folder=pictures)
        await take(f"runs-{size[0]}-{scheme}")
        assert await axe(page) == []
        await page.goto(f"{site.url}/runs/{shown_run}")
        await expect(page.get_by_text("Check the VAT id")).to_be_visible()
        await take(f"run-{size[0]}-{scheme}")
        assert await axe(page) == []
    assert watch.found() == []
