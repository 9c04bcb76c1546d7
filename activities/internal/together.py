"""Make the calls of a group by one call of their handler, each with the checks and the outcome that it has alone."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from docrail.activities.wrapper import Run
from docrail.handlers import Handler, StepCall

log = logging.getLogger(__name__)


class Together:
    """The calls of a group. Their handler runs once all have arrived; some may end before."""

    def __init__(self, handler: Handler, count: int) -> None:
        self._handler = handler
        self._awaited = set(range(count))
        """Numbers of the calls that have neither arrived nor ended."""
        self._arrived: list[tuple[StepCall[Any], asyncio.Future[BaseModel | None]]] = []
        self._running: asyncio.Task[None] | None = None
        self._tools: Any = None

    def run_of(self, number: int) -> Run:
        """Return what makes the call of this number as a handler's `run` would."""
        if self._handler.run_all is None:
            return self._handler.run

        async def run(call: StepCall[Any], tools: Any) -> BaseModel:
            future: asyncio.Future[BaseModel | None] = asyncio.get_running_loop().create_future()
            self._arrived.append((call, future))
            self._tools = tools
            self.pass_by(number)
            output = await future
            return await self._handler.run(call, tools) if output is None else output

        return run

    def pass_by(self, number: int) -> None:
        """Await this call no longer: it has arrived, or ended."""
        self._awaited.discard(number)
        if self._arrived and not self._awaited and self._running is None:
            self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop the handler: the group has ended."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    async def _run(self) -> None:
        outputs: Sequence[BaseModel | None] = [None] * len(self._arrived)
        try:
            outputs = await self._outputs()
        except Exception:
            log.warning("%s could not make %d calls at once", self._handler.name, len(self._arrived), exc_info=True)
        for (_, future), output in zip(self._arrived, outputs, strict=True):
            if not future.done():  # its time is over
                future.set_result(output)

    async def _outputs(self) -> Sequence[BaseModel]:
        assert self._handler.run_all is not None, "otherwise no call arrives here"
        outputs = await self._handler.run_all([call for call, _ in self._arrived], self._tools)
        if len(outputs) != len(self._arrived):
            raise TypeError(f"run_all returned {len(outputs)} outputs for {len(self._arrived)} calls")
        return outputs
