"""Group light calls that are ready together into one activity: those of one run, or of several in one workflow.

A call that does not succeed in its group is made alone, as a plain activity with the step's own policy: a failed one as
its next attempt, one that the group did not make as its first. So nothing that one run does reaches another.
"""

import asyncio
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, RetryState

from docrail.dag.engine.events import Command, Start, Undo
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.engine.state import StepError
from docrail.dag.language.definition import RetryConfig
from docrail.dag.language.definition import Step as StepDefinition
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.json_values import shortened, size_of
from docrail.workflows.contract.messages import (
    AttemptRequest,
    CallEnd,
    CallFailure,
    GroupCall,
    GroupReport,
    HandlerCalls,
    StepOutcome,
)
from docrail.workflows.contract.names import GROUPED, RUN_GROUP, RunRequest
from docrail.workflows.lost_workers import Losses, MadeAlone
from docrail.workflows.outcomes import Work
from docrail.workflows.start_step import (
    Piece,
    activity_id_of,
    call_of,
    priority_of,
    retry_policy,
    run_handler,
    start_call,
)

LINGER = timedelta(seconds=1)
"""Longest time that ready calls wait for those of other runs, while other work of the chunk runs."""

MOST_CALLS = 100

MOST_GROUP_BYTES = 500_000
"""Largest arguments of a group, as JSON, unless it is a single call."""

MOST_TASK_BYTES = 1_500_000
"""Arguments of activities that one workflow task starts: Temporal accepts 4 MB in one message."""

GROUP_SECONDS = 10.0
"""Longest duration of one call in a group: a slow one is made alone, and the others do not wait for it."""

SLACK = timedelta(seconds=30)
"""Time that a group gets beyond that of its calls, to take them up."""

LONGEST_SUMMARY = 200

MANY = 8
"""Calls that a run starts at once from which on those that end at about the same time are reported together: one
workflow task then takes all of them up. Few are not worth the wait."""

LONGEST_ID = 900
"""Of the activity of a run's group, which names all its calls: explanations have nothing else to know them by."""

AT_ONCE = nullcontext()
"""Nothing waits."""


class _Call(asyncio.Future[StepOutcome]):
    """A call that waits for its group, or is made in it. A future of its own kind: a task for each costs more."""

    def __init__(
        self, request: RunRequest, step: Step, call: AttemptRequest, losses: Losses, waiting: "list[_Call]"
    ) -> None:
        """Join the calls that are `waiting`."""
        super().__init__()
        self.request, self.step, self.call, self.losses = request, step, call, losses
        self.size = size_of(call.config)
        self._waiting, self.is_cancelled = waiting, False
        self.on_cancel: Callable[[], None] | None = None
        """Called if it is cancelled while its group makes it."""
        waiting.append(self)

    def cancel(self, msg: object | None = None) -> bool:
        """Cancel a call that waits. One that is in a group is awaited: it may have had its effect."""
        self.is_cancelled = True
        if self not in self._waiting:
            if self.on_cancel is not None:
                self.on_cancel()
            return False
        self._waiting.remove(self)
        return super().cancel(msg)

    def settle(self, end: CallEnd) -> None:
        """End as the group's call did: with its outcome, or as an activity of its own would fail."""
        self.on_cancel = None  # it refers to the group, and so to this: without it, no garbage collection is needed
        match end:
            case CallEnd(outcome=StepOutcome() as outcome):
                self.set_result(outcome)
            case _ if self.is_cancelled:
                super().cancel()
            case CallEnd(failure=CallFailure() as failure):
                self.set_exception(_again_or_final(self, failure))
            case _:
                self.set_exception(MadeAlone())


@dataclass(slots=True)
class SideBySide:
    """The calls that a run starts at once, in a workflow of its own."""

    light: frozenset[str]
    """Handlers whose calls are grouped."""
    _waiting: list[_Call] = field(default_factory=list)
    _gathers: bool = False
    _starts_many: bool = False

    def gathered(self, plan: Plan, commands: Sequence[Command]) -> AbstractContextManager[None]:
        """Return the context in which the commands are obeyed: several light calls wait for their group.

        The others are marked if they are many; those with a `resource_tag` are made by other workers.
        """
        if len(commands) < 2:  # noqa: PLR2004 - one is made alone
            return AT_ONCE
        starts = (each for each in commands if isinstance(each, Start) and not isinstance(each.part, Undo))
        steps = [step for start in starts if (step := plan.step(start.step)).kind is StepKind.HANDLER]
        light = sum(is_light(step, self.light) for step in steps)
        plain = sum(step.definition.resource_tag is None for step in steps) - (light if light > 1 else 0)
        return self._gathered(gathers=light > 1, starts_many=plain >= MANY)

    def run_handler(self, request: RunRequest, step: Step, piece: Piece, losses: Losses) -> Work:
        """Start the work of a handler's step: alone, or with the other calls that wait."""
        if self._gathers and is_light(step, self.light) and not losses.met_unfit:
            return _Call(request, step, call_of(request, step, piece, losses), losses, self._waiting)
        is_marked = self._starts_many and step.definition.resource_tag is None
        piece = replace(piece, is_one_of_many=True) if is_marked else piece
        return run_handler(request, step, piece, losses)

    @contextmanager
    def _gathered(self, *, gathers: bool, starts_many: bool) -> Iterator[None]:
        self._gathers, self._starts_many = gathers, starts_many
        yield
        self._gathers = self._starts_many = False
        ready, self._waiting[:] = [*self._waiting], []
        for group in _groups(ready, longest_id=LONGEST_ID):
            asyncio.create_task(_make(group, _id_of(group)))  # noqa: RUF006 - the SDK holds it


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

    def gathered(self, _plan: Plan, _commands: Sequence[Command]) -> AbstractContextManager[None]:
        """Return the context in which commands are obeyed: light calls wait for those of other runs anyway."""
        return AT_ONCE

    def run_handler(self, request: RunRequest, step: Step, piece: Piece, losses: Losses) -> Work:
        """Start the work of a handler's step: as a part of a group, or alone."""
        call = call_of(request, step, piece, losses)
        if is_light(step, self.light) and not losses.is_alone and not losses.met_unfit:
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
        await _make(group)
        self._running -= len(group)


