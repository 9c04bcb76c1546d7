"""Activity that makes the calls of several steps or runs. Definitions cannot name it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import chain

from temporalio import activity
from temporalio.exceptions import ApplicationError

from docrail.activities.internal.together import Together
from docrail.activities.wrapper import Attempts
from docrail.adapters.log_context import busy_with
from docrail.workflows.contract.messages import (
    WORKER_STOPPED,
    AttemptRequest,
    CallEnd,
    CallFailure,
    GroupCall,
    GroupReport,
    HandlerCalls,
)
from docrail.workflows.contract.names import RUN_GROUP

MOST_REPORT_BYTES = 1_500_000
"""Temporal accepts 2 MiB as an activity's result: the calls whose outcomes do not fit are made alone."""

NOT_MADE = CallEnd()


def group_activity(attempts: Mapping[str, Attempts]) -> Callable[[GroupCall], Awaitable[GroupReport]]:
    """Return the activity for the handlers, by name.

    It is safe to repeat, as each call is.
    """

    @activity.defn(name=RUN_GROUP)
    async def run_group(group: GroupCall) -> GroupReport:
        try:
            ends = await asyncio.gather(*(_ends_of(attempts.get(part.handler), part) for part in group.parts))
        except asyncio.CancelledError:  # no run cancels a group: the worker stops
            raise ApplicationError("the worker was stopped", type=WORKER_STOPPED) from None
        return GroupReport(ends=tuple(_fitting(chain.from_iterable(ends))))

    return run_group


async def _ends_of(own: Attempts | None, part: HandlerCalls) -> list[CallEnd]:
    if own is None:  # each call then meets this worker, or another, by itself
        return [NOT_MADE] * len(part.calls)
    together = Together(own.handler, len(part.calls))
    calls = [asyncio.create_task(_end_of(own, together, number, call)) for number, call in enumerate(part.calls)]
    try:
        await asyncio.wait(calls, timeout=part.seconds)
    finally:
        for late in calls:
            late.cancel()
        ends = await asyncio.gather(*calls)
        await together.close()
    return ends


async def _end_of(own: Attempts, together: Together, number: int, call: AttemptRequest) -> CallEnd:
    try:
        with busy_with({"run_id": call.run_id, "step_id": call.step_id}):
            return CallEnd(outcome=await own.make(call, together.run_of(number)))
    except ApplicationError as error:
        if error.type == WORKER_STOPPED or _is_unfit(error):
            return NOT_MADE
        delay = error.next_retry_delay.total_seconds() if error.next_retry_delay else 0.0
        failure = CallFailure(
            type=error.type or "Error",
            message=error.message,
            retryable=not error.non_retryable,
            retry_seconds=delay,
        )
        return CallEnd(failure=failure)
    except asyncio.CancelledError:
        return NOT_MADE
    finally:
        together.pass_by(number)


def _is_unfit(error: ApplicationError) -> bool:
    return any(isinstance(detail, dict) and detail.get("unfit") for detail in error.details)


def _fitting(ends: Iterable[CallEnd]) -> list[CallEnd]:
    """Return the ends, without the outcomes that do not fit into the report."""
    left, fitting = MOST_REPORT_BYTES, list[CallEnd]()
    for end in ends:
        left -= len(end.model_dump_json())
        fitting.append(end if left >= 0 else NOT_MADE)
    return fitting
