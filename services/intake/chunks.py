"""Start the first runs of a batch's documents in chunks, as far as their definitions allow it."""

from collections.abc import Sequence

from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.definitions.models import DEFAULT_DEFINITION, StoredDefinition
from docrail.services.definitions.resolving import Resolver
from docrail.services.documents.models import Document
from docrail.services.documents.service import load_documents, mark_runs_started
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
    if await app.quotas.limits_runs(app.db, principal.tenant_id):
        new = ()  # the quota counts workflows of runs
    documents = await load_documents(app.db, principal.tenant_id, [*new, *left])
    wanted = await _wanted(app, principal, [documents[each] for each in new if each in documents])
    if len(wanted) < 2:  # noqa: PLR2004 - one shares with no other
        wanted = []
    run_ids = [run_id for each in left if each in documents and (run_id := documents[each].run_id) is not None]
    started = await start_chunks(app, principal, wanted, run_ids, inputs_of, priority=priority, most=most)
    await mark_runs_started(app.db, principal.tenant_id, {place.document_id: place.run_id for place in started})
    return started


async def _wanted(app: App, principal: Principal, documents: Sequence[Document]) -> list[Wanted]:
    """Return those documents whose first run may share a workflow."""
    shares, wanted, resolver = dict[str, bool](), list[Wanted](), Resolver(app, principal)
    for document in documents:
        stored = await _version_for(resolver, document)
        if stored is None:
            continue
        if stored.digest not in shares:
            shares[stored.digest] = may_share(stored.body)
        if shares[stored.digest]:
            wanted.append(Wanted(document, stored))
    return wanted


async def _version_for(resolver: Resolver, document: Document) -> StoredDefinition | None:
    """Return the version that a document's first run follows; None if it has had one, or cannot have one now."""
    if document.run_started_at is not None:
        return None
    try:
        return await resolver.resolve(document.definition or DEFAULT_DEFINITION, key=document.document_id)
    except Unavailable:
        raise
    except OperationError:  # its start, alone, says why
        return None
