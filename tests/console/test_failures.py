"""The screen of failures: groups, retrying one or all, and those that failed again."""

from functools import partial
from pathlib import Path
from uuid import uuid4

from playwright.async_api import Browser, expect

from docrail.dag.values.json_values import Json
from tests.console.site import LOOKS, Scheme, Site, Visitor, Watch, axe, screenshot, tab_to, visit
from tests.stack import eventually


def broken(name: str) -> dict[str, Json]:
    config = {"times": 99, "error": "ValueError", "message": "The total is missing"}
    return {"id": name, "steps": [{"id": "check", "handler": "fail", "config": config, "max_retries": 0}]}


async def fail(site: Site, definition: Json, times: int) -> list[str]:
    """Start runs, and return their ids once their failures are recorded."""
    runs: list[str] = []
    for _ in range(times):
        started = await site.service.http.post("/v1/runs", json={"definition": definition})
        assert started.status_code == 202, started.text
        runs.append(started.json()["run_id"])
    for run_id in runs:
        await eventually(partial(is_recorded, site, run_id), "the failure to be recorded")
    return runs


async def is_recorded(site: Site, run_id: str) -> bool:
    return (await site.service.http.get(f"/v1/dead-letters/{run_id}/check")).status_code == 200


async def test_all_of_a_class_are_retried_and_those_that_fail_again_are_counted(
    visitor: Visitor, site: Site, pictures: Path
) -> None:
    name = f"totals_{uuid4().hex[:8]}"
    await fail(site, broken(name), 3)
    page = await visitor.tab("/failures")
    group = page.get_by_role("listitem").filter(has_text=f"in check of {name}")
    await expect(group).to_contain_text("3 failures")
    await group.get_by_role("button", name="Retry all 3").click()
    dialog = page.get_by_role("dialog", name="Retry 3 failures?")
    assert await axe(page) == []
    await dialog.get_by_role("button", name="Retry all 3").click()
    await expect(dialog.get_by_role("status")).to_contain_text("3 are tried again.")
    await dialog.get_by_role("button", name="Close", exact=True).last.click()
    await expect(group).to_contain_text("3 failed again")
    await screenshot(page, "failures-again", pictures)


async def test_one_failure_is_retried_or_dismissed_and_its_run_is_one_click_away(visitor: Visitor, site: Site) -> None:
    name = f"single_{uuid4().hex[:8]}"
    runs = await fail(site, broken(name), 2)
    page = await visitor.tab("/failures")
    group = page.get_by_role("listitem").filter(has_text=f"in check of {name}")
    await group.get_by_role("button", expanded=False).first.click()
    assert f"definition={name}" in page.url
    first, second = (group.get_by_role("row").filter(has_text=run_id) for run_id in runs)
    await first.get_by_role("button", name="Retry").click()
    await expect(first).to_contain_text("once")
    await second.get_by_role("button", name="Dismiss").click()
    await expect(second).to_be_hidden()
    await first.get_by_role("link", name=runs[0]).click()
    await expect(page.get_by_role("complementary", name="Step check")).to_contain_text("The total is missing")
    await page.go_back()
    await expect(group.get_by_role("row").filter(has_text=runs[0])).to_be_visible()


async def test_failures_are_retried_and_dismissed_by_keyboard_alone(visitor: Visitor, site: Site) -> None:
    name = f"keyed_{uuid4().hex[:8]}"
    runs = await fail(site, broken(name), 2)
    page = await visitor.tab("/failures")
    group = page.get_by_role("listitem").filter(has_text=f"in check of {name}")
    await tab_to(page, group.get_by_role("button", expanded=False).first)
    await page.keyboard.press("Enter")
    first, second = (group.get_by_role("row").filter(has_text=run_id) for run_id in runs)
    await expect(second).to_be_visible()
    await tab_to(page, first.get_by_role("button", name="Retry"))
    await page.keyboard.press("Enter")
    await expect(first).to_contain_text("once")
    await tab_to(page, second.get_by_role("button", name="Dismiss"))
    await page.keyboard.press("Enter")
    await expect(second).to_be_hidden()


async def test_selected_failures_are_retried_or_dismissed_together(visitor: Visitor, site: Site) -> None:
    name = f"several_{uuid4().hex[:8]}"
    first, second, third = await fail(site, broken(name), 3)
    page = await visitor.tab(f"/failures?error=ValueError&definition={name}&step=check")
    group = page.get_by_role("listitem").filter(has_text=f"in check of {name}")
    await group.get_by_role("checkbox", name=f"Select {first}").check()
    await group.get_by_role("checkbox", name=f"Select {second}").check()
    await group.get_by_role("toolbar", name="2 selected").get_by_role("button", name="Retry").click()
    await expect(group.get_by_role("status").filter(has_text="2 are tried again.")).to_be_visible()
    await expect(group.get_by_role("toolbar")).to_be_hidden()
    for run_id in (first, second):
        await expect(group.get_by_role("row").filter(has_text=run_id)).to_contain_text("once")
    await expect(group.get_by_role("row").filter(has_text=third)).not_to_contain_text("once")
    await group.get_by_role("checkbox", name="Select all loaded").check()
    assert await axe(page) == []
    await group.get_by_role("toolbar", name="3 selected").get_by_role("button", name="Dismiss").click()
    await expect(group).to_be_hidden()


@LOOKS
async def test_failures_have_no_serious_finding_of_axe(
    browser: Browser, site: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    name = f"seen_{uuid4().hex[:8]}"
    [run_id] = await fail(site, broken(name), 1)
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab(f"/failures?error=ValueError&definition={name}&step=check")
        await expect(page.get_by_role("link", name=run_id)).to_be_visible()
        await screenshot(page, f"failures-{size[0]}-{scheme}", pictures)
        assert await axe(page) == []
    assert watch.found() == []
