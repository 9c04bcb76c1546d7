"""Explain ended runs from their results. A worker replays those without one once; that explanation is stored."""

from temporalio.client import WorkflowExecution

from docrail.dag.explain.facts import RunExplanation, StepExplanation
from docrail.dag.explain.packing import packed, packed_in, unpacked, unpacked_text
from docrail.dag.explain.report import EndReport, RunReport
from docrail.dag.explain.words import run_words
from docrail.services.app import App
from docrail.services.engine import WORKER_TIMEOUT, worker_answers
from docrail.services.runs.ended_runs import load_ended
from docrail.services.runs.explanations import KeptExplanation, load_explanation, save_explanations
from docrail.services.runs.views.reports import result_of
from docrail.workflows.contract.names import EXPLAIN_ALL, run_id_of, tenant_of

DELETED = "Temporal has deleted the run: shown is the copy of its explanation"


async def explain_ended(app: App, execution: WorkflowExecution) -> RunExplanation:
    """Return the facts of an ended run and of all its steps.

    Raises: NotFound; Unavailable without a worker, if the run's result has none: it was cancelled or terminated, or has
    hundreds of steps.
    """
    kept = await load_explanation(app.db, tenant_of(execution.id), run_id_of(execution.id))
    if kept is None or kept.execution_id != execution.run_id:
        kept = explanation_in(execution, await result_of(app.temporal, execution))
        if kept is None:
            kept = _kept(execution, packed(await _ask(app, execution)))
        await save_explanations(app.db, [kept])
    return unpacked(kept.facts)


def explanation_in(execution: WorkflowExecution, report: RunReport | None) -> KeptExplanation | None:
    """Return the explanation that a run's result has; None if it has none."""
    if not isinstance(report, EndReport) or not report.explanation:
        return None
    return _kept(execution, packed_in(report.explanation))


def _kept(execution: WorkflowExecution, facts: bytes) -> KeptExplanation:
    assert execution.close_time is not None, "it has ended"
    whose = tenant_of(execution.id), run_id_of(execution.id)
    return KeptExplanation(*whose, execution.run_id, execution.close_time, facts)


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


async def _ask(app: App, execution: WorkflowExecution) -> RunExplanation:
    """Return the facts of all steps, from a worker that replays the run. One answer has those of thousands."""
    handle = app.temporal.get_workflow_handle(execution.id, run_id=execution.run_id)
    found, after, steps = None, None, dict[str, StepExplanation]()
    while found is None or after is not None:
        async with worker_answers(app, tenant_of(handle.id), run_id_of(handle.id)):
            answer: str = await handle.query(EXPLAIN_ALL, after, result_type=str, rpc_timeout=WORKER_TIMEOUT)
        found = unpacked_text(answer)
        steps |= found.steps
        after = found.after
    return found.model_copy(update={"steps": steps, "after": None})
