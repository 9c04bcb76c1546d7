"""Generate a model's answer about a document from the local readers' values."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from docrail.adapters.sandbox.reader import DocumentReader
from docrail.invoices.by_schema.schema import FieldsSchema
from docrail.invoices.by_schema.wire import answer_model
from docrail.invoices.llm.wire import WireField, WireInvoice, WireLine, WireTax
from docrail.invoices.model import FIELD_NAMES, FieldValue, InvoiceData
from docrail.invoices.problems import UnreadableDocument


async def wire_answer(reader: DocumentReader, data: bytes) -> WireInvoice:
    """Return the answer; an empty one if the local readers cannot read the document."""
    with tempfile.TemporaryDirectory(prefix="fake-gemini-") as folder:
        path = Path(folder) / "document"
        path.write_bytes(data)
        try:
            return wire_of(await reader.read(path))
        except UnreadableDocument:
            return wire_of(InvoiceData())


async def fields_answer(reader: DocumentReader, data: bytes, labels: Mapping[str, Sequence[str]]) -> BaseModel:
    """Return the answer to a question about fields: the texts at their labels; an empty one as `wire_answer`."""
    properties = {name: {"type": "string", "x-labels": list(texts)} for name, texts in labels.items()}
    schema = FieldsSchema.model_validate({"properties": properties})
    with tempfile.TemporaryDirectory(prefix="fake-gemini-") as folder:
        path = Path(folder) / "document"
        path.write_bytes(data)
        try:
            fields = (await reader.read_fields(path, schema)).fields
        except UnreadableDocument:
            fields = {}
    return answer_model(schema).model_validate(
        {name: _field(fields.get(name, FieldValue())).model_dump() for name in schema.properties}
    )


def wire_of(invoice: InvoiceData) -> WireInvoice:
    """Return an invoice in the model's answer format."""
    fields = {name: _field(getattr(invoice, name)) for name in FIELD_NAMES}
    return WireInvoice(
        **fields,
        vendor_country=invoice.vendor_country,
        net_adjustment=_text(invoice.net_adjustment or None),
        total_adjustment=_text(invoice.total_adjustment or None),
        line_items=[
            WireLine(
                description=line.description,
                quantity=_text(line.quantity),
                unit_price=_text(line.unit_price),
                amount=_text(line.amount),
                tax_rate=_text(line.tax_rate),
                page=line.page,
            )
            for line in invoice.line_items
        ],
        tax_parts=[
            WireTax(rate=_text(part.rate), base=_text(part.base), tax=_text(part.tax)) for part in invoice.tax_parts
        ],
    )


def _field(field: FieldValue[Any]) -> WireField:
    text = _text(field.value)
    return WireField(value=text, confidence=0.97 if text else None, page=field.page, source_text=text)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
