"""Activity that makes the calls of several steps or runs. Definitions cannot name it."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json
from temporalio import activity
from temporalio.exceptions import ApplicationError

from docrail.activities.wrapper import Attempt, Attempts, heartbeats
from docrail.adapters.log_context import become_busy_with
from docrail.adapters.redaction import start_recording
from docrail.handlers import StepCall
from docrail.workflows.contract.messages import (
    WORKER_STOPPED,
    AttemptRequest,
    CallEnd,
    CallFailure,
    GroupCall,
    GroupReport,
    HandlerCalls,
    StepOutcome,
)
from docrail.workflows.contract.names import RUN_GROUP

MOST_REPORT_BYTES = 1_500_000
"""Temporal accepts 2 MiB as an activity's result: the calls whose outcomes do not fit are made alone."""

MOST_AT_ONCE = 5
"""Calls that wait at the same time, as for a disk: light ones wait for little, and a task for each costs more."""

PATIENCE_SECONDS = 1.0
"""How long calls wait for others that are slow before the handler begins, such as one with a large stored config."""

NOT_MADE = CallEnd()

RunAll = Callable[[Sequence[StepCall[Any]], Any], Awaitable[Sequence[BaseModel]]]
"""The `run_all` of a handler."""

log = logging.getLogger(__name__)


def group_activity(attempts: Mapping[str, Attempts]) -> Callable[[GroupCall], Awaitable[GroupReport]]:
    """Return the activity for the handlers, by name.

    It is safe to repeat, as each call is.
    """

    @activity.defn(name=RUN_GROUP)
    async def run_group(group: GroupCall) -> GroupReport:
        info = activity.info()
        try:
            with heartbeats(info, info.attempt, ()):
                ends = await asyncio.gather(*(_ends_of(attempts.get(part.handler), part) for part in group.parts))
        except asyncio.CancelledError:  # no run cancels a group: the worker stops
            raise ApplicationError("the worker was stopped", type=WORKER_STOPPED) from None
        return _fitting(GroupReport(ends=tuple(chain.from_iterable(ends))))

    return run_group


async def _ends_of(own: Attempts | None, part: HandlerCalls) -> list[CallEnd]:
    if own is None:  # each call then meets this worker, or another, by itself
        return [NOT_MADE] * len(part.calls)
    calls = _Calls(own, part.calls)
    with suppress(TimeoutError):
        async with asyncio.timeout(part.seconds):
            await calls.make()
    return calls.ends


class _Calls:
    """Calls of one handler, each with the checks and the outcome that it has alone."""

    def __init__(self, own: Attempts, calls: Sequence[AttemptRequest]) -> None:
        self._own, self._calls = own, calls
        self._attempts = [Attempt(own, call) for call in calls]
        self.ends = [NOT_MADE] * len(calls)
        """How each call has ended so far."""

    async def make(self) -> None:
        """Make the calls: at once what the handler can, the others one by one."""
        if self._own.handler.run_all is not None:
            await self._make_at_once(self._own.handler.run_all)
        await self._each((number for number, end in enumerate(self.ends) if end is NOT_MADE), self._make)

    async def _each(self, numbers: Iterable[int], work: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        """Do the work for the calls of these numbers. Where one waits, others go on."""
        left = deque(numbers)

        async def do_some() -> None:
            while left:
                number = left.popleft()
                become_busy_with({"run_id": self._calls[number].run_id, "step_id": self._calls[number].step_id})
                try:
                    await work(number)
                except Exception as error:  # noqa: BLE001 - whatever a handler raises is reported
                    self.ends[number] = _failed(self._attempts[number].failure_of(error))

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(do_some())
            await asyncio.sleep(0)  # most calls wait for nothing, and so are done by now
            for _ in range(min(MOST_AT_ONCE - 1, len(left))):
                tasks.create_task(do_some())

    async def _make(self, number: int) -> None:
        self.ends[number] = CallEnd(outcome=await self._attempts[number].make())

    async def _make_at_once(self, run_all: RunAll) -> None:
        """Make what is ready by one call of the handler. If it cannot, none of them is made."""
        ready: dict[int, StepCall[Any]] = {}
        made: dict[int, BaseModel] = {}

        async def begin(number: int) -> None:
            match await self._attempts[number].begin():
                case StepOutcome() as found:
                    self.ends[number] = CallEnd(outcome=found)
                case step:
                    ready[number] = step

        async def complete(number: int) -> None:
            self.ends[number] = CallEnd(outcome=await self._attempts[number].complete(made[number]))

        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._each(range(len(self._calls)), begin)
        start_recording()  # of secrets that the handler is given: none may be in any outcome
        try:
            outputs = await run_all([*ready.values()], self._own.used_tools) if ready else ()
            made.update(zip(ready, _one_for_each(outputs, len(ready)), strict=True))
        except Exception:  # each is then made alone, and fails by itself if it must
            log.warning("%s could not make %d calls at once", self._own.handler.name, len(ready), exc_info=True)
        await self._each(made, complete)


def _one_for_each(outputs: Sequence[BaseModel], count: int) -> Sequence[BaseModel]:
    if len(outputs) != count:
        raise TypeError(f"run_all returned {len(outputs)} outputs for {count} calls")
    return outputs


def _failed(failure: ApplicationError) -> CallEnd:
    if any(isinstance(detail, dict) and detail.get("unfit") for detail in failure.details):
        return NOT_MADE  # it meets another worker by itself
    delay = failure.next_retry_delay.total_seconds() if failure.next_retry_delay else 0.0
    return CallEnd(
        failure=CallFailure(
            type=failure.type or "Error",
            message=failure.message,
            retryable=not failure.non_retryable,
            retry_seconds=delay,
        )
    )


def _fitting(report: GroupReport) -> GroupReport:
    """Return the report, without the outcomes that do not fit into it."""
    if len(to_json(report)) <= MOST_REPORT_BYTES:
        return report
    left, fitting = MOST_REPORT_BYTES, list[CallEnd]()
    for end in report.ends:
        left -= len(to_json(end)) + 1
        fitting.append(end if left >= 0 else NOT_MADE)
    return GroupReport(ends=tuple(fitting))
