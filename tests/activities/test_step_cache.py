"""The wrapper and the cache: a hit runs no handler, a failure is kept nowhere, and no step fails for its cache."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest
from pydantic import BaseModel, RootModel
from temporalio.exceptions import ApplicationError

from docrail.activities import step_cache
from docrail.activities.wrapper import Attempts
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.dag.values.json_values import Json, digest
from docrail.dag.values.stored import part_of
from docrail.handlers import Handler, StepCall
from docrail.services.lake.files import Lake
from docrail.services.metrics import Metrics
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import AttemptRequest, CacheUse, StepOutcome
from tests.activities.test_execute import environment
from tests.postgres import COMMITTING
from tests.stack import eventually

LARGE = "x" * 5_000


class Config(BaseModel, extra="forbid"):
    value: Json


class Output(RootModel[Json]):
    pass


class Number(BaseModel):
    value: float


class Counting:
    """A handler that returns its config, counts its calls, and fails as often as configured."""

    def __init__(self, fails: int = 0) -> None:
        self.calls = 0
        self.fails = fails

    async def run(self, call: StepCall[Config], _: Tools) -> Output:
        self.calls += 1
        if self.calls <= self.fails:
            raise ConnectionError("away")
        return Output(call.config.value)

    async def execute(self, call: AttemptRequest, tools: Tools) -> StepOutcome:
        activity = Attempts(Handler("counting", Config, Output, self.run), tools).as_activity()
        return cast("StepOutcome", await environment().run(activity, call))


@pytest.fixture
def tools(pool: asyncpg.Pool, tmp_path: Path) -> Tools:
    return Tools(pool, BlobStore(tmp_path), ValueStore(tmp_path), Lake(tmp_path), DocumentReader(), Metrics())


@pytest.fixture
async def closed(dsn: str, tools: Tools) -> Tools:
    """Tools whose database does not answer any more."""
    pool = await asyncpg.create_pool(dsn, min_size=1, max_size=1)
    await pool.close()
    return replace(tools, db=pool)


def call_of(value: Json, name: str, *, ttl_seconds: float = 60, **fields: Any) -> AttemptRequest:
    cache = CacheUse(key=digest(name), ttl_seconds=ttl_seconds)
    made = AttemptRequest(
        tenant_id=COMMITTING, run_id="r.1", step_id="s", config={"value": value}, jitter=0, cache=cache
    )
    return made.model_copy(update=fields)


def lookups(tools: Tools, result: str) -> float | None:
    labels = {"handler": "counting", "result": result}
    return tools.metrics.registry.get_sample_value("docrail_step_cache_lookups_total", labels)


@pytest.mark.parametrize("value", [{"b": 1, "a": 2}, [1, "two"], None, "text"])
async def test_equal_work_is_done_once(tools: Tools, value: Json) -> None:
    handler, call = Counting(), call_of(value, f"once {value}")
    assert await handler.execute(call, tools) == StepOutcome(output=value, attempt=1)
    other = call.model_copy(update={"run_id": "r.2", "step_id": "t", "item_key": "3"})
    assert await handler.execute(other, tools) == StepOutcome(output=value, attempt=1, cached=True)
    assert handler.calls == 1
    assert (lookups(tools, "miss"), lookups(tools, "hit")) == (1, 1)


async def test_other_work_other_tenants_and_steps_without_a_cache_run_their_handler(tools: Tools) -> None:
    handler, call = Counting(), call_of(1, "mine")
    await handler.execute(call, tools)
    for other in (call_of(2, "yours"), call.model_copy(update={"tenant_id": "globex"}), call_of(3, "mine", cache=None)):
        assert not (await handler.execute(other, tools)).cached
    assert handler.calls == 4


async def test_an_expired_output_is_computed_again(tools: Tools) -> None:
    handler = Counting()
    await handler.execute(call_of(1, "old"), tools)
    await tools.db.execute(
        "UPDATE step_cache SET made_at = made_at - interval '31 s' WHERE cache_key = $1", digest("old")
    )
    assert not (await handler.execute(call_of(1, "old", ttl_seconds=30), tools)).cached
    assert (await handler.execute(call_of(1, "old", ttl_seconds=30), tools)).cached


async def test_a_failure_is_never_kept(tools: Tools) -> None:
    handler, call = Counting(fails=1), call_of(1, "failing")
    with pytest.raises(ApplicationError):
        await handler.execute(call, tools)
    assert not (await handler.execute(call, tools)).cached
    assert (await handler.execute(call, tools)).cached


async def test_a_config_that_does_not_fit_is_refused_before_the_cache_is_asked(tools: Tools) -> None:
    handler, call = Counting(), call_of(1, "fitting")
    await handler.execute(call, tools)
    with pytest.raises(ApplicationError, match="does not fit"):
        await handler.execute(call.model_copy(update={"config": {"values": 1}}), tools)


async def test_a_large_output_is_kept_by_what_stands_for_it(tools: Tools) -> None:
    handler, call = Counting(), call_of(LARGE, "large", inline_bytes=100)
    first = await handler.execute(call, tools)
    assert part_of(first.output) is not None
    again = await handler.execute(call, tools)
    assert (again.output, again.cached) == (first.output, True)


async def test_a_run_that_carries_less_gets_what_stands_for_the_output(tools: Tools) -> None:
    handler = Counting()
    await handler.execute(call_of(LARGE, "carried"), tools)
    again = await handler.execute(call_of(LARGE, "carried", inline_bytes=100), tools)
    part = part_of(again.output)
    assert again.cached
    assert part is not None
    assert (await tools.values.get(COMMITTING, part.sha256)).value == LARGE


async def test_two_workers_that_do_the_same_work_at_once_both_succeed(tools: Tools) -> None:
    began: list[str] = []
    both = asyncio.Event()

    async def run(call: StepCall[Config], _: Tools) -> Output:
        began.append(call.run_id)
        if len(began) == 2:
            both.set()
        await both.wait()
        return Output(call.config.value)

    execute: Callable[[AttemptRequest], Awaitable[Any]] = Attempts(
        Handler("counting", Config, Output, run), tools
    ).as_activity()
    call = call_of(1, "at once")
    ended = await asyncio.gather(*(environment().run(execute, call) for _ in range(2)))
    assert [outcome.output for outcome in ended] == [1, 1]
    assert (await Counting().execute(call, tools)).cached


async def test_no_step_fails_because_its_cache_is_away(closed: Tools, caplog: pytest.LogCaptureFixture) -> None:
    handler, call = Counting(), call_of(1, "away")
    assert await handler.execute(call, closed) == StepOutcome(output=1, attempt=1)
    assert "could not read the cache of counting for step s of r.1" in caplog.text
    assert "could not write the cache" in caplog.text
    assert lookups(closed, "error") == 1


async def test_a_cache_that_hangs_is_not_waited_for(
    tools: Tools, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_cache, "LONGEST_SECONDS", 0.2)
    handler, call = Counting(), call_of(1, "locked")
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("LOCK TABLE step_cache IN ACCESS EXCLUSIVE MODE")
        assert not (await handler.execute(call, tools)).cached
    assert lookups(tools, "error") == 1

    async def is_kept() -> bool:
        return (await handler.execute(call, tools)).cached

    await eventually(is_kept, "the cache works again")


async def test_an_output_that_is_no_json_is_not_cached(tools: Tools, caplog: pytest.LogCaptureFixture) -> None:
    async def run(_: StepCall[Config], __: Tools) -> Number:
        return Number(value=math.nan)

    execute: Callable[[AttemptRequest], Awaitable[Any]] = Attempts(
        Handler("counting", Config, Number, run), tools
    ).as_activity()
    for _ in range(2):
        assert not (await environment().run(execute, call_of(1, "nan"))).cached
    assert "could not write the cache" in caplog.text
