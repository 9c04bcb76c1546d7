"""Wait for the ends of the runs of a chunk of documents, with one call to Temporal for all of them."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from temporalio.client import WorkflowFailureError, WorkflowQueryFailedError

from docrail.services.app import App
from docrail.services.engine import WORKER_TIMEOUT, engine_errors, worker_errors
from docrail.services.errors import NotFound, Unavailable
from docrail.services.runs.leaving import end_stuck
from docrail.workflows.contract.names import CHUNKED_END, ChunkedEnd, DocumentChunkReport, document_chunk_id

FIRST_WAIT, LONGEST_WAIT = 2.0, 30.0
"""When the chunk is asked for a run that does not end: a slow one must not hold up what is known of the others."""


@dataclass(slots=True)
class ChunkEnds:
    """The ends of the runs of one chunk."""

    app: App
    tenant_id: str
    chunk_id: str
    _result: asyncio.Task[dict[str, ChunkedEnd] | None] | None = field(default=None)

    async def end_of(self, run_id: str) -> ChunkedEnd | None:
        """Return how the run ended, with no status if it has left; None if there is no chunk or it was ended by force.

        A chunk whose workflow task keeps failing is ended. Raises: Unavailable.
        """
        if self._result is None:
            self._result = asyncio.create_task(self._load())
        patience = FIRST_WAIT
        while True:
            await asyncio.wait([self._result], timeout=patience)
            if self._result.done():
                ends = self._result.result()
                return None if ends is None else ends.get(run_id)
            if (end := await self._ask(run_id)) is not None:
                return end
            patience = min(patience * 2, LONGEST_WAIT)

    def close(self) -> None:
        """Wait no longer."""
        if self._result is not None:
            self._result.cancel()

    async def _load(self) -> dict[str, ChunkedEnd] | None:
        handle = self.app.temporal.get_workflow_handle(
            document_chunk_id(self.tenant_id, self.chunk_id), result_type=DocumentChunkReport
        )
        try:
            with engine_errors("chunk", self.chunk_id):
                report: DocumentChunkReport = await handle.result()
        except (WorkflowFailureError, NotFound):
            return None
        return {end.run_id: end for end in report.ends}

    async def _ask(self, run_id: str) -> ChunkedEnd | None:
        handle = self.app.temporal.get_workflow_handle(document_chunk_id(self.tenant_id, self.chunk_id))
        try:
            with engine_errors("chunk", self.chunk_id), worker_errors():
                found = await handle.query(CHUNKED_END, run_id, rpc_timeout=WORKER_TIMEOUT)
        except NotFound:
            return None
        except (Unavailable, WorkflowQueryFailedError):
            await self._end_stuck()
            return None
        return None if found is None else ChunkedEnd.model_validate(found)

    async def _end_stuck(self) -> None:
        with suppress(NotFound, Unavailable):  # asked again
            await end_stuck(self.app, self.tenant_id, self.chunk_id)
