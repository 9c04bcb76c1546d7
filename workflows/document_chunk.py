"""Define the workflow that interprets the runs of several documents, each with its own state.

Each run is driven by the code that drives it alone; only the work of its steps is started in groups (grouping.py). A
run that someone needs outside leaves: its state goes on in a workflow of its own (ADR 44).
"""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from docrail.dag.engine.plan import plan_of
    from docrail.dag.engine.saved_state import begin, save, whole_or_piece
    from docrail.dag.explain.report import RunReport, reason_of
    from docrail.dag.values.json_values import Json, size_of
    from docrail.workflows.contract.messages import RunEnds
    from docrail.workflows.contract.names import (
        CHUNKED_ENDS,
        DOCUMENT_CHUNK_TYPE,
        LEAVE,
        MAX_CHUNKED_OUTPUTS,
        RECORD_ENDS,
        SAVED,
        STATE,
        WRONG_STATE,
        ChunkedEnd,
        ChunkedRun,
        DocumentChunkReport,
        DocumentChunkRequest,
    )
    from docrail.workflows.driver import Driver
    from docrail.workflows.driver_context import context_of
    from docrail.workflows.grouping import Groups
    from docrail.workflows.start_step import RECORD_TIMEOUT

MOST_EVENTS, MOST_BYTES = 8_000, 10_000_000
"""Size of the history at which the runs that have not ended leave: none must fail because of the others."""


