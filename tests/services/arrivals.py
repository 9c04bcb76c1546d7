"""Store documents that were received, read, assessed, corrected and approved."""

import datetime as dt
from decimal import Decimal
from typing import Any

from docrail.adapters.postgres.pool import Database
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, InvoiceData
from docrail.services.documents.assessed import load_assessed
from docrail.services.documents.models import CURRENT_READER, Change, CorrectionAct
from docrail.services.documents.repository.corrections import insert_change
from docrail.services.documents.repository.readings import save_extraction
from docrail.services.documents.repository.vendors import remember
from tests.postgres import TENANT, blob_of, new_document_id, upload

TODAY = dt.date(2026, 11, 1)
IBAN, OTHER_IBAN = "DE02120300000000202051", "DE02500105170137075030"


def reading(**values: Any) -> InvoiceData:
    """Return a correct reading with the given values or fields."""
    fields = {
        "invoice_number": "RE-2026-0017",
        "date": dt.date(2026, 10, 1),
        "vendor_name": "Muster GmbH",
        "vendor_vat_id": "DE136695976",
        "iban": IBAN,
        "currency": "EUR",
        "net": Decimal("100.00"),
        "tax": Decimal("19.00"),
        "total": Decimal("119.00"),
    } | values
    given = {name: _reported(value) for name, value in fields.items() if value}
    return InvoiceData(**given)


def _reported(value: Any) -> FieldValue[Any]:
    return value if isinstance(value, FieldValue) else FieldValue[Any](value=value, source=Source.TEXT_LABEL)


async def arrive(db: Database, tenant_id: str = TENANT, *, text: str = "", **values: Any) -> str:
    """Upload and read a document; return its id."""
    document_id = new_document_id()
    blob = blob_of(text or document_id)
    await upload(db, tenant_id=tenant_id, document_id=document_id, blob=blob)
    await save_extraction(db, tenant_id, blob.sha256, CURRENT_READER, reading(**values))
    return document_id


async def judged(db: Database, document_id: str, tenant_id: str = TENANT) -> InvoiceData:
    return (await load_assessed(db, tenant_id, document_id, today=TODAY)).invoice


async def codes(db: Database, document_id: str, tenant_id: str = TENANT) -> list[str]:
    return [problem.code for problem in (await judged(db, document_id, tenant_id)).problems]


async def approve(db: Database, document_id: str) -> None:
    await remember(db, TENANT, await judged(db, document_id))


async def correct(db: Database, document_id: str, field: str, value: str | None) -> None:
    await insert_change(db, TENANT, document_id, Change(field, CorrectionAct.LOCK, value, "ann"))
