"""Hold what one client has not received yet: each changed object once, and no more than a bound."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from docrail.services.access.models import Principal
from docrail.services.events.models import Change, Happened, Kind, Position, Wanted, visible_kinds
from docrail.services.events.seals import Seal

MOST_WAITING = 1_000
"""Maximum number of objects that wait for a slow client. Beyond it, the client reads everything again."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a client receives next. With `resync` it has missed changes, and reads everything it shows again."""

    changes: Sequence[Change]
    id: str
    """From which the client resumes once it has received the batch."""
    resync: bool


class Stream:
    """The events of one client."""

    def __init__(self, who: Principal, wanted: Wanted, seal: Seal) -> None:
        self.who = who
        self.wanted = wanted
        self.is_closed = False
        self.is_suspect = False
        """Whether a key or a session of the tenant was revoked since the client's credentials were checked."""
        self._seal = seal
        self._kinds = visible_kinds(who)
        self._waiting = dict[tuple[Kind, str], Change]()
        self._position: Position | None = None
        self._resync = False
        self._wake = asyncio.Event()

    @property
    def id(self) -> str:
        """Return the id from which the client resumes once it has received what waits."""
        assert self._position is not None, "the stream has begun"
        return self._seal.id_of(self._position)

    def begin(self, position: Position) -> None:
        """Begin at the position, unless something newer was offered already."""
        self._position = self._position or position

    def offer(self, happened: Iterable[Happened], position: Position | None = None) -> None:
        """Keep what concerns the client. `position`: where the client stands once it has received all of it."""
        for each in happened:
            if each.tenant_id == self.who.tenant_id and each.change.kind in self._kinds and self.wanted.takes(each):
                self._keep(each.change)
        self._position = position or self._position

    def resync(self) -> None:
        """Let the client read everything again."""
        self._waiting.clear()
        self._resync = True
        self._wake.set()

    def suspect(self) -> None:
        """Let the client's credentials be checked now."""
        self.is_suspect = True
        self._wake.set()

    def close(self) -> None:
        """End the stream."""
        self.is_closed = True
        self._wake.set()

    async def take(self, timeout_seconds: float) -> Batch:
        """Return what waits, as soon as there is something; an empty batch after the timeout."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()
        batch = Batch([*self._waiting.values()], self.id, self._resync)
        self._waiting, self._resync = {}, False
        return batch

    def _keep(self, change: Change) -> None:
        key = change.kind, change.id
        before = self._waiting.pop(key, change)
        self._waiting[key] = max(before, change, key=_version)
        self._wake.set()
        if len(self._waiting) > MOST_WAITING:
            self.resync()


def _version(change: Change) -> int:
    return change.version
