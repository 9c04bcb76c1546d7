"""Correct the fields of a document.

A person's value is locked, with name, time and reason; unlocking and undoing are recorded too. Each action returns the
document as assessed afterwards, which shows the rules that are still broken.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from docrail.adapters.postgres.pool import Database, transaction
from docrail.dag.language.inputs import InputProblem
from docrail.invoices.assessment.review_summary import shown_digest, why_two_approvals
from docrail.invoices.fields import LARGEST_PAGE, LINE_ITEMS, parse_value, value_text
from docrail.invoices.kinds import FieldError
from docrail.invoices.line_edits import LineEdit, edited, lines_version
from docrail.invoices.model import FIELD_NAMES, Box, InvoiceData, InvoiceProblem, LineItem, Lock
from docrail.invoices.typed import AmbiguousTextError, Understood, understand
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.documents.models import Change, CorrectionAct, StoredChange
from docrail.services.documents.service import insert_change, load_changes, load_corrections, show_document, undo_last
from docrail.services.errors import AmbiguousValue, InvalidInput, LinesOutdated, NothingToTakeBack, WrongState
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
class TypedOrder:
    """The correct value of a field, as a person types it."""

    __pydantic_config__: ClassVar[ConfigDict] = body({"text": "4.904,95", "token": 3})

    text: Text
    """`4.904,95`, `12.04.2014`, `12 Apr`; empty if the document does not state it."""
    token: Token
    why: Text = ""
    page: Annotated[int, Field(strict=True, ge=1, le=LARGEST_PAGE), WHOLE] | None = None
    """The page that states the value, if known."""
    box: Annotated[Box | None, Field(description=ON_PAGE)] = None


MOST_EDITS = 100


@dataclass(frozen=True, slots=True)
class LinesOrder:
    """Edits of the line items, made one after the other: all of them, or none if one is refused."""

    __pydantic_config__: ClassVar[ConfigDict] = body(
        {
            "edits": [{"do": "set", "row": 0, "column": "amount", "text": "4.904,95"}],
            "base": "0f9c6c4b3a2d4e5f",
            "token": 3,
        }
    )

    edits: Annotated[list[LineEdit], Field(min_length=1, max_length=MOST_EDITS)]
    """Each names its rows as they are after the edits before it."""
    base: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    """`lines_version` of the line items that were edited."""
    token: Token
    why: Text = ""


@dataclass(frozen=True, slots=True)
class AssessedDocument:
    """A document in its current state, and the digest for a decision about it.

    `locks` holds the values set by people, including `line_items`, which are locked as a whole.
    """

    review_id: str
    invoice: InvoiceData
    digest: str
    locks: Mapping[str, Lock]
    needs_second: list[InvoiceProblem]
    """Why two people must approve; empty if one is enough."""
    understood: Understood | None = None
    """How the typed text was read, if one was."""


async def show_fields(app: App, principal: Principal, document_id: str) -> AssessedDocument:
    """Return the document's fields with values, sources and confidence.

    Raises: NotFound (also if it was not read yet).
    """
    await show_document(app, principal, document_id)
    return await _shown(app, app.db, principal, await assessed(app.db, principal.tenant_id, document_id))


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
        raise InvalidInput([problem_of("value", error)]) from None
    async with transaction(app.db) as tx:
        review = await _held(tx, principal, document_id, order.token, "correct")
        before = await assessed(tx, principal.tenant_id, document_id)
        return await _correct(app, tx, principal, review, before, (field, value), order)


async def type_field(
    app: App, principal: Principal, document_id: str, field: str, order: TypedOrder
) -> AssessedDocument:
    """Lock a field to what a person typed. Of two readings, the document's own evidence decides, and is returned.

    Raises: as `correct_field`, AmbiguousValue.
    """
    async with transaction(app.db) as tx:
        review = await _held(tx, principal, document_id, order.token, "correct")
        before = await assessed(tx, principal.tenant_id, document_id)
        try:
            understood = understand(field, order.text, before, dt.datetime.now(dt.UTC).date())
        except FieldError as error:
            raise InvalidInput([problem_of("text", error)]) from None
        except AmbiguousTextError as error:
            raise AmbiguousValue("text", str(error), error.readings) from None
        shown = await _correct(app, tx, principal, review, before, (field, understood.value), order)
        return replace(shown, understood=understood)


async def edit_lines(app: App, principal: Principal, document_id: str, order: LinesOrder) -> AssessedDocument:
    """Edit the line items, and lock them as a whole. Raises: as `type_field`, LinesOutdated."""
    async with transaction(app.db) as tx:
        review = await _held(tx, principal, document_id, order.token, "correct")
        before = await assessed(tx, principal.tenant_id, document_id)
        if (current := lines_version(before.line_items)) != order.base:
            raise LinesOutdated(current)
        lines = value_text(_edited(before, order.edits))
        return await _correct(app, tx, principal, review, before, (LINE_ITEMS, lines), order)


def problem_of(path: str, error: FieldError) -> InputProblem:
    """Return the problem to show to the person who typed what was refused."""
    return InputProblem(path, str(error), code=error.code)


def _edited(invoice: InvoiceData, edits: Sequence[LineEdit]) -> tuple[LineItem, ...]:
    """Return the line items after the edits, one after the other. Raises: InvalidInput, AmbiguousValue."""
    for number, edit in enumerate(edits):
        try:
            invoice = invoice.model_copy(update={"line_items": edited(invoice, edit)})
        except FieldError as error:
            raise InvalidInput([problem_of(f"edits.{number}", error)]) from None
        except AmbiguousTextError as error:
            raise AmbiguousValue(f"edits.{number}", str(error), error.readings) from None
    return invoice.line_items


async def _correct(
    app: App,
    tx: Database,
    principal: Principal,
    review: Review,
    invoice: InvoiceData,
    locked: tuple[str, str | None],
    order: CorrectionOrder | TypedOrder | LinesOrder,
) -> AssessedDocument:
    """Lock a field of the document, as assessed now, to a value."""
    (field, value), document_id = locked, invoice.document_id
    before, source = _value_of(invoice, field)
    place = (None, None) if isinstance(order, LinesOrder) else (order.page, order.box)
    change = Change(field, CorrectionAct.LOCK, value, principal.name, order.why, before, source, *place)
    await insert_change(tx, principal.tenant_id, document_id, change)
    if before != value:
        await mark_touched(tx, principal.tenant_id, review.review_id)
        await count_review(tx, principal.tenant_id, CORRECTIONS, field)
    after = await _update_appearance(app, tx, review, document_id)
    await record(tx, principal, review, "corrected", field=field, value=value, was=before, source=source, why=order.why)
    return await _shown(app, tx, principal, after)


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
        return await _shown(app, tx, principal, invoice)


async def undo_correction(app: App, principal: Principal, document_id: str, token: int) -> AssessedDocument:
    """Undo the document's last change, if it is the caller's. Raises: as `correct_field`, NothingToTakeBack."""
    async with transaction(app.db) as tx:
        review = await _held(tx, principal, document_id, token, "undo")
        undone = await undo_last(tx, principal.tenant_id, document_id, principal.name)
        if undone is None:
            raise NothingToTakeBack
        invoice = await _update_appearance(app, tx, review, document_id)
        await record(tx, principal, review, "undone", field=undone.field, change=undone.act, value=undone.value)
        return await _shown(app, tx, principal, invoice)


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


async def _shown(app: App, db: Database, principal: Principal, invoice: InvoiceData) -> AssessedDocument:
    locked = await load_corrections(db, principal.tenant_id, invoice.document_id)
    return AssessedDocument(
        review_id=review_id_of(principal.tenant_id, invoice.document_id),
        invoice=invoice,
        digest=shown_digest(invoice),
        locks={each.field: Lock(by=each.by, at=each.at, why=each.why) for each in locked},
        needs_second=why_two_approvals(invoice, app.four_eyes_above),
    )
