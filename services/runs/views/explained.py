"""Explain ended runs: a worker replays a run for its first explanation, which is stored for all later ones."""

from typing import Any

from temporalio.client import WorkflowExecution, WorkflowHandle

from docrail.dag.explain.facts import RunExplanation, StepExplanation
from docrail.dag.explain.packing import packed, unpacked, unpacked_answer
from docrail.dag.explain.report import RunReport
from docrail.dag.explain.words import run_words
from docrail.services.app import App
from docrail.services.engine import WORKER_TIMEOUT, worker_answers
from docrail.services.runs.ended_runs import load_ended
from docrail.services.runs.explanations import KeptExplanation, load_explanation, save_explanation
from docrail.workflows.contract.names import EXPLAIN_ALL, run_id_of, tenant_of

DELETED = "Temporal has deleted the run: shown is the copy of its explanation"


async def explain_ended(app: App, execution: WorkflowExecution) -> RunExplanation:
    """Return the facts of an ended run and of all its steps. Raises: NotFound; Unavailable without a worker."""
    tenant_id, run_id = tenant_of(execution.id), run_id_of(execution.id)
    kept = await load_explanation(app.db, tenant_id, run_id)
    if kept is not None and kept.execution_id == execution.run_id:
        return unpacked(kept.facts)
    assert execution.close_time is not None, "it has ended"
    handle = app.temporal.get_workflow_handle(execution.id, run_id=execution.run_id)
    facts = await _ask(app, handle)
    kept = KeptExplanation(execution.run_id, execution.close_time, packed(facts))
    await save_explanation(app.db, tenant_id, run_id, kept)
    return facts


async def explain_deleted(app: App, tenant_id: str, run_id: str) -> RunExplanation | None:
    """Return the facts of a run that Temporal has deleted, with the sentences about the run, but without its steps'.

    None if they were not stored, or it has ended again since. Raises: Unavailable.
    """
    kept = await load_explanation(app.db, tenant_id, run_id)
    copied = await load_ended(app.db, tenant_id, run_id)
    if kept is None or (copied is not None and copied.ended_at > kept.ended_at):
        return None
    facts = unpacked(kept.facts)
    words = tuple(run_words(facts))
    if copied is not None and not facts.progress.has_ended:  # it could not record its end: its report knows it
        report = RunReport.model_validate(copied.report)
        facts, words = facts.model_copy(update={"status": report.status}), (report.reason,)
    return facts.model_copy(update={"words": (*words, DELETED)})


async def _ask(app: App, handle: WorkflowHandle[Any, Any]) -> RunExplanation:
    """Return the facts of all steps. One answer has those of thousands."""
    found, after, steps = None, None, dict[str, StepExplanation]()
    while found is None or after is not None:
        async with worker_answers(app, tenant_of(handle.id), run_id_of(handle.id)):
            answer: str = await handle.query(EXPLAIN_ALL, after, result_type=str, rpc_timeout=WORKER_TIMEOUT)
        found = unpacked_answer(answer)
        steps |= found.steps
        after = found.after
    return found.model_copy(update={"steps": steps, "after": None})
