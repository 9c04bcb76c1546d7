"""One timer beats for all attempts of an event loop, each in its own context, and only while there are some."""

import asyncio
from contextvars import ContextVar

from docrail.activities.heartbeat import HeartbeatTimer, heartbeat_timer

WHOSE: ContextVar[str] = ContextVar("whose")


class Calls:
    """Counts calls by the name in their context."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._changed = asyncio.Event()

    def beat(self) -> None:
        self.calls.append(WHOSE.get("no one's"))
        self._changed.set()

    async def until(self, **counts: int) -> None:
        """Wait until each was called at least so often."""
        while any(self.calls.count(name) < count for name, count in counts.items()):
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), 10)


async def added(to: HeartbeatTimer, calls: Calls, name: str, *, every_seconds: float) -> int:
    """Add a beat in a context of its own, as an activity's task has one."""

    async def add() -> int:
        WHOSE.set(name)
        return to.add(every_seconds, calls.beat)

    return await asyncio.create_task(add())


async def test_each_beat_is_called_in_its_own_context() -> None:
    calls, own = Calls(), HeartbeatTimer()
    for name in ("first", "second"):
        await added(own, calls, name, every_seconds=0.01)
    await added(own, calls, "third", every_seconds=0.02)
    await calls.until(first=3, second=3, third=2)
    assert set(calls.calls) == {"first", "second", "third"}


async def test_only_the_removed_callback_is_no_longer_called() -> None:
    calls, own = Calls(), HeartbeatTimer()
    gone = await added(own, calls, "gone", every_seconds=0.01)
    await added(own, calls, "there", every_seconds=0.01)
    await calls.until(gone=1, there=1)
    own.remove(0.01, gone)
    before = calls.calls.count("gone")
    await calls.until(there=calls.calls.count("there") + 3)
    assert calls.calls.count("gone") == before


async def test_one_that_comes_after_all_have_gone_is_called_too() -> None:
    calls, own = Calls(), HeartbeatTimer()
    own.remove(0.01, await added(own, calls, "gone", every_seconds=0.01))
    await added(own, calls, "behind it", every_seconds=0.02)
    await calls.until(**{"behind it": 2})  # by now the first timer has found nothing to call
    await added(own, calls, "new", every_seconds=0.01)
    await calls.until(new=2)
    assert "gone" not in calls.calls


async def test_a_beat_that_raises_takes_no_others_down() -> None:
    calls, own, reported = Calls(), HeartbeatTimer(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))

    def fail() -> None:
        raise ConnectionError("gone")

    await added(own, calls, "first", every_seconds=0.01)
    own.add(0.01, fail)
    await added(own, calls, "last", every_seconds=0.01)
    await calls.until(first=2, last=2)
    assert {str(error) for error in reported} == {"gone"}


async def test_an_event_loop_has_one() -> None:
    assert heartbeat_timer() is heartbeat_timer()


def test_another_event_loop_has_another() -> None:
    async def own() -> HeartbeatTimer:
        return heartbeat_timer()

    assert asyncio.run(own()) is not asyncio.run(own())
