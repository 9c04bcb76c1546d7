"""Time what a clerk waits for in the console: a scripted person clears the sixty invoices of samples/desk.py.

Prints a JSON line for each measurement, all on a stack of its own with a real Chromium, on loopback:

- `first_load`: from the navigation of an empty browser to the first row of the inbox. Target 1 s.
- `first_page_view`: the first request of a page's picture; `again` is the second one. Target 150 ms.
- `next_document`: from the key of *Approve and next* until the next document is painted, with its page. Target 100 ms
  (p95). `from_the_list` is the same without prefetch: a document that is opened from the list.
- `item`: from one painted document to the next, for a person who works by keyboard, reads for 8 s and needs 0.2 s for
  a key. Target 15 s (median).

Of the 8 s, 2 s pass before each decision, in which the work of the previous one ends, as it would; the others and the
time for keys are added to what is measured.

Last results: see docs/measurements.md.
"""

import asyncio
import datetime as dt
import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, Page, async_playwright

from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.samples.desk import DeskFile, draw_desk
from tests.console.chromium import OPTIONS, find_chromium
from tests.console.clerk import Clerk

LOADS = 7
OPENED = 15
READING_SECONDS, KEY_SECONDS = 8.0, 0.2
PAUSE_SECONDS = 2.0
"""The part of the reading time that passes."""
RECORDER = """
const times = (window.docrailTimes = { rows: null, keys: [], painted: [] })
addEventListener('keydown', ({ key, repeat }) => repeat || times.keys.push({ key, at: performance.now() }), true)
new MutationObserver(() => {
  if (times.rows === null && document.querySelector('[role=row][aria-rowindex="2"]')) times.rows = performance.now()
  const id = document.querySelector('[data-review][data-painted]')?.dataset.review
  if (id && times.painted.at(-1)?.id !== id) times.painted.push({ id, at: performance.now() })
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-painted'] })
"""
"""Notes in the page when keys are pressed and documents are painted: the way to this process would add to the times."""

Times = dict[str, Any]


async def new_page(browser: Browser, url: str) -> Page:
    """Return a page of an empty browser on the inbox."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = await context.new_page()
    await page.add_init_script(RECORDER)
    await page.goto(url)
    return page


async def recorded(page: Page) -> Times:
    times: Times = await page.evaluate("window.docrailTimes")
    return times


def ninety_fifth(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def report(what: str, target: float, values: Sequence[float], **more: object) -> None:
    found = {"median": statistics.median(values), "p95": ninety_fifth(values), "max": max(values)}
    line = {"bench": "console", "what": what, "n": len(values), "target": target}
    line |= {name: round(value, 1) for name, value in found.items()}
    print(json.dumps(line | more | {"load": round(os.getloadavg()[0], 1)}), flush=True)


async def measure_page_views(http: httpx.AsyncClient, documents: list[dict[str, Any]]) -> None:
    paths = [f"/v1/documents/{each['document_id']}/pages/1.png" for each in documents if each["status"] == "attention"]
    rounds = [[await milliseconds_of(http, path) for path in paths] for _ in range(2)]
    first, again = [[each for each in values if each is not None] for values in rounds]
    report("first_page_view", 150, first, unit="ms", again={"median": round(statistics.median(again), 1)})


async def milliseconds_of(http: httpx.AsyncClient, path: str) -> float | None:
    """Return how long a page's picture takes; None if the document has no pages."""
    began = time.perf_counter()
    answer = await http.get(path)
    return (time.perf_counter() - began) * 1000 if answer.status_code == httpx.codes.OK else None


async def measure_loads(browser: Browser, url: str) -> None:
    found = []
    for _ in range(LOADS):
        page = await new_page(browser, url)
        await page.get_by_role("row").nth(1).wait_for()
        found.append((await recorded(page))["rows"])
        await page.context.close()
    report("first_load", 1000, found, unit="ms")


async def measure_opening(browser: Browser, url: str) -> list[float]:
    """Return the milliseconds from Enter in the list until a document is painted."""
    page = await new_page(browser, url)
    clerk = Clerk(page)
    await page.get_by_role("row").nth(1).wait_for()
    for _ in range(OPENED):
        await clerk.open_next()
        await clerk.press("Escape")
        await page.get_by_role("row").nth(1).wait_for()
    times = await recorded(page)
    await page.context.close()
    return waits(times)


def waits(times: Times) -> list[float]:
    """Return for each painted document the milliseconds since the last Enter before it."""
    pressed = [each["at"] for each in times["keys"] if each["key"] == "Enter"]
    return [each["at"] - max(at for at in pressed if at <= each["at"]) for each in times["painted"]]


async def measure_clearing(browser: Browser, url: str, files: dict[str, DeskFile], from_the_list: list[float]) -> None:
    """Clear the whole list, and report the time to the next document and the time of an item."""
    page = await new_page(browser, url)
    clerk = Clerk(page)
    await page.get_by_role("row").nth(1).wait_for()
    item: str | None = await clerk.open_next()
    while item is not None:
        await asyncio.sleep(PAUSE_SECONDS)
        await clerk.decide(files[item])
        item = await clerk.next_after(item)
    times = await recorded(page)
    report(
        "next_document",
        100,
        waits(times)[1:],
        unit="ms",
        from_the_list={
            "median": round(statistics.median(from_the_list), 1),
            "p95": round(ninety_fifth(from_the_list), 1),
        },
    )
    report("item", 15, list(seconds_of_items(times)), unit="s")


def seconds_of_items(times: Times) -> list[float]:
    """Return the seconds that each item took, but for the last one."""
    found = []
    for one, other in itertools.pairwise(each["at"] for each in times["painted"]):
        keys = sum(one < each["at"] <= other for each in times["keys"])
        found.append(READING_SECONDS - PAUSE_SECONDS + KEY_SECONDS * keys + (other - one) / 1000)
    return found


async def measure(stack: Stack, browser: Browser) -> None:
    files = {each.name: each for each in draw_desk(dt.datetime.now(dt.UTC).date())}
    page = await new_page(browser, stack.api_url)
    await Clerk(page).send(list(files.values()))
    await page.context.close()
    documents = (await stack.http.get("/v1/documents", params={"limit": 100})).json()["documents"]
    await measure_page_views(stack.http, documents)
    await measure_loads(browser, stack.api_url)
    by_item = {each["review_id"]: files[each["file_name"]] for each in documents if each["review_id"]}
    await measure_clearing(browser, stack.api_url, by_item, await measure_opening(browser, stack.api_url))


async def main() -> None:
    chromium = find_chromium()
    with tempfile.TemporaryDirectory(prefix="docrail-bench-") as folder:
        options = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0)
        async with run_stack(options, lambda _: None) as stack, async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=chromium.program, args=list(OPTIONS), env=dict(chromium.environment) or None
            )
            await measure(stack, browser)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
