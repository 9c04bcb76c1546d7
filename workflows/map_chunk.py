"""Define the workflow that runs a chunk of a long list for a run, with the run's identity."""

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import replace
from functools import partial

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from docrail.dag.engine.events import WHOLE_STEP, StepCompleted, StepFailed
    from docrail.dag.engine.map_chunk import ChunkRun, Progress, for_report
    from docrail.dag.engine.plan import plan_of
    from docrail.dag.engine.state import ItemEnd
    from docrail.dag.language.statuses import StepStatus
    from docrail.dag.language.step_kinds import StepKind
    from docrail.workflows.contract.names import (
        CHUNK_THINNED,
        CHUNK_TYPE,
        PAUSE,
        RESUME,
        WIDEN,
        ChunkReport,
        ChunkRequest,
    )
    from docrail.workflows.failures import may_pass
    from docrail.workflows.lost_workers import Losses, losses_after
    from docrail.workflows.outcomes import Work, event_of
    from docrail.workflows.start_step import Piece, run_handler, run_nested

THIN_SECONDS = 1.0
"""Seconds to wait before reporting free slots: the items of most chunks end together, and the next chunk begins."""


@workflow.defn(name=CHUNK_TYPE)
class Chunk:
    """Some items of one step of one run."""

    @workflow.init
    def __init__(self, request: ChunkRequest) -> None:
        """Create the chunk's state, so that messages that arrive before `run` find it."""
        self._request = request
        self._step = plan_of(request.run.definition, request.run.semantics).step(request.step_id)
        self._chunk = ChunkRun(len(request.items), request.width, request.stop_after)
        self._work: dict[int, Work] = {}
        self._cancelled: set[int] = set()
        self._met_unfit = False
        self._ended: deque[tuple[int, Work, Losses]] = deque()

    @workflow.run
    async def run(self, _: ChunkRequest) -> ChunkReport:
        """Run the items and return how each ended; being cancelled stops them."""
        driving = asyncio.create_task(self._drive())
        reporting = asyncio.create_task(self._report_places())
        try:
            await asyncio.shield(driving)
        except asyncio.CancelledError:
            self._cancel(self._chunk.stop())
            await driving
        reporting.cancel()
        return ChunkReport(ends=for_report(self._chunk.ends))

    @workflow.signal(name=PAUSE, description="Begin no more items until resumed")
    def pause(self) -> None:
        """Begin nothing more; running items continue."""
        self._chunk.is_paused = True

    @workflow.signal(name=RESUME, description="Go on after a pause")
    def resume(self) -> None:
        """Begin items again."""
        self._chunk.is_paused = False

    @workflow.signal(name=WIDEN, description="Let so many items run at once")
    def widen(self, width: int) -> None:
        """Accept slots that came free elsewhere."""
        self._chunk.widen(width)

    async def _report_places(self) -> None:
        """Report slots that come free while the last items run: many at once, few with growing delays.

        Each report adds four events to the run's history, so that an item of a day must not cost thousands.
        """
        chunk, patience = self._chunk, THIN_SECONDS
        while True:
            await workflow.wait_condition(lambda: chunk.has_thinned)
            await workflow.sleep(THIN_SECONDS)
            if not chunk.has_thinned_much:
                with suppress(TimeoutError):
                    await workflow.wait_condition(lambda: chunk.has_thinned_much, timeout=patience)
                patience *= 2
            if chunk.has_thinned:
                await self._report(chunk.report())

    async def _report(self, progress: Progress) -> None:
        parent = workflow.info().parent
        if parent is None:  # the chunk was started by hand
            return
        run = workflow.get_external_workflow_handle(parent.workflow_id, run_id=parent.run_id)
        arguments = [
            self._request.step_id,
            self._request.items[0].place,
            progress.running,
            progress.completed,
            progress.failed,
        ]
        with suppress(FailureError):  # the run has just ended
            await run.signal(CHUNK_THINNED, args=arguments)

    async def _drive(self) -> None:
        while not self._chunk.is_over:
            for number in self._chunk.begin():
                self._begin(number)
            await workflow.wait_condition(lambda: bool(self._ended) or self._chunk.may_begin or self._chunk.is_over)
            while self._ended:
                number, work, losses = self._ended.popleft()
                self._cancel(self._chunk.end(number, self._end_of(work, losses)))

    def _begin(self, number: int, losses: Losses | None = None) -> None:
        losses = losses or Losses(workflow.time(), self._met_unfit)
        item, request = self._request.items[number], self._request.run
        piece = Piece(item.config, item.key, item.cache_key, self._request.inline_bytes)
        work: Work
        if self._step.kind is StepKind.WORKFLOW:
            work = asyncio.create_task(run_nested(request, self._step, piece))
        else:
            work = run_handler(request, self._step, piece, losses)
        self._work[number] = work
        work.add_done_callback(partial(self._arrive, number, losses))

    def _arrive(self, number: int, losses: Losses, work: Work) -> None:
        losses = replace(losses, is_cancelled=number in self._cancelled)
        if after := losses_after(self._step.definition, work, losses):
            self._met_unfit |= after.met_unfit
            self._begin(number, after)
            return
        del self._work[number]
        self._ended.append((number, work, losses))

    def _cancel(self, numbers: list[int]) -> None:
        for number in numbers:
            if number in self._work:  # otherwise it has ended, and its end is about to be read
                self._cancelled.add(number)
                self._work[number].cancel()

    def _end_of(self, work: Work, losses: Losses) -> ItemEnd:
        match event_of(self._step, WHOLE_STEP, work, losses, workflow.time()):
            case StepCompleted(output=output, attempts=attempts, cached=cached, earlier=earlier):
                return ItemEnd(StepStatus.COMPLETED, output, None, attempts, cached, earlier=earlier)
            case StepFailed(error=error, attempts=attempts, earlier=earlier, out_of_time=is_late):
                passing = may_pass(self._step.definition, work.exception())
                return ItemEnd(StepStatus.FAILED, None, error, attempts, False, passing, earlier, is_late)
            case _:
                return ItemEnd(StepStatus.CANCELLED, attempts=1)
