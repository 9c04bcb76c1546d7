"""Activity that makes the calls of several runs at the same step. Definitions cannot name it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from docrail.adapters.log_context import busy_with
from docrail.workflows.contract.messages import (
    WORKER_STOPPED,
    AttemptRequest,
    CallEnd,
    CallFailure,
    GroupCall,
    GroupReport,
    StepOutcome,
)
from docrail.workflows.contract.names import RUN_GROUP

Execute = Callable[[AttemptRequest], Coroutine[Any, Any, StepOutcome]]

MOST_REPORT_BYTES = 1_500_000
"""Temporal accepts 2 MiB as an activity's result: the calls whose outcomes do not fit are made alone."""

NOT_MADE = CallEnd()


def group_activity(executes: Mapping[str, Execute]) -> Callable[[GroupCall], Awaitable[GroupReport]]:
    """Return the activity; `executes` are the handlers' own activities, by name.

    It is safe to repeat, as each call is.
    """

    @activity.defn(name=RUN_GROUP)
    async def run_group(group: GroupCall) -> GroupReport:
        execute = executes.get(group.handler)
        if execute is None:  # each call then meets this worker, or another, by itself
            return GroupReport(ends=(NOT_MADE,) * len(group.calls))
        try:
            ends = await asyncio.gather(*(_end_of(execute, call, group.seconds) for call in group.calls))
        except asyncio.CancelledError:  # no run cancels a group: the worker stops
            raise ApplicationError("the worker was stopped", type=WORKER_STOPPED) from None
        return GroupReport(ends=tuple(_fitting(ends)))

    return run_group


async def _end_of(execute: Execute, call: AttemptRequest, seconds: float) -> CallEnd:
    try:
        with busy_with({"run_id": call.run_id, "step_id": call.step_id}):
            async with asyncio.timeout(seconds):  # unlike wait_for, it makes no task of its own
                return CallEnd(outcome=await execute(call))
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
    except TimeoutError:
        return NOT_MADE


def _is_unfit(error: ApplicationError) -> bool:
    return any(isinstance(detail, dict) and detail.get("unfit") for detail in error.details)


def _fitting(ends: list[CallEnd]) -> list[CallEnd]:
    """Return the ends, without the outcomes that do not fit into the report."""
    left, fitting = MOST_REPORT_BYTES, list[CallEnd]()
    for end in ends:
        left -= len(end.model_dump_json())
        fitting.append(end if left >= 0 else NOT_MADE)
    return fitting
