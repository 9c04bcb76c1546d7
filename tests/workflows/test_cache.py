"""Cached steps on the real server and a real database: equal work of several runs is done once, and reported."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus
from docrail.dag.language.step_kinds import CHUNK_ITEMS
from docrail.dag.values.json_values import Json
from docrail.services.callback_urls import CallbackKeys, CallbackUrls
from docrail.services.tools import Outside
from tests.postgres import dsn, pool
from tests.workflows.conftest import Bench, Gates, step, tools_in, work

__all__ = ["dsn", "pool"]

CACHE: dict[str, Json] = {"ttl_seconds": 3600}


@pytest.fixture
async def caching(
    bench: Bench,
    pool: asyncpg.Pool,  # the fixture, not the import
    tmp_path: Path,
) -> AsyncIterator[Bench]:
    """A bench whose worker has a database, and an address for callbacks."""
    outside = Outside(callbacks=CallbackUrls("https://docrail.example", CallbackKeys(("k" * 32,))))
    queue, gates = f"test-{uuid.uuid4().hex}", Gates()
    tools = replace(tools_in(tmp_path), db=pool, outside=outside)
    async with work(bench.client, queue, gates, tools):
        yield replace(bench, task_queue=queue, gates=gates)


def cached(report: RunReport) -> dict[str, bool]:
    return {name: reported.cached for name, reported in report.steps.items()}


async def test_a_second_run_takes_what_the_first_one_found(caching: Bench) -> None:
    steps = [
        step("ask", "echo", config={"of": "{{ inputs.of }}"}, cache=CACHE),
        step("use", "echo", config={"found": "{{ ask.of }}"}, depends_on=["ask"]),
    ]
    of = uuid.uuid4().hex
    first = await caching.run(steps, inputs={"of": of})
    second = await caching.run(steps, inputs={"of": of})
    assert (first.status, second.status) == (RunStatus.COMPLETED, RunStatus.COMPLETED)
    assert (cached(first), cached(second)) == ({"ask": False, "use": False}, {"ask": True, "use": False})
    assert second.steps["use"].output == first.steps["use"].output == {"found": of}
    assert caching.gates.calls == ["ask", "use", "use"]


async def test_other_inputs_are_other_work(caching: Bench) -> None:
    steps = [step("ask", "echo", config={"of": "{{ inputs.of }}"}, cache=CACHE)]
    for of in (uuid.uuid4().hex, uuid.uuid4().hex):
        assert not (await caching.run(steps, inputs={"of": of})).steps["ask"].cached


async def test_each_item_is_looked_for_by_its_own_key(caching: Bench) -> None:
    """By a part of the item: what else is in it does not matter."""
    some = uuid.uuid4().hex
    cache = {**CACHE, "key": "{{ item.of }}"}
    steps = [step("ask", "echo", for_each={"items": "{{ inputs.all }}"}, config={"of": "{{ item.of }}"}, cache=cache)]
    first = await caching.run(steps, inputs={"all": [{"of": f"{some}-a"}, {"of": f"{some}-b"}]})
    second = await caching.run(
        steps, inputs={"all": [{"of": f"{some}-b", "at": 2}, {"of": f"{some}-c"}, {"of": f"{some}-a", "at": 3}]}
    )
    assert first.steps["ask"].items
    assert second.steps["ask"].items
    assert (first.steps["ask"].items.cached, second.steps["ask"].items.cached) == (0, 2)
    assert [item["output"]["of"][-1] for item in second.steps["ask"].output["items"]] == ["b", "c", "a"]
    assert len(caching.gates.calls) == 3


async def test_a_step_that_failed_does_its_work_again(caching: Bench) -> None:
    steps = [step("work", "work", config={"of": uuid.uuid4().hex}, cache=CACHE)]
    caching.gates.failing.append("work")
    assert (await caching.run(steps)).status is RunStatus.FAILED
    caching.gates.failing.clear()
    for is_cached in (False, True):
        report = await caching.run(steps)
        assert (report.status, report.steps["work"].cached) == (RunStatus.COMPLETED, is_cached)


async def test_a_key_that_cannot_be_reported_fails_its_step(caching: Bench) -> None:
    report = await caching.run([step("ask", cache={**CACHE, "key": "{{ inputs.missing }}"})])
    assert report.status is RunStatus.FAILED
    assert report.steps["ask"].error
    assert report.steps["ask"].error.type == "TemplateError"


async def test_a_step_that_asks_for_a_callback_always_asks(caching: Bench) -> None:
    """Its URL is this run's alone: with another run's output, this URL would never be called."""
    steps: list[dict[str, Json]] = [
        step("ask", "echo", config={"url": "{{ run.callbacks.reply }}"}, cache={**CACHE, "key": uuid.uuid4().hex}),
        {"id": "reply", "wait": {"for": "webhook"}},
    ]
    for _ in range(2):
        handle = await caching.start(steps)
        await caching.answer(handle, "reply", {})
        report = await caching.finish(handle)
        assert (report.status, report.steps["ask"].cached) == (RunStatus.COMPLETED, False)


async def test_the_items_of_a_long_list_are_looked_for_in_its_chunks(caching: Bench) -> None:
    some, count = uuid.uuid4().hex, CHUNK_ITEMS + 10
    steps = [
        step(
            "ask",
            "echo",
            for_each={"items": "{{ inputs.all }}", "max_concurrency": 50},
            config={"of": [some, "{{ item }}"]},
            cache=CACHE,
        )
    ]
    for hits in (0, count):
        report = await caching.run(steps, inputs={"all": list(range(count))}, limits={"max_concurrency": 50})
        assert report.status is RunStatus.COMPLETED
        assert report.steps["ask"].items
        assert (report.steps["ask"].items.completed, report.steps["ask"].items.cached) == (count, hits)
    assert len(caching.gates.calls) == count
