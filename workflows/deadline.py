"""The timer of a run's deadline, and what is told once it has passed. It stops nothing."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from temporalio import workflow

from dag.calls import OverdueRun
from dag.messages import DeadlinePassed
from dag.plan import Plan
from workflows.contract import OVERDUE, RECORD_OVERDUE, RunRequest
from workflows.launch import RECORD_TIMEOUT


@contextmanager
def deadline(seconds: float | None, tell: Callable[[DeadlinePassed], None]) -> Iterator[None]:
    """Tell, while the body runs, that the deadline has passed; None: there is none, and so no timer.

    It counts from the start of the workflow, so that the time in which no worker took the run counts too.
    """
    if seconds is None:
        yield
        return
    passing = asyncio.create_task(_pass(seconds, tell))
    try:
        yield
    finally:
        passing.cancel()


async def _pass(seconds: float, tell: Callable[[DeadlinePassed], None]) -> None:
    left = workflow.info().workflow_start_time.timestamp() + seconds - workflow.time()
    if left > 0:
        await workflow.sleep(left)
    tell(DeadlinePassed(workflow.time()))


async def record_overdue(request: RunRequest, plan: Plan) -> None:
    """Mark the run in Temporal's lists and tell people; tried until it works."""
    assert plan.deadline_seconds is not None, "only a deadline makes a run overdue"
    workflow.upsert_search_attributes([OVERDUE.value_set("true")])
    overdue = OverdueRun(
        tenant_id=request.tenant_id,
        run_id=request.run_id,
        definition_id=plan.id,
        version=request.version,
        document_id=None if request.document is None else request.document["document_id"],
        started_at=workflow.info().workflow_start_time.timestamp(),
        deadline_seconds=plan.deadline_seconds,
    )
    await workflow.execute_activity(RECORD_OVERDUE, overdue, start_to_close_timeout=RECORD_TIMEOUT, summary="overdue")
