"""Keep a batch's window: start the run of the next document as soon as one has ended, and record how each ended.

Temporal answers a call for a run's result when the run ends, so that nothing is polled and no run has to report to its
batch. A process that dies leaves rows that say `running`: the next attempt follows their runs, and starts those that
were not started. In one file because all of it reads and changes the state of one window.
"""

import asyncio
import datetime as dt
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError, CancelledError, TerminatedError

from docrail.adapters.postgres.pool import transaction
from docrail.dag.language.statuses import RunStatus
from docrail.dag.values.json_values import Json, size_of
from docrail.services.access.models import Principal, system_principal
from docrail.services.app import App
from docrail.services.batches import repository
from docrail.services.batches.chunk_ends import ChunkEnds
from docrail.services.batches.models import BatchDocument, BatchDocumentState, RunEnd, StoredBatch
from docrail.services.documents.service import load_document
from docrail.services.engine import engine_errors, status_of
from docrail.services.errors import NotFound, OperationError, QuotaExceeded, Unavailable
from docrail.services.failures import service as failures
from docrail.services.failures.models import StoredLetter
from docrail.services.failures.retry import RetryOrder, retry_run
from docrail.services.intake.chunks import start_in_chunks
from docrail.services.intake.service import start_another_run, start_document
from docrail.services.runs.chunks import find_chunked, record_ends
from docrail.services.runs.control import cancel_run
from docrail.services.runs.executing import describe
from docrail.services.runs.leaving import move_out
from docrail.services.runs.room import take_room
from docrail.workflows.contract.messages import BatchRest, BatchRound
from docrail.workflows.contract.names import RUN_FAILED, ChunkedEnd, workflow_id

PRIORITY = 4
"""Of a batch's runs: those of single documents, whose usual priority is 3, go first."""

CHUNKS_AT_ONCE = 2
"""Chunks that fill the window: while the last document of one ends, the other works."""

ROUND_SECONDS = 240.0
"""How long one activity keeps the window."""
LOOK_SECONDS = 1.0
"""How often the batch's row is read, for what people want: they see a pause within about this time."""
GATHER_SECONDS = 0.02
"""Ends within this time are written together."""
LONGEST_FREE_SECONDS = 2.0
"""How long a few places stay free until a whole chunk fits, while documents share workflows."""
HELD_SECONDS = 2.0
"""How long nothing is started after a quota was used up."""
FIRST_WAIT, LONGEST_WAIT = 2.0, 30.0
"""When a run that does not end is looked at: it may wait for a person."""
MOST_OUTPUT_BYTES = 16_384
"""Largest outputs of a run that its batch keeps."""
LONGEST_MESSAGE = 1_000

DEADLINE = ("DeadlinePassed", "the batch's deadline passed before the run was started")
CANCELLED = ("Cancelled", "the batch was cancelled before the run was started")
DELETED = ("RunDeleted", "Temporal has deleted the run: how it ended is not known")

_ENDED_AS = {
    RunStatus.COMPLETED: BatchDocumentState.DONE,
    RunStatus.ABORTED: BatchDocumentState.CANCELLED,
    RunStatus.CANCELLED: BatchDocumentState.CANCELLED,
    RunStatus.FAILED: BatchDocumentState.FAILED,
}


@dataclass(frozen=True, slots=True)
class _Held:
    """A document whose run may not be started now."""

    document_id: str
    quota: str


_Followed = asyncio.Task[RunEnd | _Held]

_Chunks = dict[str, tuple[str, ChunkEnds]]
"""Run and chunk, by document."""


