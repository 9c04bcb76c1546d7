"""Coalesce concurrent requests for the same key into one query."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

GATHER_SECONDS = 0.02
"""How long the first caller waits for others: steps of one run that start together arrive within milliseconds."""

T = TypeVar("T")


class Gathering:
    """Coalesce requests for the same key that arrive before its query starts.

    A caller never gets a result older than its request: requests that arrive after the query has started get a new one.
    """

    def __init__(self) -> None:
        self._asked: dict[Hashable, asyncio.Task[Any]] = {}

    async def ask(self, key: Hashable, look: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `look`, or raise its error, for all callers with `key` until it starts."""
        looking = self._asked.get(key)
        if looking is None:
            looking = self._asked[key] = asyncio.create_task(self._look(key, look))
        answer: T = await asyncio.shield(looking)  # cancelling one caller must not cancel the others
        return answer

    async def _look(self, key: Hashable, look: Callable[[], Awaitable[T]]) -> T:
        await asyncio.sleep(GATHER_SECONDS)
        del self._asked[key]
        return await look()
