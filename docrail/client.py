# Made by `python -m docs.client_python`: change the API, not this file.
"""The client of the API: `from docrail import Client`. In one file because it is made as a whole."""

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar
from urllib.parse import quote

from docrail.transport import TIMEOUT_SECONDS, BlockingTransport, File, Transport, end_of_run, without_none

if TYPE_CHECKING:
    from docrail import client_types as types

Json = Any
Page = TypeVar("Page", bound=Mapping[str, Any])
HERE = "http://127.0.0.1:8000"


def _address(given: str | None) -> str:
    return given or os.environ.get("DOCRAIL_API_URL") or HERE


def _key(given: str | None) -> str:
    return os.environ.get("DOCRAIL_API_KEY", "") if given is None else given


def _part(value: object) -> str:
    """Return a value as one part of a path, also `..`, which would lead to another route."""
    part = quote(str(value), safe="")
    return part.replace(".", "%2E") if part in (".", "..") else part


def _form(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a form as texts: true and false in lowercase, objects as JSON."""
    found = without_none(fields)
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in found.items()}


class AsyncClient:
    """Calls the API from code with an event loop: `async with AsyncClient() as client`.

    `address` is by default that of DOCRAIL_API_URL, else http://127.0.0.1:8000; `key` that of DOCRAIL_API_KEY, else
    none. Methods raise ApiError with the API's problem, and NoAnswerError if the API is unavailable.
    """

    def __init__(
        self, address: str | None = None, key: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """Prepare a connection. Raises: ApiError if that is no address, or the key is none."""
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
        found: types.RunOut = await end_of_run(self.transport, f"/v1/runs/{_part(run_id)}")
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
        found: types.Document = await self.transport.request(
            "POST",
            "/v1/documents",
            headers=without_none({"Idempotency-Key": idempotency_key}),
            files={"file": file},
            data=_form(
                {"sla_hours": sla_hours, "source": source, "definition": definition, "inputs": inputs, "key": key}
            ),
        )
        return found

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
        found: types.DocumentPage = await self.transport.request(
            "GET",
            "/v1/documents",
            params={
                "status": status,
                "document_type": document_type,
                "vendor": vendor,
                "text": text,
                "since": since,
                "until": until,
                "sort": sort,
                "limit": limit,
                "after": after,
            },
        )
        return found

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
        found: types.DocumentCounts = await self.transport.request(
            "GET",
            "/v1/documents/counts",
            params={"document_type": document_type, "vendor": vendor, "text": text, "since": since, "until": until},
        )
        return found

    async def show_document(self, document_id: str) -> "types.Document":
        """Show a document."""
        found: types.Document = await self.transport.request("GET", f"/v1/documents/{_part(document_id)}")
        return found

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
        found: types.Neighbours = await self.transport.request(
            "GET",
            f"/v1/documents/{_part(document_id)}/neighbours",
            params={
                "status": status,
                "document_type": document_type,
                "vendor": vendor,
                "text": text,
                "since": since,
                "until": until,
                "sort": sort,
                "below": below,
            },
        )
        return found

    async def extract_again(self, document_id: str, *, idempotency_key: str | None = None) -> "types.StartedRun":
        """Read a document again with the current readers."""
        found: types.StartedRun = await self.transport.request(
            "POST",
            f"/v1/documents/{_part(document_id)}/extract",
            headers=without_none({"Idempotency-Key": idempotency_key}),
        )
        return found

    async def send_again(self, document_id: str) -> "types.ListedDocument":
        """Try a failed document again: its failed steps are retried."""
        found: types.ListedDocument = await self.transport.request(
            "POST", f"/v1/documents/{_part(document_id)}/send-again"
        )
        return found

    async def dismiss_document(self, document_id: str, body: "types.DismissIn | None" = None) -> "types.ListedDocument":
        """Set the failure of a document aside."""
        found: types.ListedDocument = await self.transport.request(
            "POST", f"/v1/documents/{_part(document_id)}/dismiss", json=body
        )
        return found

    async def download_original(self, document_id: str) -> bytes:
        """Download a document as it was sent."""
        return await self.transport.fetch(f"/v1/documents/{_part(document_id)}/original")

    async def show_page(self, document_id: str, number: int, *, size: Literal["full", "small"] | None = None) -> bytes:
        """Show a page as an image of at most 2.2 megapixels."""
        return await self.transport.fetch(
            f"/v1/documents/{_part(document_id)}/pages/{_part(number)}.png", params={"size": size}
        )

    async def show_words(self, document_id: str, number: int) -> "types.PageWords":
        """Show the words of a page and where they are on its image, in reading order; a scan's come from OCR."""
        found: types.PageWords = await self.transport.request(
            "GET", f"/v1/documents/{_part(document_id)}/pages/{_part(number)}/words"
        )
        return found

    async def list_model_uses(self, document_id: str) -> "list[types.DocumentUse]":
        """List the model answers about the document, in order."""
        found: list[types.DocumentUse] = await self.transport.request(
            "GET", f"/v1/documents/{_part(document_id)}/model-uses"
        )
        return found

    async def show_usage(self) -> "types.ModelUsage":
        """Show what models' answers cost the tenant today, against its budget, and on each of the last 31 days."""
        found: types.ModelUsage = await self.transport.request("GET", "/v1/usage")
        return found

    async def list_tenants(self) -> "types.TenantListOut":
        """List the tenants with their keys, documents and cost of today."""
        found: types.TenantListOut = await self.transport.request("GET", "/v1/tenants")
        return found

    async def start_run(self, body: "types.RunOrder", *, idempotency_key: str | None = None) -> "types.StartedRun":
        """Start a run."""
        found: types.StartedRun = await self.transport.request(
            "POST", "/v1/runs", headers=without_none({"Idempotency-Key": idempotency_key}), json=body
        )
        return found

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
        found: types.RunPage = await self.transport.request(
            "GET",
            "/v1/runs",
            params={
                "definition": definition,
                "document": document,
                "status": status,
                "overdue": overdue,
                "started_since": started_since,
                "started_before": started_before,
                "ended_since": ended_since,
                "ended_before": ended_before,
                "limit": limit,
                "after": after,
            },
        )
        return found

    async def count_runs(self, *, definitions: str, failed_since: str) -> "types.RunCounts":
        """Count the open runs of definitions, and those that have failed lately."""
        found: types.RunCounts = await self.transport.request(
            "GET", "/v1/runs/counts", params={"definitions": definitions, "failed_since": failed_since}
        )
        return found

    async def show_run(self, run_id: str) -> "types.RunOut":
        """Show a run with its steps, each explained."""
        found: types.RunOut = await self.transport.request("GET", f"/v1/runs/{_part(run_id)}")
        return found

    async def show_outputs(self, run_id: str) -> "types.OutputsOut":
        """Show a run's full outputs, of any size; none before its end."""
        found: types.OutputsOut = await self.transport.request("GET", f"/v1/runs/{_part(run_id)}/outputs")
        return found

    async def show_inputs(self, run_id: str) -> "types.InputsOut":
        """Show a run's full inputs; after a retry with other inputs, those."""
        found: types.InputsOut = await self.transport.request("GET", f"/v1/runs/{_part(run_id)}/inputs")
        return found

    async def show_output(self, run_id: str, step_id: str) -> "types.OutputOut":
        """Show a step's full output, of any size: a run's report only refers to outputs of more than 64 KiB."""
        found: types.OutputOut = await self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}/output"
        )
        return found

    async def explain_run(
        self, run_id: str, *, step: str | None = None, limit: int | None = None, after: str | None = None
    ) -> "types.RunExplanation":
        """Explain why each step is in its state: conditions with the values they read, attempts, and waits."""
        found: types.RunExplanation = await self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/explain", params={"step": step, "limit": limit, "after": after}
        )
        return found

    async def pause_run(self, run_id: str, body: "types.WhyIn | None" = None) -> "types.RunStatusOut":
        """Start no more steps of the run; running ones continue."""
        found: types.RunStatusOut = await self.transport.request("POST", f"/v1/runs/{_part(run_id)}/pause", json=body)
        return found

    async def resume_run(self, run_id: str, body: "types.WhyIn | None" = None) -> "types.RunStatusOut":
        """Resume a paused run."""
        found: types.RunStatusOut = await self.transport.request("POST", f"/v1/runs/{_part(run_id)}/resume", json=body)
        return found

    async def abort_run(self, run_id: str, body: "types.AbortIn | None" = None) -> "types.RunStatusOut":
        """End the run early."""
        found: types.RunStatusOut = await self.transport.request("POST", f"/v1/runs/{_part(run_id)}/abort", json=body)
        return found

    async def answer_wait(self, run_id: str, step_id: str, body: "types.AnswerIn") -> "types.RunStatusOut":
        """Answer a step that waits for a signal, a webhook or a person."""
        found: types.RunStatusOut = await self.transport.request(
            "POST", f"/v1/runs/{_part(run_id)}/waits/{_part(step_id)}", json=body
        )
        return found

    async def list_waits(self, run_id: str, *, limit: int | None = None, after: str | None = None) -> "types.WaitPage":
        """List what a run and its nested runs wait for; `limit` is the number of nested runs per page."""
        found: types.WaitPage = await self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/waits", params={"limit": limit, "after": after}
        )
        return found

    async def list_actions(
        self, run_id: str, *, step: str | None = None, limit: int | None = None, after: str | None = None
    ) -> "types.ActionPage":
        """List people's actions on a run and its failed steps, newest first."""
        found: types.ActionPage = await self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/actions", params={"step": step, "limit": limit, "after": after}
        )
        return found

    async def show_run_graph(self, run_id: str, *, open_: str | None = None) -> "types.RunGraph":
        """Draw a run: at most 300 nodes, each a step or a group of steps, with their states."""
        found: types.RunGraph = await self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/graph", params={"open": open_}
        )
        return found

    async def show_run_states(self, run_id: str, *, open_: str | None = None) -> "types.RunStates":
        """Show only the states of a drawing's nodes, to follow a run without drawing it again."""
        found: types.RunStates = await self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/states", params={"open": open_}
        )
        return found

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
        found: types.StepPage = await self.transport.request(
            "GET",
            f"/v1/runs/{_part(run_id)}/steps",
            params={"search": search, "status": status, "limit": limit, "after": after},
        )
        return found

    async def show_step(self, run_id: str, step_id: str) -> "types.StepDetail":
        """Show a step: why it is in its state, its input and output as text, its attempts, and the possible …."""
        found: types.StepDetail = await self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}"
        )
        return found

    async def show_input(self, run_id: str, step_id: str, *, item: str | None = None) -> "types.InputOut":
        """Show a step's full input, of any size, or that of an item of its list."""
        found: types.InputOut = await self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}/input", params={"item": item}
        )
        return found

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
        found: types.ItemPage = await self.transport.request(
            "GET",
            f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}/items",
            params={"status": status, "limit": limit, "after": after},
        )
        return found

    async def cancel_run(self, run_id: str, body: "types.WhyIn | None" = None) -> "types.RunStatusOut":
        """Ask a run to stop."""
        found: types.RunStatusOut = await self.transport.request("POST", f"/v1/runs/{_part(run_id)}/cancel", json=body)
        return found

    async def act_on_many_runs(self, body: "types.BulkActionIn") -> "types.RunOutcomes":
        """Take one action on many runs."""
        found: types.RunOutcomes = await self.transport.request("POST", "/v1/runs/bulk", json=body)
        return found

    async def retry_run(self, run_id: str, body: "types.RetryIn | None" = None) -> "types.RetriedRun":
        """Start a failed or cancelled run again under its id, or a completed one with failed items or …."""
        found: types.RetriedRun = await self.transport.request("POST", f"/v1/runs/{_part(run_id)}/retry", json=body)
        return found

    async def resolve_step(self, run_id: str, step_id: str, body: "types.ResolveIn") -> "types.RunStatusOut":
        """Resolve a parked step; its run continues."""
        found: types.RunStatusOut = await self.transport.request(
            "POST", f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}/resolve", json=body
        )
        return found

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
        found: types.LetterPage = await self.transport.request(
            "GET",
            "/v1/dead-letters",
            params={
                "class": class_,
                "definition": definition,
                "handler": handler,
                "step": step,
                "status": status,
                "view": view,
                "limit": limit,
                "after": after,
            },
        )
        return found

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
        found: types.LetterCounts = await self.transport.request(
            "GET",
            "/v1/dead-letters/counts",
            params={
                "class": class_,
                "definition": definition,
                "handler": handler,
                "step": step,
                "status": status,
                "view": view,
            },
        )
        return found

    async def group_letters(
        self,
        *,
        definition: str | None = None,
        status: "types.StatusFilter | None" = None,
        view: "types.View | None" = None,
        limit: int | None = None,
    ) -> "types.LetterGroups":
        """Group letters by error class and step, with the number that failed again after a retry; by default …."""
        found: types.LetterGroups = await self.transport.request(
            "GET",
            "/v1/dead-letters/groups",
            params={"definition": definition, "status": status, "view": view, "limit": limit},
        )
        return found

    async def retry_letters(self, body: "types.BulkIn") -> "types.Retried":
        """Retry many steps."""
        found: types.Retried = await self.transport.request("POST", "/v1/dead-letters/retry", json=body)
        return found

    async def show_letter(self, run_id: str, step_id: str) -> "types.ShownLetter":
        """Show a failed step and the actions on it."""
        found: types.ShownLetter = await self.transport.request(
            "GET", f"/v1/dead-letters/{_part(run_id)}/{_part(step_id)}"
        )
        return found

    async def resolve_letter(self, run_id: str, step_id: str, body: "types.LetterOrderIn") -> "types.ShownLetter":
        """Resolve a failed step: in its run while that waits, or by retrying the run once it has ended."""
        found: types.ShownLetter = await self.transport.request(
            "POST", f"/v1/dead-letters/{_part(run_id)}/{_part(step_id)}/resolve", json=body
        )
        return found

    async def submit_workflow(self, body: "types.SubmissionIn") -> "types.Execution":
        """Validate and store a definition for a run."""
        found: types.Execution = await self.transport.request("POST", "/v1/workflow", json=body)
        return found

    async def show_workflow(self, execution_id: str) -> "types.Execution":
        """Show a submitted definition and the status of its run: pending until it is triggered."""
        found: types.Execution = await self.transport.request("GET", f"/v1/workflow/{_part(execution_id)}")
        return found

    async def trigger_workflow(self, execution_id: str, body: "types.TriggerIn | None" = None) -> "types.Execution":
        """Start the run."""
        found: types.Execution = await self.transport.request(
            "POST", f"/v1/workflow/trigger/{_part(execution_id)}", json=body
        )
        return found

    async def show_health(self) -> "types.Readiness":
        """Show which services are available."""
        found: types.Readiness = await self.transport.request("GET", "/v1/health")
        return found

    async def list_workers(self) -> "types.Fleet":
        """List the workers, also those that fell silent within the last hour, and what waits in their task …."""
        found: types.Fleet = await self.transport.request("GET", "/v1/workers")
        return found

    async def list_schedules(self) -> "types.ScheduleListOut":
        """List the schedules by which Docrail works on its own."""
        found: types.ScheduleListOut = await self.transport.request("GET", "/v1/schedules")
        return found

    async def pause_schedule(
        self, schedule: "types.ScheduleName", body: "types.ScheduleReason | None" = None
    ) -> "types.ShownSchedule":
        """Pause a schedule: no pass starts by itself, also after a restart of the servers."""
        found: types.ShownSchedule = await self.transport.request(
            "POST", f"/v1/schedules/{_part(schedule)}/pause", json=body
        )
        return found

    async def resume_schedule(
        self, schedule: "types.ScheduleName", body: "types.ScheduleReason | None" = None
    ) -> "types.ShownSchedule":
        """Resume a paused schedule."""
        found: types.ShownSchedule = await self.transport.request(
            "POST", f"/v1/schedules/{_part(schedule)}/resume", json=body
        )
        return found

    async def run_schedule(self, schedule: "types.ScheduleName") -> "types.ShownSchedule":
        """Start a pass now, also of a paused schedule."""
        found: types.ShownSchedule = await self.transport.request("POST", f"/v1/schedules/{_part(schedule)}/run")
        return found

    async def list_triggers(self) -> "types.TriggerList":
        """List the tenant's triggers, by name."""
        found: types.TriggerList = await self.transport.request("GET", "/v1/triggers")
        return found

    async def create_trigger(self, body: "types.TriggerOrder") -> "types.Trigger":
        """Start runs by schedule, or upload files of a watched folder or of mails."""
        found: types.Trigger = await self.transport.request("POST", "/v1/triggers", json=body)
        return found

    async def show_trigger(self, trigger: str) -> "types.Trigger":
        """Show a trigger."""
        found: types.Trigger = await self.transport.request("GET", f"/v1/triggers/{_part(trigger)}")
        return found

    async def delete_trigger(self, trigger: str) -> "types.Trigger":
        """Delete a trigger."""
        found: types.Trigger = await self.transport.request("DELETE", f"/v1/triggers/{_part(trigger)}")
        return found

    async def pause_trigger(self, trigger: str, body: "types.TriggerReason | None" = None) -> "types.Trigger":
        """Pause a trigger: it does not fire by itself until it is resumed."""
        found: types.Trigger = await self.transport.request("POST", f"/v1/triggers/{_part(trigger)}/pause", json=body)
        return found

    async def resume_trigger(self, trigger: str, body: "types.TriggerReason | None" = None) -> "types.Trigger":
        """Resume a paused trigger."""
        found: types.Trigger = await self.transport.request("POST", f"/v1/triggers/{_part(trigger)}/resume", json=body)
        return found

    async def fire_trigger(self, trigger: str) -> "types.Trigger":
        """Fire a trigger now, also a paused one."""
        found: types.Trigger = await self.transport.request("POST", f"/v1/triggers/{_part(trigger)}/run")
        return found

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
        found: types.ReviewPage = await self.transport.request(
            "GET",
            "/v1/reviews",
            params={
                "status": status,
                "queue": queue,
                "kind": kind,
                "group": group,
                "claimed_by": claimed_by,
                "assigned_to": assigned_to,
                "vendor": vendor,
                "band": band,
                "due": due,
                "run_id": run_id,
                "sort": sort,
                "limit": limit,
                "after": after,
            },
        )
        return found

    async def show_review(self, review_id: str) -> "types.FullReview":
        """Show a review item with its form and content."""
        found: types.FullReview = await self.transport.request("GET", f"/v1/reviews/{_part(review_id)}")
        return found

    async def decide_review(self, review_id: str, body: "types.DecisionIn") -> "types.Decided":
        """Decide a human step's item, at any nesting depth of its run."""
        found: types.Decided = await self.transport.request(
            "POST", f"/v1/reviews/{_part(review_id)}/decision", json=body
        )
        return found

    async def claim_next(self, body: "types.Wish | None" = None) -> "types.NextOut":
        """Claim the most urgent free item."""
        found: types.NextOut = await self.transport.request("POST", "/v1/reviews/next", json=body)
        return found

    async def claim_review(self, review_id: str) -> "types.Claim":
        """Claim an item for 15 minutes."""
        found: types.Claim = await self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/claim")
        return found

    async def renew_claim(self, review_id: str, body: "types.TokenIn") -> "types.RenewedOut":
        """Extend a claim by another 15 minutes."""
        found: types.RenewedOut = await self.transport.request(
            "POST", f"/v1/reviews/{_part(review_id)}/renew", json=body
        )
        return found

    async def release_review(self, review_id: str, body: "types.ReleaseIn | None" = None) -> "types.Review":
        """Return an item to the queue."""
        found: types.Review = await self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/release", json=body)
        return found

    async def assign_review(self, review_id: str, body: "types.AssignIn") -> "types.Review":
        """Assign an item to one person, who gets it first when claiming the next item."""
        found: types.Review = await self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/assign", json=body)
        return found

    async def postpone_review(self, review_id: str, body: "types.PostponeIn") -> "types.Review":
        """Postpone an item."""
        found: types.Review = await self.transport.request(
            "POST", f"/v1/reviews/{_part(review_id)}/postpone", json=body
        )
        return found

    async def preview_approval(self, body: "types.PreviewIn") -> "types.ApprovalPreview":
        """Show what a bulk approval would do: what is approved, with its sums, and what stays open and why."""
        found: types.ApprovalPreview = await self.transport.request("POST", "/v1/reviews/approve/preview", json=body)
        return found

    async def approve_many(self, body: "types.BulkApprovalIn") -> "types.BulkResult":
        """Approve documents without problems."""
        found: types.BulkResult = await self.transport.request("POST", "/v1/reviews/approve", json=body)
        return found

    async def approve(self, review_id: str, body: "types.DocumentVerdict") -> "types.DecisionOutcome":
        """Approve a document as it was shown."""
        found: types.DecisionOutcome = await self.transport.request(
            "POST", f"/v1/reviews/{_part(review_id)}/approve", json=body
        )
        return found

    async def reject(self, review_id: str, body: "types.DocumentVerdict") -> "types.DecisionOutcome":
        """Reject a document; a reason is required."""
        found: types.DecisionOutcome = await self.transport.request(
            "POST", f"/v1/reviews/{_part(review_id)}/reject", json=body
        )
        return found

    async def reopen(self, review_id: str, body: "types.ReopenIn") -> "types.Review":
        """Reopen a decided document."""
        found: types.Review = await self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/reopen", json=body)
        return found

    async def show_audit(
        self, review_id: str, *, after: int | None = None, limit: int | None = None
    ) -> "types.AuditOut":
        """Show the audit events of an item and its document, oldest first."""
        found: types.AuditOut = await self.transport.request(
            "GET", f"/v1/reviews/{_part(review_id)}/audit", params={"after": after, "limit": limit}
        )
        return found

    async def show_fields(self, document_id: str) -> "types.FieldsOut":
        """Show a document's fields: values, confidence with explanation, source, page position, lock, and …."""
        found: types.FieldsOut = await self.transport.request("GET", f"/v1/documents/{_part(document_id)}/fields")
        return found

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
        found: types.FieldsOut = await self.transport.request(
            "PUT", f"/v1/documents/{_part(document_id)}/fields/{_part(field)}", json=body
        )
        return found

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
        found: types.FieldsOut = await self.transport.request(
            "DELETE", f"/v1/documents/{_part(document_id)}/fields/{_part(field)}", params={"token": token, "why": why}
        )
        return found

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
        found: types.FieldsOut = await self.transport.request(
            "PUT", f"/v1/documents/{_part(document_id)}/fields/{_part(field)}/text", json=body
        )
        return found

    async def edit_lines(self, document_id: str, body: "types.LinesOrder") -> "types.FieldsOut":
        """Edit the line items by row: set a cell, insert and delete rows, paste rows of a spreadsheet."""
        found: types.FieldsOut = await self.transport.request(
            "POST", f"/v1/documents/{_part(document_id)}/line-items", json=body
        )
        return found

    async def undo_correction(self, document_id: str, body: "types.TokenIn") -> "types.FieldsOut":
        """Undo the last change to the document's fields, if it is the caller's; repeat to undo earlier ones."""
        found: types.FieldsOut = await self.transport.request(
            "POST", f"/v1/documents/{_part(document_id)}/undo", json=body
        )
        return found

    async def list_changes(self, document_id: str) -> "types.ChangesOut":
        """List the changes by people to the document's fields, including undone ones."""
        found: types.ChangesOut = await self.transport.request("GET", f"/v1/documents/{_part(document_id)}/changes")
        return found

    async def show_history(self, document_id: str) -> "types.DocumentHistory":
        """Show what happened to a document, oldest first: upload, readings, corrections, decisions, exports."""
        found: types.DocumentHistory = await self.transport.request(
            "GET", f"/v1/documents/{_part(document_id)}/history"
        )
        return found

    async def show_readings(self, document_id: str) -> "types.DocumentReadings":
        """Show every reading of a document, and where they differ."""
        found: types.DocumentReadings = await self.transport.request(
            "GET", f"/v1/documents/{_part(document_id)}/readings"
        )
        return found

    async def show_review_view(self, review_id: str) -> "types.ReviewViewOut":
        """Show a document's item as a page needs it, in one answer."""
        found: types.ReviewViewOut = await self.transport.request("GET", f"/v1/reviews/{_part(review_id)}/view")
        return found

    async def list_audit(self, *, after: int | None = None, limit: int | None = None) -> "types.AuditOut":
        """List all events, oldest first."""
        found: types.AuditOut = await self.transport.request(
            "GET", "/v1/audit", params={"after": after, "limit": limit}
        )
        return found

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
        found: types.NewestOut = await self.transport.request(
            "GET",
            "/v1/audit/newest",
            params={"actor": actor, "act": act, "subject": subject, "before": before, "limit": limit},
        )
        return found

    async def verify_audit(self, *, head: str | None = None) -> "types.ChainCheck":
        """Verify that no event was changed, removed, inserted or cut off, and that every review item is as …."""
        found: types.ChainCheck = await self.transport.request("GET", "/v1/audit/verify", params={"head": head})
        return found

    async def create_export(self, body: "types.ExportOrder", *, idempotency_key: str | None = None) -> "types.Export":
        """Export approved documents as a file, or to a webhook, which needs the scope `operate`, too."""
        found: types.Export = await self.transport.request(
            "POST", "/v1/exports", headers=without_none({"Idempotency-Key": idempotency_key}), json=body
        )
        return found

    async def list_exports(self, *, limit: int | None = None, after: str | None = None) -> "types.ExportPage":
        """List exports, newest first."""
        found: types.ExportPage = await self.transport.request(
            "GET", "/v1/exports", params={"limit": limit, "after": after}
        )
        return found

    async def preview_export(self, body: "types.ExportOrder") -> "types.Preview":
        """Show how many documents an export would have, their totals, and its first rows."""
        found: types.Preview = await self.transport.request("POST", "/v1/exports/preview", json=body)
        return found

    async def show_export(self, export_id: str) -> "types.Export":
        """Show an export and how far it is."""
        found: types.Export = await self.transport.request("GET", f"/v1/exports/{_part(export_id)}")
        return found

    async def download_export(self, export_id: str) -> bytes:
        """Download the file of an export: each time the same bytes."""
        return await self.transport.fetch(f"/v1/exports/{_part(export_id)}/file")

    async def create_batch(self, body: "types.BatchOrder", *, idempotency_key: str | None = None) -> "types.Batch":
        """Order a batch."""
        found: types.Batch = await self.transport.request(
            "POST", "/v1/batches", headers=without_none({"Idempotency-Key": idempotency_key}), json=body
        )
        return found

    async def list_batches(self, *, limit: int | None = None, after: str | None = None) -> "types.BatchPage":
        """List batches, newest first."""
        found: types.BatchPage = await self.transport.request(
            "GET", "/v1/batches", params={"limit": limit, "after": after}
        )
        return found

    async def show_batch(self, batch_id: str) -> "types.Batch":
        """Show a batch: its documents by state, its rate, the time left, and why documents failed."""
        found: types.Batch = await self.transport.request("GET", f"/v1/batches/{_part(batch_id)}")
        return found

    async def append_documents(self, batch_id: str, body: "types.Appended") -> "types.Added":
        """Add uploaded documents to an open batch."""
        found: types.Added = await self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/append", json=body)
        return found

    async def upload_to_batch(
        self, batch_id: str, file: File, *, place: str | None = None, inputs: Mapping[str, Json] | None = None
    ) -> "types.AddedDocument":
        """Add a file to an open batch."""
        found: types.AddedDocument = await self.transport.request(
            "POST",
            f"/v1/batches/{_part(batch_id)}/documents",
            files={"file": file},
            data=_form({"place": place, "inputs": inputs}),
        )
        return found

    async def list_batch_documents(
        self,
        batch_id: str,
        *,
        state: "types.BatchDocumentState | None" = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> "types.BatchDocumentPage":
        """List the documents of a batch, in the order in which they were added."""
        found: types.BatchDocumentPage = await self.transport.request(
            "GET", f"/v1/batches/{_part(batch_id)}/documents", params={"state": state, "limit": limit, "after": after}
        )
        return found

    async def upload_zip(self, batch_id: str, file: File, *, close: bool | None = None) -> "types.Added":
        """Add the files of a zip file to an open batch; their names are their places."""
        found: types.Added = await self.transport.request(
            "POST", f"/v1/batches/{_part(batch_id)}/zip", files={"file": file}, data=_form({"close": close})
        )
        return found

    async def close_batch(self, batch_id: str) -> "types.Batch":
        """Let a batch take no more documents: it completes once all have ended."""
        found: types.Batch = await self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/close")
        return found

    async def show_batch_result(
        self, batch_id: str, *, limit: int | None = None, after: str | None = None
    ) -> "types.BatchResult":
        """Show the result of a batch: a summary, and its documents with what was read."""
        found: types.BatchResult = await self.transport.request(
            "GET", f"/v1/batches/{_part(batch_id)}/result", params={"limit": limit, "after": after}
        )
        return found

    async def download_batch_result(self, batch_id: str) -> bytes:
        """Download the result of all documents of a batch as CSV."""
        return await self.transport.fetch(f"/v1/batches/{_part(batch_id)}/result.csv")

    async def pause_batch(self, batch_id: str, body: "types.BatchReasonIn | None" = None) -> "types.Batch":
        """Start no more runs of a batch; open ones go on."""
        found: types.Batch = await self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/pause", json=body)
        return found

    async def resume_batch(self, batch_id: str, body: "types.BatchReasonIn | None" = None) -> "types.Batch":
        """Start runs of a paused batch again."""
        found: types.Batch = await self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/resume", json=body)
        return found

    async def cancel_batch(self, batch_id: str, body: "types.BatchReasonIn | None" = None) -> "types.Batch":
        """Start no more runs of a batch, and cancel the open ones."""
        found: types.Batch = await self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/cancel", json=body)
        return found

    async def retry_batch(self, batch_id: str, body: "types.RetryOfBatch | None" = None) -> "types.Batch":
        """Try the failed documents of a batch again, all or those of one error class."""
        found: types.Batch = await self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/retry", json=body)
        return found

    async def submit_definition(self, body: "types.PublishIn", *, run_tests: bool | None = None) -> "types.Published":
        """Publish a definition as its next version; by default new runs then use it."""
        found: types.Published = await self.transport.request(
            "POST", "/v1/definitions", params={"run_tests": run_tests}, json=body
        )
        return found

    async def list_definitions(self, *, limit: int | None = None, after: str | None = None) -> "types.DefinitionPage":
        """List the newest version of each definition."""
        found: types.DefinitionPage = await self.transport.request(
            "GET", "/v1/definitions", params={"limit": limit, "after": after}
        )
        return found

    async def show_schema(self) -> dict[str, Json]:
        """Return the JSON Schema of a definition, for editors."""
        found: dict[str, Json] = await self.transport.request("GET", "/v1/definitions/schema")
        return found

    async def validate_definition(
        self, body: "types.DefinitionIn", *, draw: bool | None = None, open_: str | None = None
    ) -> "types.DefinitionValidation":
        """Validate a definition and return all problems."""
        found: types.DefinitionValidation = await self.transport.request(
            "POST", "/v1/definitions/validate", params={"draw": draw, "open": open_}, json=body
        )
        return found

    async def test_definition(self, body: "types.DefinitionIn") -> "types.TestedDefinition":
        """Run the tests that a definition contains."""
        found: types.TestedDefinition = await self.transport.request("POST", "/v1/definitions/test", json=body)
        return found

    async def plan_definition(self, body: "types.DefinitionIn") -> "types.DefinitionPlan":
        """Show how a definition would run."""
        found: types.DefinitionPlan = await self.transport.request("POST", "/v1/definitions/plan", json=body)
        return found

    async def show_definition(self, definition_id: str, *, version: int | None = None) -> "types.StoredDefinition":
        """Show a version of a definition."""
        found: types.StoredDefinition = await self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}", params={"version": version}
        )
        return found

    async def list_versions(
        self, definition_id: str, *, limit: int | None = None, after: int | None = None
    ) -> "types.VersionPage":
        """List the versions of a definition, newest first."""
        found: types.VersionPage = await self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/versions", params={"limit": limit, "after": after}
        )
        return found

    async def compare_versions(
        self, definition_id: str, *, from_: str | None = None, to: str | None = None
    ) -> "types.Comparison":
        """Compare two versions: steps added, removed and changed, field by field, and everything else."""
        found: types.Comparison = await self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/diff", params={"from": from_, "to": to}
        )
        return found

    async def show_definition_graph(
        self, definition_id: str, *, version: int | None = None, open_: str | None = None
    ) -> "types.Graph":
        """Draw a version of a definition: at most 300 nodes, each a step or a group of steps."""
        found: types.Graph = await self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/graph", params={"version": version, "open": open_}
        )
        return found

    async def list_dependants(self, definition_id: str) -> "types.Dependants":
        """List the steps of other definitions that run this one, in the versions that an alias names."""
        found: types.Dependants = await self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/dependants"
        )
        return found

    async def list_aliases(self, definition_id: str) -> "types.DefinitionAliases":
        """List the definition's aliases and the versions they point to."""
        found: types.DefinitionAliases = await self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/aliases"
        )
        return found

    async def set_alias(self, definition_id: str, alias: str, body: "types.AliasIn") -> "types.DefinitionAliases":
        """Point an alias to a version."""
        found: types.DefinitionAliases = await self.transport.request(
            "PUT", f"/v1/definitions/{_part(definition_id)}/aliases/{_part(alias)}", json=body
        )
        return found

    async def remove_alias(
        self, definition_id: str, alias: str, *, reason: str | None = None
    ) -> "types.DefinitionAliases":
        """Remove an alias."""
        found: types.DefinitionAliases = await self.transport.request(
            "DELETE", f"/v1/definitions/{_part(definition_id)}/aliases/{_part(alias)}", params={"reason": reason}
        )
        return found

    async def roll_back(self, definition_id: str, body: "types.ReasonIn | None" = None) -> "types.Undone":
        """Undo the last change for new runs: end the canary or, without one, move `stable` back."""
        found: types.Undone = await self.transport.request(
            "POST", f"/v1/definitions/{_part(definition_id)}/rollback", json=body
        )
        return found

    async def list_moves(
        self, definition_id: str, *, limit: int | None = None, after: int | None = None
    ) -> "types.MovePage":
        """List the moves of the definition's aliases: who, when, from which version to which, and why."""
        found: types.MovePage = await self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/moves", params={"limit": limit, "after": after}
        )
        return found

    async def show_routing(self) -> "types.StoredRules":
        """Show the routing rules."""
        found: types.StoredRules = await self.transport.request("GET", "/v1/routing")
        return found

    async def set_routing(self, body: "types.RoutingIn") -> "types.RulesSet":
        """Replace the routing rules."""
        found: types.RulesSet = await self.transport.request("PUT", "/v1/routing", json=body)
        return found

    async def validate_routing(self, body: "types.CheckIn") -> "types.Validation":
        """Validate routing rules and return all problems."""
        found: types.Validation = await self.transport.request("POST", "/v1/routing/validate", json=body)
        return found

    async def try_routing(self, body: "types.FactsIn") -> "types.ChosenRoute":
        """Show which definition a document would get."""
        found: types.ChosenRoute = await self.transport.request("POST", "/v1/routing/try", json=body)
        return found

    async def list_handlers(self) -> "types.HandlerList":
        """List the handlers."""
        found: types.HandlerList = await self.transport.request("GET", "/v1/handlers")
        return found

    async def show_handler(self, name: str) -> "types.HandlerInfo":
        """Show a handler, by its name or an alias."""
        found: types.HandlerInfo = await self.transport.request("GET", f"/v1/handlers/{_part(name)}")
        return found

    async def list_limits(self) -> "types.LimitListOut":
        """List the limited resources."""
        found: types.LimitListOut = await self.transport.request("GET", "/v1/limits")
        return found

    async def set_limit(self, tag: str, body: "types.LimitIn") -> "types.TagLimit":
        """Change a limit."""
        found: types.TagLimit = await self.transport.request("PUT", f"/v1/limits/{_part(tag)}", json=body)
        return found

    async def reset_limit(self, tag: str) -> "types.TagLimit":
        """Reset a resource to the limit of the settings."""
        found: types.TagLimit = await self.transport.request("DELETE", f"/v1/limits/{_part(tag)}")
        return found

    async def list_quotas(self, *, tenant: str | None = None) -> "types.QuotaListOut":
        """List the quotas of a tenant and its keys."""
        found: types.QuotaListOut = await self.transport.request("GET", "/v1/quotas", params={"tenant": tenant})
        return found

    async def set_quota(self, quota: "types.Quota", body: "types.QuotaIn") -> "types.SetQuota":
        """Set a quota."""
        found: types.SetQuota = await self.transport.request("PUT", f"/v1/quotas/{_part(quota)}", json=body)
        return found

    async def reset_quota(self, quota: "types.Quota", *, tenant: str, key_id: str | None = None) -> None:
        """Remove a quota, if one was set: the default applies again."""
        await self.transport.request(
            "DELETE", f"/v1/quotas/{_part(quota)}", params={"tenant": tenant, "key_id": key_id}
        )

    async def list_keys(self, *, limit: int | None = None, after: str | None = None) -> "types.KeyListOut":
        """List the tenant's API keys, revoked and expired ones included."""
        found: types.KeyListOut = await self.transport.request(
            "GET", "/v1/keys", params={"limit": limit, "after": after}
        )
        return found

    async def create_key(self, body: "types.KeyIn") -> "types.NewKey":
        """Create an API key in the caller's tenant."""
        found: types.NewKey = await self.transport.request("POST", "/v1/keys", json=body)
        return found

    async def rotate_key(self, key_id: str, body: "types.RotationIn | None" = None) -> "types.NewKey":
        """Give a key a new secret."""
        found: types.NewKey = await self.transport.request("POST", f"/v1/keys/{_part(key_id)}/rotate", json=body)
        return found

    async def revoke_key(self, key_id: str) -> "types.Key":
        """Revoke a key, and end the sessions that it opened."""
        found: types.Key = await self.transport.request("DELETE", f"/v1/keys/{_part(key_id)}")
        return found

    async def show_me(self) -> "types.Me":
        """Show who the caller is: name, tenant, scopes, and how they were authenticated."""
        found: types.Me = await self.transport.request("GET", "/v1/me")
        return found

    async def list_sign_in_methods(self) -> "types.SignInMethodsOut":
        """List how people may sign in here."""
        found: types.SignInMethodsOut = await self.transport.request("GET", "/v1/session/methods")
        return found

    async def sign_in(self, body: "types.SignIn") -> "types.Me":
        """Sign in with an API key."""
        found: types.Me = await self.transport.request("POST", "/v1/session", json=body)
        return found

    async def sign_out(self) -> None:
        """Sign out: end the session of the cookie."""
        await self.transport.request("DELETE", "/v1/session")

    async def list_sessions(self, *, limit: int | None = None, after: str | None = None) -> "types.SessionListOut":
        """List the tenant's open browser sessions."""
        found: types.SessionListOut = await self.transport.request(
            "GET", "/v1/sessions", params={"limit": limit, "after": after}
        )
        return found

    async def revoke_session(self, session_id: str) -> "types.Session":
        """End a browser session."""
        found: types.Session = await self.transport.request("DELETE", f"/v1/sessions/{_part(session_id)}")
        return found

    async def decode_payloads(self, body: "types.PayloadsIn") -> "types.PayloadsOut":
        """Decrypt payloads of your tenant; others come back as they are, as payloads without encryption do."""
        found: types.PayloadsOut = await self.transport.request("POST", "/v1/codec/decode", json=body)
        return found

    async def encode_payloads(self, body: "types.PayloadsIn") -> "types.PayloadsOut":
        """Encrypt payloads with the first of DOCRAIL_PAYLOAD_KEYS; without keys they come back as they are."""
        found: types.PayloadsOut = await self.transport.request("POST", "/v1/codec/encode", json=body)
        return found

    async def receive_callback(self, token: str, body: Json) -> "types.AnsweredOut":
        """Answer the step that waits for this URL."""
        found: types.AnsweredOut = await self.transport.request("POST", f"/v1/callbacks/{_part(token)}", json=body)
        return found

    async def healthz(self) -> "types.HealthOut":
        """Report that this process is running, whether or not other services are available."""
        found: types.HealthOut = await self.transport.request("GET", "/healthz")
        return found

    async def readyz(self) -> "types.Readiness":
        """Check Temporal, PostgreSQL, the file store and a polling worker: 200 if all are available, else 503."""
        found: types.Readiness = await self.transport.request("GET", "/readyz")
        return found

    async def metrics(self) -> bytes:
        """Return metrics in Prometheus' text format: this process's responses, document outcomes, model …."""
        return await self.transport.fetch("/metrics")


