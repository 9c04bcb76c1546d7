"""One invoice that uses every column, for tests of how invoices are kept."""

import datetime as dt
from decimal import Decimal

from docrail.invoices.facts import Evidence, Severity, Source
from docrail.invoices.model import FieldValue, InvoiceData, InvoiceProblem, LineItem, TaxPart


def invoice(document_id: str = "doc_1", *, number: str = "R-2026/17", confidence: float = 0.93) -> InvoiceData:
    return InvoiceData(
        document_id=document_id,
        invoice_number=FieldValue(value=number, confidence=0.99, source=Source.TEXT_LABEL, page=1),
        date=FieldValue(value=dt.date(2026, 11, 3), confidence=0.9, source=Source.TEXT_LABEL, page=1),
        vendor_name=FieldValue(value="Müller & Söhne", confidence=0.5, source=Source.TEXT_PATTERN, page=1),
        currency=FieldValue(value="EUR", confidence=0.97, source=Source.TEXT_LABEL, page=1),
        net=FieldValue(value=Decimal("100.10"), confidence=0.9, source=Source.TEXT_LABEL, page=2),
        tax=FieldValue(value=Decimal("19.02"), confidence=0.9, source=Source.TEXT_LABEL, page=2),
        total=FieldValue(
            value=Decimal("119.12"),
            confidence=0.98,
            source=Source.TEXT_LABEL,
            page=2,
            box=(0.7, 0.8, 0.9, 0.82),
            evidence=(Evidence.TOTALS_AGREE,),
        ),
        line_items=(
            LineItem(
                description="Schraube", quantity=Decimal(1000), unit_price=Decimal("0.1001"), amount=Decimal("100.1")
            ),
            LineItem(description="", page=2),
        ),
        tax_parts=(TaxPart(rate=Decimal(19), base=Decimal("100.10"), tax=Decimal("19.02")),),
        problems=(InvoiceProblem(code="due_before_issue", severity=Severity.WARNING, message="due before issue"),),
        confidence=confidence,
        reader="text",
        page_count=2,
        flags=("repaired",),
    )
