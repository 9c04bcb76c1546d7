"""Gather documents that one process receives at about the same time, to start them together.

What a process that dies had gathered is stored, and the sweep starts it.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # an App has this
    from docrail.services.documents.models import Document

GATHER_SECONDS = 0.1
"""How long the first document waits for others: less than a run takes."""

PERIOD_SECONDS = 1.0

Start = Callable[[Sequence[str]], "Awaitable[Mapping[str, Document]]"]
"""Starts documents together, and returns those that it has started, by id; the others start alone."""


@dataclass(slots=True)
class _Gathering:
    """Documents that wait for each other."""

    document_ids: list[str] = field(default_factory=list)
    is_full: asyncio.Event = field(default_factory=asyncio.Event)
    starting: "asyncio.Task[Mapping[str, Document]] | None" = None


@dataclass(slots=True)
class Gatherings:
    """The documents of all tenants that wait to be started together."""

    share_from: int = 0
    """Uploads per second of a tenant, each during another one, from which they are gathered; 0: never."""
    _present: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Uploads in progress, by tenant."""
    _met: dict[str, deque[float]] = field(default_factory=dict)
    """When the last uploads came that met others, by tenant. One by one, uploads would only wait for no one."""
    _open: dict[str, _Gathering] = field(default_factory=dict)
    """By tenant."""
    _starting: "set[asyncio.Task[Mapping[str, Document]]]" = field(default_factory=set)
    """Also those whose callers are gone: the event loop alone does not keep a task."""

    @contextmanager
    def upload(self, tenant_id: str) -> Iterator[None]:
        """Count an upload, which is in progress during the block."""
        if self.share_from and self._present[tenant_id]:
            self._met.setdefault(tenant_id, deque(maxlen=self.share_from)).append(time.monotonic())
        self._present[tenant_id] += 1
        try:
            yield
        finally:
            self._present[tenant_id] -= 1
            if not self._present[tenant_id]:
                del self._present[tenant_id]

    def are_many(self, tenant_id: str) -> bool:
        """Return whether the tenant's uploads come so often that they are worth gathering."""
        met = self._met.get(tenant_id)
        return met is not None and len(met) == self.share_from and time.monotonic() - met[0] <= PERIOD_SECONDS

    async def join(self, tenant_id: str, document_id: str, start: Start, *, most: int) -> "Document | None":
        """Have the document started with others, at most so many; return it, or None if it is to be started alone.

        Raises: what `start` raises. A caller that is cancelled does not stop it.
        """
        gathering = self._open.get(tenant_id)
        if gathering is None:
            gathering = self._open[tenant_id] = _Gathering()
            gathering.starting = asyncio.create_task(self._start(tenant_id, gathering, start))
            self._starting.add(gathering.starting)
            gathering.starting.add_done_callback(self._forget)
        assert gathering.starting is not None, "it was created with its gathering"
        gathering.document_ids.append(document_id)
        if len(gathering.document_ids) >= most:
            gathering.is_full.set()
            del self._open[tenant_id]
        return (await asyncio.shield(gathering.starting)).get(document_id)

    async def _start(self, tenant_id: str, gathering: _Gathering, start: Start) -> "Mapping[str, Document]":
        with suppress(TimeoutError):
            await asyncio.wait_for(gathering.is_full.wait(), GATHER_SECONDS)
        if self._open.get(tenant_id) is gathering:
            del self._open[tenant_id]
        return await start(gathering.document_ids)

    def _forget(self, starting: "asyncio.Task[Mapping[str, Document]]") -> None:
        self._starting.discard(starting)
        if not starting.cancelled():
            starting.exception()  # otherwise asyncio logs that no one has read it, if all callers are gone
