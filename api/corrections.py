"""Routes of a document's fields: show values, confidence and sources; correct, unlock and undo."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from docrail.api.auth import MayRead, MayReview
from docrail.api.errors import problems
from docrail.api.parameters import MOST, AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.api.reviews import TokenIn
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.checks import lines_total
from docrail.invoices.assessment.corrections import proposals
from docrail.invoices.assessment.explanation import Term, explain, explain_overall, explain_priority
from docrail.invoices.fields import CORRECTABLE, value_text
from docrail.invoices.line_edits import lines_version
from docrail.invoices.model import FIELD_NAMES, Box, Candidate, FieldValue, InvoiceData, InvoiceProblem, Lock
from docrail.invoices.typed import Understood
from docrail.services.documents.models import StoredChange
from docrail.services.errors import AmbiguousValue, ClaimLost, LinesOutdated, NotFound, NothingToTakeBack, WrongState
from docrail.services.model_config import Text
from docrail.services.reviews import corrections
from docrail.services.reviews.corrections import ON_PAGE, AssessedDocument, CorrectionOrder, LinesOrder, TypedOrder

router = PrefixRouter(prefix="/v1/documents", tags=["documents"])


class CandidateOut(BaseModel):
    """The value of a field according to one source."""

    value: str | None
    source: str = Field(examples=["text_label"])
    page: int | None
    box: Box | None = Field(description=ON_PAGE)

    @classmethod
    def of(cls, candidate: Candidate[Any]) -> "CandidateOut":
        """Return the response model of a candidate."""
        value = value_text(candidate.value)
        return cls(value=value, source=candidate.source.value, page=candidate.page, box=candidate.box)


class PartOut(BaseModel):
    """One term of a score: log-odds for a field's confidence, logarithms for the document's, points for a priority.

    The terms add up to the score.
    """

    what: str = Field(examples=["prior:text_label", "checksum_valid"])
    weight: float


def _parts(terms: list[Term]) -> list[PartOut]:
    return [PartOut(what=term.what, weight=round(term.weight, 4)) for term in terms]


class FieldOut(BaseModel):
    """A field in its current state."""

    name: str = Field(examples=["total"])
    value: str | None = Field(description="amounts as exact decimals, dates as 2026-11-30", examples=["1190.00"])
    confidence: float | None = Field(description="null: there is no value, or none that is known")
    source: str = Field(examples=["text_label"])
    page: int | None
    box: Box | None = Field(description=ON_PAGE)
    evidence: list[str] = Field(examples=[["checksum_valid"]])
    explanation: list[PartOut] = Field(description="why the confidence is what it is")
    lock: Lock | None = Field(description="the person who set the value: no reading changes a locked field")
    candidates: list[CandidateOut] = Field(description="the values of all sources, most certain first")
    proposals: list[CandidateOut] = Field(description="of a locked field, the readers' other values")

    @classmethod
    def of(cls, name: str, field: FieldValue[Any]) -> "FieldOut":
        """Return the response model of a field."""
        return cls(
            name=name,
            value=value_text(field.value),
            confidence=None if field.value is None else field.confidence,
            source=field.source.value,
            page=field.page,
            box=field.box,
            evidence=[fact.value for fact in field.evidence],
            explanation=_parts(explain(field, name)),
            lock=field.lock,
            candidates=[CandidateOut.of(each) for each in field.candidates],
            proposals=[CandidateOut.of(each) for each in proposals(field)],
        )


class FieldsOut(BaseModel):
    """A document's current fields, and the rules that it violates."""

    document_id: str
    review_id: str
    digest: str = Field(description="digest of everything that a decision is based on; the decision must contain it")
    confidence: float
    explanation: list[PartOut]
    priority: list[PartOut] = Field(
        description="the points of its priority, without the up to 30 of its SLA", examples=[[]]
    )
    fields: list[FieldOut]
    line_items: list[dict[str, Json]]
    lines_version: str = Field(description="of the line items; an edit names it", examples=["0f9c6c4b3a2d4e5f"])
    lines_total: Decimal | None = Field(description="sum of their amounts; null if one has none")
    needs_second: list[InvoiceProblem] = Field(description="why two people must approve; empty if one is enough")
    understood: Understood | None = Field(description="how the typed text was read; null if none was typed")
    locks: Mapping[str, Lock] = Field(
        description="the person who set each locked field; `line_items` are locked as a whole"
    )
    problems: list[InvoiceProblem]

    @classmethod
    def of(cls, shown: AssessedDocument) -> "FieldsOut":
        """Return the response model of an assessed document."""
        invoice: InvoiceData = shown.invoice
        return cls(
            document_id=invoice.document_id,
            review_id=shown.review_id,
            digest=shown.digest,
            confidence=invoice.confidence,
            explanation=_parts(explain_overall(invoice)),
            priority=_parts(explain_priority(invoice)),
            fields=[FieldOut.of(name, getattr(invoice, name)) for name in FIELD_NAMES],
            line_items=[line.model_dump(mode="json") for line in invoice.line_items],
            lines_version=lines_version(invoice.line_items),
            lines_total=lines_total(invoice.line_items),
            needs_second=shown.needs_second,
            understood=shown.understood,
            locks=shown.locks,
            problems=invoice.problems,
        )


