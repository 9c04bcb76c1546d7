"""The workflow that does a chunk of a long list for a run: items as the run itself would do them, under its name."""

import asyncio
from collections import deque
from functools import partial

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from dag.chunk import ChunkRun, with_short_errors
    from dag.kinds import StepKind
    from dag.messages import StepCompleted, StepFailed
    from dag.plan import plan_of
    from dag.state import ItemEnd, StepStatus
    from workflows.contract import CHUNK_TYPE, PAUSE, RESUME, ChunkReport, ChunkRequest
    from workflows.endings import Work, event_of
    from workflows.failures import may_pass
    from workflows.launch import Piece, run_handler, run_nested


@workflow.defn(name=CHUNK_TYPE)
class Chunk:
    """Some items of one step of one run."""

    @workflow.init
    def __init__(self, request: ChunkRequest) -> None:
        """Lay out the chunk, so that messages that arrive before `run` find it."""
        self._request = request
        self._step = plan_of(request.run.definition, request.run.semantics).step(request.step_id)
        self._chunk = ChunkRun(len(request.items), request.width, request.stop_after)
        self._work: dict[int, Work] = {}
        self._ended: deque[tuple[int, Work]] = deque()

    @workflow.run
    async def run(self, request: ChunkRequest) -> ChunkReport:  # noqa: ARG002 - Temporal hands run() what it gave __init__
        """Do the items and return how each ended; being cancelled stops them."""
        driving = asyncio.create_task(self._drive())
        try:
            await asyncio.shield(driving)
        except asyncio.CancelledError:
            self._cancel(self._chunk.stop())
            await driving
        return ChunkReport(ends=with_short_errors(self._chunk.ends))

    @workflow.signal(name=PAUSE, description="Begin no more items until resumed")
    def pause(self) -> None:
        """Let what runs go on, and begin nothing more."""
        self._chunk.is_paused = True

    @workflow.signal(name=RESUME, description="Go on after a pause")
    def resume(self) -> None:
        """Begin items again."""
        self._chunk.is_paused = False

    async def _drive(self) -> None:
        while not self._chunk.is_over:
            for number in self._chunk.begin():
                self._begin(number)
            await workflow.wait_condition(lambda: bool(self._ended) or self._chunk.may_begin or self._chunk.is_over)
            while self._ended:
                number, work = self._ended.popleft()
                self._cancel(self._chunk.end(number, self._end_of(work)))

    def _begin(self, number: int) -> None:
        item, request = self._request.items[number], self._request.run
        piece = Piece(item.config, item.key, item.cache_key, self._request.inline_bytes)
        work: Work
        if self._step.kind is StepKind.WORKFLOW:
            work = asyncio.create_task(run_nested(request, self._step, piece))
        else:
            work = run_handler(request, self._step, piece)
        self._work[number] = work
        work.add_done_callback(partial(self._arrive, number, work))

    def _arrive(self, number: int, work: Work, _: object) -> None:
        del self._work[number]
        self._ended.append((number, work))

    def _cancel(self, numbers: list[int]) -> None:
        for number in numbers:
            if number in self._work:  # else it has ended, and its end is about to be read
                self._work[number].cancel()

    def _end_of(self, work: Work) -> ItemEnd:
        match event_of(self._step, None, work):
            case StepCompleted(output=output, attempts=attempts, cached=cached):
                return ItemEnd(StepStatus.COMPLETED, output, None, attempts, cached)
            case StepFailed(error=error, attempts=attempts):
                return ItemEnd(StepStatus.FAILED, None, error, attempts, may_pass=may_pass(work.exception()))
            case _:
                return ItemEnd(StepStatus.CANCELLED, attempts=1)