def is_light(step: Step, light: frozenset[str]) -> bool:
    """Return whether calls of the step may be grouped. A limit counts activities, so no limited one may."""
    return step.definition.handler in light and step.definition.resource_tag is None


def _groups(ready: list[_Call], *, longest_id: float = math.inf) -> list[list[_Call]]:
    """Return the calls in groups that are not too large, those of a step next to each other.

    The steps of a group have one priority, and one retry policy: the activity's.
    """
    by_step: dict[str, list[_Call]] = {}
    for call in ready:
        by_step.setdefault(call.step.id, []).append(call)
    alike: dict[tuple[int | None, RetryConfig], list[_Call]] = {}
    for calls in by_step.values():
        definition = calls[0].step.definition
        alike.setdefault((definition.priority, definition.retry_config), []).extend(calls)
    return [group for calls in alike.values() for group in _not_too_large(calls, longest_id)]


def _not_too_large(calls: list[_Call], longest_id: float) -> Iterator[list[_Call]]:
    group, size, length = list[_Call](), 0, 0
    for call in calls:
        size, length = size + call.size, length + len(activity_id_of(call.call)) + 1
        if group and (len(group) >= MOST_CALLS or size > MOST_GROUP_BYTES or length > longest_id):
            yield group
            group, size, length = [], call.size, len(activity_id_of(call.call)) + 1
        group.append(call)
    yield group


async def _make(group: list[_Call], activity_id: str | None = None) -> None:
    """Make the calls of a group, and settle them. What the group does not make is made alone."""
    ends: tuple[CallEnd, ...] = ()
    if len(group) > 1 and not _are_cancelled(group):
        try:
            ends = (await _start(group, activity_id)).ends
        except FailureError:  # its worker died, the group took too long, or it was cancelled
            pass
        except asyncio.CancelledError:
            if not _are_cancelled(group):  # otherwise it was cancelled before the SDK had begun it
                raise
    for number, call in enumerate(group):
        call.settle(ends[number] if number < len(ends) else CallEnd())


def _are_cancelled(group: list[_Call]) -> bool:
    return all(call.is_cancelled for call in group)


async def _start(group: list[_Call], activity_id: str | None) -> GroupReport:
    first, parts = group[0], [[*calls] for _, calls in groupby(group, lambda call: call.step.id)]
    steps = [calls[0].step.definition for calls in parts]
    made = workflow.start_activity(
        RUN_GROUP,
        GroupCall(tenant_id=first.request.tenant_id, parts=tuple(map(_part, parts))),
        result_type=GroupReport,
        activity_id=activity_id,
        summary=shortened(", ".join(map(_title, parts)), LONGEST_SUMMARY),
        schedule_to_close_timeout=min(filter(None, map(_time_left, group)), default=None),
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        start_to_close_timeout=timedelta(seconds=max(map(_seconds, steps))) + SLACK,
        heartbeat_timeout=timedelta(seconds=min(step.heartbeat_seconds for step in steps)),
        retry_policy=retry_policy(steps[0].retry_config, 0),
        priority=priority_of(first.request, first.step.definition.priority),
    )

    def stop() -> None:
        if _are_cancelled(group):
            made.cancel()

    for call in group:
        call.on_cancel = stop
    report: GroupReport = await made
    return report


def _id_of(group: list[_Call]) -> str:
    """Return an id for the activity of a run's group that names its steps and items."""
    return GROUPED.join(activity_id_of(each.call) for each in group)


def _time_left(call: _Call) -> timedelta | None:
    return call.losses.left_of(call.step.definition.total_timeout_seconds)


def _part(calls: list[_Call]) -> HandlerCalls:
    step = calls[0].step.definition
    assert step.handler is not None, "only handlers are grouped"
    return HandlerCalls(handler=step.handler, calls=tuple(each.call for each in calls), seconds=_seconds(step))


def _seconds(step: StepDefinition) -> float:
    return min(step.timeout_seconds, GROUP_SECONDS)


def _title(calls: list[_Call]) -> str:
    name = calls[0].step.definition.title or calls[0].step.id
    return f"{name} x {len(calls)}" if len(calls) > 1 else name


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
