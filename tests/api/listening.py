"""Listen to live events as a browser does."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx

from docrail.dag.values.json_values import Json
from tests.api.service import WHOLE_STREAM
from tests.stack import eventually


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    name: str
    data: Json
    id: str | None


@dataclass(slots=True)
class Listener:
    """What a client has received so far."""

    response: httpx.Response
    events: list[Event] = field(default_factory=list)
    has_ended: bool = False

    @property
    def last_id(self) -> str:
        return next(event.id for event in reversed(self.events) if event.id is not None)

    def changes(self, kind: str) -> list[str]:
        """Return the ids of the changes of one kind, in order."""
        return [each.data["id"] for each in self.events if each.name == "change" and each.data["kind"] == kind]

    async def receives(self, kind: str, id_: str) -> None:
        await eventually(lambda: id_ in self.changes(kind), f"the event that the {kind} {id_} changed")

    async def hears(self, name: str) -> None:
        await eventually(lambda: any(event.name == name for event in self.events), f"an event {name}")

    async def ends(self) -> None:
        await eventually(lambda: self.has_ended, "the end of the stream")

    async def read(self) -> None:
        fields: dict[str, str] = {}
        with suppress(httpx.TransportError):
            async for line in self.response.aiter_lines():
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif fields:
                    self.events.append(Event(fields["event"], json.loads(fields["data"]), fields.get("id")))
                    fields = {}
        self.has_ended = True


@asynccontextmanager
async def listening(
    http: httpx.AsyncClient, path: str = "/v1/events", *, after: str | None = None, **headers: str
) -> AsyncIterator[Listener]:
    """Yield a listener that has received `hello`. In names of headers, _ is written for -."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()} | (
        {"Last-Event-ID": after} if after else {}
    )
    timeout = httpx.Timeout(30, read=None)
    async with http.stream("GET", path, headers=sent, timeout=timeout, extensions=WHOLE_STREAM) as response:
        assert response.status_code == 200, await response.aread()
        listener = Listener(response)
        reading = asyncio.create_task(listener.read())
        try:
            await listener.hears("hello")
            yield listener
        finally:
            reading.cancel()
            await asyncio.wait([reading])
