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
from docrail.workflows.outcomes import Work
from docrail.workflows.start_step import Piece, call_of, priority_of, retry_policy, start_call

LINGER = timedelta(seconds=1)
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


class _Call(asyncio.Future[StepOutcome]):
    """A call that waits for its group, or is made in it. A future of its own kind: a task for each costs more."""

    def __init__(
        self, request: RunRequest, step: Step, call: AttemptRequest, losses: Losses, waiting: "list[_Call]"
    ) -> None:
        """Join the calls that are `waiting`."""
        super().__init__()
        self.request, self.step, self.call, self.losses = request, step, call, losses
        self.size = size_of(call.config)
        self._waiting, self._is_cancelled = waiting, False
        waiting.append(self)

    def cancel(self, msg: object | None = None) -> bool:
        """Cancel a call that waits. One that is in a group is awaited: it is cheap, and may have had its effect."""
        self._is_cancelled = True
        if self not in self._waiting:
            return False
        self._waiting.remove(self)
        return super().cancel(msg)

    def settle(self, end: CallEnd) -> None:
        """End as the group's call did: with its outcome, or as an activity of its own would fail."""
        match end:
            case CallEnd(outcome=StepOutcome() as outcome):
                self.set_result(outcome)
            case _ if self._is_cancelled:
                super().cancel()
            case CallEnd(failure=CallFailure() as failure):
                self.set_exception(_again_or_final(self, failure))
            case _:
                self.set_exception(MadeAlone())


@dataclass(slots=True)
class Groups:
    """The calls of the runs of one workflow."""

    light: frozenset[str]
    """Handlers whose calls are grouped."""
    _waiting: list[_Call] = field(default_factory=list)
    _running: int = 0
    """Calls in groups, and those made alone."""
    _started_at: float = 0.0
    _started_bytes: int = 0
    """What the current workflow task has started."""

    def run_handler(self, request: RunRequest, step: Step, piece: Piece, losses: Losses) -> Work:
        """Start the work of a handler's step: as a part of a group, or alone."""
        call = call_of(request, step, piece, losses)
        is_grouped = step.definition.handler in self.light and step.definition.resource_tag is None
        if is_grouped and not losses.is_alone and not losses.met_unfit:
            return _Call(request, step, call, losses, self._waiting)
        self._running += 1
        task = asyncio.create_task(self._alone(request, step, call, losses))
        task.add_done_callback(self._ended)
        return task

    async def serve(self, is_settled: Callable[[], bool]) -> None:
        """Start groups until cancelled. `is_settled`: whether no run has an event to process first."""
        while True:
            await workflow.wait_condition(lambda: bool(self._waiting) and is_settled())
            if self._running:
                with suppress(TimeoutError):
                    await workflow.wait_condition(lambda: not self._running and is_settled(), timeout=LINGER)
            ready, self._waiting[:] = [*self._waiting], []
            self._running += len(ready)
            for group in _groups(ready):
                await self._find_room(sum(each.size for each in group))
                asyncio.create_task(self._make(group))  # noqa: RUF006 - the SDK holds it

    def _ended(self, _: Work) -> None:
        self._running -= 1

    async def _alone(self, request: RunRequest, step: Step, call: AttemptRequest, losses: Losses) -> StepOutcome:
        await self._find_room(size_of(call.config))
        assert step.definition.handler is not None, "only the calls of handlers are made here"
        return await start_call(request, step, step.definition.handler, call, losses, f"{call.run_id}/")

    async def _find_room(self, size: int) -> None:
        """Wait for the next workflow task if this one would start too much."""
        while True:
            if self._started_at != workflow.time():
                self._started_at, self._started_bytes = workflow.time(), 0
            if not self._started_bytes or self._started_bytes + size <= MOST_TASK_BYTES:
                self._started_bytes += size
                return
            await workflow.sleep(timedelta(milliseconds=1))

    async def _make(self, group: list[_Call]) -> None:
        """Make the calls of a group, and settle them. What the group does not make is made alone."""
        ends: tuple[CallEnd, ...] = ()
        if len(group) > 1:
            with suppress(FailureError):  # its worker died, or the group took too long
                ends = (await _start(group)).ends
        self._running -= len(group)
        for number, call in enumerate(group):
            call.settle(ends[number] if number < len(ends) else CallEnd())


def _groups(ready: list[_Call]) -> list[list[_Call]]:
    """Return the calls in groups: each of one step and priority, and not too large."""
    groups: list[list[_Call]] = []
    last: dict[str, list[_Call]] = {}
    sizes: dict[str, int] = {}
    for call in ready:
        name, group = call.step.id, last.get(call.step.id)
        if group is None or len(group) >= MOST_CALLS or sizes[name] + call.size > MOST_GROUP_BYTES:
            group, sizes[name] = [], 0
            last[name] = group
            groups.append(group)
        group.append(call)
        sizes[name] += call.size
    return groups


async def _start(group: list[_Call]) -> GroupReport:
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


def _again_or_final(call: _Call, failure: CallFailure) -> FailureError:
    """Return how a failed call goes on: alone, as its next attempt, or as the failure of its only activity."""
    definition, losses = call.step.definition, call.losses
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
        activity_id=call.step.id,
        retry_state=state,
    )
    details = {"attempt": losses.failed + 1}
    error.__cause__ = ApplicationError(failure.message, details, type=failure.type, non_retryable=not failure.retryable)
    return error
