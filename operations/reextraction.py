"""Read a document again, by whatever readers there are now. What people locked stays; what differs is proposed."""

import uuid

from dag.inputs import InputProblem
from operations.app import App
from operations.definitions import resolve
from operations.document_context import context_of
from operations.documents import show_document
from operations.errors import InvalidInput, WrongState
from operations.principal import Principal
from operations.routing import DEFAULT_DEFINITION
from operations.runs import StartedRun, begin_run, checked_key
from storage.reviews import APPROVED, REJECTED, load_review, review_id_of

FRESH = "fresh"
"""The input by which a definition is told to read anew."""


async def extract_again(app: App, principal: Principal, document_id: str, *, key: str | None = None) -> StartedRun:
    """Start a run of `invoice` that reads the document anew and renews its review item; the same key, the same run.

    What was decided rests on what was read: a decided document is reopened first. Raises: NotFound (the document, or
    the tenant's definition `invoice`), WrongState, InvalidInput (no input `fresh`, bad key), KeyConflict, Unavailable.
    """
    document = await show_document(app, principal, document_id)
    review = await load_review(app.db, principal.tenant_id, review_id_of(principal.tenant_id, document_id))
    if review is not None and review.status in (APPROVED, REJECTED):
        raise WrongState("read the document again", review.status, "review item")
    own = f"{document_id}-{uuid.uuid4().hex[:12] if key is None else checked_key(key)}"
    stored = await resolve(app, principal, DEFAULT_DEFINITION, key=document_id)
    inputs = {"document_id": document_id, "sla_hours": int(document.sla_hours), FRESH: True}
    known = stored.body.get("inputs", {})
    if FRESH not in known:
        message = f"has no input {FRESH!r}, by which it is told to read anew: expected one, of the type boolean"
        raise InvalidInput([InputProblem(DEFAULT_DEFINITION, message)])
    given = {name: value for name, value in inputs.items() if name in known}
    return await begin_run(app, principal, stored, given, checked_key(own), document=context_of(document))
