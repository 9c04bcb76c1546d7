"""List and count documents, and do what the inbox offers: send failed ones again, dismiss them, approve many."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from docrail.dag.engine.events import ResolutionKind
from docrail.dag.engine.retry import Edit
from docrail.dag.language.inputs import InputProblem
from docrail.invoices.values.folding import squeeze
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.documents.service import DOCUMENT_ID_PATTERN, show_document
from docrail.services.errors import InvalidInput, NotFound, WrongState
from docrail.services.failures import service as failures
from docrail.services.failures.models import LetterOrder, LetterStatus, Resolved
from docrail.services.failures.resolve import settle_step
from docrail.services.inbox import repository as stored
from docrail.services.inbox.models import (
    DocumentCounts,
    DocumentFilter,
    DocumentPage,
    DocumentSort,
    DocumentStatus,
    ListedDocument,
    Neighbours,
    RowAction,
)
from docrail.services.inbox.permitted import IN, document_actions
from docrail.services.intake.service import extract_again
from docrail.services.paging import after_of, text_of, token_of
from docrail.services.reviews.bulk import MOST_PREVIEWED, ApprovalPreview, preview_many

TOO_MANY = (
    f"more than {stored.MOST_SORTED} documents match, which are too many to sort: choose a status, a vendor or dates"
)

DISMISSED = "dismissed in the inbox"
"""Reason recorded with a failure that was set aside there, if the caller gave none."""


async def list_documents(
    app: App,
    principal: Principal,
    wanted: DocumentFilter,
    *,
    sort: DocumentSort = DocumentSort.NEWEST,
    limit: int = 100,
    after: str | None = None,
) -> DocumentPage:
    """Return a page of the tenant's documents in the order of `sort`. Raises: InvalidInput."""
    _check(wanted)
    if sort not in stored.IN_ORDER and await stored.has_more_than_sorted(app.db, principal.tenant_id, wanted):
        raise InvalidInput([InputProblem("sort", f"{TOO_MANY}, or the newest or oldest first")])
    query = f"{principal.tenant_id} {sort} {wanted}"
    token = token_of(after, query)
    last = None if token is None else text_of(token.decode(errors="replace"))
    found = await stored.list_documents(app.db, principal.tenant_id, wanted, sort, limit=limit + 1, after=last)
    more = len(found) > limit
    shown = [_for(principal, each) for each in found[:limit]]
    return DocumentPage(shown, after_of(found[limit - 1].document_id.encode() if more else None, query))


async def show_neighbours(
    app: App,
    principal: Principal,
    document_id: str,
    wanted: DocumentFilter,
    sort: DocumentSort,
    *,
    below: str | None = None,
) -> Neighbours:
    """Return the place of a document in a list, without those that others work on. Raises: NotFound, InvalidInput.

    `below` is the look-alike that it followed, if that has left the list.
    """
    _check(wanted)
    document = await show_document(app, principal, document_id)
    place = document.document_id
    if await stored.has_more_than_sorted(app.db, principal.tenant_id, wanted):
        raise InvalidInput([InputProblem("status", TOO_MANY)])
    me = principal.name
    return await stored.find_neighbours(app.db, principal.tenant_id, wanted, sort, place, me=me, below=below)


async def count_documents(app: App, principal: Principal, wanted: DocumentFilter) -> DocumentCounts:
    """Return the number of the tenant's documents of each status that match the other filters. Raises: InvalidInput."""
    _check(wanted)
    found = await stored.count_documents(app.db, principal.tenant_id, wanted)
    at_least = [status for status in stored.DECIDED if found[status] > stored.MOST_COUNTED]
    counts = found | dict.fromkeys(at_least, stored.MOST_COUNTED)
    return DocumentCounts(counts, sum(counts.values()), at_least)


async def list_named(app: App, principal: Principal, document_ids: Sequence[str]) -> dict[str, ListedDocument]:
    """Return the tenant's documents with these ids, by id."""
    return await stored.list_named(app.db, principal.tenant_id, document_ids)


