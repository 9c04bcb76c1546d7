"""Activity that records how the runs of a chunk have ended. Definitions cannot name it."""

from collections.abc import Awaitable, Callable

from temporalio import activity

from docrail.services.app import App
from docrail.services.runs.chunks import record_ends
from docrail.workflows.contract.messages import RunEnds
from docrail.workflows.contract.names import RECORD_ENDS


def chunk_ends_activity(app: App) -> Callable[[RunEnds], Awaitable[None]]:
    """Return the activity. The chunk retries it until it succeeds, and again after a crash: it is safe to repeat."""

    @activity.defn(name=RECORD_ENDS)
    async def record(ended: RunEnds) -> None:
        await record_ends(app, ended.tenant_id, ended.ends)

    return record
