"""Start the first run of a document exactly once: with those of others, or alone.

Only the call that has inserted a document's row may start its run together with others. Every other call settles first,
with one row in the database, whether it runs alone (`is_started_in_chunk`).
"""

from dataclasses import dataclass
from functools import partial

from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.definitions.models import DEFAULT_DEFINITION, StoredDefinition
from docrail.services.definitions.service import resolve
from docrail.services.documents.context import context_of
from docrail.services.documents.models import Document
from docrail.services.documents.service import mark_run_started, show_document
from docrail.services.intake.chunks import is_started_in_chunk, start_together
from docrail.services.intake.inputs import inputs_of
from docrail.services.runs.chunks import MOST_RUNS, may_share
from docrail.services.runs.service import begin_run


@dataclass(frozen=True, slots=True)
class Choice:
    """The definition for a document: its reference, and the version that this means now."""

    ref: str
    stored: StoredDefinition


async def start_new(app: App, principal: Principal, document: Document, choice: Choice) -> Document:
    """Start the run of a document that this call has inserted: with those of others if many come, else at once."""
    tenant_id = document.tenant_id
    if app.gatherings.are_many(tenant_id) and may_share(choice.stored.body, keeps_turns=True):
        start = partial(start_together, app, tenant_id)
        if started := await app.gatherings.join(tenant_id, document.document_id, start, most=MOST_RUNS):
            return started
    return await start_alone(app, principal, document, choice)


async def start_settled(app: App, principal: Principal, document: Document, choice: Choice | None = None) -> Document:
    """Start the run of a document that another call has inserted, where it belongs."""
    if document.run_started_at is not None:
        return document
    definition = await _definition_of(app, principal, document, choice)
    if await is_started_in_chunk(app, document, definition):
        return await show_document(app, principal, document.document_id)
    return await start_alone(app, principal, document, choice)


async def _definition_of(app: App, principal: Principal, document: Document, choice: Choice | None) -> StoredDefinition:
    """Return the definition stored at upload: rules and aliases may have changed since."""
    kept = document.definition or DEFAULT_DEFINITION
    if choice is not None and choice.ref == kept:
        return choice.stored
    return await resolve(app, principal, kept, key=document.document_id)


async def start_alone(
    app: App, principal: Principal, document: Document, choice: Choice | None = None, *, priority: int | None = None
) -> Document:
    """Start the document's run in a workflow of its own. Safe to repeat.

    Raises: NotFound (its definition), InvalidInput, QuotaExceeded, Unavailable.
    """
    if document.run_started_at is not None:
        return document
    definition = await _definition_of(app, principal, document, choice)
    uploader = Principal(document.tenant_id, document.uploaded_by, frozenset(), key_id=document.key_id)
    run = await begin_run(
        *(app, uploader, definition, inputs_of(document, definition), document.document_id),
        pinned=False,
        document=context_of(document),
        priority=priority,
    )
    await mark_run_started(app.db, document.tenant_id, document.document_id, run.run_id)
    return await show_document(app, principal, document.document_id)
