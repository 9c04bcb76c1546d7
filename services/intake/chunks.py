"""Start the first runs of a batch's documents in chunks, as far as their definitions allow it."""

from collections.abc import Sequence

from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.definitions.models import DEFAULT_DEFINITION
from docrail.services.definitions.service import resolve
from docrail.services.documents.service import load_document, mark_run_started
from docrail.services.errors import OperationError, Unavailable
from docrail.services.intake.inputs import inputs_of
from docrail.services.runs.chunks import Wanted, may_share, start_chunks
from docrail.services.runs.models import StoredChunkedRun


async def start_in_chunks(
    app: App, principal: Principal, new: Sequence[str], left: Sequence[str], *, priority: int, most: int
) -> list[StoredChunkedRun]:
    """Start those of the `new` documents that may share workflows, at most so many one; return their places.

    `left`: of an attempt that was cut off, whose places are returned too. Those in no chunk may have a run already, and
    go on alone, as all others do. Raises: Unavailable.
    """
    if await app.quotas.open_runs(app.db, principal.tenant_id) is not None:
        new = ()  # the quota counts workflows of runs
    wanted = [each for document_id in new if (each := await _wanted(app, principal, document_id))]
    if len(wanted) < 2:  # noqa: PLR2004 - one shares with no other
        wanted = []
    documents = [await load_document(app.db, principal.tenant_id, document_id) for document_id in left]
    run_ids = [each.run_id for each in documents if each is not None and each.run_id is not None]
    started = await start_chunks(app, principal, wanted, run_ids, inputs_of, priority=priority, most=most)
    for place in started:
        await mark_run_started(app.db, principal.tenant_id, place.document_id, place.run_id)
    return started


async def _wanted(app: App, principal: Principal, document_id: str) -> Wanted | None:
    """Return a document whose first run may share a workflow."""
    document = await load_document(app.db, principal.tenant_id, document_id)
    if document is None or document.run_started_at is not None:
        return None
    try:
        stored = await resolve(app, principal, document.definition or DEFAULT_DEFINITION, key=document_id)
    except Unavailable:
        raise
    except OperationError:  # its start, alone, says why
        return None
    return Wanted(document, stored) if may_share(stored.body) else None
