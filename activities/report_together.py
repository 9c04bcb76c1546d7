"""Report calls of a workflow that end at about the same time together: one workflow task then takes all of them up.

Reported one by one, each reading of a batch costs a workflow task of its own, which is half of what Temporal costs.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from docrail.workflows.contract.messages import AttemptRequest
from docrail.workflows.contract.names import DOCUMENT_CHUNK_TYPE, WORKFLOW_TYPE

LONGEST_WAIT = 0.3
"""How many seconds an outcome of a chunk waits for others: with 0.1 a document costs 2 ms of CPU more, with 1.0 none
less."""

LONGEST_WAIT_OF_RUN = 0.05
"""The same for one of many calls that a run has started at once: what follows it waits as long."""

QUIET_SECONDS = 0.02
"""How long none of a chunk's calls runs before their outcomes are reported: those that were handed out with them, and
end at once, begin one after another."""

SHARE_OF_SLOTS = 0.25
"""The share of a worker's activity slots that outcomes may keep while they wait: other calls need them."""


@dataclass(slots=True, eq=False)
class _Calls:
    """The calls of one workflow on this worker."""

    is_chunk: bool
    forget: Callable[[], object]
    """Called when the calls are reported and none is running."""
    running: int = 0
    """Calls without an outcome."""
    reported: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the calls that wait are reported."""
    _longest: asyncio.TimerHandle | None = None
    _quiet: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        self.running += 1
        _stop(self._quiet)

    def end(self) -> None:
        self.running -= 1
        if not self.running:
            self._quiet = asyncio.get_running_loop().call_later(QUIET_SECONDS, self.report)

    async def wait(self) -> None:
        """Wait until no call has run for QUIET_SECONDS, or the first that waits has waited for the longest time."""
        longest = LONGEST_WAIT if self.is_chunk else LONGEST_WAIT_OF_RUN
        self._longest = self._longest or asyncio.get_running_loop().call_later(longest, self.report)
        await self.reported.wait()

    def report(self) -> None:
        _stop(self._quiet)
        _stop(self._longest)
        self._longest = None
        self.reported.set()
        self.reported = asyncio.Event()
        if not self.running:
            self.forget()


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class ReportTogether(Interceptor):
    """Lets the calls of a chunk's steps that are made alone wait for each other once they have an outcome.

    Those of a run do if it has started many at once.
    """

    def __init__(self, slots: int) -> None:
        """Start without calls, on a worker with so many activity slots."""
        self.by_workflow: dict[str, _Calls] = {}
        self.waiting = 0
        self.most_waiting = int(SHARE_OF_SLOTS * slots)

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - its name there
        """Return the interceptor of an activity: for those of other workflows, none.

        Temporal keeps 4 KB of the failure of an attempt, stack trace included, or else not even its message.
        """
        info = activity.info()
        return _Inbound(next, self, info) if info.workflow_type in (DOCUMENT_CHUNK_TYPE, WORKFLOW_TYPE) else next

    def calls_of(self, run_id: str, *, is_chunk: bool) -> _Calls:
        """Return the calls of the workflow with that run id."""
        if run_id not in self.by_workflow:
            self.by_workflow[run_id] = _Calls(is_chunk, partial(self.by_workflow.pop, run_id, None))
        return self.by_workflow[run_id]


class _Inbound(ActivityInboundInterceptor):
    def __init__(
        self,
        next: ActivityInboundInterceptor,  # noqa: A002 - its name there
        own: ReportTogether,
        info: activity.Info,
    ) -> None:
        super().__init__(next)
        self._own, self._info = own, info

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - its name there
        call, info = next(iter(input.args), None), self._info
        is_chunk = info.workflow_type == DOCUMENT_CHUNK_TYPE
        if not isinstance(call, AttemptRequest) or not (is_chunk or call.is_one_of_many):
            return await self.next.execute_activity(input)
        own, calls = self._own, self._own.calls_of(info.workflow_run_id or "", is_chunk=is_chunk)
        calls.begin()
        try:
            outcome = await self.next.execute_activity(input)
        finally:
            calls.end()
        if own.waiting < own.most_waiting and _has_time(info):
            own.waiting += 1
            with suppress(asyncio.CancelledError):  # the call has been made
                await calls.wait()
            own.waiting -= 1
        return outcome


def _has_time(info: activity.Info) -> bool:
    """Return whether waiting cannot exceed the call's timeouts."""
    now = datetime.now(UTC)
    limits = (info.started_time, info.start_to_close_timeout), (info.scheduled_time, info.schedule_to_close_timeout)
    return all(not limit or (since + limit - now).total_seconds() > 2 * LONGEST_WAIT for since, limit in limits)
