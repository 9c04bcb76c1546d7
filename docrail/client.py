# Made by `python -m docs.client_python`: change the API, not this file.
# mypy: disable-error-code="empty-body"
"""The client of the API: `from docrail import Client`. In one file because it is made as a whole."""

import asyncio
import functools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Self, TypeVar

from docrail.transport import TIMEOUT_SECONDS, File, Transport, end_of_run, path_part, sends

if TYPE_CHECKING:
    from docrail import client_types as types

Json = Any
Page = TypeVar("Page", bound=Mapping[str, Any])
P = ParamSpec("P")
T = TypeVar("T")
HERE = "http://127.0.0.1:8000"


def _address(given: str | None) -> str:
    return given or os.environ.get("DOCRAIL_API_URL") or HERE


def _key(given: str | None) -> str:
    return os.environ.get("DOCRAIL_API_KEY", "") if given is None else given


class AsyncClient:
    """Calls the API from code with an event loop: `async with AsyncClient() as client`.

    `address` is by default that of DOCRAIL_API_URL, else http://127.0.0.1:8000; `key` that of DOCRAIL_API_KEY, else
    none. Methods raise ApiError with the API's problem, and NoAnswerError if the API is unavailable.
    """

    def __init__(
        self, address: str | None = None, key: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """Prepare a connection. Raises: ApiError if that is not an address, or the key is none."""
        self.transport = Transport(_address(address), _key(key), timeout_seconds=timeout_seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self.transport.close()

    async def request(self, method: str, path: str, **request: Any) -> Any:
        """Return the answer to a request that has no method here; `request` as httpx takes it."""
        return await self.transport.request(method, path, **request)

    async def wait_for_run(self, run_id: str) -> "types.RunOut":
        """Wait until a run has ended, and return its report. It may take weeks: someone may be asked."""
        found: types.RunOut = await end_of_run(self.transport, f"/v1/runs/{path_part(run_id)}")
        return found

    async def pages(self, list_: "Callable[..., Awaitable[Page]]", *given: Any, **wanted: Any) -> "AsyncIterator[Page]":
        """Yield the pages of a list: `client.pages(client.list_runs, status="failed")`."""
        after: str | None = None
        while True:
            page = await list_(*given, **wanted, after=after)
            yield page
            after = page["after"]
            if after is None:
                return

    @sends("POST", "/v1/documents")
    async def upload_document(
        self,
        file: File,
        *,
        idempotency_key: str | None = None,
        sla_hours: int | None = None,
        source: str | None = None,
        definition: str | None = None,
        inputs: Mapping[str, Json] | None = None,
        key: str | None = None,
    ) -> "types.Document":
        """Store a document and start its run."""

    @sends("GET", "/v1/documents")
    async def list_documents(
        self,
        *,
        status: "types.DocumentStatus | None" = None,
        document_type: "types.DocumentType | None" = None,
        vendor: str | None = None,
        text: str | None = None,
        since: str | None = None,
        until: str | None = None,
        sort: "types.DocumentSort | None" = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> "types.DocumentPage":
        """List documents with their status, in the order of `sort`: latest upload first unless it says …."""

    @sends("GET", "/v1/documents/counts")
    async def count_documents(
        self,
        *,
        document_type: "types.DocumentType | None" = None,
        vendor: str | None = None,
        text: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> "types.DocumentCounts":
        """Count documents by status."""

    @sends("GET", "/v1/documents/{document_id}")
    async def show_document(self, document_id: str) -> "types.Document":
        """Show a document."""

    @sends("GET", "/v1/documents/{document_id}/neighbours")
    async def show_neighbours(
        self,
        document_id: str,
        *,
        status: "types.DocumentStatus | None" = None,
        document_type: "types.DocumentType | None" = None,
        vendor: str | None = None,
        text: str | None = None,
        since: str | None = None,
        until: str | None = None,
        sort: "types.DocumentSort | None" = None,
        below: str | None = None,
    ) -> "types.Neighbours":
        """Show the documents before and after one in a list, without those that others work on, and its …."""

    @sends("POST", "/v1/documents/{document_id}/extract")
    async def extract_again(self, document_id: str, *, idempotency_key: str | None = None) -> "types.StartedRun":
        """Read a document again with the current readers."""

    @sends("POST", "/v1/documents/{document_id}/send-again")
    async def send_again(self, document_id: str) -> "types.ListedDocument":
        """Try a failed document again: its failed steps are retried."""

    @sends("POST", "/v1/documents/{document_id}/dismiss")
    async def dismiss_document(self, document_id: str, body: "types.DismissIn | None" = None) -> "types.ListedDocument":
        """Set the failure of a document aside."""

    @sends("GET", "/v1/documents/{document_id}/original", is_file=True)
    async def download_original(self, document_id: str) -> bytes:
        """Download a document as it was sent."""

    @sends("GET", "/v1/documents/{document_id}/pages/{number}.png", is_file=True)
    async def show_page(self, document_id: str, number: int, *, size: Literal["full", "small"] | None = None) -> bytes:
        """Show a page as an image of at most 2.2 megapixels."""

    @sends("GET", "/v1/documents/{document_id}/pages/{number}/words")
    async def show_words(self, document_id: str, number: int) -> "types.PageWords":
        """Show the words of a page and where they are on its image, in reading order; a scan's come from OCR."""

    @sends("GET", "/v1/documents/{document_id}/model-uses")
    async def list_model_uses(self, document_id: str) -> "list[types.DocumentUse]":
        """List the model answers about the document, in order."""

    @sends("GET", "/v1/usage")
    async def show_usage(self) -> "types.ModelUsage":
        """Show what models' answers cost the tenant today, against its budget, and on each of the last 31 days."""

    @sends("GET", "/v1/tenants")
    async def list_tenants(self) -> "types.TenantListOut":
        """List the tenants with their keys, documents and cost of today."""

    @sends("POST", "/v1/runs")
    async def start_run(self, body: "types.RunOrder", *, idempotency_key: str | None = None) -> "types.StartedRun":
        """Start a run."""

    @sends("GET", "/v1/runs")
    async def list_runs(
        self,
        *,
        definition: str | None = None,
        document: str | None = None,
        status: "types.RunStatus | None" = None,
        overdue: bool | None = None,
        started_since: str | None = None,
        started_before: str | None = None,
        ended_since: str | None = None,
        ended_before: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> "types.RunPage":
        """List runs, each once, by the start of their last attempt, latest first."""

    @sends("GET", "/v1/runs/counts")
    async def count_runs(self, *, definitions: str, failed_since: str) -> "types.RunCounts":
        """Count the open runs of definitions, and those that have failed lately."""

    @sends("GET", "/v1/runs/{run_id}")
    async def show_run(self, run_id: str) -> "types.RunOut":
        """Show a run with its steps, each explained."""

    @sends("GET", "/v1/runs/{run_id}/outputs")
    async def show_outputs(self, run_id: str) -> "types.OutputsOut":
        """Show a run's full outputs, of any size; none before its end."""

    @sends("GET", "/v1/runs/{run_id}/inputs")
    async def show_inputs(self, run_id: str) -> "types.InputsOut":
        """Show a run's full inputs; after a retry with other inputs, those."""

    @sends("GET", "/v1/runs/{run_id}/steps/{step_id}/output")
    async def show_output(self, run_id: str, step_id: str) -> "types.OutputOut":
        """Show a step's full output, of any size: a run's report only refers to outputs of more than 64 KiB."""

    @sends("GET", "/v1/runs/{run_id}/explain")
    async def explain_run(
        self, run_id: str, *, step: str | None = None, limit: int | None = None, after: str | None = None
    ) -> "types.RunExplanation":
        """Explain why each step is in its state: conditions with the values they read, attempts, and waits."""

    @sends("POST", "/v1/runs/{run_id}/pause")
    async def pause_run(self, run_id: str, body: "types.WhyIn | None" = None) -> "types.RunStatusOut":
        """Start no more steps of the run; running ones continue."""

    @sends("POST", "/v1/runs/{run_id}/resume")
    async def resume_run(self, run_id: str, body: "types.WhyIn | None" = None) -> "types.RunStatusOut":
        """Resume a paused run."""

    @sends("POST", "/v1/runs/{run_id}/abort")
    async def abort_run(self, run_id: str, body: "types.AbortIn | None" = None) -> "types.RunStatusOut":
        """End the run early."""

    @sends("POST", "/v1/runs/{run_id}/waits/{step_id}")
    async def answer_wait(self, run_id: str, step_id: str, body: "types.AnswerIn") -> "types.RunStatusOut":
        """Answer a step that waits for a signal, a webhook or a person."""

    @sends("GET", "/v1/runs/{run_id}/waits")
    async def list_waits(self, run_id: str, *, limit: int | None = None, after: str | None = None) -> "types.WaitPage":
        """List what a run and its nested runs wait for; `limit` is the number of nested runs per page."""

    @sends("GET", "/v1/runs/{run_id}/actions")
    async def list_actions(
        self, run_id: str, *, step: str | None = None, limit: int | None = None, after: str | None = None
    ) -> "types.ActionPage":
        """List people's actions on a run and its failed steps, newest first."""

    @sends("GET", "/v1/runs/{run_id}/graph")
    async def show_run_graph(self, run_id: str, *, open_: str | None = None) -> "types.RunGraph":
        """Draw a run: at most 300 nodes, each a step or a group of steps, with their states."""

    @sends("GET", "/v1/runs/{run_id}/states")
    async def show_run_states(self, run_id: str, *, open_: str | None = None) -> "types.RunStates":
        """Show only the states of a drawing's nodes, to follow a run without drawing it again."""

    @sends("GET", "/v1/runs/{run_id}/steps")
    async def list_steps(
        self,
        run_id: str,
        *,
        search: str | None = None,
        status: "types.StepStatus | None" = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> "types.StepPage":
        """List a run's steps in plan order with states and times, as for a timeline."""

    @sends("GET", "/v1/runs/{run_id}/steps/{step_id}")
    async def show_step(self, run_id: str, step_id: str) -> "types.StepDetail":
        """Show a step: why it is in its state, its input and output as text, its attempts, and the possible …."""

    @sends("GET", "/v1/runs/{run_id}/steps/{step_id}/input")
    async def show_input(self, run_id: str, step_id: str, *, item: str | None = None) -> "types.InputOut":
        """Show a step's full input, of any size, or that of an item of its list."""

    @sends("GET", "/v1/runs/{run_id}/steps/{step_id}/items")
    async def list_items(
        self,
        run_id: str,
        step_id: str,
        *,
        status: "types.StepStatus | None" = None,
        limit: int | None = None,
        after: int | None = None,
    ) -> "types.ItemPage":
        """List the items of a step's list, in order; none for a step without a list."""

    @sends("POST", "/v1/runs/{run_id}/cancel")
    async def cancel_run(self, run_id: str, body: "types.WhyIn | None" = None) -> "types.RunStatusOut":
        """Ask a run to stop."""

    @sends("POST", "/v1/runs/bulk")
    async def act_on_many_runs(self, body: "types.BulkActionIn") -> "types.RunOutcomes":
        """Take one action on many runs."""

    @sends("POST", "/v1/runs/{run_id}/retry")
    async def retry_run(self, run_id: str, body: "types.RetryIn | None" = None) -> "types.RetriedRun":
        """Start a failed or cancelled run again under its id, or a completed one with failed items or …."""

    @sends("POST", "/v1/runs/{run_id}/steps/{step_id}/resolve")
    async def resolve_step(self, run_id: str, step_id: str, body: "types.ResolveIn") -> "types.RunStatusOut":
        """Resolve a parked step; its run continues."""

    @sends("GET", "/v1/dead-letters")
    async def list_letters(
        self,
        *,
        class_: str | None = None,
        definition: str | None = None,
        handler: str | None = None,
        step: str | None = None,
        status: "types.StatusFilter | None" = None,
        view: "types.View | None" = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> "types.LetterPage":
        """List permanently failed steps; by default those that need a person."""

    @sends("GET", "/v1/dead-letters/counts")
    async def count_letters(
        self,
        *,
        class_: str | None = None,
        definition: str | None = None,
        handler: str | None = None,
        step: str | None = None,
        status: "types.StatusFilter | None" = None,
        view: "types.View | None" = None,
    ) -> "types.LetterCounts":
        """Count letters by error class; by default all open ones."""

    @sends("GET", "/v1/dead-letters/groups")
    async def group_letters(
        self,
        *,
        definition: str | None = None,
        status: "types.StatusFilter | None" = None,
        view: "types.View | None" = None,
        limit: int | None = None,
    ) -> "types.LetterGroups":
        """Group letters by error class and step, with the number that failed again after a retry; by default …."""

    @sends("POST", "/v1/dead-letters/retry")
    async def retry_letters(self, body: "types.BulkIn") -> "types.Retried":
        """Retry many steps."""

    @sends("GET", "/v1/dead-letters/{run_id}/{step_id}")
    async def show_letter(self, run_id: str, step_id: str) -> "types.ShownLetter":
        """Show a failed step and the actions on it."""

    @sends("POST", "/v1/dead-letters/{run_id}/{step_id}/resolve")
    async def resolve_letter(self, run_id: str, step_id: str, body: "types.LetterOrderIn") -> "types.ShownLetter":
        """Resolve a failed step: in its run while that waits, or by retrying the run once it has ended."""

    @sends("POST", "/v1/workflow")
    async def submit_workflow(self, body: "types.SubmissionIn") -> "types.Execution":
        """Validate and store a definition for a run."""

    @sends("GET", "/v1/workflow/{execution_id}")
    async def show_workflow(self, execution_id: str) -> "types.Execution":
        """Show a submitted definition and the status of its run: pending until it is triggered."""

    @sends("POST", "/v1/workflow/trigger/{execution_id}")
    async def trigger_workflow(self, execution_id: str, body: "types.TriggerIn | None" = None) -> "types.Execution":
        """Start the run."""

    @sends("GET", "/v1/health")
    async def show_health(self) -> "types.Readiness":
        """Show which services are available."""

    @sends("GET", "/v1/workers")
    async def list_workers(self) -> "types.Fleet":
        """List the workers, also those that fell silent within the last hour, and what waits in their task …."""

    @sends("GET", "/v1/schedules")
    async def list_schedules(self) -> "types.ScheduleListOut":
        """List the schedules by which Docrail works on its own."""

    @sends("POST", "/v1/schedules/{schedule}/pause")
    async def pause_schedule(
        self, schedule: "types.ScheduleName", body: "types.ScheduleReason | None" = None
    ) -> "types.ShownSchedule":
        """Pause a schedule: no pass starts by itself, also after a restart of the servers."""

    @sends("POST", "/v1/schedules/{schedule}/resume")
    async def resume_schedule(
        self, schedule: "types.ScheduleName", body: "types.ScheduleReason | None" = None
    ) -> "types.ShownSchedule":
        """Resume a paused schedule."""

    @sends("POST", "/v1/schedules/{schedule}/run")
    async def run_schedule(self, schedule: "types.ScheduleName") -> "types.ShownSchedule":
        """Start a pass now, also of a paused schedule."""

    @sends("GET", "/v1/triggers")
    async def list_triggers(self) -> "types.TriggerList":
        """List the tenant's triggers, by name."""

    @sends("POST", "/v1/triggers")
    async def create_trigger(self, body: "types.TriggerOrder") -> "types.Trigger":
        """Start runs by schedule, or upload files of a watched folder or of mails."""

    @sends("GET", "/v1/triggers/{trigger}")
    async def show_trigger(self, trigger: str) -> "types.Trigger":
        """Show a trigger."""

    @sends("DELETE", "/v1/triggers/{trigger}")
    async def delete_trigger(self, trigger: str) -> "types.Trigger":
        """Delete a trigger."""

    @sends("POST", "/v1/triggers/{trigger}/pause")
    async def pause_trigger(self, trigger: str, body: "types.TriggerReason | None" = None) -> "types.Trigger":
        """Pause a trigger: it does not fire by itself until it is resumed."""

    @sends("POST", "/v1/triggers/{trigger}/resume")
    async def resume_trigger(self, trigger: str, body: "types.TriggerReason | None" = None) -> "types.Trigger":
        """Resume a paused trigger."""

    @sends("POST", "/v1/triggers/{trigger}/run")
    async def fire_trigger(self, trigger: str) -> "types.Trigger":
        """Fire a trigger now, also a paused one."""

    @sends("GET", "/v1/reviews")
    async def list_reviews(
        self,
        *,
        status: Literal["open", "postponed", "approved", "rejected", "decided", "closed"] | None = None,
        queue: str | None = None,
        kind: Literal["document", "step"] | None = None,
        group: str | None = None,
        claimed_by: str | None = None,
        assigned_to: str | None = None,
        vendor: str | None = None,
        band: int | None = None,
        due: str | None = None,
        run_id: str | None = None,
        sort: "types.Sort | None" = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> "types.ReviewPage":
        """List review items, most urgent first."""

    @sends("GET", "/v1/reviews/{review_id}")
    async def show_review(self, review_id: str) -> "types.FullReview":
        """Show a review item with its form and content."""

    @sends("POST", "/v1/reviews/{review_id}/decision")
    async def decide_review(self, review_id: str, body: "types.DecisionIn") -> "types.Decided":
        """Decide a human step's item, at any nesting depth of its run."""

    @sends("POST", "/v1/reviews/next")
    async def claim_next(self, body: "types.Wish | None" = None) -> "types.NextOut":
        """Claim the most urgent free item."""

    @sends("POST", "/v1/reviews/{review_id}/claim")
    async def claim_review(self, review_id: str) -> "types.Claim":
        """Claim an item for 15 minutes."""

    @sends("POST", "/v1/reviews/{review_id}/renew")
    async def renew_claim(self, review_id: str, body: "types.TokenIn") -> "types.RenewedOut":
        """Extend a claim by another 15 minutes."""

    @sends("POST", "/v1/reviews/{review_id}/release")
    async def release_review(self, review_id: str, body: "types.ReleaseIn | None" = None) -> "types.Review":
        """Return an item to the queue."""

    @sends("POST", "/v1/reviews/{review_id}/assign")
    async def assign_review(self, review_id: str, body: "types.AssignIn") -> "types.Review":
        """Assign an item to one person, who gets it first when claiming the next item."""

    @sends("POST", "/v1/reviews/{review_id}/postpone")
    async def postpone_review(self, review_id: str, body: "types.PostponeIn") -> "types.Review":
        """Postpone an item."""

    @sends("POST", "/v1/reviews/approve/preview")
    async def preview_approval(self, body: "types.PreviewIn") -> "types.ApprovalPreview":
        """Show what a bulk approval would do: what is approved, with its sums, and what stays open and why."""

    @sends("POST", "/v1/reviews/approve")
    async def approve_many(self, body: "types.BulkApprovalIn") -> "types.BulkResult":
        """Approve documents without problems."""

    @sends("POST", "/v1/reviews/{review_id}/approve")
    async def approve(self, review_id: str, body: "types.DocumentVerdict") -> "types.DecisionOutcome":
        """Approve a document as it was shown."""

    @sends("POST", "/v1/reviews/{review_id}/reject")
    async def reject(self, review_id: str, body: "types.DocumentVerdict") -> "types.DecisionOutcome":
        """Reject a document; a reason is required."""

    @sends("POST", "/v1/reviews/{review_id}/reopen")
    async def reopen(self, review_id: str, body: "types.ReopenIn") -> "types.Review":
        """Reopen a decided document."""

    @sends("GET", "/v1/reviews/{review_id}/audit")
    async def show_audit(
        self, review_id: str, *, after: int | None = None, limit: int | None = None
    ) -> "types.AuditOut":
        """Show the audit events of an item and its document, oldest first."""

    @sends("GET", "/v1/documents/{document_id}/fields")
    async def show_fields(self, document_id: str) -> "types.FieldsOut":
        """Show a document's fields: values, confidence with explanation, source, page position, lock, and …."""

    @sends("PUT", "/v1/documents/{document_id}/fields/{field}")
    async def correct_field(
        self,
        document_id: str,
        field: Literal[
            "document_type",
            "invoice_number",
            "order_reference",
            "date",
            "due_date",
            "delivery_date",
            "vendor_name",
            "vendor_vat_id",
            "buyer_name",
            "iban",
            "currency",
            "net",
            "tax",
            "total",
            "line_items",
        ],
        body: "types.CorrectionOrder",
    ) -> "types.FieldsOut":
        """Lock a field to its correct value."""

    @sends("DELETE", "/v1/documents/{document_id}/fields/{field}")
    async def unlock_field(
        self,
        document_id: str,
        field: Literal[
            "document_type",
            "invoice_number",
            "order_reference",
            "date",
            "due_date",
            "delivery_date",
            "vendor_name",
            "vendor_vat_id",
            "buyer_name",
            "iban",
            "currency",
            "net",
            "tax",
            "total",
            "line_items",
        ],
        *,
        token: int,
        why: str | None = None,
    ) -> "types.FieldsOut":
        """Unlock a field: its value is again the one that the readers found."""

    @sends("PUT", "/v1/documents/{document_id}/fields/{field}/text")
    async def type_field(
        self,
        document_id: str,
        field: Literal[
            "document_type",
            "invoice_number",
            "order_reference",
            "date",
            "due_date",
            "delivery_date",
            "vendor_name",
            "vendor_vat_id",
            "buyer_name",
            "iban",
            "currency",
            "net",
            "tax",
            "total",
            "line_items",
        ],
        body: "types.TypedOrder",
    ) -> "types.FieldsOut":
        """Lock a field to what a person typed: `4.904,95`, `12.04.2014`, `12 Apr`."""

    @sends("POST", "/v1/documents/{document_id}/line-items")
    async def edit_lines(self, document_id: str, body: "types.LinesOrder") -> "types.FieldsOut":
        """Edit the line items by row: set a cell, insert and delete rows, paste rows of a spreadsheet."""

    @sends("POST", "/v1/documents/{document_id}/undo")
    async def undo_correction(self, document_id: str, body: "types.TokenIn") -> "types.FieldsOut":
        """Undo the last change to the document's fields, if it is the caller's; repeat to undo earlier ones."""

    @sends("GET", "/v1/documents/{document_id}/changes")
    async def list_changes(self, document_id: str) -> "types.ChangesOut":
        """List the changes by people to the document's fields, including undone ones."""

    @sends("GET", "/v1/documents/{document_id}/history")
    async def show_history(self, document_id: str) -> "types.DocumentHistory":
        """Show what happened to a document, oldest first: upload, readings, corrections, decisions, exports."""

    @sends("GET", "/v1/documents/{document_id}/readings")
    async def show_readings(self, document_id: str) -> "types.DocumentReadings":
        """Show every reading of a document, and where they differ."""

    @sends("GET", "/v1/reviews/{review_id}/view")
    async def show_review_view(self, review_id: str) -> "types.ReviewViewOut":
        """Show a document's item as a page needs it, in one answer."""

    @sends("GET", "/v1/audit")
    async def list_audit(self, *, after: int | None = None, limit: int | None = None) -> "types.AuditOut":
        """List all events, oldest first."""

    @sends("GET", "/v1/audit/newest")
    async def list_newest_events(
        self,
        *,
        actor: str | None = None,
        act: str | None = None,
        subject: str | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> "types.NewestOut":
        """List events, newest first, with filters."""

    @sends("GET", "/v1/audit/verify")
    async def verify_audit(self, *, head: str | None = None) -> "types.ChainCheck":
        """Verify that no event was changed, removed, inserted or cut off, and that every review item is as …."""

    @sends("POST", "/v1/exports")
    async def create_export(self, body: "types.ExportOrder", *, idempotency_key: str | None = None) -> "types.Export":
        """Export approved documents as a file, or to a webhook, which needs the scope `operate`, too."""

    @sends("GET", "/v1/exports")
    async def list_exports(self, *, limit: int | None = None, after: str | None = None) -> "types.ExportPage":
        """List exports, newest first."""

    @sends("POST", "/v1/exports/preview")
    async def preview_export(self, body: "types.ExportOrder") -> "types.Preview":
        """Show how many documents an export would have, their totals, and its first rows."""

    @sends("GET", "/v1/exports/{export_id}")
    async def show_export(self, export_id: str) -> "types.Export":
        """Show an export and how far it is."""

    @sends("GET", "/v1/exports/{export_id}/file", is_file=True)
    async def download_export(self, export_id: str) -> bytes:
        """Download the file of an export: each time the same bytes."""

    @sends("POST", "/v1/batches")
    async def create_batch(self, body: "types.BatchOrder", *, idempotency_key: str | None = None) -> "types.Batch":
        """Order a batch."""

    @sends("GET", "/v1/batches")
    async def list_batches(self, *, limit: int | None = None, after: str | None = None) -> "types.BatchPage":
        """List batches, newest first."""

    @sends("GET", "/v1/batches/{batch_id}")
    async def show_batch(self, batch_id: str) -> "types.Batch":
        """Show a batch: its documents by state, its rate, the time left, and why documents failed."""

    @sends("POST", "/v1/batches/{batch_id}/append")
    async def append_documents(self, batch_id: str, body: "types.Appended") -> "types.Added":
        """Add uploaded documents to an open batch."""

    @sends("POST", "/v1/batches/{batch_id}/documents")
    async def upload_to_batch(
        self, batch_id: str, file: File, *, place: str | None = None, inputs: Mapping[str, Json] | None = None
    ) -> "types.AddedDocument":
        """Add a file to an open batch."""

    @sends("GET", "/v1/batches/{batch_id}/documents")
    async def list_batch_documents(
        self,
        batch_id: str,
        *,
        state: "types.BatchDocumentState | None" = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> "types.BatchDocumentPage":
        """List the documents of a batch, in the order in which they were added."""

    @sends("POST", "/v1/batches/{batch_id}/zip")
    async def upload_zip(self, batch_id: str, file: File, *, close: bool | None = None) -> "types.Added":
        """Add the files of a zip file to an open batch; their names are their places."""

    @sends("POST", "/v1/batches/{batch_id}/close")
    async def close_batch(self, batch_id: str) -> "types.Batch":
        """Let a batch take no more documents: it completes once all have ended."""

    @sends("GET", "/v1/batches/{batch_id}/result")
    async def show_batch_result(
        self, batch_id: str, *, limit: int | None = None, after: str | None = None
    ) -> "types.BatchResult":
        """Show the result of a batch: a summary, and its documents with what was read."""

    @sends("GET", "/v1/batches/{batch_id}/result.csv", is_file=True)
    async def download_batch_result(self, batch_id: str) -> bytes:
        """Download the result of all documents of a batch as CSV."""

    @sends("POST", "/v1/batches/{batch_id}/pause")
    async def pause_batch(self, batch_id: str, body: "types.BatchReasonIn | None" = None) -> "types.Batch":
        """Start no more runs of a batch; open ones go on."""

    @sends("POST", "/v1/batches/{batch_id}/resume")
    async def resume_batch(self, batch_id: str, body: "types.BatchReasonIn | None" = None) -> "types.Batch":
        """Start runs of a paused batch again."""

    @sends("POST", "/v1/batches/{batch_id}/cancel")
    async def cancel_batch(self, batch_id: str, body: "types.BatchReasonIn | None" = None) -> "types.Batch":
        """Start no more runs of a batch, and cancel the open ones."""

    @sends("POST", "/v1/batches/{batch_id}/retry")
    async def retry_batch(self, batch_id: str, body: "types.RetryOfBatch | None" = None) -> "types.Batch":
        """Try the failed documents of a batch again, all or those of one error class."""

    @sends("POST", "/v1/definitions")
    async def submit_definition(self, body: "types.PublishIn", *, run_tests: bool | None = None) -> "types.Published":
        """Publish a definition as its next version; by default new runs then use it."""

    @sends("GET", "/v1/definitions")
    async def list_definitions(self, *, limit: int | None = None, after: str | None = None) -> "types.DefinitionPage":
        """List the newest version of each definition."""

    @sends("GET", "/v1/definitions/schema")
    async def show_schema(self) -> dict[str, Json]:
        """Return the JSON Schema of a definition, for editors."""

    @sends("POST", "/v1/definitions/validate")
    async def validate_definition(
        self, body: "types.DefinitionIn", *, draw: bool | None = None, open_: str | None = None
    ) -> "types.DefinitionValidation":
        """Validate a definition and return all problems."""

    @sends("POST", "/v1/definitions/test")
    async def test_definition(self, body: "types.DefinitionIn") -> "types.TestedDefinition":
        """Run the tests that a definition contains."""

    @sends("POST", "/v1/definitions/plan")
    async def plan_definition(self, body: "types.DefinitionIn") -> "types.DefinitionPlan":
        """Show how a definition would run."""

    @sends("GET", "/v1/definitions/{definition_id}")
    async def show_definition(self, definition_id: str, *, version: int | None = None) -> "types.StoredDefinition":
        """Show a version of a definition."""

    @sends("GET", "/v1/definitions/{definition_id}/versions")
    async def list_versions(
        self, definition_id: str, *, limit: int | None = None, after: int | None = None
    ) -> "types.VersionPage":
        """List the versions of a definition, newest first."""

    @sends("GET", "/v1/definitions/{definition_id}/diff")
    async def compare_versions(
        self, definition_id: str, *, from_: str | None = None, to: str | None = None
    ) -> "types.Comparison":
        """Compare two versions: steps added, removed and changed, field by field, and everything else."""

    @sends("GET", "/v1/definitions/{definition_id}/graph")
    async def show_definition_graph(
        self, definition_id: str, *, version: int | None = None, open_: str | None = None
    ) -> "types.Graph":
        """Draw a version of a definition: at most 300 nodes, each a step or a group of steps."""

    @sends("GET", "/v1/definitions/{definition_id}/dependants")
    async def list_dependants(self, definition_id: str) -> "types.Dependants":
        """List the steps of other definitions that run this one, in the versions that an alias names."""

    @sends("GET", "/v1/definitions/{definition_id}/aliases")
    async def list_aliases(self, definition_id: str) -> "types.DefinitionAliases":
        """List the definition's aliases and the versions they point to."""

    @sends("PUT", "/v1/definitions/{definition_id}/aliases/{alias}")
    async def set_alias(self, definition_id: str, alias: str, body: "types.AliasIn") -> "types.DefinitionAliases":
        """Point an alias to a version."""

    @sends("DELETE", "/v1/definitions/{definition_id}/aliases/{alias}")
    async def remove_alias(
        self, definition_id: str, alias: str, *, reason: str | None = None
    ) -> "types.DefinitionAliases":
        """Remove an alias."""

    @sends("POST", "/v1/definitions/{definition_id}/rollback")
    async def roll_back(self, definition_id: str, body: "types.ReasonIn | None" = None) -> "types.Undone":
        """Undo the last change for new runs: end the canary or, without one, move `stable` back."""

    @sends("GET", "/v1/definitions/{definition_id}/moves")
    async def list_moves(
        self, definition_id: str, *, limit: int | None = None, after: int | None = None
    ) -> "types.MovePage":
        """List the moves of the definition's aliases: who, when, from which version to which, and why."""

    @sends("GET", "/v1/routing")
    async def show_routing(self) -> "types.StoredRules":
        """Show the routing rules."""

    @sends("PUT", "/v1/routing")
    async def set_routing(self, body: "types.RoutingIn") -> "types.RulesSet":
        """Replace the routing rules."""

    @sends("POST", "/v1/routing/validate")
    async def validate_routing(self, body: "types.CheckIn") -> "types.Validation":
        """Validate routing rules and return all problems."""

    @sends("POST", "/v1/routing/try")
    async def try_routing(self, body: "types.FactsIn") -> "types.ChosenRoute":
        """Show which definition a document would get."""

    @sends("GET", "/v1/handlers")
    async def list_handlers(self) -> "types.HandlerList":
        """List the handlers."""

    @sends("GET", "/v1/handlers/{name}")
    async def show_handler(self, name: str) -> "types.HandlerInfo":
        """Show a handler, by its name or an alias."""

    @sends("GET", "/v1/limits")
    async def list_limits(self) -> "types.LimitListOut":
        """List the limited resources."""

    @sends("PUT", "/v1/limits/{tag}")
    async def set_limit(self, tag: str, body: "types.LimitIn") -> "types.TagLimit":
        """Change a limit."""

    @sends("DELETE", "/v1/limits/{tag}")
    async def reset_limit(self, tag: str) -> "types.TagLimit":
        """Reset a resource to the limit of the settings."""

    @sends("GET", "/v1/quotas")
    async def list_quotas(self, *, tenant: str | None = None) -> "types.QuotaListOut":
        """List the quotas of a tenant and its keys."""

    @sends("PUT", "/v1/quotas/{quota}")
    async def set_quota(self, quota: "types.Quota", body: "types.QuotaIn") -> "types.SetQuota":
        """Set a quota."""

    @sends("DELETE", "/v1/quotas/{quota}")
    async def reset_quota(self, quota: "types.Quota", *, tenant: str, key_id: str | None = None) -> None:
        """Remove a quota, if one was set: the default applies again."""

    @sends("GET", "/v1/keys")
    async def list_keys(self, *, limit: int | None = None, after: str | None = None) -> "types.KeyListOut":
        """List the tenant's API keys, revoked and expired ones included."""

    @sends("POST", "/v1/keys")
    async def create_key(self, body: "types.KeyIn") -> "types.NewKey":
        """Create an API key in the caller's tenant."""

    @sends("POST", "/v1/keys/{key_id}/rotate")
    async def rotate_key(self, key_id: str, body: "types.RotationIn | None" = None) -> "types.NewKey":
        """Give a key a new secret."""

    @sends("DELETE", "/v1/keys/{key_id}")
    async def revoke_key(self, key_id: str) -> "types.Key":
        """Revoke a key, and end the sessions that it opened."""

    @sends("GET", "/v1/me")
    async def show_me(self) -> "types.Me":
        """Show who the caller is: name, tenant, scopes, and how they were authenticated."""

    @sends("GET", "/v1/session/methods")
    async def list_sign_in_methods(self) -> "types.SignInMethodsOut":
        """List how people may sign in here."""

    @sends("POST", "/v1/session")
    async def sign_in(self, body: "types.SignIn") -> "types.Me":
        """Sign in with an API key."""

    @sends("DELETE", "/v1/session")
    async def sign_out(self) -> None:
        """Sign out: end the session of the cookie."""

    @sends("GET", "/v1/sessions")
    async def list_sessions(self, *, limit: int | None = None, after: str | None = None) -> "types.SessionListOut":
        """List the tenant's open browser sessions."""

    @sends("DELETE", "/v1/sessions/{session_id}")
    async def revoke_session(self, session_id: str) -> "types.Session":
        """End a browser session."""

    @sends("POST", "/v1/codec/decode")
    async def decode_payloads(self, body: "types.PayloadsIn") -> "types.PayloadsOut":
        """Decrypt payloads of your tenant; others come back as they are, as payloads without encryption do."""

    @sends("POST", "/v1/codec/encode")
    async def encode_payloads(self, body: "types.PayloadsIn") -> "types.PayloadsOut":
        """Encrypt payloads with the first of DOCRAIL_PAYLOAD_KEYS; without keys they come back as they are."""

    @sends("POST", "/v1/callbacks/{token}")
    async def receive_callback(self, token: str, body: Json) -> "types.AnsweredOut":
        """Answer the step that waits for this URL."""

    @sends("GET", "/healthz")
    async def healthz(self) -> "types.HealthOut":
        """Report that this process is running, whether or not other services are available."""

    @sends("GET", "/readyz")
    async def readyz(self) -> "types.Readiness":
        """Check Temporal, PostgreSQL, the file store and a polling worker: 200 if all are available, else 503."""

    @sends("GET", "/metrics", is_file=True)
    async def metrics(self) -> bytes:
        """Return metrics in Prometheus' text format: this process's responses, document outcomes, model …."""


def _blocking(
    call: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["Client", P], T]:
    """Return a method of Client from that of AsyncClient."""

    @functools.wraps(call)
    def wait(self: "Client", /, *given: P.args, **named: P.kwargs) -> T:
        return self.runner.run(call(self.calls, *given, **named))

    return wait


class Client:
    """Calls the API: `with Client() as client`. For one thread; where an event loop runs, use AsyncClient.

    Its arguments, methods and errors are those of AsyncClient.
    """

    def __init__(
        self, address: str | None = None, key: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """Prepare a connection. Raises: ApiError if that is not an address, or the key is none."""
        self.calls = AsyncClient(address, key, timeout_seconds=timeout_seconds)
        self.runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.runner.run(self.calls.close())
        self.runner.close()

    def request(self, method: str, path: str, **request: Any) -> Any:
        """Return the answer to a request that has no method here; `request` as httpx takes it."""
        return self.runner.run(self.calls.request(method, path, **request))

    def pages(self, list_: "Callable[..., Page]", *given: Any, **wanted: Any) -> "Iterator[Page]":
        """Yield the pages of a list: `client.pages(client.list_runs, status="failed")`."""
        after: str | None = None
        while True:
            page = list_(*given, **wanted, after=after)
            yield page
            after = page["after"]
            if after is None:
                return

    wait_for_run = _blocking(AsyncClient.wait_for_run)
    upload_document = _blocking(AsyncClient.upload_document)
    list_documents = _blocking(AsyncClient.list_documents)
    count_documents = _blocking(AsyncClient.count_documents)
    show_document = _blocking(AsyncClient.show_document)
    show_neighbours = _blocking(AsyncClient.show_neighbours)
    extract_again = _blocking(AsyncClient.extract_again)
    send_again = _blocking(AsyncClient.send_again)
    dismiss_document = _blocking(AsyncClient.dismiss_document)
    download_original = _blocking(AsyncClient.download_original)
    show_page = _blocking(AsyncClient.show_page)
    show_words = _blocking(AsyncClient.show_words)
    list_model_uses = _blocking(AsyncClient.list_model_uses)
    show_usage = _blocking(AsyncClient.show_usage)
    list_tenants = _blocking(AsyncClient.list_tenants)
    start_run = _blocking(AsyncClient.start_run)
    list_runs = _blocking(AsyncClient.list_runs)
    count_runs = _blocking(AsyncClient.count_runs)
    show_run = _blocking(AsyncClient.show_run)
    show_outputs = _blocking(AsyncClient.show_outputs)
    show_inputs = _blocking(AsyncClient.show_inputs)
    show_output = _blocking(AsyncClient.show_output)
    explain_run = _blocking(AsyncClient.explain_run)
    pause_run = _blocking(AsyncClient.pause_run)
    resume_run = _blocking(AsyncClient.resume_run)
    abort_run = _blocking(AsyncClient.abort_run)
    answer_wait = _blocking(AsyncClient.answer_wait)
    list_waits = _blocking(AsyncClient.list_waits)
    list_actions = _blocking(AsyncClient.list_actions)
    show_run_graph = _blocking(AsyncClient.show_run_graph)
    show_run_states = _blocking(AsyncClient.show_run_states)
    list_steps = _blocking(AsyncClient.list_steps)
    show_step = _blocking(AsyncClient.show_step)
    show_input = _blocking(AsyncClient.show_input)
    list_items = _blocking(AsyncClient.list_items)
    cancel_run = _blocking(AsyncClient.cancel_run)
    act_on_many_runs = _blocking(AsyncClient.act_on_many_runs)
    retry_run = _blocking(AsyncClient.retry_run)
    resolve_step = _blocking(AsyncClient.resolve_step)
    list_letters = _blocking(AsyncClient.list_letters)
    count_letters = _blocking(AsyncClient.count_letters)
    group_letters = _blocking(AsyncClient.group_letters)
    retry_letters = _blocking(AsyncClient.retry_letters)
    show_letter = _blocking(AsyncClient.show_letter)
    resolve_letter = _blocking(AsyncClient.resolve_letter)
    submit_workflow = _blocking(AsyncClient.submit_workflow)
    show_workflow = _blocking(AsyncClient.show_workflow)
    trigger_workflow = _blocking(AsyncClient.trigger_workflow)
    show_health = _blocking(AsyncClient.show_health)
    list_workers = _blocking(AsyncClient.list_workers)
    list_schedules = _blocking(AsyncClient.list_schedules)
    pause_schedule = _blocking(AsyncClient.pause_schedule)
    resume_schedule = _blocking(AsyncClient.resume_schedule)
    run_schedule = _blocking(AsyncClient.run_schedule)
    list_triggers = _blocking(AsyncClient.list_triggers)
    create_trigger = _blocking(AsyncClient.create_trigger)
    show_trigger = _blocking(AsyncClient.show_trigger)
    delete_trigger = _blocking(AsyncClient.delete_trigger)
    pause_trigger = _blocking(AsyncClient.pause_trigger)
    resume_trigger = _blocking(AsyncClient.resume_trigger)
    fire_trigger = _blocking(AsyncClient.fire_trigger)
    list_reviews = _blocking(AsyncClient.list_reviews)
    show_review = _blocking(AsyncClient.show_review)
    decide_review = _blocking(AsyncClient.decide_review)
    claim_next = _blocking(AsyncClient.claim_next)
    claim_review = _blocking(AsyncClient.claim_review)
    renew_claim = _blocking(AsyncClient.renew_claim)
    release_review = _blocking(AsyncClient.release_review)
    assign_review = _blocking(AsyncClient.assign_review)
    postpone_review = _blocking(AsyncClient.postpone_review)
    preview_approval = _blocking(AsyncClient.preview_approval)
    approve_many = _blocking(AsyncClient.approve_many)
    approve = _blocking(AsyncClient.approve)
    reject = _blocking(AsyncClient.reject)
    reopen = _blocking(AsyncClient.reopen)
    show_audit = _blocking(AsyncClient.show_audit)
    show_fields = _blocking(AsyncClient.show_fields)
    correct_field = _blocking(AsyncClient.correct_field)
    unlock_field = _blocking(AsyncClient.unlock_field)
    type_field = _blocking(AsyncClient.type_field)
    edit_lines = _blocking(AsyncClient.edit_lines)
    undo_correction = _blocking(AsyncClient.undo_correction)
    list_changes = _blocking(AsyncClient.list_changes)
    show_history = _blocking(AsyncClient.show_history)
    show_readings = _blocking(AsyncClient.show_readings)
    show_review_view = _blocking(AsyncClient.show_review_view)
    list_audit = _blocking(AsyncClient.list_audit)
    list_newest_events = _blocking(AsyncClient.list_newest_events)
    verify_audit = _blocking(AsyncClient.verify_audit)
    create_export = _blocking(AsyncClient.create_export)
    list_exports = _blocking(AsyncClient.list_exports)
    preview_export = _blocking(AsyncClient.preview_export)
    show_export = _blocking(AsyncClient.show_export)
    download_export = _blocking(AsyncClient.download_export)
    create_batch = _blocking(AsyncClient.create_batch)
    list_batches = _blocking(AsyncClient.list_batches)
    show_batch = _blocking(AsyncClient.show_batch)
    append_documents = _blocking(AsyncClient.append_documents)
    upload_to_batch = _blocking(AsyncClient.upload_to_batch)
    list_batch_documents = _blocking(AsyncClient.list_batch_documents)
    upload_zip = _blocking(AsyncClient.upload_zip)
    close_batch = _blocking(AsyncClient.close_batch)
    show_batch_result = _blocking(AsyncClient.show_batch_result)
    download_batch_result = _blocking(AsyncClient.download_batch_result)
    pause_batch = _blocking(AsyncClient.pause_batch)
    resume_batch = _blocking(AsyncClient.resume_batch)
    cancel_batch = _blocking(AsyncClient.cancel_batch)
    retry_batch = _blocking(AsyncClient.retry_batch)
    submit_definition = _blocking(AsyncClient.submit_definition)
    list_definitions = _blocking(AsyncClient.list_definitions)
    show_schema = _blocking(AsyncClient.show_schema)
    validate_definition = _blocking(AsyncClient.validate_definition)
    test_definition = _blocking(AsyncClient.test_definition)
    plan_definition = _blocking(AsyncClient.plan_definition)
    show_definition = _blocking(AsyncClient.show_definition)
    list_versions = _blocking(AsyncClient.list_versions)
    compare_versions = _blocking(AsyncClient.compare_versions)
    show_definition_graph = _blocking(AsyncClient.show_definition_graph)
    list_dependants = _blocking(AsyncClient.list_dependants)
    list_aliases = _blocking(AsyncClient.list_aliases)
    set_alias = _blocking(AsyncClient.set_alias)
    remove_alias = _blocking(AsyncClient.remove_alias)
    roll_back = _blocking(AsyncClient.roll_back)
    list_moves = _blocking(AsyncClient.list_moves)
    show_routing = _blocking(AsyncClient.show_routing)
    set_routing = _blocking(AsyncClient.set_routing)
    validate_routing = _blocking(AsyncClient.validate_routing)
    try_routing = _blocking(AsyncClient.try_routing)
    list_handlers = _blocking(AsyncClient.list_handlers)
    show_handler = _blocking(AsyncClient.show_handler)
    list_limits = _blocking(AsyncClient.list_limits)
    set_limit = _blocking(AsyncClient.set_limit)
    reset_limit = _blocking(AsyncClient.reset_limit)
    list_quotas = _blocking(AsyncClient.list_quotas)
    set_quota = _blocking(AsyncClient.set_quota)
    reset_quota = _blocking(AsyncClient.reset_quota)
    list_keys = _blocking(AsyncClient.list_keys)
    create_key = _blocking(AsyncClient.create_key)
    rotate_key = _blocking(AsyncClient.rotate_key)
    revoke_key = _blocking(AsyncClient.revoke_key)
    show_me = _blocking(AsyncClient.show_me)
    list_sign_in_methods = _blocking(AsyncClient.list_sign_in_methods)
    sign_in = _blocking(AsyncClient.sign_in)
    sign_out = _blocking(AsyncClient.sign_out)
    list_sessions = _blocking(AsyncClient.list_sessions)
    revoke_session = _blocking(AsyncClient.revoke_session)
    decode_payloads = _blocking(AsyncClient.decode_payloads)
    encode_payloads = _blocking(AsyncClient.encode_payloads)
    receive_callback = _blocking(AsyncClient.receive_callback)
    healthz = _blocking(AsyncClient.healthz)
    readyz = _blocking(AsyncClient.readyz)
    metrics = _blocking(AsyncClient.metrics)
