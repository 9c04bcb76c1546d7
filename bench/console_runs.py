"""Time how a run of 2,000 steps opens in the console, and how smoothly its graph is panned.

Prints a JSON line for each shape of graph, on a stack of its own with a real Chromium, on loopback:

- `open_seconds`: from the navigation of an empty browser until the drawing with its states is shown, first as it opens
  by itself and then with as many open groups as there is room for. Target 2 s. The run waits at its first step.
- `pan`: times between two frames in ms while the graph is dragged, with most nodes drawn. 60 frames a second are
  16.7 ms each; Chromium draws without a graphics card here.
- `zoomed_out`: the same with the whole drawing in view, so that every node and arrow is mounted.
"""

import argparse
import asyncio
import itertools
import json
import os
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import httpx
from playwright.async_api import Browser, Page, async_playwright

from bench.graphs import parents_of
from docrail.dag.values.json_values import Json
from docrail.embedded.stack import StackOptions, run_stack
from tests.console.chromium import OPTIONS, find_chromium
from tests.stack import eventually

TARGET_SECONDS = 2.0
OPENED = 5
MOVES = 60
RECORDER = """
const times = (window.docrailTimes = { shown: null, frames: [] })
const seen = new MutationObserver(() => {
  if (!document.querySelector('.react-flow__node [data-status]')) return
  seen.disconnect()
  requestAnimationFrame(() => setTimeout(() => (times.shown = performance.now())))
})
seen.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-status'] })
const frame = (now) => (times.frames.push(now), requestAnimationFrame(frame))
requestAnimationFrame(frame)
"""
"""Notes in the page when the drawing is painted, and each frame: the way to this process would add to the times."""


def steps_of(shape: str) -> list[Json]:
    """Return 2,000 steps after one that waits: a list of pairs, or 20 layers of 100 steps with 6,000 edges."""
    first: Json = {"id": "first", "wait": {"for": "signal"}}
    if shape == "pairs":
        loads = [{"id": f"load_{n}", "handler": "noop", "depends_on": ["first"]} for n in range(1_000)]
        joins = [{"id": f"join_{n}", "handler": "noop", "depends_on": [f"load_{n}"]} for n in range(999)]
        return [first, *loads, *joins]
    parents = parents_of(shape)[:1_999]
    others = [
        {"id": f"s{number}", "handler": "noop", "depends_on": [f"s{parent}" for parent in above] or ["first"]}
        for number, above in enumerate(parents)
    ]
    return [first, *others]


async def start(http: httpx.AsyncClient, shape: str) -> str:
    """Start the run, and return its id when it waits."""
    body = {"definition": {"id": f"two_thousand_{shape}", "steps": steps_of(shape)}}
    run_id = str((await http.post("/v1/runs", json=body)).raise_for_status().json()["run_id"])

    async def is_waiting() -> bool:
        found = await http.get(f"/v1/runs/{run_id}/states")
        return found.status_code == httpx.codes.OK and found.json()["run"]["status"] == "waiting"

    await eventually(is_waiting, "the run to wait", timeout_seconds=120)
    return run_id


async def all_open(http: httpx.AsyncClient, run_id: str) -> tuple[str, int]:
    """Return the groups that fill the drawing, and its number of nodes."""
    opened: list[str] = []
    while True:
        params = {"open": ",".join(opened)}
        graph = (await http.get(f"/v1/runs/{run_id}/graph", params=params)).raise_for_status().json()["graph"]
        groups = [node["id"] for node in graph["nodes"] if node["kind"] is None]
        if not groups or set(opened) - set(graph["open"]):
            return ",".join(graph["open"]), len(graph["nodes"])
        opened = [*graph["open"], groups[0]]


async def opened_page(browser: Browser, url: str) -> tuple[Page, float]:
    """Open a page in an empty browser, and return it with the seconds until the drawing was shown."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page = await context.new_page()
    await page.add_init_script(RECORDER)
    await page.goto(url, wait_until="commit")
    await page.locator(".react-flow__node [data-status]").first.wait_for(state="attached", timeout=60_000)

    async def is_painted() -> bool:
        return await page.evaluate("window.docrailTimes.shown") is not None

    await eventually(is_painted, "the drawing to be painted")
    return page, float(await page.evaluate("window.docrailTimes.shown")) / 1000


async def seconds_to_open(browser: Browser, url: str) -> list[float]:
    found = []
    for _ in range(OPENED):
        page, seconds = await opened_page(browser, url)
        found.append(seconds)
        await page.context.close()
    return found


async def frames_while_panned(page: Page) -> list[float]:
    """Drag the graph there and back, and return the times between frames in ms."""
    box = await page.locator(".react-flow__pane").bounding_box()
    assert box is not None
    x, y = box["x"] + 500, box["y"] + 20
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.evaluate("window.docrailTimes.frames.length = 0")
    for at in range(MOVES):
        await page.mouse.move(x + 300 * (at % 30) / 30, y + 400 * (at % 20) / 20)
    times: list[float] = await page.evaluate("window.docrailTimes.frames")
    await page.mouse.up()
    return [after - before for before, after in itertools.pairwise(times)]


def frames(found: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(found, n=20)
    return {"median_ms": round(cuts[9], 1), "p95_ms": round(cuts[18], 1), "worst_ms": round(max(found), 1)}


async def measure(browser: Browser, http: httpx.AsyncClient, shape: str) -> Json:
    run_id = await start(http, shape)
    url = f"{str(http.base_url).rstrip('/')}/runs/{run_id}"
    opened, nodes = await all_open(http, run_id)
    full = f"{url}?view=graph&open={opened}"
    closed_seconds, open_seconds = await seconds_to_open(browser, url), await seconds_to_open(browser, full)
    page, _ = await opened_page(browser, full)
    panned = await frames_while_panned(page)
    for _ in range(12):
        await page.get_by_role("button", name="Zoom Out").click()
    mounted = await page.locator(".react-flow__node").count()
    zoomed_out = await frames_while_panned(page)
    await page.context.close()
    await http.post(f"/v1/runs/{run_id}/abort")
    return {
        "open_seconds": [round(statistics.median(closed_seconds), 2), round(statistics.median(open_seconds), 2)],
        "worst_open_seconds": round(max(*closed_seconds, *open_seconds), 2),
        "target_seconds": TARGET_SECONDS,
        "nodes": nodes,
        "pan": frames(panned),
        "zoomed_out": {"mounted": mounted, **frames(zoomed_out)},
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="+", default=["pairs", "layered"], choices=["pairs", "layered", "wide"])
    options = parser.parse_args()
    chromium = find_chromium()
    with tempfile.TemporaryDirectory() as folder:
        ports = StackOptions(Path(folder), api_port=0, temporal_port=0, ui_port=0)
        async with run_stack(ports, report=lambda _: None) as stack, async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=chromium.program, args=list(OPTIONS), env=dict(chromium.environment) or None
            )
            for shape in options.shapes:
                found = await measure(browser, stack.http, shape)
                print(json.dumps({"bench": "console_runs", "shape": shape, **found}), flush=True)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
