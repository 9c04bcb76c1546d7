"""Invoices to be judged: a sound one, with whatever a test changes."""

import datetime as dt
from decimal import Decimal
from typing import Any

from docrail.invoices.assessment.calibration import Calibration
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, InvoiceData, Lock

NO_CALIBRATION = Calibration(name="")
"""Confidences stay as they are computed."""
TODAY = dt.date(2026, 11, 1)
IBAN, OTHER_IBAN = "DE02120300000000202051", "DE02500105170137075030"
VAT_ID, OTHER_VAT_ID = "DE136695976", "DE111111111"
VALUES: dict[str, Any] = {
    "invoice_number": "RE-2026-0017",
    "date": dt.date(2026, 10, 1),
    "vendor_name": "Muster GmbH",
    "vendor_vat_id": VAT_ID,
    "iban": IBAN,
    "currency": "EUR",
    "net": Decimal("100.00"),
    "tax": Decimal("19.00"),
    "total": Decimal("119.00"),
}


def sound(source: Source = Source.TEXT_LABEL, /, **changes: Any) -> InvoiceData:
    """Return an invoice that breaks no rule; `changes` are values (None: not found), whole fields or other facts."""
    fields = {}
    for name, value in (VALUES | changes).items():
        plain = name in VALUES and not isinstance(value, FieldValue)
        fields[name] = FieldValue(value=value, source=source) if plain and value is not None else value
    return InvoiceData(**{name: FieldValue() if value is None else value for name, value in fields.items()})


def locked(value: Any, *, read: FieldValue[Any] | None = None) -> FieldValue[Any]:
    """Return a field as a person left it, over what was read."""
    lock = Lock(by="ann", at=dt.datetime(2026, 11, 1, tzinfo=dt.UTC))
    return FieldValue(value=value, source=Source.HUMAN, lock=lock, candidates=read.candidates if read else ())
