"""Run the turns of each workflow one after the other, also after Temporal's SDK has given up waiting for one.

The SDK waits two seconds for a turn. Then it interrupts it, and has the workflow evicted by another thread, which may
start before the interrupt arrives: asyncio.wait_for has cancelled the future whose end the eviction awaits. If the two
overlap, the eviction fails at every attempt, and the run makes no progress until this worker ends (temporalio 1.35).
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from types import MethodType
from typing import Any, cast
from weakref import WeakKeyDictionary


class TurnExecutor(ThreadPoolExecutor):
    """Runs methods of running workflows in at most `slots` threads: those of one workflow never overlap."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots, "workflow")
        self._locks: WeakKeyDictionary[object, Lock] = WeakKeyDictionary()

    def submit(self, turn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run `turn`, a method, after those of the same object that were submitted before."""
        lock = self._locks.setdefault(cast(MethodType, turn).__self__, Lock())
        return super().submit(_run, lock, turn, *args, **kwargs)


def _run(lock: Lock, turn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with lock:
        return turn(*args, **kwargs)
