"""Explain a run's steps: combine the worker's decisions with the attempts that Temporal's server knows of."""

import asyncio
from collections.abc import Mapping
from typing import Any

from temporalio.client import WorkflowExecutionStatus, WorkflowHandle

from docrail.dag.explain.facts import ItemsAtWork, RunExplanation, StepExplanation
from docrail.dag.explain.packing import page_of
from docrail.dag.explain.words import in_words
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.engine import WORKER_TIMEOUT, status_of, worker_answers
from docrail.services.errors import InvalidInput, NotFound
from docrail.services.runs.executing import describe, handle_of
from docrail.services.runs.service import checked_run_id
from docrail.services.runs.views.explained import explain_deleted, explain_ended
from docrail.services.runs.views.pending_activities import Pending, pending_of
from docrail.services.runs.views.reports import end_of
from docrail.services.runs.views.running_items import at_work_words, items_at_work
from docrail.services.runs.views.waits import InnerWaits, inner_waits
from docrail.workflows.contract.names import EXPLAIN, run_id_of, tenant_of

_UNRECORDED_ENDS = (WorkflowExecutionStatus.TERMINATED, WorkflowExecutionStatus.TIMED_OUT)
"""Ends that a run itself does not notice: its worker reports the state before."""


async def explain_run(
    app: App,
    principal: Principal,
    run_id: str,
    *,
    step: str | None = None,
    after: str | None = None,
    limit: int = 100,
) -> RunExplanation:
    """Explain one step of a run, or a page of its steps, also after its end, and after Temporal has deleted it.

    Raises: NotFound, also for a step that the run does not have; InvalidInput; Unavailable without a worker, except for
    an ended run that was explained before.
    """
    checked_run_id(run_id)
    if step is not None and after is not None:
        raise InvalidInput([InputProblem("after", "a single step has no further pages")])
    try:
        description = await describe(app, principal.tenant_id, run_id)
    except NotFound:
        if (whole := await explain_deleted(app, principal.tenant_id, run_id)) is None:
            raise
        return in_words(_page(whole, step, after, limit)).model_copy(update={"words": whole.words})
    handle = app.temporal.get_workflow_handle(description.id, run_id=description.run_id)
    if description.close_time is None:
        explanation = await _explain_open(app, handle, step, after, limit)
    else:
        explanation = in_words(_page(await explain_ended(app, description), step, after, limit))
    known = await asyncio.gather(
        pending_of(app, description, explanation.steps),
        items_at_work(app, description, explanation.steps),
        inner_waits(app, description, explanation.steps),
    )
    steps = {step_id: _with_known(run_id, step_id, step, *known) for step_id, step in explanation.steps.items()}
    known_now: dict[str, object] = {"steps": steps}
    if explanation.status is RunStatus.PAUSED:
        known_now["words"] = (*explanation.words, f"nothing begins in it before `docrail run resume {run_id}`")
    if description.status in _UNRECORDED_ENDS:
        known_now |= {"status": status_of(description), "words": (await end_of(handle, description),)}
    return explanation.model_copy(update=known_now)


async def _explain_open(
    app: App, handle: WorkflowHandle[Any, Any], step: str | None, after: str | None, limit: int
) -> RunExplanation:
    explanation = await _ask(app, handle, [step, after, limit])
    if step is not None and step not in explanation.steps:
        others = await _ask(app, handle, [None, None, limit])
        raise NotFound("step", step, known=[*others.steps])
    return explanation


def _page(whole: RunExplanation, step: str | None, after: str | None, limit: int) -> RunExplanation:
    if step is not None and step not in whole.steps:
        raise NotFound("step", step, known=[*whole.steps])
    return page_of(whole, step_id=step, after=after, limit=limit)


async def load_step_status(app: App, principal: Principal, run_id: str, step_id: str) -> StepStatus | None:
    """Return a step's status; None if the run has no such step. Raises: NotFound (the run), Unavailable."""
    handle = await handle_of(app, principal.tenant_id, checked_run_id(run_id))
    step = (await _ask(app, handle, [step_id, None, 1])).steps.get(step_id)
    return None if step is None else step.status


async def _ask(app: App, handle: WorkflowHandle[Any, Any], wanted: list[str | int | None]) -> RunExplanation:
    async with worker_answers(app, tenant_of(handle.id), run_id_of(handle.id)):
        explanation: RunExplanation = await handle.query(
            EXPLAIN, args=wanted, result_type=RunExplanation, rpc_timeout=WORKER_TIMEOUT
        )
    return in_words(explanation)


def _with_known(
    run_id: str,
    step_id: str,
    step: StepExplanation,
    pending: Pending,
    at_work: Mapping[str, ItemsAtWork],
    inner: Mapping[str, InnerWaits],
) -> StepExplanation:
    """Return the explanation, extended by what the server knows of current attempts and nested runs."""
    words = [*step.words, *pending.words(step_id, step.resource_tag)]
    attempts = pending.attempts.get(step_id)
    if attempts and step.attempts:
        attempts = attempts.model_copy(update={"earlier": (*step.attempts.earlier, *attempts.earlier)})
    nested, items, waits = pending.nested.get(step_id), at_work.get(step_id), inner.get(step_id)
    if items is not None:
        words += at_work_words(items, step.resource_tag)
    if waits is not None:
        words += waits.words(run_id)
    return step.model_copy(
        update={
            "attempts": attempts or step.attempts,
            "nested_run_id": nested and nested.run_id,
            "at_work": items,
            "inner_waiting": waits.runs if waits else 0,
            "inner_waits": waits.waits if waits else (),
            "words": tuple(words),
        }
    )
