"""Limit how many callers do something at once, and how many wait for their turn: no tenant keeps the others out."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from docrail.services.errors import Busy


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A caller of a tenant that waits: `turn` is done when its turn comes, or fails with Busy."""

    tenant_id: str
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Turns:
    """At most `at_once` callers have a turn, and at most `waiting` wait for one.

    The next turn is given to the tenant with the fewest, and among those to the one that got one longest ago; its
    callers are served in order. If no one else may wait, a caller takes the place of the last one of the tenant that
    has most, if that has at least two more.
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self._at_once, self._most_waiting = at_once, waiting
        self._acting = Counter[str]()
        self._waiting: list[_Waiting] = []
        self._given = 0
        self._last_given: dict[str, int] = {}
        """When a tenant got its last turn, counted in turns."""

    @asynccontextmanager
    async def of(self, tenant_id: str) -> AsyncIterator[None]:
        """Wait for a turn, and have it while the block runs. Raises: Busy."""
        await self._take(tenant_id)
        try:
            yield
        finally:
            self._give_back(tenant_id)

    async def _take(self, tenant_id: str) -> None:
        if self._acting.total() < self._at_once:
            self._give(tenant_id)
            return
        self._make_room(tenant_id)
        caller = _Waiting(tenant_id)
        self._waiting.append(caller)
        try:
            await caller.turn
        except asyncio.CancelledError:
            self._forget_cancelled()
            if not caller.turn.cancelled() and caller.turn.exception() is None:  # its turn came in the same moment
                self._give_back(tenant_id)
            raise

    def _make_room(self, tenant_id: str) -> None:
        """Let another caller wait. Raises: Busy."""
        self._forget_cancelled()
        if len(self._waiting) < self._most_waiting:
            return
        places = self._acting + Counter(each.tenant_id for each in self._waiting)
        last = max(reversed(self._waiting), key=lambda each: places[each.tenant_id], default=None)
        if last is None or places[last.tenant_id] < places[tenant_id] + 2:
            raise Busy
        self._waiting.remove(last)
        last.turn.set_exception(Busy())

    def _give(self, tenant_id: str) -> None:
        self._acting[tenant_id] += 1
        self._given += 1
        self._last_given[tenant_id] = self._given

    def _give_back(self, tenant_id: str) -> None:
        """Let the next caller in."""
        self._acting[tenant_id] -= 1
        self._forget_cancelled()
        if not self._waiting:
            self._acting += Counter()  # forgets tenants without a turn
            self._last_given.clear()
            return
        following = min(self._waiting, key=lambda each: self._rank(each.tenant_id))
        self._waiting.remove(following)
        self._give(following.tenant_id)
        following.turn.set_result(None)

    def _forget_cancelled(self) -> None:
        """Forget the callers that were cancelled and have not run since."""
        self._waiting = [each for each in self._waiting if not each.turn.done()]

    def _rank(self, tenant_id: str) -> tuple[int, int]:
        return self._acting[tenant_id], self._last_given.get(tenant_id, 0)
