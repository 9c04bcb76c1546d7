"""Coalesce concurrent requests for the same key into one query."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.002, 0.02
"""How long the first caller waits for others: steps of one run that start together arrive within milliseconds, unless
the event loop is late."""

T = TypeVar("T")


class Coalescer:
    """Coalesce requests for the same key that arrive before its query starts.

    A caller never gets a result older than its request: requests that arrive after the query has started get a new one.
    """

    def __init__(self) -> None:
        self._pending: dict[Hashable, asyncio.Task[Any]] = {}

    async def get(self, key: Hashable, load: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `load`, or raise its error, for all callers with `key` until it starts."""
        loading = self._pending.get(key)
        if loading is None:
            loading = self._pending[key] = asyncio.create_task(self._load(key, load))
        answer: T = await asyncio.shield(loading)  # cancelling one caller must not cancel the others
        return answer

    async def _load(self, key: Hashable, load: Callable[[], Awaitable[T]]) -> T:
        await _let_others_arrive()
        del self._pending[key]
        return await load()


async def _let_others_arrive() -> None:
    begun = before = time.monotonic()
    while True:
        await asyncio.sleep(WAIT_SECONDS)
        now = time.monotonic()
        if now - before < 2 * WAIT_SECONDS or now - begun >= LONGEST_WAIT_SECONDS:
            return
        before = now