@workflow.defn(name=DOCUMENT_CHUNK_TYPE)
class DocumentChunk:
    """The runs of some documents."""

    @workflow.init
    def __init__(self, request: DocumentChunkRequest) -> None:
        """Create the states of the runs, so that messages that arrive before `run` find them."""
        self._request = request
        self._groups = Groups(frozenset(request.light))
        plan = plan_of(request.definition, request.semantics)
        self._drivers = {run.run_id: Driver(request.request_of(run), plan, self._groups) for run in request.runs}
        self._over: set[str] = set()
        """Runs that have ended or left. Used for lookups only."""
        self._broken: set[str] = set()
        """Runs that the interpreter cannot go on with here. Used for lookups only."""
        self._shown = 0
        """How many were over when the states were shown."""

    @workflow.run
    async def run(self, request: DocumentChunkRequest) -> DocumentChunkReport:
        """Run all to their end and return how each ended; being cancelled, let them leave."""
        serving = asyncio.create_task(self._groups.serve(self._is_settled))
        watching = asyncio.create_task(self._watch_size())
        showing = asyncio.create_task(self._keep_shown())
        recording = asyncio.create_task(self._keep_recorded())
        driving = asyncio.gather(*(self._drive(run) for run in request.runs))
        try:
            await self._ended(driving, serving)
        except asyncio.CancelledError:
            self._leave_all()
            await self._ended(driving, serving)
        for task in (serving, watching, showing):
            task.cancel()
        self._show()
        await recording
        await workflow.wait_condition(workflow.all_handlers_finished)
        return DocumentChunkReport(ends=tuple(self._end_of(run) for run in request.runs))

    @workflow.update(name=LEAVE, description="Let a run go on in a workflow of its own")
    async def leave(self, run_id: str) -> None:
        """Return when the run has ended or none of its work runs here any more."""
        self._drivers[run_id].leave()
        await workflow.wait_condition(lambda: run_id in self._over)

    @leave.validator
    def _may_leave(self, run_id: str) -> None:
        if run_id not in self._drivers:
            raise ApplicationError(f"the chunk has no run {run_id[:200]!r}", type="UnknownRun", non_retryable=True)

    @workflow.query(name=SAVED)
    def saved(self, run_id: str, piece: int | None = None) -> Json:
        """Return the whole state of a run, or one piece of it. A state too large is refused."""
        driver = self._drivers[run_id]
        if run_id in self._broken:
            [run] = (each for each in self._request.runs if each.run_id == run_id)
            first = begin(driver.plan, run.inputs, context_of(self._request.request_of(run), {}))
            return whole_or_piece(save(driver.plan, first), piece)
        return driver.saved(piece)

    @workflow.query(name=STATE)
    def state(self, run_id: str) -> RunReport:
        """Return the report of a run. One that goes on in a workflow of its own, or must, is refused."""
        driver = self._drivers[run_id]
        if run_id in self._broken or (run_id in self._over and driver.state.outcome is None):
            raise ApplicationError(f"{run_id} has left the chunk", type=WRONG_STATE)
        return driver.report()

    @workflow.query(name=CHUNKED_ENDS)
    def chunked_ends(self) -> DocumentChunkReport:
        """Return how the runs that run here no more have ended, or that they have left."""
        over = (run for run in self._request.runs if run.run_id in self._over)
        return DocumentChunkReport(ends=tuple(map(self._end_of, over)))

    async def _ended(self, driving: asyncio.Future[list[None]], serving: asyncio.Task[None]) -> None:
        """Wait for the end of all runs. A bug in what starts their groups fails the workflow task, and is noticed."""
        await workflow.wait((driving, serving), return_when=asyncio.FIRST_COMPLETED)
        if not driving.done():
            serving.result()

    async def _drive(self, run: ChunkedRun) -> None:
        try:
            await self._drivers[run.run_id].drive()
        except Exception:  # noqa: BLE001 - alone, it would only hold itself up
            workflow.logger.exception("run %s cannot go on in its chunk", run.run_id)
            self._broken.add(run.run_id)
        self._over.add(run.run_id)

    def _is_settled(self) -> bool:
        return all(run_id in self._over or driver.is_idle() for run_id, driver in self._drivers.items())

    async def _watch_size(self) -> None:
        await workflow.wait_condition(_is_long)
        self._leave_all()

    def _leave_all(self) -> None:
        for driver in self._drivers.values():
            driver.leave()

    def _end_of(self, run: ChunkedRun) -> ChunkedEnd:
        driver = self._drivers[run.run_id]
        status = None if run.run_id in self._broken else driver.state.outcome
        if status is None:
            return ChunkedEnd(run_id=run.run_id, status=None)
        outputs = driver.state.outputs if size_of(driver.state.outputs) <= MAX_CHUNKED_OUTPUTS else None
        reason = reason_of(driver.plan, driver.state)[:1_000]  # a report takes a fifth of the chunk's work
        return ChunkedEnd(run_id=run.run_id, status=status, reason=reason, outputs=outputs)

    async def _keep_recorded(self) -> None:
        """Record the ends of all runs, those together that come while others are recorded; a batch does it itself."""
        known = set[str]()
        while self._request.records_ends and len(known) < len(self._request.runs):
            await workflow.wait_condition(lambda: len(self._over) > len(known))
            ended = [self._end_of(run) for run in self._request.runs if run.run_id in self._over - known]
            known.update(end.run_id for end in ended)
            ends = {end.run_id: end.status for end in ended if end.status is not None}
            if ends:
                await workflow.execute_activity(
                    RECORD_ENDS,
                    RunEnds(tenant_id=self._request.tenant_id, ends=ends),
                    start_to_close_timeout=RECORD_TIMEOUT,
                    summary=f"{len(ends)} runs",
                )

    async def _keep_shown(self) -> None:
        """Show the states whenever runs have ended, once for all that end together."""
        while True:
            self._show()
            await workflow.wait_condition(lambda: len(self._over) > self._shown)

    def _show(self) -> None:
        """Show the runs and their states in Temporal's UI."""
        rows = (f"| {run.run_id} | {self._state_of(run.run_id)} |" for run in self._request.runs)
        workflow.set_current_details("\n".join(("| run | state |", "| --- | --- |", *rows)))
        self._shown = len(self._over)

    def _state_of(self, run_id: str) -> str:
        if run_id not in self._over:
            return "running"
        status = self._drivers[run_id].state.outcome
        return "in a workflow of its own" if status is None or run_id in self._broken else status


def _is_long() -> bool:
    info = workflow.info()
    return info.get_current_history_length() > MOST_EVENTS or info.get_current_history_size() > MOST_BYTES