@dataclass(slots=True)
class Window:
    """The window of one batch, while an activity keeps it."""

    app: App
    tenant_id: str
    batch_id: str
    _followed: dict[str, _Followed] = field(default_factory=dict)
    _chunks: dict[str, ChunkEnds] = field(default_factory=dict)
    """Chunks whose documents are followed."""
    _starts: set[asyncio.Task[_Chunks]] = field(default_factory=set)
    """Chunks that are being started: seconds at most, so their end is awaited."""
    _held_until: float = 0.0
    _taken_at: float = 0.0
    _may_share: bool = True
    """Whether the last documents that could share a workflow did."""
    _is_stopped: set[str] = field(default_factory=set)
    """Documents whose run was cancelled."""

    async def keep(self, heartbeat: Callable[[], None]) -> BatchRound:
        """Keep the window until nothing is left to start, or for ROUND_SECONDS. Safe to repeat. Raises: Unavailable."""
        until = time.monotonic() + ROUND_SECONDS
        try:
            while True:
                heartbeat()
                batch = await self._fill()
                if not self._followed and (left := await self._left(batch)) is not None:
                    return left
                if time.monotonic() > until:
                    return BatchRound(rest=BatchRest.MORE)
                await self._collect(batch)
        finally:
            for task in self._followed.values():
                task.cancel()
            await asyncio.gather(*self._followed.values(), *self._starts, return_exceptions=True)
            for chunk in self._chunks.values():
                chunk.close()

    async def _fill(self) -> StoredBatch:
        """Do what people want of the batch, and follow the documents that run from now on."""
        taken = set[str]()
        async with transaction(self.app.db) as tx:
            batch = await repository.lock_batch(tx, self.tenant_id, self.batch_id)
            assert batch is not None, "no batch is ever deleted"
            if batch.cancelled_at is not None:
                await repository.end_waiting(tx, batch, BatchDocumentState.CANCELLED, CANCELLED)
            elif _is_past(batch.deadline_at):
                await repository.end_waiting(tx, batch, BatchDocumentState.FAILED, DEADLINE)
            elif batch.paused_at is None and time.monotonic() >= self._held_until:
                taken = {each.document_id for each in await repository.take(tx, batch, self._most_open(batch))}
                self._taken_at = time.monotonic() if taken else self._taken_at
            running = await repository.list_documents(
                tx, self.tenant_id, self.batch_id, BatchDocumentState.RUNNING, limit=MOST_FOLLOWED, after=0
            )
        new = [document for document in running if document.document_id not in self._followed]
        chunks = self._begin(self._chunks_of(batch, new, taken)) if new and batch.wanted.grouped else None
        for document in new:
            follow = self._follow(batch, document) if chunks is None else self._follow_grouped(batch, document, chunks)
            self._followed[document.document_id] = asyncio.create_task(follow)
        for document in running:
            if batch.cancelled_at is not None and document.document_id not in self._is_stopped:
                await self._cancel(document)
        return batch

    def _most_open(self, batch: StoredBatch) -> int:
        """Return how many documents may be open now: with whole chunks, or after a while as many as fit.

        Taken one by one as others end, documents would share no workflow.
        """
        count, most = len(self._followed), _most_in_chunk(batch)
        is_whole = batch.wanted.grouped and self._may_share and batch.max_concurrency >= CHUNKS_AT_ONCE * most
        if not is_whole or time.monotonic() >= self._taken_at + LONGEST_FREE_SECONDS:
            return batch.max_concurrency
        return count + max(batch.max_concurrency - count, 0) // most * most

    async def _left(self, batch: StoredBatch) -> BatchRound | None:
        """Return why the window is left; None if documents wait that may be started later."""
        is_held = time.monotonic() < self._held_until
        if batch.paused_at is None and is_held:
            return None
        async with transaction(self.app.db) as tx:
            batch_now = await repository.lock_batch(tx, self.tenant_id, self.batch_id)
            assert batch_now is not None, "no batch is ever deleted"
            if batch_now.paused_at is not None:
                return BatchRound(rest=BatchRest.IDLE, seconds=_seconds_until(batch_now.deadline_at))
            if await repository.has_open(tx, self.tenant_id, self.batch_id):
                return None
            await repository.hold(tx, batch_now, None)
            if batch_now.closed_at is None:
                return BatchRound(rest=BatchRest.IDLE)
            await repository.complete(tx, batch_now)
        return BatchRound(rest=BatchRest.OVER, has_webhook=batch_now.wanted.webhook_url is not None)

    async def _collect(self, batch: StoredBatch) -> None:
        """Wait for ends, and record them together."""
        if not self._followed:
            await asyncio.sleep(LOOK_SECONDS)
            return
        tasks = [*self._followed.values()]
        await asyncio.wait(tasks, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(tasks, timeout=GATHER_SECONDS)
        done = [task for task in tasks if task.done()]
        found = [task.result() for task in done]
        ends = [each for each in found if isinstance(each, RunEnd)]
        await self._note_chunked(ends)
        if ends:
            await repository.end_documents(self.app.db, self.tenant_id, self.batch_id, ends)
        held = [each for each in found if isinstance(each, _Held)]
        for held_back in held:
            await repository.put_back(self.app.db, batch, held_back.document_id)
        for each in found:
            del self._followed[each.document_id]
        await self._hold(batch, held, has_ends=bool(ends))

    async def _note_chunked(self, ends: list[RunEnd]) -> None:
        """Record the ends of runs that shared workflows, where lists of runs and the inbox look for them."""
        in_chunks = {end.run_id: end.in_chunk for end in ends if end.run_id is not None and end.in_chunk is not None}
        if in_chunks:
            await record_ends(self.app, self.tenant_id, in_chunks)

    async def _hold(self, batch: StoredBatch, held: list[_Held], *, has_ends: bool) -> None:
        """Start nothing for a moment after a quota was used up, and say so."""
        if held:
            self._held_until = time.monotonic() + HELD_SECONDS
            await repository.hold(self.app.db, batch, held[0].quota)
        elif has_ends and batch.held_by is not None:
            await repository.hold(self.app.db, batch, None)

    async def _follow(self, batch: StoredBatch, document: BatchDocument) -> RunEnd | _Held:
        """Start or retry the document's run if that is still to do, and return how it ends. Raises: Unavailable."""
        try:
            run_id = await self._ensure(batch, document)
        except QuotaExceeded as error:
            return _Held(document.document_id, error.quota)
        except Unavailable:
            raise
        except OperationError as error:
            message = str(error)[:LONGEST_MESSAGE]
            failed = BatchDocumentState.FAILED
            return RunEnd(document.document_id, failed, document.run_id, type(error).__name__, message)
        return await self._end_of(document.document_id, run_id)

    def _begin(self, chunks: Coroutine[Any, Any, _Chunks]) -> asyncio.Task[_Chunks]:
        start = asyncio.create_task(chunks)
        self._starts.add(start)
        start.add_done_callback(self._starts.discard)
        return start

    async def _chunks_of(self, batch: StoredBatch, documents: list[BatchDocument], taken: set[str]) -> _Chunks:
        """Start the documents just taken in chunks, and return run and chunk by document, also of earlier ones.

        A document that is missing runs alone. Raises: Unavailable.
        """
        known = await find_chunked(self.app, self.tenant_id, [each.run_id for each in documents if each.run_id])
        unstarted = [each.document_id for each in documents if each.run_id is None]
        new = [each for each in unstarted if each in taken]
        left = [each for each in unstarted if each not in taken]
        most = _most_in_chunk(batch)
        started = await start_in_chunks(
            self.app, self._principal, new, left, priority=PRIORITY, most=most, records_ends=False
        )
        if len(new) > 1:
            self._may_share = not {each.document_id for each in started}.isdisjoint(new)
        await repository.note_runs(self.app.db, batch, {each.document_id: each.run_id for each in started})
        found = [*(each for each in known if each.moved_at is None), *started]
        for each in found:
            if each.chunk_id not in self._chunks:
                self._chunks[each.chunk_id] = ChunkEnds(self.app, self.tenant_id, each.chunk_id)
        return {each.document_id: (each.run_id, self._chunks[each.chunk_id]) for each in found}

    async def _follow_grouped(
        self, batch: StoredBatch, document: BatchDocument, starting: asyncio.Task[_Chunks]
    ) -> RunEnd | _Held:
        """As `_follow`, also for a document in a chunk, and after it has left. Raises: Unavailable."""
        place = (await asyncio.shield(starting)).get(document.document_id)
        if place is None or document.again:
            return await self._follow(batch, document)
        run_id, chunk = place
        end = await chunk.end_of(run_id)
        if end is None or end.status is None:
            try:
                await move_out(self.app, self.tenant_id, run_id)
            except NotFound:
                return replace(_failed(document.document_id, run_id, *DELETED), in_chunk=RunStatus.FAILED)
            return await self._end_of(document.document_id, run_id)
        return replace(await self._as_row(document.document_id, end, _ENDED_AS[end.status]), in_chunk=end.status)

    async def _as_row(self, document_id: str, end: ChunkedEnd, state: BatchDocumentState) -> RunEnd:
        """Return how a run ended in its chunk as the batch records it."""
        if state is BatchDocumentState.FAILED:
            letters = await self._letters(document_id, end.run_id)
            if letters:
                return _failed(document_id, end.run_id, letters[0].error_type, letters[0].error_message)
            return _failed(document_id, end.run_id, RUN_FAILED, end.reason)
        reason = end.reason or None if state is BatchDocumentState.CANCELLED else None
        return RunEnd(document_id, state, end.run_id, None, reason, end.outputs or None)

    async def _ensure(self, batch: StoredBatch, document: BatchDocument) -> str:
        if document.run_id is not None and not document.again:
            return document.run_id
        run_id = await (self._start(batch, document) if document.run_id is None else self._retry(document))
        await repository.note_run(self.app.db, batch, document.document_id, run_id)
        return run_id

    async def _start(self, batch: StoredBatch, document: BatchDocument) -> str:
        """Start the document's run: the one place that decides where a document of a batch runs."""
        stored = await load_document(self.app.db, self.tenant_id, document.document_id)
        assert stored is not None, "no document is ever deleted"
        if stored.batch_id == self.batch_id:
            return await start_document(self.app, self._principal, stored, priority=PRIORITY)
        key = f"{stored.document_id}-{self.batch_id.removeprefix('bat_')}"
        wanted = batch.wanted
        return await start_another_run(
            self.app, self._for(document), stored, wanted.definition, key, inputs=wanted.inputs, priority=PRIORITY
        )

    async def _retry(self, document: BatchDocument) -> str:
        """Retry the failed steps of the document's run; one that goes on already is left alone."""
        assert document.run_id is not None, "only runs are retried"
        with suppress(NotFound):  # it is part of a chunk
            found = await describe(self.app, self.tenant_id, document.run_id)
            if found.status is not WorkflowExecutionStatus.RUNNING:  # the batch waits for room
                await take_room(self.app, self._for(document), document.run_id, found.start_time)
        letters = await self._letters(document.document_id, document.run_id)
        if letters:
            retried = await failures.retry_letters(
                self.app, self._for(document), [letter.key for letter in letters], reason=f"batch {self.batch_id}"
            )
            wrong = [outcome.why for outcome in retried.outcomes if not outcome.retried]
            if len(wrong) == len(retried.outcomes):
                raise RetryRefused(wrong[0] or "")
            return document.run_id
        found = await describe(self.app, self.tenant_id, document.run_id)
        if status_of(found) in (RunStatus.FAILED, RunStatus.CANCELLED):
            order = RetryOrder({}, reason=f"batch {self.batch_id}")
            await retry_run(self.app, self._for(document), document.run_id, order)
        return document.run_id

    async def _cancel(self, document: BatchDocument) -> None:
        self._is_stopped.add(document.document_id)
        if document.run_id is not None:
            try:
                await cancel_run(self.app, self._principal, document.run_id, reason=f"batch {self.batch_id}")
            except Unavailable:
                self._is_stopped.discard(document.document_id)
            except OperationError:
                pass  # it has just ended
        else:  # it is being started
            self._is_stopped.discard(document.document_id)

    async def _end_of(self, document_id: str, run_id: str) -> RunEnd:
        """Return how the run ends, or that it waits for someone. Raises: Unavailable."""
        handle = self.app.temporal.get_workflow_handle(workflow_id(self.tenant_id, run_id))
        ending = asyncio.create_task(self._result(document_id, run_id, handle))
        patience = FIRST_WAIT
        try:
            while True:
                await asyncio.wait([ending], timeout=patience)
                if ending.done():
                    return ending.result()
                if (asks := await self._asks(document_id, run_id)) is not None:
                    return asks
                patience = min(patience * 2, LONGEST_WAIT)
        finally:
            ending.cancel()

    async def _asks(self, document_id: str, run_id: str) -> RunEnd | None:
        """Return that the run waits for a person or an event, or has a failed step that does; else None."""
        try:
            status = status_of(await describe(self.app, self.tenant_id, run_id))
        except NotFound:
            return None  # the call for its result says so too
        if status not in (RunStatus.WAITING, RunStatus.PAUSED):
            return None
        letters = await self._letters(document_id, run_id)
        if letters:
            return _failed(document_id, run_id, letters[0].error_type, letters[0].error_message)
        return RunEnd(document_id, BatchDocumentState.ASKING, run_id)

    async def _result(self, document_id: str, run_id: str, handle: WorkflowHandle[Json, Json]) -> RunEnd:
        try:
            with engine_errors("run", run_id):
                report: Json = await handle.result()
        except NotFound:
            return _failed(document_id, run_id, *DELETED)
        except WorkflowFailureError as error:
            return await self._failure(document_id, run_id, error)
        state = _ENDED_AS.get(RunStatus(report["status"]), BatchDocumentState.DONE)
        outputs = report.get("outputs") or None
        small = outputs if outputs is not None and size_of(outputs) <= MOST_OUTPUT_BYTES else None
        reason = report.get("reason") or None if state is BatchDocumentState.CANCELLED else None
        return RunEnd(document_id, state, run_id, None, reason, small)

    async def _failure(self, document_id: str, run_id: str, error: WorkflowFailureError) -> RunEnd:
        match error.cause:
            case CancelledError():
                return RunEnd(document_id, BatchDocumentState.CANCELLED, run_id, None, "the run was cancelled")
            case TerminatedError() as cause:
                return _failed(document_id, run_id, "Terminated", cause.message)
            case cause:
                letters = await self._letters(document_id, run_id)
                if letters:
                    return _failed(document_id, run_id, letters[0].error_type, letters[0].error_message)
                kind = cause.type if isinstance(cause, ApplicationError) and cause.type else type(cause).__name__
                return _failed(document_id, run_id, kind, str(cause))

    async def _letters(self, document_id: str, run_id: str) -> list[StoredLetter]:
        """Return the unresolved failures of the run and of the runs inside it."""
        found = await failures.list_of_document(self.app, self._principal, document_id)
        return [letter for letter in found if f"{letter.run_id}~".startswith(f"{run_id}~")]

    @property
    def _principal(self) -> Principal:
        return system_principal(self.tenant_id)

    def _for(self, document: BatchDocument) -> Principal:
        """Return who starts the document's run: Docrail, with the quotas of the key that has asked for it."""
        return replace(self._principal, key_id=document.key_id)


MOST_FOLLOWED = 1_000
"""Documents that one activity follows: more run only if people retry hundreds of runs by hand."""


class RetryRefused(OperationError):  # noqa: N818  # named for its reason, like every refusal
    """A failed step of the document's run cannot be retried. The text says why."""


def _failed(document_id: str, run_id: str, error_type: str, message: str) -> RunEnd:
    return RunEnd(document_id, BatchDocumentState.FAILED, run_id, error_type, message[:LONGEST_MESSAGE])


def _most_in_chunk(batch: StoredBatch) -> int:
    return max(batch.max_concurrency // CHUNKS_AT_ONCE, 2)


def _is_past(moment: dt.datetime | None) -> bool:
    return moment is not None and moment <= dt.datetime.now(dt.UTC)


def _seconds_until(moment: dt.datetime | None) -> float | None:
    return None if moment is None else max((moment - dt.datetime.now(dt.UTC)).total_seconds(), 0.0) + 0.1
