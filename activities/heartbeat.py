"""Send heartbeats to Temporal for all attempts on this worker, with one timer for all of them.

A separate timer cost each attempt more time than everything else around its handler.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from weakref import WeakKeyDictionary

Beats = dict[int, tuple[Callable[[], None], Context]]


class HeartbeatTimer:
    """Call the registered functions periodically, each in the context in which it was added.

    Temporal identifies the attempt by that context. Functions with the same interval share a timer, which runs while
    there are any. So the first call comes earlier than after a full interval, never later.
    """

    def __init__(self) -> None:
        """Start without functions."""
        self._beats: dict[float, Beats] = {}
        self._added = 0

    def add(self, every_seconds: float, beat: Callable[[], None]) -> int:
        """Call `beat` every `every_seconds` from now on; return the number to remove it by."""
        if every_seconds not in self._beats:
            self._beats[every_seconds] = {}
            self._wait(every_seconds)
        self._added += 1
        self._beats[every_seconds][self._added] = beat, copy_context()
        return self._added

    def remove(self, every_seconds: float, number: int) -> None:
        """Stop the calls."""
        del self._beats[every_seconds][number]

    def _wait(self, seconds: float) -> None:
        # Not in the context of the first attempt: its data would be kept as long as the timer runs.
        asyncio.get_running_loop().call_later(seconds, self._tick, seconds, context=Context())

    def _tick(self, every_seconds: float) -> None:
        beats = self._beats[every_seconds]
        if not beats:
            del self._beats[every_seconds]
            return
        self._wait(every_seconds)
        for beat, context in beats.values():
            try:
                context.run(beat)
            except Exception as error:  # noqa: BLE001 - a failure of one attempt must not stop the others
                failed = {"message": "a heartbeat failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(failed)


_TIMERS: WeakKeyDictionary[asyncio.AbstractEventLoop, HeartbeatTimer] = WeakKeyDictionary()


def heartbeat_timer() -> HeartbeatTimer:
    """Return the instance of the running event loop."""
    loop = asyncio.get_running_loop()
    found = _TIMERS.get(loop)
    if found is None:
        found = _TIMERS[loop] = HeartbeatTimer()
    return found


@contextmanager
def beating(every_seconds: float, beat: Callable[[], None]) -> Iterator[None]:
    """Call `beat` every `every_seconds` while the body runs."""
    own = heartbeat_timer()
    number = own.add(every_seconds, beat)
    try:
        yield
    finally:
        own.remove(every_seconds, number)
