"""Names that histories and running work hold: a renamed function or constant must not change any of them."""

from pathlib import Path

from temporalio.activity import _Definition as ActivityDefinition
from temporalio.workflow import _Definition as WorkflowDefinition

from docrail.activities.discovery import INTERNAL
from docrail.activities.registry import load_catalogue
from docrail.settings import Settings
from docrail.worker import build_workers
from docrail.workflows.contract import names as contract
from docrail.workflows.map_chunk import Chunk
from docrail.workflows.run import Run
from tests.workflows.conftest import Bench, tools_in

WORKFLOWS = {
    "Run",
    "Chunk",
    "Maintenance",
    "SlaWatch",
    "BackgroundTasks",
    "Export",
    "Batch",
    "DocumentChunk",
    "Trigger",
}
ACTIVITIES = {
    *("open_review", "escalate_review", "close_review", "record_decision", "record_dead_letter", "record_overdue"),
    *("store_value", "load_values", "load_state", "notify_sla", "file_reviewed"),
    *("list_lake_tenants", "look_after_lake", "remove_old_values", "remove_old_originals", "remove_expired_rows"),
    *("start_waiting_documents", "answer_waiting_runs", "start_waiting_exports", "forget_events"),
    *("note_ended_documents", "run_group", "copy_ended_runs", "keep_metrics", "record_ends"),
    *("make_export", "send_export", "fail_export"),
    *("start_waiting_batches", "keep_window", "notify_batch", "fail_batch_webhook", "fire_trigger"),
}
HANDLERS = {
    *("ask_gemini", "call_external_service", "create_review", "echo", "extract_invoice", "fail", "input"),
    *("llm_service", "noop", "notify", "output", "parse_http_request", "record_metrics", "save_json", "save_parquet"),
    *("send_webhook", "sleep", "transform"),
}
"""Definitions use these names. A new handler needs no row here."""


async def test_workflows_and_activities_are_registered_under_these_names(bench: Bench, tmp_path: Path) -> None:
    settings = Settings(task_queue="names", worker_resource_tags=())
    worker, batches = build_workers(bench.client, settings, tools_in(tmp_path))
    config = worker.config()
    registered = [*config["activities"], *batches.config()["activities"]]
    activities = {ActivityDefinition.must_from_callable(each).name for each in registered}
    assert {WorkflowDefinition.must_from_class(each).name for each in config["workflows"]} == WORKFLOWS
    assert activities - load_catalogue().keys() == ACTIVITIES | {None}  # None: handlers that this worker lacks
    assert activities >= HANDLERS
    assert INTERNAL == ACTIVITIES, "a handler with such a name is refused"


def test_a_run_takes_these_messages() -> None:
    run = WorkflowDefinition.must_from_class(Run)
    assert set(run.signals) == {"pause", "resume", "abort", "answer"}
    assert set(run.updates) == {"pause", "resume", "abort", "answer", "resolve"}
    assert set(run.queries) == {
        *("state", "output", "explain", "explain_all", "saved", "progress", "step_input", "step_items"),
    }


def test_a_run_and_its_chunks_send_each_other_these_signals() -> None:
    assert set(WorkflowDefinition.must_from_class(Chunk).signals) == {"pause", "resume", "widen"}
    assert contract.CHUNK_THINNED == "chunk_thinned"


def test_a_namespace_has_these_search_attributes() -> None:
    names = {key.name: key.indexed_value_type.name for key in contract.SEARCH_ATTRIBUTES}
    wanted = ("Tenant", "Definition", "Document", "Status", "Overdue", "Key")
    assert names == {f"Docrail{name}": "KEYWORD" for name in wanted}
