"""Wait for the ends of the runs of a chunk of documents, with one call to Temporal for all of them."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowQueryFailedError

from docrail.services.app import App
from docrail.services.engine import engine_errors
from docrail.services.errors import NotFound, Unavailable
from docrail.services.runs.closed_chunks import load_ends
from docrail.services.runs.leaving import end_stuck
from docrail.workflows.contract.names import ChunkedEnd, DocumentChunkReport, document_chunk_id

FIRST_WAIT, LONGEST_WAIT = 1.0, 5.0
"""When the chunk is asked for its ends, while some run does not end: a slow one must not hold up the window."""


@dataclass(slots=True)
class ChunkEnds:
    """The ends of the runs of one chunk."""

    app: App
    tenant_id: str
    chunk_id: str
    _ends: dict[str, asyncio.Future[ChunkedEnd]] = field(default_factory=dict)
    _following: asyncio.Task[None] | None = None

    async def end_of(self, run_id: str) -> ChunkedEnd | None:
        """Return how the run ended, with no status if it has left; None if there is no chunk or it was ended by force.

        A chunk whose workflow task keeps failing is ended. Raises: Unavailable.
        """
        if self._following is None:
            self._following = asyncio.create_task(self._follow())
        end = self._place_of(run_id)
        await asyncio.wait((self._following, end), return_when=asyncio.FIRST_COMPLETED)
        if end.done():
            return end.result()
        self._following.result()
        return None

    def close(self) -> None:
        """Wait no longer."""
        if self._following is not None:
            self._following.cancel()

    async def _follow(self) -> None:
        """Take note of each end until the chunk has ended. Raises: Unavailable."""
        result, pause = asyncio.create_task(self._load()), FIRST_WAIT
        try:
            while not (await asyncio.wait((result,), timeout=pause))[0]:
                has_new = self._note(await self._ask())
                pause = FIRST_WAIT if has_new else min(pause * 2, LONGEST_WAIT)
            self._note(result.result())
        finally:
            result.cancel()

    def _note(self, report: DocumentChunkReport | None) -> bool:
        """Hand over the ends that are not known yet, and return whether there are any."""
        new = [end for end in report.ends if not self._place_of(end.run_id).done()] if report else []
        for end in new:
            self._place_of(end.run_id).set_result(end)
        return bool(new)

    def _place_of(self, run_id: str) -> asyncio.Future[ChunkedEnd]:
        if run_id not in self._ends:
            self._ends[run_id] = asyncio.get_running_loop().create_future()
        return self._ends[run_id]

    async def _load(self) -> DocumentChunkReport | None:
        """Wait for the chunk's end and return its report; None if there is none. Raises: Unavailable."""
        try:
            with engine_errors("chunk", self.chunk_id):
                return await self._handle.result()
        except (WorkflowFailureError, NotFound):
            return None

    async def _ask(self) -> DocumentChunkReport | None:
        try:
            return await load_ends(self.app, self.tenant_id, self.chunk_id)
        except NotFound:
            return None
        except (Unavailable, WorkflowQueryFailedError):
            with suppress(NotFound, Unavailable):  # asked again
                await end_stuck(self.app, self.tenant_id, self.chunk_id)
            return None

    @property
    def _handle(self) -> WorkflowHandle[Any, DocumentChunkReport]:
        return self.app.temporal.get_workflow_handle(
            document_chunk_id(self.tenant_id, self.chunk_id), result_type=DocumentChunkReport
        )
