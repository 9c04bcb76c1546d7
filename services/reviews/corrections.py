"""Correct the fields of a document.

A person's value is locked, with name, time and reason; unlocking and undoing are recorded too. Each action returns the
document as assessed afterwards, which shows the rules that are still broken.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from docrail.adapters.postgres.pool import Database, transaction
from docrail.dag.language.inputs import InputProblem
from docrail.invoices.assessment.review_summary import shown_digest
from docrail.invoices.fields import LARGEST_PAGE, parse_value, value_text
from docrail.invoices.kinds import FieldError
from docrail.invoices.model import FIELD_NAMES, Box, InvoiceData, Lock
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.documents.models import Change, CorrectionAct, StoredChange
from docrail.services.documents.service import insert_change, load_changes, load_corrections, show_document, undo_last
from docrail.services.errors import InvalidInput, NothingToTakeBack, WrongState
from docrail.services.model_config import WHOLE, Text, body
from docrail.services.reviews.items import appearance_of, assessed, lock_held, record
from docrail.services.reviews.models import CORRECTIONS, Review, Token, review_id_of
from docrail.services.reviews.repository.decisions import mark_touched
from docrail.services.reviews.repository.items import count_review, update_appearance

ON_PAGE = "left, top, right and bottom edge, as shares of the width and height of the page's picture (`pages/N.png`)"


@dataclass(frozen=True, slots=True)
class CorrectionOrder:
    """The correct value of a field. Sending the current value confirms it."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"value": "1190.00", "token": 3})

    value: Annotated[str, Field(max_length=200_000)] | None
    """In the field's type: `1190.00`, `2026-11-30`, `EUR`; null if the document does not state it."""
    token: Token
    why: Text = ""
    page: Annotated[int, Field(strict=True, ge=1, le=LARGEST_PAGE), WHOLE] | None = None
    """The page that states the value, if known."""
    box: Annotated[Box | None, Field(description=ON_PAGE)] = None


@dataclass(frozen=True, slots=True)
class AssessedDocument:
    """A document in its current state, and the digest for a decision about it.

    `locks` holds the values set by people, including `document_type` and `line_items`, which are locked as a whole.
    """

    review_id: str
    invoice: InvoiceData
    digest: str
    locks: Mapping[str, Lock]


async def show_fields(app: App, principal: Principal, document_id: str) -> AssessedDocument:
    """Return the document's fields with values, sources and confidence.

    Raises: NotFound (also if it was not read yet).
    """
    await show_document(app, principal, document_id)
    return await _shown(app.db, principal, await assessed(app.db, principal.tenant_id, document_id))


async def list_changes(app: App, principal: Principal, document_id: str) -> list[StoredChange]:
    """Return all changes by people to the document's fields, oldest first. Raises: NotFound."""
    await show_document(app, principal, document_id)
    return await load_changes(app.db, principal.tenant_id, document_id)


async def correct_field(
    app: App, principal: Principal, document_id: str, field: str, order: CorrectionOrder
) -> AssessedDocument:
    """Lock a field to a person's value. Sending the current value confirms and locks it.

    Raises: NotFound, InvalidInput (no such field, no such value), WrongState (decided: reopen it), ClaimLost.
    """
    try:
        value = value_text(parse_value(field, order.value))
    except FieldError as error:
        raise InvalidInput([InputProblem("value", str(error))]) from None
    async with transaction(app.db) as tx:
        review = await _held(tx, principal, document_id, order.token, "correct")
        before, source = _value_of(await assessed(tx, principal.tenant_id, document_id), field)
        change = Change(
            *(field, CorrectionAct.LOCK, value, principal.name, order.why, before, source),
            page=order.page,
            box=order.box,
        )
        await insert_change(tx, principal.tenant_id, document_id, change)
        if before != value:
            await mark_touched(tx, principal.tenant_id, review.review_id)
            await count_review(tx, principal.tenant_id, CORRECTIONS, field)
        invoice = await _update_appearance(app, tx, review, document_id)
        await record(
            tx, principal, review, "corrected", field=field, value=value, was=before, source=source, why=order.why
        )
        return await _shown(tx, principal, invoice)


async def unlock_field(
    app: App, principal: Principal, document_id: str, field: str, token: int, why: str
) -> AssessedDocument:
    """Return a locked field to the readers' value. Raises: NotFound, WrongState (it is not locked), ClaimLost."""
    async with transaction(app.db) as tx:
        review = await _held(tx, principal, document_id, token, "unlock")
        locked = {each.field: each for each in await load_corrections(tx, principal.tenant_id, document_id)}
        if field not in locked:
            raise WrongState("unlock", "not locked", "field")
        change = Change(field, CorrectionAct.UNLOCK, None, principal.name, why, locked[field].value, "human")
        await insert_change(tx, principal.tenant_id, document_id, change)
        invoice = await _update_appearance(app, tx, review, document_id)
        await record(tx, principal, review, "unlocked", field=field, was=locked[field].value, why=why)
        return await _shown(tx, principal, invoice)


async def undo_correction(app: App, principal: Principal, document_id: str, token: int) -> AssessedDocument:
    """Undo the document's last change, if it is the caller's. Raises: as `correct_field`, NothingToTakeBack."""
    async with transaction(app.db) as tx:
        review = await _held(tx, principal, document_id, token, "undo")
        undone = await undo_last(tx, principal.tenant_id, document_id, principal.name)
        if undone is None:
            raise NothingToTakeBack
        invoice = await _update_appearance(app, tx, review, document_id)
        await record(tx, principal, review, "undone", field=undone.field, change=undone.act, value=undone.value)
        return await _shown(tx, principal, invoice)


async def _held(tx: Database, principal: Principal, document_id: str, token: int, action: str) -> Review:
    """Return the document's item if the principal has claimed it. Raises: NotFound, WrongState, ClaimLost."""
    return await lock_held(tx, principal, review_id_of(principal.tenant_id, document_id), token, action)


async def _update_appearance(app: App, tx: Database, review: Review, document_id: str) -> InvoiceData:
    invoice = await assessed(tx, review.tenant_id, document_id)
    await update_appearance(tx, review.tenant_id, review.review_id, appearance_of(invoice, app.four_eyes_above))
    return invoice


def _value_of(invoice: InvoiceData, field: str) -> tuple[str | None, str]:
    """Return a field's value as text, and its source."""
    found = getattr(invoice, field)
    if field in FIELD_NAMES:
        return value_text(found.value), found.source.value
    return value_text(found), invoice.reader


async def _shown(db: Database, principal: Principal, invoice: InvoiceData) -> AssessedDocument:
    locked = await load_corrections(db, principal.tenant_id, invoice.document_id)
    return AssessedDocument(
        review_id=review_id_of(principal.tenant_id, invoice.document_id),
        invoice=invoice,
        digest=shown_digest(invoice),
        locks={each.field: Lock(by=each.by, at=each.at, why=each.why) for each in locked},
    )
