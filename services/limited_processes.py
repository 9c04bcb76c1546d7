"""Perform costly tasks in limited processes: few at once, each killed when it reaches a limit or its caller leaves."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from docrail.adapters.postgres.tenants import visible_rows
from docrail.adapters.sandbox.forker import ChildDiedError, ChildLimits, ChildTimedOutError, Forker, ServerDiedError
from docrail.dag.values.json_values import Json
from docrail.services.errors import TooCostly, Unavailable
from docrail.services.turns import Turns

LIMITS = ChildLimits(memory_bytes=500_000_000, cpu_seconds=15, wall_seconds=30.0)
"""The most costly definition of the allowed size takes 3 s and 250 MB, its tests 10 s."""
AT_ONCE, WAITING = 2, 8

Left = Callable[[], Awaitable[None]]
"""Returns when the caller has left."""


@dataclass(frozen=True, slots=True)
class LimitedProcesses:
    """Processes forked from a server that has everything loaded; the server starts with the first task.

    `left`: returns when the caller has left; its process is then killed.
    """

    forker: Forker
    limits: ChildLimits = LIMITS
    turns: Turns = field(default_factory=lambda: Turns(AT_ONCE, WAITING))
    left: Left | None = None

    def until(self, left: Left) -> "LimitedProcesses":
        """Return the same processes for one caller."""
        return replace(self, left=left)

    async def perform(self, task: str, order: str) -> Json:
        """Return the task's answer. Raises: TooCostly, Busy, Unavailable."""
        asking = asyncio.ensure_future(self._ask(b"%s\n%s" % (task.encode(), order.encode())))
        leaving = asyncio.ensure_future(self.left()) if self.left else asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait([asking, leaving], return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise Unavailable("the check", "its caller has left")
            answer = json.loads(asking.result())
            if "bug" in answer:
                raise RuntimeError(answer["bug"])
            return answer
        finally:
            for task_ in (asking, leaving):
                task_.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await task_

    async def _ask(self, request: bytes) -> bytes:
        rows = visible_rows()
        async with self.turns.of(rows.tenant_id if rows else ""):
            try:
                return await self.forker.ask(request, self.limits)
            except ChildTimedOutError:
                raise TooCostly(self.limits.cpu_seconds) from None
            except ChildDiedError as error:
                raise TooCostly(self.limits.cpu_seconds) from error
            except ServerDiedError as error:
                raise Unavailable("the check", str(error)) from error
