"""Concurrent requests for one key share one query, which never begins before the request."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from docrail.adapters.coalesce import Coalescer


def looks(answers: list[int]) -> Callable[[], Awaitable[int]]:
    """Return a query that returns the number of its calls, and notes them in `answers`."""

    async def look() -> int:
        answers.append(len(answers) + 1)
        return answers[-1]

    return look


async def test_concurrent_callers_get_the_same_result() -> None:
    coalescer, answers = Coalescer(), list[int]()
    assert await asyncio.gather(*(coalescer.get("doc_1", looks(answers)) for _ in range(3))) == [1, 1, 1]


async def test_other_keys_have_their_own_query() -> None:
    coalescer, answers = Coalescer(), list[int]()
    await asyncio.gather(*(coalescer.get(key, looks(answers)) for key in ("doc_1", "doc_2")))
    assert len(answers) == 2


async def test_a_request_after_the_query_began_gets_a_query_of_its_own() -> None:
    coalescer, begun, done = Coalescer(), asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        begun.set()
        await done.wait()
        return "what was seen before"

    async def fresh() -> str:
        return "what is seen now"

    first = asyncio.create_task(coalescer.get("doc_1", slow))
    await begun.wait()
    assert await coalescer.get("doc_1", fresh) == "what is seen now"
    done.set()
    assert await first == "what was seen before"


async def test_all_callers_get_the_error() -> None:
    coalescer = Coalescer()

    async def fails() -> None:
        raise OSError("the database is away")

    results = await asyncio.gather(*(coalescer.get("doc_1", fails) for _ in range(2)), return_exceptions=True)
    assert [str(result) for result in results] == ["the database is away"] * 2


async def test_a_cancelled_caller_does_not_cancel_the_others() -> None:
    coalescer, begun, done = Coalescer(), asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        begun.set()
        await done.wait()
        return "what was seen"

    leaves, stays = (asyncio.create_task(coalescer.get("doc_1", slow)) for _ in range(2))
    await begun.wait()
    leaves.cancel()
    done.set()
    assert await stays == "what was seen"
    with pytest.raises(asyncio.CancelledError):
        await leaves
