"""Limit how many callers do something at once, and how many wait for their turn."""

import asyncio
from types import TracebackType

from docrail.services.errors import Busy


class Turns:
    """An async context manager: at most `at_once` callers are in it, and at most `waiting` wait, in order."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._left = at_once + waiting

    async def __aenter__(self) -> None:
        """Wait for a turn. Raises: Busy."""
        if self._left == 0:
            raise Busy
        self._left -= 1
        try:
            await self._free.acquire()
        except BaseException:
            self._left += 1
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the next one in."""
        self._left += 1
        self._free.release()
