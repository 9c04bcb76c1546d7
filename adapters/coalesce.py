"""Let several users of the same data share one query."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

KEPT_SECONDS = 2.0
"""How long a result is kept for other users, who start together with the first one, or wait for a free connection."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Shared:
    loading: asyncio.Task[Any]
    users: set[Hashable] = field(default_factory=set)


class Coalescer:
    """Shares each result among users: they act on the same state, even if it changes meanwhile.

    A user never gets a result twice: one that asks again gets a new one.
    """

    def __init__(self) -> None:
        self._shared: dict[Hashable, _Shared] = {}

    async def get(self, key: Hashable, user: Hashable, load: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `load`, or raise its error, as to the other users of `key`. An error is not kept."""
        shared = self._shared.get(key)
        if shared is None or user in shared.users:
            shared = self._shared[key] = _Shared(asyncio.create_task(self._load(key, load)))
        shared.users.add(user)
        result: T = await asyncio.shield(shared.loading)  # cancelling one user must not cancel the others
        return result

    async def _load(self, key: Hashable, load: Callable[[], Awaitable[T]]) -> T:
        mine = asyncio.current_task()
        try:
            result = await load()
        except BaseException:
            self._forget(key, mine)
            raise
        asyncio.get_running_loop().call_later(KEPT_SECONDS, self._forget, key, mine)
        return result

    def _forget(self, key: Hashable, loading: asyncio.Task[Any] | None) -> None:
        if (shared := self._shared.get(key)) is not None and shared.loading is loading:
            del self._shared[key]
