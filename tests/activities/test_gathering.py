"""What several steps ask for at the same moment is looked at once, and never before they asked."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from docrail.adapters.coalesce import Gathering


def looks(answers: list[int]) -> Callable[[], Awaitable[int]]:
    """Return a look that notes itself in `answers`, and returns how many there were."""

    async def look() -> int:
        answers.append(len(answers) + 1)
        return answers[-1]

    return look


async def test_who_asks_at_once_is_told_the_same() -> None:
    gathering, answers = Gathering(), list[int]()
    assert await asyncio.gather(*(gathering.ask("doc_1", looks(answers)) for _ in range(3))) == [1, 1, 1]


async def test_other_keys_are_looked_at_on_their_own() -> None:
    gathering, answers = Gathering(), list[int]()
    await asyncio.gather(*(gathering.ask(key, looks(answers)) for key in ("doc_1", "doc_2")))
    assert len(answers) == 2


async def test_who_asks_after_a_look_began_has_one_of_their_own() -> None:
    gathering, begun, done = Gathering(), asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        begun.set()
        await done.wait()
        return "what was seen before"

    async def fresh() -> str:
        return "what is seen now"

    first = asyncio.create_task(gathering.ask("doc_1", slow))
    await begun.wait()
    assert await gathering.ask("doc_1", fresh) == "what is seen now"
    done.set()
    assert await first == "what was seen before"


async def test_all_callers_get_the_error() -> None:
    gathering = Gathering()

    async def fails() -> None:
        raise OSError("the database is away")

    results = await asyncio.gather(*(gathering.ask("doc_1", fails) for _ in range(2)), return_exceptions=True)
    assert [str(result) for result in results] == ["the database is away"] * 2


async def test_who_is_cancelled_does_not_take_it_from_the_others() -> None:
    gathering, begun, done = Gathering(), asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        begun.set()
        await done.wait()
        return "what was seen"

    leaves, stays = (asyncio.create_task(gathering.ask("doc_1", slow)) for _ in range(2))
    await begun.wait()
    leaves.cancel()
    done.set()
    assert await stays == "what was seen"
    with pytest.raises(asyncio.CancelledError):
        await leaves