async def sum_totals(
    app: App, principal: Principal, document_ids: Sequence[str]
) -> list[tuple[str | None, int, Decimal]]:
    """Return for each currency how many of these documents have a total, and the sum of these."""
    return await stored.sum_totals(app.db, principal.tenant_id, document_ids)


async def send_again(app: App, principal: Principal, document_id: str) -> ListedDocument:
    """Retry the failed steps of a document, or read a dismissed one again; return how it is listed then.

    Raises: NotFound, WrongState, InvalidInput, TooLarge, Unavailable.
    """
    listed = await _find(app, principal, document_id)
    if listed.status not in IN[RowAction.SEND_AGAIN]:
        raise WrongState("send the document again", listed.status, "document")
    open_letters = await failures.list_of_document(app, principal, document_id)
    if not open_letters:
        await extract_again(app, principal, document_id)
        return await _find(app, principal, document_id)
    first, *others = open_letters
    await settle_step(app, principal, *first.key, Edit(ResolutionKind.RETRY), reason="sent again")
    await failures.retry_letters(app, principal, [each.key for each in others], reason="sent again")
    return await _find(app, principal, document_id)


async def dismiss(app: App, principal: Principal, document_id: str, reason: str = "") -> ListedDocument:
    """Set the failures of a document aside: a run that waits for a person is aborted. Return how it is listed then.

    Raises: NotFound, WrongState (it has not failed), Unavailable.
    """
    listed = await _find(app, principal, document_id)
    if listed.status not in IN[RowAction.DISMISS]:
        raise WrongState("dismiss the document", listed.status, "document")
    for letter in await failures.list_of_document(app, principal, document_id):
        is_parked = letter.status is LetterStatus.PARKED
        order = LetterOrder(Resolved.ABORT if is_parked else Resolved.DISMISS, reason=reason or DISMISSED)
        current = await failures.show_letter(app, principal, *letter.key)
        if current.status is not LetterStatus.RESOLVED:  # aborting a run resolves all its letters
            await failures.resolve_letter(app, principal, *letter.key, order)
    return await _find(app, principal, document_id)


async def preview_matching(app: App, principal: Principal, wanted: DocumentFilter) -> ApprovalPreview:
    """Preview the approval of the documents that match and wait for a decision, at most MOST_PREVIEWED of them.

    Raises: InvalidInput.
    """
    _check(wanted)
    waiting = replace(wanted, status=DocumentStatus.ATTENTION)
    found = await stored.list_documents(app.db, principal.tenant_id, waiting, limit=MOST_PREVIEWED)
    matching = (await stored.count_documents(app.db, principal.tenant_id, wanted))[DocumentStatus.ATTENTION]
    review_ids = [each.review_id for each in found if each.review_id is not None]
    return replace(await preview_many(app, principal, review_ids), matching=matching)


async def _find(app: App, principal: Principal, document_id: str) -> ListedDocument:
    found = None
    if re.fullmatch(DOCUMENT_ID_PATTERN, document_id):
        found = await stored.load_listed(app.db, principal.tenant_id, document_id)
    if found is None:
        raise NotFound("document", document_id)
    return _for(principal, found)


def _for(who: Principal, document: ListedDocument) -> ListedDocument:
    return replace(document, actions=document_actions(who, document.status))


def _check(wanted: DocumentFilter) -> None:
    if problems := list(_problems(wanted)):
        raise InvalidInput(problems)


def _problems(wanted: DocumentFilter) -> Iterator[InputProblem]:
    if wanted.vendor is not None and not squeeze(wanted.vendor):
        yield InputProblem("vendor", "has no letter and no digit: expected a VAT id, or how a vendor's name begins")
    if wanted.since is not None and wanted.until is not None and wanted.since >= wanted.until:
        yield InputProblem("until", "must be later than `since`, or no document can match")
