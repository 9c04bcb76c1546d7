"""Read events once for each process, and hand them to the streams of its clients.

Nothing is read while there are no streams. Whatever goes wrong, a client is not left with an old picture: it receives
the change, or `resync`, or the end of the stream, after which it resumes from the last id that it received.
"""

import asyncio
import contextlib
import datetime as dt
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field

from docrail.adapters.postgres.pool import DATABASE_ERRORS, Database
from docrail.adapters.postgres.tenants import all_tenants
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.errors import OperationError, QuotaExceeded, Unavailable
from docrail.services.events import repository
from docrail.services.events.models import Position, Read, Wanted
from docrail.services.events.runs import Run, StartsAndEnds, WatchedRuns
from docrail.services.events.stream import Stream
from docrail.services.runs.executing import describe
from docrail.services.runs.service import checked_run_id

READ_SECONDS = 0.25
"""How often the table is read: one look at an index, for all clients of the process."""
WATCH_SECONDS = 0.4
"""How often watched runs are looked at: a change is to be shown within one second."""
LIST_SECONDS = 1.0
"""How often Temporal is asked for runs that have started or ended."""
PAUSE_SECONDS = 2.0
"""The pause after a service did not answer."""

KEPT = dt.timedelta(hours=1)
"""How long events are kept: as long as a laptop may sleep and still resume."""
RESUMED = KEPT - dt.timedelta(minutes=5)
"""Age of the oldest position to resume from: younger than KEPT, as a transaction may have been open for long."""

MOST_STREAMS = 200
"""Maximum number of streams of a process, unless its server sets another."""
MOST_OF_TENANT, MOST_OF_PERSON = 100, 10

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Events:
    """The streams of one process, and the tasks that feed them."""

    app: App
    most: int = MOST_STREAMS
    _streams: set[Stream] = field(default_factory=set)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _position: Position | None = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _is_closed: bool = False

    @contextlib.asynccontextmanager
    async def open(self, who: Principal, wanted: Wanted, after: str | None = None) -> AsyncIterator[Stream]:
        """Yield a stream of what happens from now on, or since the event with the id `after`.

        Raises: NotFound (no such run), QuotaExceeded, Unavailable, errors of the database.
        """
        for run_id in sorted(wanted.watched):
            await describe(self.app, who.tenant_id, checked_run_id(run_id))
        seal = await repository.load_seal(self.app.db, who.tenant_id)
        self._check_room(who)  # nothing is awaited until the stream counts
        stream = Stream(who, wanted, seal)
        self._streams.add(stream)
        try:
            stream.begin(await self._start())
            if after is not None:
                await self._resume(stream, seal.position_of(after))
            yield stream
        finally:
            self._streams.discard(stream)
            if not self._streams:
                self._stop()

    def close(self) -> None:
        """End all streams, and accept no more: the process stops."""
        self._is_closed = True
        self._stop()
        for stream in self._streams:
            stream.close()

    def _check_room(self, who: Principal) -> None:
        if self._is_closed:
            raise Unavailable("the event stream", "this process stops")
        if len(self._streams) >= self.most:
            raise Unavailable("the event stream", f"all {self.most} streams of this process are in use")
        tenants = Counter(stream.who.tenant_id for stream in self._streams)
        people = Counter((stream.who.tenant_id, stream.who.name) for stream in self._streams)
        if people[who.tenant_id, who.name] >= MOST_OF_PERSON:
            raise QuotaExceeded("event_streams", MOST_OF_PERSON, who.name, PAUSE_SECONDS)
        if tenants[who.tenant_id] >= MOST_OF_TENANT:
            raise QuotaExceeded("event_streams", MOST_OF_TENANT, "the tenant", PAUSE_SECONDS)

    async def _start(self) -> Position:
        """Start the tasks if they do not run, and return the present position."""
        async with self._starting:
            if not self._tasks:
                self._position = await repository.load_position(self.app.db)
                self._tasks = [asyncio.create_task(self._keep(*each)) for each in self._duties()]
            assert self._position is not None, "set before the tasks start"
            return self._position

    def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks = []

    async def _resume(self, stream: Stream, since: Position | None) -> None:
        """Offer what has happened since then. The stream collects already, so that nothing is missed meanwhile."""
        if since is None or not await repository.is_known(self.app.db, since, RESUMED):
            stream.resync()
            return
        missed = await repository.read_tenant(self.app.db, stream.who.tenant_id, since)
        if missed.has_more:
            stream.resync()
        stream.offer(missed.happened)

    def _duties(self) -> list[tuple[Callable[[], Coroutine[None, None, None]], float]]:
        watched, ends = WatchedRuns(), StartsAndEnds()

        async def watch() -> None:
            async for each in watched.changed(self.app, self._watched()):
                for stream in self._streams:
                    if each.run_id in stream.wanted.watched:
                        stream.offer([each])

        async def list_ends() -> None:
            async for each in ends.new(self.app):
                for stream in self._streams:
                    stream.offer([each])

        return [(self._read, READ_SECONDS), (watch, WATCH_SECONDS), (list_ends, LIST_SECONDS)]

    async def _keep(self, duty: Callable[[], Coroutine[None, None, None]], seconds: float) -> None:
        """Repeat a duty for ever. A service that does not answer is asked again later."""
        with all_tenants():
            while True:
                try:
                    await duty()
                except (OperationError, OSError, TimeoutError, *DATABASE_ERRORS) as error:
                    log.debug("live events: %s", error)
                    await asyncio.sleep(PAUSE_SECONDS)
                except Exception:
                    log.exception("live events: this is a fault of Docrail")
                    await asyncio.sleep(PAUSE_SECONDS)
                await asyncio.sleep(seconds)

    async def _read(self) -> None:
        assert self._position is not None, "set before the tasks start"
        read = await repository.read_all(self.app.db, self._position)
        found = await self._read_each(self._position) if read.has_more else {}
        self._position = read.position
        for stream in self._streams:
            _hand(found.get(stream.who.tenant_id, read), stream, read.position)

    async def _read_each(self, since: Position) -> dict[str, Read]:
        """Read what happened in each tenant that listens, when it is too much of all together.

        Otherwise the work of one tenant would make all others read everything again.
        """
        tenants = {stream.who.tenant_id for stream in self._streams}
        return {each: await repository.read_tenant(self.app.db, each, since) for each in tenants}

    def _watched(self) -> frozenset[Run]:
        return frozenset((stream.who.tenant_id, run) for stream in self._streams for run in stream.wanted.watched)


async def forget_events(db: Database) -> int:
    """Delete the events that no client can resume from any more, of all tenants, and return their number."""
    with all_tenants():
        return await repository.delete_old(db, KEPT)


def _hand(read: Read, stream: Stream, position: Position) -> None:
    if stream.who.tenant_id in read.suspects:
        stream.suspect()
    if read.has_more:
        stream.resync()
    stream.offer(read.happened, position)
