"""Handler `create_review`: put an extracted document before a person, by how soon it needs one."""

import datetime as dt

from pydantic import BaseModel, Field

from activities.registry import Call, Handler
from activities.tools import Tools
from dag.values import Json
from invoices.model import REQUIRED_FIELDS, InvoiceData, Problem, Severity
from invoices.priority import UNSURE, review_priority
from storage.db import NotStored
from storage.documents import Document, load_document
from storage.extractions import load_best_extraction
from storage.reviews import Question, upsert_review

SECONDS_PER_HOUR = 3600


class Config(BaseModel, extra="forbid", frozen=True):
    """Which document, and how soon."""

    document_id: str = Field(description="the document to decide on; its extraction must be stored")
    sla_hours: float = Field(
        gt=0, le=8784, allow_inf_nan=False, description="how long after its upload the document must be decided"
    )


class Output(BaseModel):
    """The item in the queue."""

    review_id: str = Field(description="the document's one review item")
    priority: float = Field(description="0 to 100, the most urgent first")
    parts: dict[str, float] = Field(description="what the priority is made of, each 0 to 1")


async def run(call: Call[Config], tools: Tools) -> Output:
    """Open the document's one review item, or renew it while it is open; a decided one stays as it is.

    Raises: NotStored.
    """
    document_id, sla_hours = call.config.document_id, call.config.sla_hours
    document = await load_document(tools.db, call.tenant_id, document_id)
    if document is None:
        raise NotStored("document", document_id, call.tenant_id)
    extraction = await load_best_extraction(tools.db, call.tenant_id, document.sha256)
    if extraction is None:
        raise NotStored("extraction of document", document_id, call.tenant_id)
    invoice = _with_history(extraction, document)
    priority = review_priority(invoice, sla_hours=sla_hours, hours_used=document.age_seconds / SECONDS_PER_HOUR)
    question = Question(
        run_id=call.run_id,
        band=priority.band,
        priority=priority.score,
        parts=priority.parts_json(),
        reasons=_reasons(invoice),
        summary=_summary(invoice),
        due_at=document.received_at + dt.timedelta(hours=sla_hours),
    )
    review = await upsert_review(tools.db, call.tenant_id, document_id, question)
    return Output(review_id=review.review_id, priority=review.priority, parts=review.parts)


def _with_history(invoice: InvoiceData, document: Document) -> InvoiceData:
    """Add what only the database knows: paying the same file twice is the fraud to stop."""
    if document.duplicate_of is None:
        return invoice
    message = f"The same file was uploaded before, as document {document.duplicate_of}."
    duplicate = Problem(code="duplicate", severity=Severity.ERROR, message=message)
    return invoice.model_copy(update={"problems": (*invoice.problems, duplicate)})


def _reasons(invoice: InvoiceData) -> list[Json]:
    """Say why a person should look: broken rules, then required fields that were read but are not sure."""
    fields = [(name, getattr(invoice, name)) for name in REQUIRED_FIELDS]
    unsure = [
        Problem(
            code="unsure_field",
            severity=Severity.WARNING,
            message=f"The {name.replace('_', ' ')} was read with confidence {field.confidence:.2f}.",
            field=name,
        )
        for name, field in fields
        if field.value is not None and field.confidence < UNSURE
    ]
    return [problem.model_dump(mode="json") for problem in (*invoice.problems, *unsure)]


def _summary(invoice: InvoiceData) -> dict[str, Json]:
    """Return what the queue shows in one row; the total as text, which is exact."""
    total, date = invoice.total.value, invoice.date.value
    return {
        "vendor": invoice.vendor_name.value,
        "number": invoice.invoice_number.value,
        "date": None if date is None else date.isoformat(),
        "total": None if total is None else str(total),
        "currency": invoice.currency.value,
        "confidence": invoice.confidence,
    }


HANDLER = Handler("create_review", Config, Output, run, local=True)
