"""Export gold data for scoring, calibration and training: approved fields next to what was read."""

import datetime as dt
import mimetypes
from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from docrail.adapters.postgres.pool import Database
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.corrections import Correction, merge
from docrail.invoices.assessment.labelled import LINE_COUNT
from docrail.invoices.fields import LINE_ITEMS, value_text
from docrail.invoices.model import FIELD_NAMES, FieldValue, InvoiceData
from docrail.services.access.models import Principal
from docrail.services.documents.models import Document
from docrail.services.documents.service import load_best_extraction, load_corrections, load_documents
from docrail.services.reviews.repository.gold import Approved, list_approved

PAGE = 200


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class ReadValue(_Model):
    """The readers' value of a field as text; null if they found none."""

    value: str | None
    source: str = ""
    confidence: float | None = None


class GoldCorrection(_Model):
    """One field that a person corrected in an approved document."""

    document_id: str
    sha256: str
    field: str
    read: ReadValue
    value: str | None
    """The person's value; null: the document does not contain it."""
    corrected_by: str
    corrected_at: dt.datetime
    why: str
    approved_by: list[str]
    approved_at: dt.datetime


class GoldDocument(_Model):
    """One approved document: the final value of every field, and the corrections."""

    document_id: str
    sha256: str
    media_type: str
    document_type: str
    expected: dict[str, Json]
    family: str
    """Groups documents that look alike: the vendor's name."""
    corrections: list[GoldCorrection]

    @property
    def file(self) -> str:
        """Return the name of its original in an export: never the uploader's."""
        return f"originals/{self.sha256}{mimetypes.guess_extension(self.media_type) or '.bin'}"

    def for_manifest(self) -> dict[str, Json]:
        """Return the document's entry in the MANIFEST.json of a labelled folder."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "kind": self.media_type.rpartition("/")[2],
            "family": self.family,
            "document_type": self.document_type,
            "expected": self.expected,
            "visible": [name for name, value in self.expected.items() if value is not None],
        }


async def gold_documents(db: Database, principal: Principal) -> AsyncIterator[GoldDocument]:
    """Yield the tenant's approved documents, earliest approval first. Documents that were never read are left out."""
    last: Approved | None = None
    while page := await list_approved(db, principal.tenant_id, after=last, limit=PAGE):
        documents = await load_documents(db, principal.tenant_id, [each.document_id for each in page])
        for approved in page:
            document = documents[approved.document_id]
            reading = await load_best_extraction(db, principal.tenant_id, document.sha256)
            if reading is not None:
                corrections = await load_corrections(db, principal.tenant_id, document.document_id)
                yield _gold(approved, document, reading, corrections)
        last = page[-1]


def _gold(approved: Approved, document: Document, reading: InvoiceData, corrections: list[Correction]) -> GoldDocument:
    final = InvoiceData.model_validate_json(approved.decided) if approved.decided else merge(reading, corrections)
    expected: dict[str, Json] = {name: value_text(getattr(final, name).value) for name in FIELD_NAMES}
    expected[LINE_COUNT] = len(final.line_items) or None
    return GoldDocument(
        document_id=document.document_id,
        sha256=document.sha256,
        media_type=document.media_type,
        document_type=final.counts_as.value,
        expected=expected,
        family=final.vendor_name.value or document.sha256,
        corrections=[_correction(approved, document, reading, each) for each in corrections],
    )


def _correction(approved: Approved, document: Document, reading: InvoiceData, correction: Correction) -> GoldCorrection:
    first = approved.first_approval
    return GoldCorrection(
        document_id=document.document_id,
        sha256=document.sha256,
        field=correction.field,
        read=_read(reading, correction.field),
        value=correction.value,
        corrected_by=correction.by,
        corrected_at=correction.at,
        why=correction.why,
        approved_by=[*([first["by"]] if first else []), approved.approved_by],
        approved_at=approved.approved_at,
    )


def _read(reading: InvoiceData, field: str) -> ReadValue:
    found: Any = getattr(reading, field)
    if field == LINE_ITEMS:
        return ReadValue(value=value_text(found), source=reading.reader)
    value: FieldValue[Any] = found
    return ReadValue(value=value_text(value.value), source=value.source.value, confidence=value.confidence)