class Client:
    """Calls the API: `with Client() as client`. For one thread; where an event loop runs, use AsyncClient.

    `address` is by default that of DOCRAIL_API_URL, else http://127.0.0.1:8000; `key` that of DOCRAIL_API_KEY, else
    none. Methods raise ApiError with the API's problem, and NoAnswerError if the API is unavailable.
    """

    def __init__(
        self, address: str | None = None, key: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """Prepare a connection. Raises: ApiError if that is no address, or the key is none."""
        self.transport = BlockingTransport(_address(address), _key(key), timeout_seconds=timeout_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.transport.close()

    def request(self, method: str, path: str, **request: Any) -> Any:
        """Return the answer to a request that has no method here; `request` as httpx takes it."""
        return self.transport.request(method, path, **request)

    def wait_for_run(self, run_id: str) -> "types.RunOut":
        """Wait until a run has ended, and return its report. It may take weeks: someone may be asked."""
        found: types.RunOut = self.transport.end_of_run(f"/v1/runs/{_part(run_id)}")
        return found

    def pages(self, list_: "Callable[..., Page]", *given: Any, **wanted: Any) -> "Iterator[Page]":
        """Yield the pages of a list: `client.pages(client.list_runs, status="failed")`."""
        after: str | None = None
        while True:
            page = list_(*given, **wanted, after=after)
            yield page
            after = page["after"]
            if after is None:
                return

    def upload_document(
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
        found: types.Document = self.transport.request(
            "POST",
            "/v1/documents",
            headers=without_none({"Idempotency-Key": idempotency_key}),
            files={"file": file},
            data=_form(
                {"sla_hours": sla_hours, "source": source, "definition": definition, "inputs": inputs, "key": key}
            ),
        )
        return found

    def list_documents(
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
        found: types.DocumentPage = self.transport.request(
            "GET",
            "/v1/documents",
            params={
                "status": status,
                "document_type": document_type,
                "vendor": vendor,
                "text": text,
                "since": since,
                "until": until,
                "sort": sort,
                "limit": limit,
                "after": after,
            },
        )
        return found

    def count_documents(
        self,
        *,
        document_type: "types.DocumentType | None" = None,
        vendor: str | None = None,
        text: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> "types.DocumentCounts":
        """Count documents by status."""
        found: types.DocumentCounts = self.transport.request(
            "GET",
            "/v1/documents/counts",
            params={"document_type": document_type, "vendor": vendor, "text": text, "since": since, "until": until},
        )
        return found

    def show_document(self, document_id: str) -> "types.Document":
        """Show a document."""
        found: types.Document = self.transport.request("GET", f"/v1/documents/{_part(document_id)}")
        return found

    def show_neighbours(
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
        found: types.Neighbours = self.transport.request(
            "GET",
            f"/v1/documents/{_part(document_id)}/neighbours",
            params={
                "status": status,
                "document_type": document_type,
                "vendor": vendor,
                "text": text,
                "since": since,
                "until": until,
                "sort": sort,
                "below": below,
            },
        )
        return found

    def extract_again(self, document_id: str, *, idempotency_key: str | None = None) -> "types.StartedRun":
        """Read a document again with the current readers."""
        found: types.StartedRun = self.transport.request(
            "POST",
            f"/v1/documents/{_part(document_id)}/extract",
            headers=without_none({"Idempotency-Key": idempotency_key}),
        )
        return found

    def send_again(self, document_id: str) -> "types.ListedDocument":
        """Try a failed document again: its failed steps are retried."""
        found: types.ListedDocument = self.transport.request("POST", f"/v1/documents/{_part(document_id)}/send-again")
        return found

    def dismiss_document(self, document_id: str, body: "types.DismissIn | None" = None) -> "types.ListedDocument":
        """Set the failure of a document aside."""
        found: types.ListedDocument = self.transport.request(
            "POST", f"/v1/documents/{_part(document_id)}/dismiss", json=body
        )
        return found

    def download_original(self, document_id: str) -> bytes:
        """Download a document as it was sent."""
        return self.transport.fetch(f"/v1/documents/{_part(document_id)}/original")

    def show_page(self, document_id: str, number: int, *, size: Literal["full", "small"] | None = None) -> bytes:
        """Show a page as an image of at most 2.2 megapixels."""
        return self.transport.fetch(
            f"/v1/documents/{_part(document_id)}/pages/{_part(number)}.png", params={"size": size}
        )

    def show_words(self, document_id: str, number: int) -> "types.PageWords":
        """Show the words of a page and where they are on its image, in reading order; a scan's come from OCR."""
        found: types.PageWords = self.transport.request(
            "GET", f"/v1/documents/{_part(document_id)}/pages/{_part(number)}/words"
        )
        return found

    def list_model_uses(self, document_id: str) -> "list[types.DocumentUse]":
        """List the model answers about the document, in order."""
        found: list[types.DocumentUse] = self.transport.request("GET", f"/v1/documents/{_part(document_id)}/model-uses")
        return found

    def show_usage(self) -> "types.ModelUsage":
        """Show what models' answers cost the tenant today, against its budget, and on each of the last 31 days."""
        found: types.ModelUsage = self.transport.request("GET", "/v1/usage")
        return found

    def list_tenants(self) -> "types.TenantListOut":
        """List the tenants with their keys, documents and cost of today."""
        found: types.TenantListOut = self.transport.request("GET", "/v1/tenants")
        return found

    def start_run(self, body: "types.RunOrder", *, idempotency_key: str | None = None) -> "types.StartedRun":
        """Start a run."""
        found: types.StartedRun = self.transport.request(
            "POST", "/v1/runs", headers=without_none({"Idempotency-Key": idempotency_key}), json=body
        )
        return found

    def list_runs(
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
        found: types.RunPage = self.transport.request(
            "GET",
            "/v1/runs",
            params={
                "definition": definition,
                "document": document,
                "status": status,
                "overdue": overdue,
                "started_since": started_since,
                "started_before": started_before,
                "ended_since": ended_since,
                "ended_before": ended_before,
                "limit": limit,
                "after": after,
            },
        )
        return found

    def count_runs(self, *, definitions: str, failed_since: str) -> "types.RunCounts":
        """Count the open runs of definitions, and those that have failed lately."""
        found: types.RunCounts = self.transport.request(
            "GET", "/v1/runs/counts", params={"definitions": definitions, "failed_since": failed_since}
        )
        return found

    def show_run(self, run_id: str) -> "types.RunOut":
        """Show a run with its steps, each explained."""
        found: types.RunOut = self.transport.request("GET", f"/v1/runs/{_part(run_id)}")
        return found

    def show_outputs(self, run_id: str) -> "types.OutputsOut":
        """Show a run's full outputs, of any size; none before its end."""
        found: types.OutputsOut = self.transport.request("GET", f"/v1/runs/{_part(run_id)}/outputs")
        return found

    def show_inputs(self, run_id: str) -> "types.InputsOut":
        """Show a run's full inputs; after a retry with other inputs, those."""
        found: types.InputsOut = self.transport.request("GET", f"/v1/runs/{_part(run_id)}/inputs")
        return found

    def show_output(self, run_id: str, step_id: str) -> "types.OutputOut":
        """Show a step's full output, of any size: a run's report only refers to outputs of more than 64 KiB."""
        found: types.OutputOut = self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}/output"
        )
        return found

    def explain_run(
        self, run_id: str, *, step: str | None = None, limit: int | None = None, after: str | None = None
    ) -> "types.RunExplanation":
        """Explain why each step is in its state: conditions with the values they read, attempts, and waits."""
        found: types.RunExplanation = self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/explain", params={"step": step, "limit": limit, "after": after}
        )
        return found

    def pause_run(self, run_id: str, body: "types.WhyIn | None" = None) -> "types.RunStatusOut":
        """Start no more steps of the run; running ones continue."""
        found: types.RunStatusOut = self.transport.request("POST", f"/v1/runs/{_part(run_id)}/pause", json=body)
        return found

    def resume_run(self, run_id: str, body: "types.WhyIn | None" = None) -> "types.RunStatusOut":
        """Resume a paused run."""
        found: types.RunStatusOut = self.transport.request("POST", f"/v1/runs/{_part(run_id)}/resume", json=body)
        return found

    def abort_run(self, run_id: str, body: "types.AbortIn | None" = None) -> "types.RunStatusOut":
        """End the run early."""
        found: types.RunStatusOut = self.transport.request("POST", f"/v1/runs/{_part(run_id)}/abort", json=body)
        return found

    def answer_wait(self, run_id: str, step_id: str, body: "types.AnswerIn") -> "types.RunStatusOut":
        """Answer a step that waits for a signal, a webhook or a person."""
        found: types.RunStatusOut = self.transport.request(
            "POST", f"/v1/runs/{_part(run_id)}/waits/{_part(step_id)}", json=body
        )
        return found

    def list_waits(self, run_id: str, *, limit: int | None = None, after: str | None = None) -> "types.WaitPage":
        """List what a run and its nested runs wait for; `limit` is the number of nested runs per page."""
        found: types.WaitPage = self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/waits", params={"limit": limit, "after": after}
        )
        return found

    def list_actions(
        self, run_id: str, *, step: str | None = None, limit: int | None = None, after: str | None = None
    ) -> "types.ActionPage":
        """List people's actions on a run and its failed steps, newest first."""
        found: types.ActionPage = self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/actions", params={"step": step, "limit": limit, "after": after}
        )
        return found

    def show_run_graph(self, run_id: str, *, open_: str | None = None) -> "types.RunGraph":
        """Draw a run: at most 300 nodes, each a step or a group of steps, with their states."""
        found: types.RunGraph = self.transport.request("GET", f"/v1/runs/{_part(run_id)}/graph", params={"open": open_})
        return found

    def show_run_states(self, run_id: str, *, open_: str | None = None) -> "types.RunStates":
        """Show only the states of a drawing's nodes, to follow a run without drawing it again."""
        found: types.RunStates = self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/states", params={"open": open_}
        )
        return found

    def list_steps(
        self,
        run_id: str,
        *,
        search: str | None = None,
        status: "types.StepStatus | None" = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> "types.StepPage":
        """List a run's steps in plan order with states and times, as for a timeline."""
        found: types.StepPage = self.transport.request(
            "GET",
            f"/v1/runs/{_part(run_id)}/steps",
            params={"search": search, "status": status, "limit": limit, "after": after},
        )
        return found

    def show_step(self, run_id: str, step_id: str) -> "types.StepDetail":
        """Show a step: why it is in its state, its input and output as text, its attempts, and the possible …."""
        found: types.StepDetail = self.transport.request("GET", f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}")
        return found

    def show_input(self, run_id: str, step_id: str, *, item: str | None = None) -> "types.InputOut":
        """Show a step's full input, of any size, or that of an item of its list."""
        found: types.InputOut = self.transport.request(
            "GET", f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}/input", params={"item": item}
        )
        return found

    def list_items(
        self,
        run_id: str,
        step_id: str,
        *,
        status: "types.StepStatus | None" = None,
        limit: int | None = None,
        after: int | None = None,
    ) -> "types.ItemPage":
        """List the items of a step's list, in order; none for a step without a list."""
        found: types.ItemPage = self.transport.request(
            "GET",
            f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}/items",
            params={"status": status, "limit": limit, "after": after},
        )
        return found

    def cancel_run(self, run_id: str, body: "types.WhyIn | None" = None) -> "types.RunStatusOut":
        """Ask a run to stop."""
        found: types.RunStatusOut = self.transport.request("POST", f"/v1/runs/{_part(run_id)}/cancel", json=body)
        return found

    def act_on_many_runs(self, body: "types.BulkActionIn") -> "types.RunOutcomes":
        """Take one action on many runs."""
        found: types.RunOutcomes = self.transport.request("POST", "/v1/runs/bulk", json=body)
        return found

    def retry_run(self, run_id: str, body: "types.RetryIn | None" = None) -> "types.RetriedRun":
        """Start a failed or cancelled run again under its id, or a completed one with failed items or …."""
        found: types.RetriedRun = self.transport.request("POST", f"/v1/runs/{_part(run_id)}/retry", json=body)
        return found

    def resolve_step(self, run_id: str, step_id: str, body: "types.ResolveIn") -> "types.RunStatusOut":
        """Resolve a parked step; its run continues."""
        found: types.RunStatusOut = self.transport.request(
            "POST", f"/v1/runs/{_part(run_id)}/steps/{_part(step_id)}/resolve", json=body
        )
        return found

    def list_letters(
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
        found: types.LetterPage = self.transport.request(
            "GET",
            "/v1/dead-letters",
            params={
                "class": class_,
                "definition": definition,
                "handler": handler,
                "step": step,
                "status": status,
                "view": view,
                "limit": limit,
                "after": after,
            },
        )
        return found

    def count_letters(
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
        found: types.LetterCounts = self.transport.request(
            "GET",
            "/v1/dead-letters/counts",
            params={
                "class": class_,
                "definition": definition,
                "handler": handler,
                "step": step,
                "status": status,
                "view": view,
            },
        )
        return found

    def group_letters(
        self,
        *,
        definition: str | None = None,
        status: "types.StatusFilter | None" = None,
        view: "types.View | None" = None,
        limit: int | None = None,
    ) -> "types.LetterGroups":
        """Group letters by error class and step, with the number that failed again after a retry; by default …."""
        found: types.LetterGroups = self.transport.request(
            "GET",
            "/v1/dead-letters/groups",
            params={"definition": definition, "status": status, "view": view, "limit": limit},
        )
        return found

    def retry_letters(self, body: "types.BulkIn") -> "types.Retried":
        """Retry many steps."""
        found: types.Retried = self.transport.request("POST", "/v1/dead-letters/retry", json=body)
        return found

    def show_letter(self, run_id: str, step_id: str) -> "types.ShownLetter":
        """Show a failed step and the actions on it."""
        found: types.ShownLetter = self.transport.request("GET", f"/v1/dead-letters/{_part(run_id)}/{_part(step_id)}")
        return found

    def resolve_letter(self, run_id: str, step_id: str, body: "types.LetterOrderIn") -> "types.ShownLetter":
        """Resolve a failed step: in its run while that waits, or by retrying the run once it has ended."""
        found: types.ShownLetter = self.transport.request(
            "POST", f"/v1/dead-letters/{_part(run_id)}/{_part(step_id)}/resolve", json=body
        )
        return found

    def submit_workflow(self, body: "types.SubmissionIn") -> "types.Execution":
        """Validate and store a definition for a run."""
        found: types.Execution = self.transport.request("POST", "/v1/workflow", json=body)
        return found

    def show_workflow(self, execution_id: str) -> "types.Execution":
        """Show a submitted definition and the status of its run: pending until it is triggered."""
        found: types.Execution = self.transport.request("GET", f"/v1/workflow/{_part(execution_id)}")
        return found

    def trigger_workflow(self, execution_id: str, body: "types.TriggerIn | None" = None) -> "types.Execution":
        """Start the run."""
        found: types.Execution = self.transport.request(
            "POST", f"/v1/workflow/trigger/{_part(execution_id)}", json=body
        )
        return found

    def show_health(self) -> "types.Readiness":
        """Show which services are available."""
        found: types.Readiness = self.transport.request("GET", "/v1/health")
        return found

    def list_workers(self) -> "types.Fleet":
        """List the workers, also those that fell silent within the last hour, and what waits in their task …."""
        found: types.Fleet = self.transport.request("GET", "/v1/workers")
        return found

    def list_schedules(self) -> "types.ScheduleListOut":
        """List the schedules by which Docrail works on its own."""
        found: types.ScheduleListOut = self.transport.request("GET", "/v1/schedules")
        return found

    def pause_schedule(
        self, schedule: "types.ScheduleName", body: "types.ScheduleReason | None" = None
    ) -> "types.ShownSchedule":
        """Pause a schedule: no pass starts by itself, also after a restart of the servers."""
        found: types.ShownSchedule = self.transport.request("POST", f"/v1/schedules/{_part(schedule)}/pause", json=body)
        return found

    def resume_schedule(
        self, schedule: "types.ScheduleName", body: "types.ScheduleReason | None" = None
    ) -> "types.ShownSchedule":
        """Resume a paused schedule."""
        found: types.ShownSchedule = self.transport.request(
            "POST", f"/v1/schedules/{_part(schedule)}/resume", json=body
        )
        return found

    def run_schedule(self, schedule: "types.ScheduleName") -> "types.ShownSchedule":
        """Start a pass now, also of a paused schedule."""
        found: types.ShownSchedule = self.transport.request("POST", f"/v1/schedules/{_part(schedule)}/run")
        return found

    def list_triggers(self) -> "types.TriggerList":
        """List the tenant's triggers, by name."""
        found: types.TriggerList = self.transport.request("GET", "/v1/triggers")
        return found

    def create_trigger(self, body: "types.TriggerOrder") -> "types.Trigger":
        """Start runs by schedule, or upload files of a watched folder or of mails."""
        found: types.Trigger = self.transport.request("POST", "/v1/triggers", json=body)
        return found

    def show_trigger(self, trigger: str) -> "types.Trigger":
        """Show a trigger."""
        found: types.Trigger = self.transport.request("GET", f"/v1/triggers/{_part(trigger)}")
        return found

    def delete_trigger(self, trigger: str) -> "types.Trigger":
        """Delete a trigger."""
        found: types.Trigger = self.transport.request("DELETE", f"/v1/triggers/{_part(trigger)}")
        return found

    def pause_trigger(self, trigger: str, body: "types.TriggerReason | None" = None) -> "types.Trigger":
        """Pause a trigger: it does not fire by itself until it is resumed."""
        found: types.Trigger = self.transport.request("POST", f"/v1/triggers/{_part(trigger)}/pause", json=body)
        return found

    def resume_trigger(self, trigger: str, body: "types.TriggerReason | None" = None) -> "types.Trigger":
        """Resume a paused trigger."""
        found: types.Trigger = self.transport.request("POST", f"/v1/triggers/{_part(trigger)}/resume", json=body)
        return found

    def fire_trigger(self, trigger: str) -> "types.Trigger":
        """Fire a trigger now, also a paused one."""
        found: types.Trigger = self.transport.request("POST", f"/v1/triggers/{_part(trigger)}/run")
        return found

    def list_reviews(
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
        found: types.ReviewPage = self.transport.request(
            "GET",
            "/v1/reviews",
            params={
                "status": status,
                "queue": queue,
                "kind": kind,
                "group": group,
                "claimed_by": claimed_by,
                "assigned_to": assigned_to,
                "vendor": vendor,
                "band": band,
                "due": due,
                "run_id": run_id,
                "sort": sort,
                "limit": limit,
                "after": after,
            },
        )
        return found

    def show_review(self, review_id: str) -> "types.FullReview":
        """Show a review item with its form and content."""
        found: types.FullReview = self.transport.request("GET", f"/v1/reviews/{_part(review_id)}")
        return found

    def decide_review(self, review_id: str, body: "types.DecisionIn") -> "types.Decided":
        """Decide a human step's item, at any nesting depth of its run."""
        found: types.Decided = self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/decision", json=body)
        return found

    def claim_next(self, body: "types.Wish | None" = None) -> "types.NextOut":
        """Claim the most urgent free item."""
        found: types.NextOut = self.transport.request("POST", "/v1/reviews/next", json=body)
        return found

    def claim_review(self, review_id: str) -> "types.Claim":
        """Claim an item for 15 minutes."""
        found: types.Claim = self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/claim")
        return found

    def renew_claim(self, review_id: str, body: "types.TokenIn") -> "types.RenewedOut":
        """Extend a claim by another 15 minutes."""
        found: types.RenewedOut = self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/renew", json=body)
        return found

    def release_review(self, review_id: str, body: "types.ReleaseIn | None" = None) -> "types.Review":
        """Return an item to the queue."""
        found: types.Review = self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/release", json=body)
        return found

    def assign_review(self, review_id: str, body: "types.AssignIn") -> "types.Review":
        """Assign an item to one person, who gets it first when claiming the next item."""
        found: types.Review = self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/assign", json=body)
        return found

    def postpone_review(self, review_id: str, body: "types.PostponeIn") -> "types.Review":
        """Postpone an item."""
        found: types.Review = self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/postpone", json=body)
        return found

    def preview_approval(self, body: "types.PreviewIn") -> "types.ApprovalPreview":
        """Show what a bulk approval would do: what is approved, with its sums, and what stays open and why."""
        found: types.ApprovalPreview = self.transport.request("POST", "/v1/reviews/approve/preview", json=body)
        return found

    def approve_many(self, body: "types.BulkApprovalIn") -> "types.BulkResult":
        """Approve documents without problems."""
        found: types.BulkResult = self.transport.request("POST", "/v1/reviews/approve", json=body)
        return found

    def approve(self, review_id: str, body: "types.DocumentVerdict") -> "types.DecisionOutcome":
        """Approve a document as it was shown."""
        found: types.DecisionOutcome = self.transport.request(
            "POST", f"/v1/reviews/{_part(review_id)}/approve", json=body
        )
        return found

    def reject(self, review_id: str, body: "types.DocumentVerdict") -> "types.DecisionOutcome":
        """Reject a document; a reason is required."""
        found: types.DecisionOutcome = self.transport.request(
            "POST", f"/v1/reviews/{_part(review_id)}/reject", json=body
        )
        return found

    def reopen(self, review_id: str, body: "types.ReopenIn") -> "types.Review":
        """Reopen a decided document."""
        found: types.Review = self.transport.request("POST", f"/v1/reviews/{_part(review_id)}/reopen", json=body)
        return found

    def show_audit(self, review_id: str, *, after: int | None = None, limit: int | None = None) -> "types.AuditOut":
        """Show the audit events of an item and its document, oldest first."""
        found: types.AuditOut = self.transport.request(
            "GET", f"/v1/reviews/{_part(review_id)}/audit", params={"after": after, "limit": limit}
        )
        return found

    def show_fields(self, document_id: str) -> "types.FieldsOut":
        """Show a document's fields: values, confidence with explanation, source, page position, lock, and …."""
        found: types.FieldsOut = self.transport.request("GET", f"/v1/documents/{_part(document_id)}/fields")
        return found

    def correct_field(
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
        found: types.FieldsOut = self.transport.request(
            "PUT", f"/v1/documents/{_part(document_id)}/fields/{_part(field)}", json=body
        )
        return found

    def unlock_field(
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
        found: types.FieldsOut = self.transport.request(
            "DELETE", f"/v1/documents/{_part(document_id)}/fields/{_part(field)}", params={"token": token, "why": why}
        )
        return found

    def type_field(
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
        found: types.FieldsOut = self.transport.request(
            "PUT", f"/v1/documents/{_part(document_id)}/fields/{_part(field)}/text", json=body
        )
        return found

    def edit_lines(self, document_id: str, body: "types.LinesOrder") -> "types.FieldsOut":
        """Edit the line items by row: set a cell, insert and delete rows, paste rows of a spreadsheet."""
        found: types.FieldsOut = self.transport.request(
            "POST", f"/v1/documents/{_part(document_id)}/line-items", json=body
        )
        return found

    def undo_correction(self, document_id: str, body: "types.TokenIn") -> "types.FieldsOut":
        """Undo the last change to the document's fields, if it is the caller's; repeat to undo earlier ones."""
        found: types.FieldsOut = self.transport.request("POST", f"/v1/documents/{_part(document_id)}/undo", json=body)
        return found

    def list_changes(self, document_id: str) -> "types.ChangesOut":
        """List the changes by people to the document's fields, including undone ones."""
        found: types.ChangesOut = self.transport.request("GET", f"/v1/documents/{_part(document_id)}/changes")
        return found

    def show_history(self, document_id: str) -> "types.DocumentHistory":
        """Show what happened to a document, oldest first: upload, readings, corrections, decisions, exports."""
        found: types.DocumentHistory = self.transport.request("GET", f"/v1/documents/{_part(document_id)}/history")
        return found

    def show_readings(self, document_id: str) -> "types.DocumentReadings":
        """Show every reading of a document, and where they differ."""
        found: types.DocumentReadings = self.transport.request("GET", f"/v1/documents/{_part(document_id)}/readings")
        return found

    def show_review_view(self, review_id: str) -> "types.ReviewViewOut":
        """Show a document's item as a page needs it, in one answer."""
        found: types.ReviewViewOut = self.transport.request("GET", f"/v1/reviews/{_part(review_id)}/view")
        return found

    def list_audit(self, *, after: int | None = None, limit: int | None = None) -> "types.AuditOut":
        """List all events, oldest first."""
        found: types.AuditOut = self.transport.request("GET", "/v1/audit", params={"after": after, "limit": limit})
        return found

    def list_newest_events(
        self,
        *,
        actor: str | None = None,
        act: str | None = None,
        subject: str | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> "types.NewestOut":
        """List events, newest first, with filters."""
        found: types.NewestOut = self.transport.request(
            "GET",
            "/v1/audit/newest",
            params={"actor": actor, "act": act, "subject": subject, "before": before, "limit": limit},
        )
        return found

    def verify_audit(self, *, head: str | None = None) -> "types.ChainCheck":
        """Verify that no event was changed, removed, inserted or cut off, and that every review item is as …."""
        found: types.ChainCheck = self.transport.request("GET", "/v1/audit/verify", params={"head": head})
        return found

    def create_export(self, body: "types.ExportOrder", *, idempotency_key: str | None = None) -> "types.Export":
        """Export approved documents as a file, or to a webhook, which needs the scope `operate`, too."""
        found: types.Export = self.transport.request(
            "POST", "/v1/exports", headers=without_none({"Idempotency-Key": idempotency_key}), json=body
        )
        return found

    def list_exports(self, *, limit: int | None = None, after: str | None = None) -> "types.ExportPage":
        """List exports, newest first."""
        found: types.ExportPage = self.transport.request("GET", "/v1/exports", params={"limit": limit, "after": after})
        return found

    def preview_export(self, body: "types.ExportOrder") -> "types.Preview":
        """Show how many documents an export would have, their totals, and its first rows."""
        found: types.Preview = self.transport.request("POST", "/v1/exports/preview", json=body)
        return found

    def show_export(self, export_id: str) -> "types.Export":
        """Show an export and how far it is."""
        found: types.Export = self.transport.request("GET", f"/v1/exports/{_part(export_id)}")
        return found

    def download_export(self, export_id: str) -> bytes:
        """Download the file of an export: each time the same bytes."""
        return self.transport.fetch(f"/v1/exports/{_part(export_id)}/file")

    def create_batch(self, body: "types.BatchOrder", *, idempotency_key: str | None = None) -> "types.Batch":
        """Order a batch."""
        found: types.Batch = self.transport.request(
            "POST", "/v1/batches", headers=without_none({"Idempotency-Key": idempotency_key}), json=body
        )
        return found

    def list_batches(self, *, limit: int | None = None, after: str | None = None) -> "types.BatchPage":
        """List batches, newest first."""
        found: types.BatchPage = self.transport.request("GET", "/v1/batches", params={"limit": limit, "after": after})
        return found

    def show_batch(self, batch_id: str) -> "types.Batch":
        """Show a batch: its documents by state, its rate, the time left, and why documents failed."""
        found: types.Batch = self.transport.request("GET", f"/v1/batches/{_part(batch_id)}")
        return found

    def append_documents(self, batch_id: str, body: "types.Appended") -> "types.Added":
        """Add uploaded documents to an open batch."""
        found: types.Added = self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/append", json=body)
        return found

    def upload_to_batch(
        self, batch_id: str, file: File, *, place: str | None = None, inputs: Mapping[str, Json] | None = None
    ) -> "types.AddedDocument":
        """Add a file to an open batch."""
        found: types.AddedDocument = self.transport.request(
            "POST",
            f"/v1/batches/{_part(batch_id)}/documents",
            files={"file": file},
            data=_form({"place": place, "inputs": inputs}),
        )
        return found

    def list_batch_documents(
        self,
        batch_id: str,
        *,
        state: "types.BatchDocumentState | None" = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> "types.BatchDocumentPage":
        """List the documents of a batch, in the order in which they were added."""
        found: types.BatchDocumentPage = self.transport.request(
            "GET", f"/v1/batches/{_part(batch_id)}/documents", params={"state": state, "limit": limit, "after": after}
        )
        return found

    def upload_zip(self, batch_id: str, file: File, *, close: bool | None = None) -> "types.Added":
        """Add the files of a zip file to an open batch; their names are their places."""
        found: types.Added = self.transport.request(
            "POST", f"/v1/batches/{_part(batch_id)}/zip", files={"file": file}, data=_form({"close": close})
        )
        return found

    def close_batch(self, batch_id: str) -> "types.Batch":
        """Let a batch take no more documents: it completes once all have ended."""
        found: types.Batch = self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/close")
        return found

    def show_batch_result(
        self, batch_id: str, *, limit: int | None = None, after: str | None = None
    ) -> "types.BatchResult":
        """Show the result of a batch: a summary, and its documents with what was read."""
        found: types.BatchResult = self.transport.request(
            "GET", f"/v1/batches/{_part(batch_id)}/result", params={"limit": limit, "after": after}
        )
        return found

    def download_batch_result(self, batch_id: str) -> bytes:
        """Download the result of all documents of a batch as CSV."""
        return self.transport.fetch(f"/v1/batches/{_part(batch_id)}/result.csv")

    def pause_batch(self, batch_id: str, body: "types.BatchReasonIn | None" = None) -> "types.Batch":
        """Start no more runs of a batch; open ones go on."""
        found: types.Batch = self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/pause", json=body)
        return found

    def resume_batch(self, batch_id: str, body: "types.BatchReasonIn | None" = None) -> "types.Batch":
        """Start runs of a paused batch again."""
        found: types.Batch = self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/resume", json=body)
        return found

    def cancel_batch(self, batch_id: str, body: "types.BatchReasonIn | None" = None) -> "types.Batch":
        """Start no more runs of a batch, and cancel the open ones."""
        found: types.Batch = self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/cancel", json=body)
        return found

    def retry_batch(self, batch_id: str, body: "types.RetryOfBatch | None" = None) -> "types.Batch":
        """Try the failed documents of a batch again, all or those of one error class."""
        found: types.Batch = self.transport.request("POST", f"/v1/batches/{_part(batch_id)}/retry", json=body)
        return found

    def submit_definition(self, body: "types.PublishIn", *, run_tests: bool | None = None) -> "types.Published":
        """Publish a definition as its next version; by default new runs then use it."""
        found: types.Published = self.transport.request(
            "POST", "/v1/definitions", params={"run_tests": run_tests}, json=body
        )
        return found

    def list_definitions(self, *, limit: int | None = None, after: str | None = None) -> "types.DefinitionPage":
        """List the newest version of each definition."""
        found: types.DefinitionPage = self.transport.request(
            "GET", "/v1/definitions", params={"limit": limit, "after": after}
        )
        return found

    def show_schema(self) -> dict[str, Json]:
        """Return the JSON Schema of a definition, for editors."""
        found: dict[str, Json] = self.transport.request("GET", "/v1/definitions/schema")
        return found

    def validate_definition(
        self, body: "types.DefinitionIn", *, draw: bool | None = None, open_: str | None = None
    ) -> "types.DefinitionValidation":
        """Validate a definition and return all problems."""
        found: types.DefinitionValidation = self.transport.request(
            "POST", "/v1/definitions/validate", params={"draw": draw, "open": open_}, json=body
        )
        return found

    def test_definition(self, body: "types.DefinitionIn") -> "types.TestedDefinition":
        """Run the tests that a definition contains."""
        found: types.TestedDefinition = self.transport.request("POST", "/v1/definitions/test", json=body)
        return found

    def plan_definition(self, body: "types.DefinitionIn") -> "types.DefinitionPlan":
        """Show how a definition would run."""
        found: types.DefinitionPlan = self.transport.request("POST", "/v1/definitions/plan", json=body)
        return found

    def show_definition(self, definition_id: str, *, version: int | None = None) -> "types.StoredDefinition":
        """Show a version of a definition."""
        found: types.StoredDefinition = self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}", params={"version": version}
        )
        return found

    def list_versions(
        self, definition_id: str, *, limit: int | None = None, after: int | None = None
    ) -> "types.VersionPage":
        """List the versions of a definition, newest first."""
        found: types.VersionPage = self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/versions", params={"limit": limit, "after": after}
        )
        return found

    def compare_versions(
        self, definition_id: str, *, from_: str | None = None, to: str | None = None
    ) -> "types.Comparison":
        """Compare two versions: steps added, removed and changed, field by field, and everything else."""
        found: types.Comparison = self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/diff", params={"from": from_, "to": to}
        )
        return found

    def show_definition_graph(
        self, definition_id: str, *, version: int | None = None, open_: str | None = None
    ) -> "types.Graph":
        """Draw a version of a definition: at most 300 nodes, each a step or a group of steps."""
        found: types.Graph = self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/graph", params={"version": version, "open": open_}
        )
        return found

    def list_dependants(self, definition_id: str) -> "types.Dependants":
        """List the steps of other definitions that run this one, in the versions that an alias names."""
        found: types.Dependants = self.transport.request("GET", f"/v1/definitions/{_part(definition_id)}/dependants")
        return found

    def list_aliases(self, definition_id: str) -> "types.DefinitionAliases":
        """List the definition's aliases and the versions they point to."""
        found: types.DefinitionAliases = self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/aliases"
        )
        return found

    def set_alias(self, definition_id: str, alias: str, body: "types.AliasIn") -> "types.DefinitionAliases":
        """Point an alias to a version."""
        found: types.DefinitionAliases = self.transport.request(
            "PUT", f"/v1/definitions/{_part(definition_id)}/aliases/{_part(alias)}", json=body
        )
        return found

    def remove_alias(self, definition_id: str, alias: str, *, reason: str | None = None) -> "types.DefinitionAliases":
        """Remove an alias."""
        found: types.DefinitionAliases = self.transport.request(
            "DELETE", f"/v1/definitions/{_part(definition_id)}/aliases/{_part(alias)}", params={"reason": reason}
        )
        return found

    def roll_back(self, definition_id: str, body: "types.ReasonIn | None" = None) -> "types.Undone":
        """Undo the last change for new runs: end the canary or, without one, move `stable` back."""
        found: types.Undone = self.transport.request(
            "POST", f"/v1/definitions/{_part(definition_id)}/rollback", json=body
        )
        return found

    def list_moves(self, definition_id: str, *, limit: int | None = None, after: int | None = None) -> "types.MovePage":
        """List the moves of the definition's aliases: who, when, from which version to which, and why."""
        found: types.MovePage = self.transport.request(
            "GET", f"/v1/definitions/{_part(definition_id)}/moves", params={"limit": limit, "after": after}
        )
        return found

    def show_routing(self) -> "types.StoredRules":
        """Show the routing rules."""
        found: types.StoredRules = self.transport.request("GET", "/v1/routing")
        return found

    def set_routing(self, body: "types.RoutingIn") -> "types.RulesSet":
        """Replace the routing rules."""
        found: types.RulesSet = self.transport.request("PUT", "/v1/routing", json=body)
        return found

    def validate_routing(self, body: "types.CheckIn") -> "types.Validation":
        """Validate routing rules and return all problems."""
        found: types.Validation = self.transport.request("POST", "/v1/routing/validate", json=body)
        return found

    def try_routing(self, body: "types.FactsIn") -> "types.ChosenRoute":
        """Show which definition a document would get."""
        found: types.ChosenRoute = self.transport.request("POST", "/v1/routing/try", json=body)
        return found

    def list_handlers(self) -> "types.HandlerList":
        """List the handlers."""
        found: types.HandlerList = self.transport.request("GET", "/v1/handlers")
        return found

    def show_handler(self, name: str) -> "types.HandlerInfo":
        """Show a handler, by its name or an alias."""
        found: types.HandlerInfo = self.transport.request("GET", f"/v1/handlers/{_part(name)}")
        return found

    def list_limits(self) -> "types.LimitListOut":
        """List the limited resources."""
        found: types.LimitListOut = self.transport.request("GET", "/v1/limits")
        return found

    def set_limit(self, tag: str, body: "types.LimitIn") -> "types.TagLimit":
        """Change a limit."""
        found: types.TagLimit = self.transport.request("PUT", f"/v1/limits/{_part(tag)}", json=body)
        return found

    def reset_limit(self, tag: str) -> "types.TagLimit":
        """Reset a resource to the limit of the settings."""
        found: types.TagLimit = self.transport.request("DELETE", f"/v1/limits/{_part(tag)}")
        return found

    def list_quotas(self, *, tenant: str | None = None) -> "types.QuotaListOut":
        """List the quotas of a tenant and its keys."""
        found: types.QuotaListOut = self.transport.request("GET", "/v1/quotas", params={"tenant": tenant})
        return found

    def set_quota(self, quota: "types.Quota", body: "types.QuotaIn") -> "types.SetQuota":
        """Set a quota."""
        found: types.SetQuota = self.transport.request("PUT", f"/v1/quotas/{_part(quota)}", json=body)
        return found

    def reset_quota(self, quota: "types.Quota", *, tenant: str, key_id: str | None = None) -> None:
        """Remove a quota, if one was set: the default applies again."""
        self.transport.request("DELETE", f"/v1/quotas/{_part(quota)}", params={"tenant": tenant, "key_id": key_id})

    def list_keys(self, *, limit: int | None = None, after: str | None = None) -> "types.KeyListOut":
        """List the tenant's API keys, revoked and expired ones included."""
        found: types.KeyListOut = self.transport.request("GET", "/v1/keys", params={"limit": limit, "after": after})
        return found

    def create_key(self, body: "types.KeyIn") -> "types.NewKey":
        """Create an API key in the caller's tenant."""
        found: types.NewKey = self.transport.request("POST", "/v1/keys", json=body)
        return found

    def rotate_key(self, key_id: str, body: "types.RotationIn | None" = None) -> "types.NewKey":
        """Give a key a new secret."""
        found: types.NewKey = self.transport.request("POST", f"/v1/keys/{_part(key_id)}/rotate", json=body)
        return found

    def revoke_key(self, key_id: str) -> "types.Key":
        """Revoke a key, and end the sessions that it opened."""
        found: types.Key = self.transport.request("DELETE", f"/v1/keys/{_part(key_id)}")
        return found

    def show_me(self) -> "types.Me":
        """Show who the caller is: name, tenant, scopes, and how they were authenticated."""
        found: types.Me = self.transport.request("GET", "/v1/me")
        return found

    def list_sign_in_methods(self) -> "types.SignInMethodsOut":
        """List how people may sign in here."""
        found: types.SignInMethodsOut = self.transport.request("GET", "/v1/session/methods")
        return found

    def sign_in(self, body: "types.SignIn") -> "types.Me":
        """Sign in with an API key."""
        found: types.Me = self.transport.request("POST", "/v1/session", json=body)
        return found

    def sign_out(self) -> None:
        """Sign out: end the session of the cookie."""
        self.transport.request("DELETE", "/v1/session")

    def list_sessions(self, *, limit: int | None = None, after: str | None = None) -> "types.SessionListOut":
        """List the tenant's open browser sessions."""
        found: types.SessionListOut = self.transport.request(
            "GET", "/v1/sessions", params={"limit": limit, "after": after}
        )
        return found

    def revoke_session(self, session_id: str) -> "types.Session":
        """End a browser session."""
        found: types.Session = self.transport.request("DELETE", f"/v1/sessions/{_part(session_id)}")
        return found

    def decode_payloads(self, body: "types.PayloadsIn") -> "types.PayloadsOut":
        """Decrypt payloads of your tenant; others come back as they are, as payloads without encryption do."""
        found: types.PayloadsOut = self.transport.request("POST", "/v1/codec/decode", json=body)
        return found

    def encode_payloads(self, body: "types.PayloadsIn") -> "types.PayloadsOut":
        """Encrypt payloads with the first of DOCRAIL_PAYLOAD_KEYS; without keys they come back as they are."""
        found: types.PayloadsOut = self.transport.request("POST", "/v1/codec/encode", json=body)
        return found

    def receive_callback(self, token: str, body: Json) -> "types.AnsweredOut":
        """Answer the step that waits for this URL."""
        found: types.AnsweredOut = self.transport.request("POST", f"/v1/callbacks/{_part(token)}", json=body)
        return found

    def healthz(self) -> "types.HealthOut":
        """Report that this process is running, whether or not other services are available."""
        found: types.HealthOut = self.transport.request("GET", "/healthz")
        return found

    def readyz(self) -> "types.Readiness":
        """Check Temporal, PostgreSQL, the file store and a polling worker: 200 if all are available, else 503."""
        found: types.Readiness = self.transport.request("GET", "/readyz")
        return found

    def metrics(self) -> bytes:
        """Return metrics in Prometheus' text format: this process's responses, document outcomes, model …."""
        return self.transport.fetch("/metrics")
