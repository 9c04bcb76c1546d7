"""Routes of live events: server-sent events about what the caller may read, with resumption (ADR 39)."""

import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, cast

from fastapi import Depends, Header, Path, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail import __version__
from docrail.api.auth import MayRead, is_still
from docrail.api.errors import problems
from docrail.api.methods import IS_HEAD
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.dag.language.inputs import InputProblem
from docrail.services.batches.service import find_batch
from docrail.services.errors import InvalidInput, NotFound, QuotaExceeded
from docrail.services.events.models import Change, Wanted
from docrail.services.events.service import Events
from docrail.services.events.stream import Batch, Stream
from docrail.services.model_config import SHOWN

router = PrefixRouter(prefix="/v1", tags=["events"])

HEARTBEAT_SECONDS = 10.0
"""How often an idle stream sends something, so that proxies keep it, and how often its credentials are checked."""
MOST_WATCHED = 8
"""Runs that one stream may watch."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Hello:
    """The stream has begun: whatever was read before may be out of date."""

    version: Annotated[str, Field(examples=["0.1.0"])]
    """Docrail's version. A page that was loaded from another one should be loaded again."""


STREAM: dict[str, Any] = {
    "response_class": EventSourceResponse,
    "responses": {
        **problems(NotFound, QuotaExceeded),
        200: {
            "description": "Server-sent events. `hello` begins the stream, its data is a `Hello`. `change` names a "
            "changed object, its data is a `Change`. `resync`: changes were missed, read everything that is shown "
            "again. `heartbeat`: sent when nothing else was for 10 seconds; without one for 25 seconds, the stream is "
            "dead. Send the last `id` as `Last-Event-ID` to resume.",
        },
    },
}
"""What the routes of streams have in common."""

LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        max_length=16_000,
        description="the last `id` that was received: changes since then come first, or `resync` if it is too old",
    ),
]
Runs = Annotated[
    str | None,
    Query(
        max_length=3_000,
        description=f"ids of up to {MOST_WATCHED} runs whose steps are watched too, separated by commas",
        examples=["invoice.order-4711"],
    ),
]


async def _stream(
    request: Request, who: MayRead, runs: Runs = None, last_event_id: LastEventId = None
) -> AsyncIterator[Stream]:
    watched = frozenset(filter(None, (runs or "").split(",")))
    if len(watched) > MOST_WATCHED:
        raise InvalidInput([InputProblem("runs", f"expected at most {MOST_WATCHED} runs, found {len(watched)}")])
    async with _events_of(request).open(who, Wanted(None, watched), last_event_id) as stream:
        yield stream


async def _run_stream(
    run_id: str, request: Request, who: MayRead, last_event_id: LastEventId = None
) -> AsyncIterator[Stream]:
    async with _events_of(request).open(who, Wanted(run_id, frozenset({run_id})), last_event_id) as stream:
        yield stream


async def _batch_stream(
    batch_id: Annotated[str, Path(max_length=64, description="Id of the batch.")],
    request: Request,
    who: MayRead,
    app: AppDep,
    last_event_id: LastEventId = None,
) -> AsyncIterator[Stream]:
    await find_batch(app.db, who, batch_id)
    async with _events_of(request).open(who, Wanted(batch_id=batch_id), last_event_id) as stream:
        yield stream


@router.get("/events", **STREAM)
async def stream_events(
    request: Request, _: MayRead, app: AppDep, stream: Annotated[Stream, Depends(_stream)]
) -> AsyncIterator[ServerSentEvent]:
    """Report what changes in the tenant, as far as the caller may read it: kind, id and version, no content."""
    async for event in _sent(request, app, stream):
        yield event


@router.get("/runs/{run_id}/events", **STREAM)
async def stream_run_events(
    request: Request, _: MayRead, app: AppDep, stream: Annotated[Stream, Depends(_run_stream)]
) -> AsyncIterator[ServerSentEvent]:
    """Report each change of a run: its steps, its questions to people, its failures, and those of its nested runs."""
    async for event in _sent(request, app, stream):
        yield event


@router.get("/batches/{batch_id}/events", **STREAM)
async def stream_batch_events(
    request: Request, _: MayRead, app: AppDep, stream: Annotated[Stream, Depends(_batch_stream)]
) -> AsyncIterator[ServerSentEvent]:
    """Report each progress of a batch: read the batch again then."""
    async for event in _sent(request, app, stream):
        yield event


async def _sent(request: Request, app: AppDep, stream: Stream) -> AsyncIterator[ServerSentEvent]:
    """Yield a stream's events until it is closed, or its credentials are no longer valid."""
    if request.scope.get(IS_HEAD):
        return
    yield ServerSentEvent(event="hello", data=Hello(__version__), id=stream.id)
    checked = time.monotonic()
    while True:
        batch = await stream.take(HEARTBEAT_SECONDS)
        if stream.is_closed:
            return
        if stream.is_suspect or time.monotonic() - checked >= HEARTBEAT_SECONDS:
            stream.is_suspect = False
            if not await is_still(stream.who, request, app):
                return
            checked = time.monotonic()
        for event in _worded(batch):
            yield event


def _worded(batch: Batch) -> list[ServerSentEvent]:
    """Return a batch as events. The last one has the id: a client that has not got all of them resumes before them."""
    names: list[tuple[str, Change | None]] = [("resync", None)] if batch.resync else []
    names += [("change", change) for change in batch.changes]
    names = names or [("heartbeat", None)]
    events = [ServerSentEvent(event=name, data={} if change is None else change) for name, change in names]
    return [*events[:-1], events[-1].model_copy(update={"id": batch.id})]


def _events_of(request: Request) -> Events:
    return cast("Events", request.app.state.events)
