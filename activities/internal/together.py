"""Make the calls of a group by one call of their handler, each with the checks and the outcome that it has alone."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from pydantic import BaseModel

from docrail.activities.wrapper import Body
from docrail.adapters.redaction import record, recorded, start_recording
from docrail.handlers import Handler, StepCall

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 1.0
"""How long calls wait for others that are slow before they arrive, such as one with a large stored config."""

_Made = tuple[BaseModel | None, frozenset[str]]
"""A call's output, None if it is to be made alone, and the secrets that the handler was given."""


class Together:
    """The calls of a group. Their handler runs once all have arrived or ended; one that is late is made alone."""

    def __init__(self, handler: Handler, count: int) -> None:
        self._handler = handler
        self._awaited = set(range(count))
        """Numbers of the calls that have neither arrived nor ended."""
        self._arrived: list[tuple[StepCall[Any], asyncio.Future[_Made]]] = []
        self._running: asyncio.Task[None] | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._tools: Any = None
        self._context = copy_context()
        """Of the group: in the context of one call, only that one would know the secrets that the handler is given."""

    def run_of(self, number: int) -> Body:
        """Return what makes the call of this number as a handler's `run` would."""
        if self._handler.run_all is None:
            return self._handler.run

        async def run(call: StepCall[Any], tools: Any) -> BaseModel:
            if self._running is not None:
                return await self._handler.run(call, tools)
            future: asyncio.Future[_Made] = asyncio.get_running_loop().create_future()
            self._arrived.append((call, future))
            self._tools = tools
            self._patience = self._patience or asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._start)
            self.pass_by(number)
            output, secrets = await future
            for secret in secrets:
                record(secret)
            return await self._handler.run(call, tools) if output is None else output

        return run

    def pass_by(self, number: int) -> None:
        """Await this call no longer: it has arrived, or ended."""
        self._awaited.discard(number)
        if self._arrived and not self._awaited:
            self._start()

    async def close(self) -> None:
        """Stop the handler: the group has ended."""
        if self._patience is not None:
            self._patience.cancel()
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    def _start(self) -> None:
        if self._running is None:
            self._running = asyncio.create_task(self._run(), context=self._context)

    async def _run(self) -> None:
        start_recording()
        arrived, outputs = [*self._arrived], list[BaseModel | None]()
        try:
            outputs += await self._outputs([call for call, _ in arrived])
        except Exception:  # each call is then made alone, and fails by itself if it must
            log.warning("%s could not make %d calls at once", self._handler.name, len(arrived), exc_info=True)
            outputs = [None] * len(arrived)
        for (_, future), output in zip(arrived, outputs, strict=True):
            if not future.done():  # its time is over
                future.set_result((output, recorded()))

    async def _outputs(self, calls: Sequence[StepCall[Any]]) -> Sequence[BaseModel]:
        assert self._handler.run_all is not None, "otherwise no call arrives here"
        outputs = await self._handler.run_all(calls, self._tools)
        if len(outputs) != len(calls):
            raise TypeError(f"run_all returned {len(outputs)} outputs for {len(calls)} calls")
        return outputs
