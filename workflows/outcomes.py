"""Translate the end of work to the scheduler's event."""

import asyncio

from temporalio.exceptions import FailureError, is_cancelled_exception

from docrail.dag.engine.events import Chunk, ChunkEnded, Event, Part, StepCancelled, StepCompleted, StepFailed, TimedOut
from docrail.dag.engine.plan import Step
from docrail.dag.engine.state import MOST_EARLIER, StepError
from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus
from docrail.workflows.contract.messages import StepOutcome
from docrail.workflows.contract.names import ChunkReport
from docrail.workflows.failures import attempts_of, earlier_of, is_out_of_time
from docrail.workflows.lost_workers import Losses, MadeAlone, final_error, loss_of

Work = asyncio.Task[StepOutcome | RunReport | ChunkReport | None] | asyncio.Future[StepOutcome]
"""Running work of a step, an item or a chunk: an activity, a call in a group, a nested run, a chunk, a wait (None: it
timed out)."""


def event_of(  # noqa: PLR0911 - a case a kind of end
    step: Step, part: Part, work: Work, losses: Losses, at: float
) -> Event:
    """Return the event for ended work. Only Temporal's failures are outcomes: anything else is a bug."""
    try:
        result = work.result()
    except (FailureError, asyncio.CancelledError) as error:
        lost = loss_of(step.definition, error)
        is_ended_by_it = losses.is_cancelled and (lost or isinstance(error, MadeAlone))
        if is_cancelled_exception(error) or is_ended_by_it:
            return StepCancelled(step.id, at, part)
        why = final_error(step.definition, error, losses)
        attempts = attempts_of(step.definition, error, losses.failed)
        earlier = (*losses.earlier, *earlier_of(error))[-MOST_EARLIER:]
        return StepFailed(step.id, why, attempts, at, part, earlier, is_out_of_time(error))
    match result:
        case StepOutcome(output=output, attempt=attempt, cached=cached, earlier=earlier):
            earlier = (*losses.earlier, *earlier)[-MOST_EARLIER:]
            return StepCompleted(step.id, output, attempt, at, part, cached, earlier)
        case RunReport(status=RunStatus.COMPLETED, outputs=outputs):
            return StepCompleted(step.id, outputs, 1, at, part)
        case RunReport(run_id=run_id, reason=reason):
            return StepFailed(step.id, StepError("RunAborted", f"{run_id} was aborted: {reason}"), 1, at, part)
        case ChunkReport(ends=ends):
            assert isinstance(part, Chunk), "only a chunk gives such a report"
            return ChunkEnded(step.id, part, ends, at)
        case None:
            return TimedOut(step.id, at)
