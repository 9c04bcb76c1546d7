"""Group the calls that several runs in one workflow make at the same step into one activity.

A call that does not succeed in its group is made alone, as a plain activity with the step's own policy: a failed one as
its next attempt, one that the group did not make as its first. So nothing that one run does reaches another.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, RetryState

from docrail.dag.engine.plan import Step
from docrail.dag.engine.state import StepError
from docrail.dag.values.json_values import size_of
from docrail.workflows.contract.messages import (
    AttemptRequest,
    CallEnd,
    CallFailure,
    GroupCall,
    GroupReport,
    StepOutcome,
)
from docrail.workflows.contract.names import RUN_GROUP, RunRequest
from docrail.workflows.lost_workers import Losses, MadeAlone
from docrail.workflows.start_step import Handle, Piece, call_of, priority_of, retry_policy, start_call

LINGER = timedelta(milliseconds=300)
"""Longest time that ready calls wait for those of other runs, while other work of the chunk runs."""

MOST_CALLS = 50

MOST_GROUP_BYTES = 500_000
"""Largest arguments of a group, as JSON, unless it is a single call."""

MOST_TASK_BYTES = 1_500_000
"""Arguments of activities that one workflow task starts: Temporal accepts 4 MB in one message."""

GROUP_SECONDS = 10.0
"""Longest duration of one call in a group: a slow one is made alone, and the others do not wait for it."""

SLACK = timedelta(seconds=30)
"""Time that a group gets beyond that of its calls, to take them up."""


@dataclass(eq=False, slots=True)
class _Waiting:
    """A call that waits for its group."""

    request: RunRequest
    step: Step
    call: AttemptRequest
    losses: Losses
    size: int
    end: asyncio.Future[CallEnd | None]
    """None: no other call has joined it."""


@dataclass(slots=True)
class Groups:
    """The calls of the runs of one workflow."""

    light: frozenset[str]
    """Handlers whose calls are grouped."""
    _waiting: list[_Waiting] = field(default_factory=list)
    _running: int = 0
    """Calls that wait or run."""
    _started_at: float = 0.0
    _started_bytes: int = 0
    """What the current workflow task has started."""

    def run_handler(self, request: RunRequest, step: Step, piece: Piece, losses: Losses) -> Handle:
        """Start the work of a handler's step: as a part of a group, or alone."""
        self._running += 1
        call = call_of(request, step, piece, losses)
        is_grouped = step.definition.handler in self.light and step.definition.resource_tag is None
        if is_grouped and not losses.is_alone and not losses.met_unfit:
            end: asyncio.Future[CallEnd | None] = asyncio.get_running_loop().create_future()
            work = self._in_group(_Waiting(request, step, call, losses, size_of(call.config), end))
        else:
            work = self._alone(request, step, call, losses)
        task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        return task

    async def serve(self, is_settled: Callable[[], bool]) -> None:
        """Start groups until cancelled. `is_settled`: whether no run has an event to process first."""
        while True:
            await workflow.wait_condition(lambda: bool(self._waiting) and is_settled())
            if not self._all_wait():
                with suppress(TimeoutError):
                    await workflow.wait_condition(lambda: self._all_wait() and is_settled(), timeout=LINGER)
            ready, self._waiting[:] = [*self._waiting], []
            for group in _groups(ready):
                await self._find_room(sum(each.size for each in group))
                asyncio.create_task(self._make(group))  # noqa: RUF006 - the calls' futures hold it

    def _all_wait(self) -> bool:
        return len(self._waiting) == self._running

    def _ended(self, _: Handle) -> None:
        self._running -= 1

    async def _alone(self, request: RunRequest, step: Step, call: AttemptRequest, losses: Losses) -> StepOutcome:
        await self._find_room(size_of(call.config))
        return await _start_alone(request, step, call, losses)

    async def _find_room(self, size: int) -> None:
        """Wait for the next workflow task if this one would start too much."""
        while True:
            if self._started_at != workflow.time():
                self._started_at, self._started_bytes = workflow.time(), 0
            if not self._started_bytes or self._started_bytes + size <= MOST_TASK_BYTES:
                self._started_bytes += size
                return
            await workflow.sleep(timedelta(milliseconds=1))

    async def _in_group(self, waiting: _Waiting) -> StepOutcome:
        """Return a call's outcome. A call that is cancelled while its group runs is awaited: it is cheap.

        Raises: MadeAlone; ActivityError, as of an activity of its own.
        """
        self._waiting.append(waiting)
        is_cancelled = False
        while not waiting.end.done():
            try:  # not the future itself: awaited again, it would keep the SDK from evicting the workflow
                await workflow.wait_condition(waiting.end.done)
            except asyncio.CancelledError:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)
                    raise
                is_cancelled = True
        match waiting.end.result():
            case CallEnd(outcome=StepOutcome() as outcome):
                return outcome
            case _ if is_cancelled:
                raise asyncio.CancelledError
            case None:
                return await _start_alone(waiting.request, waiting.step, waiting.call, waiting.losses)
            case CallEnd(failure=CallFailure() as failure):
                raise _again_or_final(waiting, failure)
            case _:
                raise MadeAlone

    async def _make(self, group: list[_Waiting]) -> None:
        """Make the calls of a group, and hand over their ends."""
        ends: tuple[CallEnd | None, ...] = ()
        if len(group) == 1:
            ends = (None,)
        else:
            with suppress(FailureError):  # its worker died, or the group took too long: each is made alone
                ends = (await _start(group)).ends
        for number, waiting in enumerate(group):
            if not waiting.end.done():
                waiting.end.set_result(ends[number] if number < len(ends) else CallEnd())


