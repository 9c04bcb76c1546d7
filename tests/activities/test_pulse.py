"""One timer beats for all attempts of an event loop, each in its own context, and only while there are some."""

import asyncio
from contextvars import ContextVar

from docrail.activities.heartbeat import Pulse, pulse

WHOSE: ContextVar[str] = ContextVar("whose")


class Heard:
    """Counts calls by what the context says whose they are."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._changed = asyncio.Event()

    def beat(self) -> None:
        self.calls.append(WHOSE.get("nobody's"))
        self._changed.set()

    async def until(self, **counts: int) -> None:
        """Wait until each was heard so often, at least."""
        while any(self.calls.count(name) < count for name, count in counts.items()):
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), 10)


async def added(to: Pulse, heard: Heard, name: str, *, every_seconds: float) -> int:
    """Add a beat in a context of its own, as an activity's task has one."""

    async def add() -> int:
        WHOSE.set(name)
        return to.add(every_seconds, heard.beat)

    return await asyncio.create_task(add())


async def test_each_beat_is_called_in_its_own_context() -> None:
    heard, own = Heard(), Pulse()
    for name in ("first", "second"):
        await added(own, heard, name, every_seconds=0.01)
    await added(own, heard, "third", every_seconds=0.02)
    await heard.until(first=3, second=3, third=2)
    assert set(heard.calls) == {"first", "second", "third"}


async def test_what_was_removed_is_called_no_more_and_the_others_are() -> None:
    heard, own = Heard(), Pulse()
    gone = await added(own, heard, "gone", every_seconds=0.01)
    await added(own, heard, "there", every_seconds=0.01)
    await heard.until(gone=1, there=1)
    own.remove(0.01, gone)
    before = heard.calls.count("gone")
    await heard.until(there=heard.calls.count("there") + 3)
    assert heard.calls.count("gone") == before


async def test_one_that_comes_after_all_have_gone_is_called_too() -> None:
    heard, own = Heard(), Pulse()
    own.remove(0.01, await added(own, heard, "gone", every_seconds=0.01))
    await added(own, heard, "behind it", every_seconds=0.02)
    await heard.until(**{"behind it": 2})  # by now the first timer has found nothing to call
    await added(own, heard, "new", every_seconds=0.01)
    await heard.until(new=2)
    assert "gone" not in heard.calls


async def test_a_beat_that_raises_takes_no_others_down() -> None:
    heard, own, told = Heard(), Pulse(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))

    def fail() -> None:
        raise ConnectionError("gone")

    await added(own, heard, "first", every_seconds=0.01)
    own.add(0.01, fail)
    await added(own, heard, "last", every_seconds=0.01)
    await heard.until(first=2, last=2)
    assert {str(error) for error in told} == {"gone"}


async def test_an_event_loop_has_one() -> None:
    assert pulse() is pulse()


def test_another_event_loop_has_another() -> None:
    async def own() -> Pulse:
        return pulse()

    assert asyncio.run(own()) is not asyncio.run(own())