class ChangesOut(BaseModel):
    """All changes by people to a document's fields, oldest first."""

    changes: list[StoredChange]


@router.get("/{document_id}/fields", responses=problems(NotFound))
async def show_fields(document_id: str, who: MayRead, app: AppDep) -> FieldsOut:
    """Show a document's fields: values, confidence with explanation, source, page position, lock, and alternatives."""
    return FieldsOut.of(await corrections.show_fields(app, who, document_id))


FieldName = Annotated[str, Path(json_schema_extra={"enum": list(CORRECTABLE)}, description="the field's name")]


@router.put("/{document_id}/fields/{field}", responses=problems(NotFound, ClaimLost, WrongState))
async def correct_field(
    document_id: str, field: FieldName, order: CorrectionOrder, who: MayReview, app: AppDep
) -> FieldsOut:
    """Lock a field to its correct value.

    `line_items` can be locked too, as a JSON list.
    """
    return FieldsOut.of(await corrections.correct_field(app, who, document_id, field, order))


@router.put("/{document_id}/fields/{field}/text", responses=problems(NotFound, ClaimLost, WrongState, AmbiguousValue))
async def type_field(document_id: str, field: FieldName, order: TypedOrder, who: MayReview, app: AppDep) -> FieldsOut:
    """Lock a field to what a person typed: `4.904,95`, `12.04.2014`, `12 Apr`.

    `understood` shows how it was read. If two readings are possible, the document decides, or the text is refused with
    both (`ambiguous-value`).
    """
    return FieldsOut.of(await corrections.type_field(app, who, document_id, field, order))


@router.post(
    "/{document_id}/line-items", responses=problems(NotFound, ClaimLost, WrongState, AmbiguousValue, LinesOutdated)
)
async def edit_lines(document_id: str, order: LinesOrder, who: MayReview, app: AppDep) -> FieldsOut:
    """Edit the line items by row: set a cell, insert and delete rows, paste rows of a spreadsheet.

    Amounts are read as a person types them. The line items are then locked as a whole; undo takes all edits of one
    request back.
    """
    return FieldsOut.of(await corrections.edit_lines(app, who, document_id, order))


@router.delete("/{document_id}/fields/{field}", responses=problems(NotFound, ClaimLost, WrongState))
async def unlock_field(
    document_id: str,
    field: FieldName,
    who: MayReview,
    app: AppDep,
    *,
    token: Annotated[int, Query(ge=1, le=MOST, description="of the caller's claim")],
    why: Annotated[Text, Query(description="recorded with the act")] = "",
) -> FieldsOut:
    """Unlock a field: its value is again the one that the readers found."""
    return FieldsOut.of(await corrections.unlock_field(app, who, document_id, field, token, why))


@router.post("/{document_id}/undo", responses=problems(NotFound, ClaimLost, WrongState, NothingToTakeBack))
async def undo_correction(document_id: str, wanted: TokenIn, who: MayReview, app: AppDep) -> FieldsOut:
    """Undo the last change to the document's fields, if it is the caller's; repeat to undo earlier ones."""
    return FieldsOut.of(await corrections.undo_correction(app, who, document_id, wanted.token))


@router.get("/{document_id}/changes", responses=problems(NotFound))
async def list_changes(document_id: str, who: MayRead, app: AppDep) -> ChangesOut:
    """List the changes by people to the document's fields, including undone ones."""
    return ChangesOut(changes=await corrections.list_changes(app, who, document_id))