def _start_alone(request: RunRequest, step: Step, call: AttemptRequest, losses: Losses) -> Handle:
    assert step.definition.handler is not None, "only the calls of handlers are made here"
    return start_call(request, step, step.definition.handler, call, losses, f"{call.run_id}/")


def _groups(ready: list[_Waiting]) -> list[list[_Waiting]]:
    """Return the calls in groups: each of one step and priority, and not too large."""
    groups: list[list[_Waiting]] = []
    last: dict[str, list[_Waiting]] = {}
    for waiting in ready:
        group = last.get(waiting.step.id)
        is_full = group is None or len(group) >= MOST_CALLS
        if is_full or sum(each.size for each in group or ()) + waiting.size > MOST_GROUP_BYTES:
            group = last[waiting.step.id] = []
            groups.append(group)
        assert group is not None, "it has just been made"
        group.append(waiting)
    return groups


async def _start(group: list[_Waiting]) -> GroupReport:
    first = group[0]
    definition = first.step.definition
    assert definition.handler is not None, "only handlers are grouped"
    seconds = min(definition.timeout_seconds, GROUP_SECONDS)
    calls = tuple(each.call for each in group)
    report: GroupReport = await workflow.execute_activity(
        RUN_GROUP,
        GroupCall(tenant_id=first.request.tenant_id, handler=definition.handler, calls=calls, seconds=seconds),
        result_type=GroupReport,
        summary=f"{definition.title or first.step.id} x {len(group)}",
        start_to_close_timeout=timedelta(seconds=seconds) + SLACK,
        heartbeat_timeout=timedelta(seconds=definition.heartbeat_seconds),
        retry_policy=retry_policy(definition.retry_config, 0),
        priority=priority_of(first.request, definition.priority),
    )
    return report


def _again_or_final(waiting: _Waiting, failure: CallFailure) -> FailureError:
    """Return how a failed call goes on: alone, as its next attempt, or as the failure of its only activity."""
    definition, losses = waiting.step.definition, waiting.losses
    left = losses.left_of(definition.total_timeout_seconds)
    if not failure.retryable or failure.type in definition.retry_config.non_retryable:
        state = RetryState.NON_RETRYABLE_FAILURE
    elif losses.failed >= definition.max_retries:
        state = RetryState.MAXIMUM_ATTEMPTS_REACHED
    elif left is not None and left <= timedelta(seconds=failure.retry_seconds):
        state = RetryState.TIMEOUT
    else:
        return MadeAlone(StepError(failure.type, failure.message), failure.retry_seconds)
    error = ActivityError(
        failure.message,
        scheduled_event_id=0,
        started_event_id=0,
        identity="",
        activity_type=definition.handler or "",
        activity_id=waiting.call.step_id,
        retry_state=state,
    )
    details = {"attempt": losses.failed + 1}
    error.__cause__ = ApplicationError(failure.message, details, type=failure.type, non_retryable=not failure.retryable)
    return error
