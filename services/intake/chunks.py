"""Start the first runs of documents that come together in chunks, as far as their definitions allow it."""

from collections.abc import Iterator, Sequence

from docrail.services.access.models import Principal, system_principal
from docrail.services.app import App
from docrail.services.definitions.models import DEFAULT_DEFINITION, StoredDefinition
from docrail.services.definitions.resolving import Resolver
from docrail.services.documents.models import Document, UnendedDocument
from docrail.services.documents.service import load_documents, mark_runs_started
from docrail.services.errors import OperationError, Unavailable
from docrail.services.intake.inputs import inputs_of
from docrail.services.runs.chunks import MOST_RUNS, Wanted, is_settled_alone, may_share, start_chunks
from docrail.services.runs.models import StoredChunkedRun


async def start_in_chunks(
    app: App,
    principal: Principal,
    new: Sequence[str],
    left: Sequence[str],
    *,
    priority: int | None,
    most: int,
    records_ends: bool,
) -> list[StoredChunkedRun]:
    """Start those of the `new` documents that may share workflows, at most so many one; return their places.

    `left`: of an attempt that was cut off, whose places are returned too. Those in no chunk may have a run already, and
    go on alone, as all others do. Without a `priority` each has that of its definition. Raises: Unavailable.
    """
    if await app.quotas.limits_runs(app.db, principal.tenant_id):
        new = ()  # the quota counts workflows of runs
    documents = await load_documents(app.db, principal.tenant_id, [*new, *left])
    fresh = [documents[each] for each in new if each in documents]
    wanted = await _wanted(app, principal, fresh, keeps_turns=priority is None)
    if len(wanted) < 2:  # noqa: PLR2004 - one shares with no other
        wanted = []
    run_ids = [run_id for each in left if each in documents and (run_id := documents[each].run_id) is not None]
    started = await start_chunks(
        app, principal, wanted, run_ids, inputs_of, priority=priority, most=most, records_ends=records_ends
    )
    await mark_runs_started(app.db, principal.tenant_id, list(_starts(started)))
    return started


def _starts(places: Sequence[StoredChunkedRun]) -> Iterator[tuple[UnendedDocument, str]]:
    for place in places:
        assert place.started_at is not None, "its row is stored"
        yield UnendedDocument(place.document_id, place.started_at), place.run_id


async def start_together(app: App, tenant_id: str, document_ids: Sequence[str]) -> dict[str, Document]:
    """Start those of the documents, which these calls have just stored, that may share workflows; return them by id.

    Raises: Unavailable.
    """
    places = await _start_single(app, tenant_id, document_ids, ())
    return await load_documents(app.db, tenant_id, [place.document_id for place in places])


async def is_started_in_chunk(app: App, document: Document, stored: StoredDefinition) -> bool:
    """Settle where the first run of a document runs, for good; return whether it is in a chunk, which is then started.

    Whoever has not just stored the document asks this first: the request that has may be about to start it with others.
    Raises: Unavailable.
    """
    if await is_settled_alone(app, Wanted(document, stored)):
        return False
    return bool(await _start_single(app, document.tenant_id, (), [document.document_id]))


async def _start_single(app: App, tenant_id: str, new: Sequence[str], left: Sequence[str]) -> list[StoredChunkedRun]:
    owner = system_principal(tenant_id)
    return await start_in_chunks(app, owner, new, left, priority=None, most=MOST_RUNS, records_ends=True)


async def _wanted(app: App, principal: Principal, documents: Sequence[Document], *, keeps_turns: bool) -> list[Wanted]:
    """Return those documents whose first run may share a workflow."""
    shares, wanted, resolver = dict[str, bool](), list[Wanted](), Resolver(app, principal)
    for document in documents:
        stored = await _version_for(resolver, document)
        if stored is None:
            continue
        if stored.digest not in shares:
            shares[stored.digest] = may_share(stored.body, keeps_turns=keeps_turns)
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
