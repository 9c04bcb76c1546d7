"""Build the context of a run for expressions, the placeholders of its callback URLs, and its deadline.

The deadline only notifies people and marks the run as overdue; it stops nothing.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from temporalio import workflow

from docrail.dag.engine.events import DeadlinePassed
from docrail.dag.engine.plan import Plan, Step
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.messages import Callback, OverdueRun
from docrail.workflows.contract.names import OVERDUE, RECORD_OVERDUE, RunRequest
from docrail.workflows.start_step import RECORD_TIMEOUT


def placeholders(webhooks: tuple[Step, ...]) -> dict[str, Json]:
    """Return a placeholder for each webhook's URL. Activities insert the URL, so that no history contains it.

    The random part keeps a document's text from using one.
    """
    if not webhooks:
        return {}
    nonce = workflow.uuid4().hex
    return {step.id: f"callback://{nonce}/{step.id}" for step in webhooks}


def own_callbacks(run_id: str, webhooks: tuple[Step, ...], run: Mapping[str, Json]) -> Iterator[Callback]:
    """Yield the callback for each of the run's placeholders; `run` is the context's `run`."""
    placeholders = run.get("callbacks", {})
    for step in webhooks:
        if step.definition.wait and step.id in placeholders:
            yield Callback(
                placeholder=placeholders[step.id],
                run_id=run_id,
                step_id=step.id,
                timeout_seconds=step.definition.wait.timeout_seconds,
            )


def context_of(request: RunRequest, callbacks: dict[str, Json]) -> dict[str, Json]:
    """Return the run's context, as expressions read it."""
    run = {"id": request.run_id, "tenant_id": request.tenant_id, "callbacks": callbacks}
    workflow_ = {"id": request.run_id, "definition": request.definition["id"], "version": request.version}
    return {"run": run, "workflow": workflow_, "document": request.document}


@contextmanager
def deadline(seconds: float | None, add: Callable[[DeadlinePassed], None]) -> Iterator[None]:
    """Add an event once the deadline has passed while the body runs; None: no deadline, and so no timer.

    It counts from the start of the workflow, so that time spent waiting for a worker is included.
    """
    if seconds is None:
        yield
        return
    passing = asyncio.create_task(_pass(seconds, add))
    try:
        yield
    finally:
        passing.cancel()


async def _pass(seconds: float, add: Callable[[DeadlinePassed], None]) -> None:
    left = workflow.info().workflow_start_time.timestamp() + seconds - workflow.time()
    if left > 0:
        await workflow.sleep(left)
    add(DeadlinePassed(workflow.time()))


async def record_overdue(request: RunRequest, plan: Plan) -> None:
    """Mark the run in Temporal's lists and notify people, retried until it succeeds."""
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
