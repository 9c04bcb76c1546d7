"""Restart the activity of a step whose worker was stopped or lost, a bounded number of times.

Such an attempt does not count as failed. Temporal counts every attempt that does not complete, so both ends are errors
that it does not retry, and the run starts another activity with the remaining attempts and time.
"""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from temporalio import exceptions, workflow
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutType

from docrail.dag.engine.state import MOST_EARLIER, WORKER_LOST, EarlierError, StepError
from docrail.dag.language.definition import Step
from docrail.workflows.contract.messages import WORKER_STOPPED
from docrail.workflows.failures import attempts_of, earlier_of

NOT_RETRIED = (WORKER_STOPPED, "TemporalTimeout:Heartbeat")
"""Both ends, as named in `non_retryable_error_types`."""

MOST_LOST = 5
"""Workers that one step or item may lose without notice: it may be the cause of their loss."""

MOST_STOPPED = 50
"""Planned stops that one step or item may meet: enough for deployments, but not for an endless loop of them."""


@dataclass(frozen=True, slots=True)
class Losses:
    """The workers that a step or an item has lost, and the result of its earlier activities."""

    since: float
    """When its first activity was started, in seconds since the epoch."""
    lost: int = 0
    stopped: int = 0
    failed: int = 0
    """Attempts that failed."""
    earlier: tuple[EarlierError, ...] = ()
    is_cancelled: bool = False
    """Whether it was cancelled, so it is not started again."""

    def left_of(self, total_timeout_seconds: float | None) -> timedelta | None:
        """Return the time left for all attempts; None: there is no limit."""
        if total_timeout_seconds is None:
            return None
        return timedelta(seconds=self.since + total_timeout_seconds - workflow.time())


NO_LOSSES = Losses(0.0)
"""For work that is never started again."""


def losses_after(step: Step, work: asyncio.Task[Any], before: Losses) -> Losses | None:
    """Return the losses with which ended work is started again; None if it is not."""
    error = _error_of(work)
    reason = None if error is None else loss_of(step, error)
    if error is None or reason is None or before.is_cancelled:
        return None
    attempt = attempts_of(step, error, before.failed)
    latest = EarlierError(attempt, StepError(WORKER_LOST, reason))
    is_stop = _is_stop(error)
    after = replace(
        before,
        lost=before.lost + (not is_stop),
        stopped=before.stopped + is_stop,
        failed=attempt - 1,
        earlier=(*before.earlier, *earlier_of(error), latest)[-MOST_EARLIER:],
    )
    left = after.left_of(step.total_timeout_seconds)
    is_over = left is not None and left <= timedelta()
    return None if is_over or after.lost > MOST_LOST or after.stopped > MOST_STOPPED else after


def loss_of(step: Step, error: BaseException) -> str | None:
    """Return how the worker of a failed activity was lost, None if the activity failed otherwise."""
    if _is_stop(error):
        return "the worker was stopped"
    if isinstance(error, ActivityError) and _is_silence(error.__cause__):
        return f"the worker died or hung: no heartbeat for {step.heartbeat_seconds:g} s"
    return None


def final_error(reason: str, before: Losses) -> StepError:
    """Return the error of a step that is not started again although its worker was lost."""
    lost = before.lost + before.stopped + 1
    return StepError(WORKER_LOST, f"{reason}; the step has lost {lost} worker{'s' * (lost > 1)}, and may be the cause")


def _error_of(work: asyncio.Task[Any]) -> BaseException | None:
    return None if work.cancelled() else work.exception()


def _is_stop(error: BaseException) -> bool:
    cause = error.__cause__ if isinstance(error, ActivityError) else None
    return isinstance(cause, ApplicationError) and cause.type == WORKER_STOPPED


def _is_silence(cause: BaseException | None) -> bool:
    return isinstance(cause, exceptions.TimeoutError) and cause.type is TimeoutType.HEARTBEAT
