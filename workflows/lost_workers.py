"""Restart the activity of a step whose worker was stopped, died, or lacks what the step needs, within bounds.

Such an attempt does not count as failed. Temporal counts every attempt that does not complete, so all three ends are
errors that it does not retry, and the run starts another activity with the remaining attempts and time.
"""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from typing import Any

from temporalio import exceptions, workflow
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutType

from docrail.dag.engine.state import MOST_EARLIER, WORKER_LOST, WORKER_UNFIT, EarlierError, StepError
from docrail.dag.language.definition import Step
from docrail.workflows.contract.messages import WORKER_STOPPED
from docrail.workflows.failures import PAYLOAD_KEY_MISSING, attempts_of, earlier_of, error_of, is_out_of_time, is_unfit

NOT_RETRIED = (WORKER_STOPPED, "TemporalTimeout:Heartbeat", PAYLOAD_KEY_MISSING)
"""Ends as named in `non_retryable_error_types`; that a worker lacks anything else is marked by the worker."""

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 4.0
"""Pauses after an unfit worker, doubled each time: about a minute in all, in which other workers may take the step."""

SHORTEST = timedelta(milliseconds=1)
"""For an activity that starts when its time is already over, since the timer of a pause may end late."""


class MadeAlone(exceptions.FailureError):
    """A call did not succeed in its group, so it is made alone.

    `error` is how it failed, and counts as an attempt; None: the group did not make it.
    """

    def __init__(self, error: StepError | None = None, seconds: float = 0.0) -> None:
        super().__init__("the call is made alone")
        self.error, self.seconds = error, seconds


class LossKind(Enum):
    """How an attempt ended; the value is how often one step or item may meet it."""

    STOPPED = 50
    """Its worker was stopped: enough for deployments, but not for an endless loop of them."""
    DIED = 5
    """Its worker died: the step may be the cause."""
    UNFIT = 20
    """Its worker lacks the handler or a setting. If half of the workers do, one step in a million meets only those."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An attempt that ended because of its worker. `error` is what is kept of it."""

    kind: LossKind
    error: StepError


@dataclass(frozen=True, slots=True)
class Losses:
    """The workers that a step or an item has lost, and the result of its earlier activities."""

    since: float
    """When its first activity was started, in seconds since the epoch."""
    met_unfit: bool = False
    """Whether a worker lacked what the step needs, also for another item."""
    kinds: tuple[LossKind, ...] = ()
    failed: int = 0
    """Attempts that failed."""
    earlier: tuple[EarlierError, ...] = ()
    is_cancelled: bool = False
    """Whether it was cancelled, so it is not started again."""
    is_alone: bool = False
    """Whether a group did not do its work, so it is not grouped again."""
    retry_seconds: float = 0.0
    """The delay after an attempt that failed in a group."""

    @property
    def pause_seconds(self) -> float:
        """How long to wait before the next activity starts."""
        if self.retry_seconds:
            return self.retry_seconds
        if not self.kinds or self.kinds[-1] is not LossKind.UNFIT:
            return 0.0
        return min(FIRST_PAUSE_SECONDS * 2.0 ** (self.kinds.count(LossKind.UNFIT) - 1), LONGEST_PAUSE_SECONDS)

    def left_of(self, total_timeout_seconds: float | None) -> timedelta | None:
        """Return the time left for all attempts, never less than Temporal accepts; None: there is no limit."""
        if total_timeout_seconds is None:
            return None
        return max(timedelta(seconds=self.since + total_timeout_seconds - workflow.time()), SHORTEST)


NO_LOSSES = Losses(0.0)
"""For work that is never started again."""


def losses_after(step: Step, work: asyncio.Future[Any], before: Losses) -> Losses | None:
    """Return the losses with which ended work is started again; None if it is not."""
    error = None if work.cancelled() else work.exception()
    if isinstance(error, MadeAlone):
        return None if before.is_cancelled else _alone_after(error, before)
    loss = None if error is None else loss_of(step, error)
    if error is None or loss is None or before.is_cancelled:
        return None
    attempt = attempts_of(step, error, before.failed)
    latest = EarlierError(attempt, loss.error)
    after = replace(
        before,
        met_unfit=before.met_unfit or loss.kind is LossKind.UNFIT,
        kinds=(*before.kinds, loss.kind),
        failed=attempt - 1,
        retry_seconds=0.0,
        earlier=(*before.earlier, *earlier_of(error), latest)[-MOST_EARLIER:],
    )
    left = after.left_of(step.total_timeout_seconds)
    is_over = left is not None and left <= max(timedelta(seconds=after.pause_seconds), SHORTEST)
    return None if is_over or after.kinds.count(loss.kind) > loss.kind.value else after


def _alone_after(error: MadeAlone, before: Losses) -> Losses:
    alone = replace(before, is_alone=True, retry_seconds=error.seconds)
    if error.error is None:
        return alone
    failed = before.failed + 1
    earlier = (*before.earlier, EarlierError(failed, error.error))[-MOST_EARLIER:]
    return replace(alone, failed=failed, earlier=earlier)


def loss_of(step: Step, error: BaseException) -> Loss | None:
    """Return how the worker of a failed activity was lost, None if the activity failed otherwise."""
    if not isinstance(error, ActivityError):
        return None
    match error.__cause__:
        case ApplicationError(type=kind) if kind == WORKER_STOPPED:
            return Loss(LossKind.STOPPED, StepError(WORKER_LOST, "the worker was stopped"))
        case exceptions.TimeoutError(type=TimeoutType.HEARTBEAT):
            silence = f"the worker died or hung: no heartbeat for {step.heartbeat_seconds:g} s"
            return Loss(LossKind.DIED, StepError(WORKER_LOST, silence))
        case ApplicationError(message=lack) if is_unfit(step, error):
            return Loss(LossKind.UNFIT, StepError(WORKER_UNFIT, f"{lack} (worker {error.identity})"))
        case _:
            return None


def final_error(step: Step, error: BaseException, losses: Losses) -> StepError:
    """Return the error of a step that is not started again, including that its workers were lost."""
    loss, cause = loss_of(step, error), error.__cause__
    if loss is None:
        why = error_of(step, error)
        is_late = is_out_of_time(error) and losses.kinds[-1:] == (LossKind.UNFIT,)
        return StepError(why.type, f"{why.message}; {losses.earlier[-1].error.message}") if is_late else why
    if loss.kind is LossKind.UNFIT and isinstance(cause, ApplicationError):
        tried = losses.kinds.count(LossKind.UNFIT) + 1
        where = f"no worker that has it took the step in {tried} tr{'ies' if tried > 1 else 'y'}"
        return StepError(cause.type or WORKER_UNFIT, f"{loss.error.message}; {where}")
    count = len(losses.kinds) + 1
    workers = f"{count} worker{'s' * (count > 1)}"
    return StepError(WORKER_LOST, f"{loss.error.message}; the step has lost {workers}, and may be the cause")
