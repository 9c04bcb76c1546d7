"""Lets steps that start at the same moment share one look at the database, which begins after all of them have."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

GATHER_SECONDS = 0.02
"""How long the first of them waits for the others: those of one run that start together come within milliseconds."""

T = TypeVar("T")


class Gathering:
    """What is asked for under one key before it is looked at is looked at once.

    Nobody is told what was seen before they asked: who comes after the look has begun has one of their own.
    """

    def __init__(self) -> None:
        self._asked: dict[Hashable, asyncio.Task[Any]] = {}

    async def ask(self, key: Hashable, look: Callable[[], Awaitable[T]]) -> T:
        """Return what `look` gives, or raises, for everybody who asks under `key` until it begins."""
        looking = self._asked.get(key)
        if looking is None:
            looking = self._asked[key] = asyncio.create_task(self._look(key, look))
        answer: T = await asyncio.shield(looking)  # one who is cancelled does not take it from the others
        return answer

    async def _look(self, key: Hashable, look: Callable[[], Awaitable[T]]) -> T:
        await asyncio.sleep(GATHER_SECONDS)
        del self._asked[key]
        return await look()
