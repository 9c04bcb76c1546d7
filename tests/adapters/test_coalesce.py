"""Users of the same data share one query, and none gets the same result twice."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from docrail.adapters import coalesce
from docrail.adapters.coalesce import Coalescer
from tests.stack import eventually


def looks(answers: list[int]) -> Callable[[], Awaitable[int]]:
    """Return a query that returns the number of its calls, and notes them in `answers`."""

    async def look() -> int:
        answers.append(len(answers) + 1)
        return answers[-1]

    return look


async def test_users_get_the_same_result_also_one_after_the_other() -> None:
    coalescer, answers = Coalescer(), list[int]()
    assert await asyncio.gather(*(coalescer.get("doc_1", user, looks(answers)) for user in "abc")) == [1, 1, 1]
    assert await coalescer.get("doc_1", "d", looks(answers)) == 1


async def test_other_keys_have_their_own_query() -> None:
    coalescer, answers = Coalescer(), list[int]()
    await asyncio.gather(*(coalescer.get(key, "a", looks(answers)) for key in ("doc_1", "doc_2")))
    assert len(answers) == 2


async def test_a_user_who_asks_again_gets_a_new_result_which_others_share() -> None:
    coalescer, answers = Coalescer(), list[int]()
    assert [await coalescer.get("doc_1", user, looks(answers)) for user in "abab"] == [1, 1, 2, 2]


async def test_a_user_who_asks_again_does_not_wait_for_the_first_query() -> None:
    coalescer, begun, done = Coalescer(), asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        begun.set()
        await done.wait()
        return "what was seen before"

    async def fresh() -> str:
        return "what is seen now"

    first = asyncio.create_task(coalescer.get("doc_1", "a", slow))
    await begun.wait()
    assert await coalescer.get("doc_1", "a", fresh) == "what is seen now"
    done.set()
    assert await first == "what was seen before"


async def test_a_result_is_not_kept_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalesce, "KEPT_SECONDS", 0.01)
    coalescer, answers = Coalescer(), list[int]()
    await coalescer.get("doc_1", "a", looks(answers))

    async def is_new() -> bool:
        return await coalescer.get("doc_1", object(), looks(answers)) > 1

    await eventually(is_new, "the first result is forgotten")


async def test_all_users_get_the_error() -> None:
    coalescer = Coalescer()

    async def fails() -> None:
        raise OSError("the database does not answer")

    results = await asyncio.gather(*(coalescer.get("doc_1", user, fails) for user in "ab"), return_exceptions=True)
    assert [str(result) for result in results] == ["the database does not answer"] * 2
    assert await coalescer.get("doc_1", "c", looks([])) == 1


async def test_a_cancelled_user_does_not_cancel_the_others() -> None:
    coalescer, begun, done = Coalescer(), asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        begun.set()
        await done.wait()
        return "what was seen"

    leaves, stays = (asyncio.create_task(coalescer.get("doc_1", user, slow)) for user in "ab")
    await begun.wait()
    leaves.cancel()
    done.set()
    assert await stays == "what was seen"
    with pytest.raises(asyncio.CancelledError):
        await leaves
