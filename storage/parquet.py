"""The Parquet shape of an invoice: exact amounts, nested line items and fields. Imports pyarrow: import it late."""

import io
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

import pyarrow as pa
import pyarrow.parquet as pq

from dag.values import Json
from invoices.model import FIELD_NAMES, SCHEMA_VERSION, FieldValue, InvoiceData

AMOUNT = pa.decimal128(18, 4)
SMALLEST_AMOUNT = Decimal("0.0001")
_TEXT_FIELDS = ("invoice_number", "vendor_name", "vendor_vat_id", "buyer_name", "iban", "currency")
_DATE_FIELDS = ("date", "due_date")
_AMOUNT_FIELDS = ("net", "tax", "total")

LINE_ITEM = pa.struct(
    [
        ("description", pa.string()),
        ("quantity", AMOUNT),
        ("unit_price", AMOUNT),
        ("amount", AMOUNT),
        ("tax_rate", AMOUNT),
        ("page", pa.int32()),
    ]
)
TAX_PART = pa.struct([("rate", AMOUNT), ("base", AMOUNT), ("tax", AMOUNT)])
FIELD = pa.struct(
    [
        ("name", pa.string()),
        ("value", pa.string()),
        ("confidence", pa.float64()),
        ("source", pa.string()),
        ("page", pa.int32()),
        ("box", pa.list_(pa.float64())),
        ("evidence", pa.list_(pa.string())),
    ]
)
PROBLEM = pa.struct([(name, pa.string()) for name in ("code", "severity", "message", "field")])

_COLUMNS: dict[str, pa.DataType] = {
    "tenant_id": pa.string(),
    "document_id": pa.string(),
    "document_type": pa.string(),
    **dict.fromkeys(_TEXT_FIELDS, pa.string()),
    **dict.fromkeys(_DATE_FIELDS, pa.date32()),
    **dict.fromkeys(_AMOUNT_FIELDS, AMOUNT),
    "net_adjustment": AMOUNT,
    "total_adjustment": AMOUNT,
    "vendor_country": pa.string(),
    "line_items": pa.list_(LINE_ITEM),
    "tax_parts": pa.list_(TAX_PART),
    "fields": pa.list_(FIELD),
    "problems": pa.list_(PROBLEM),
    "flags": pa.list_(pa.string()),
    "confidence": pa.float64(),
    "page_count": pa.int32(),
    "reader": pa.string(),
    "reader_version": pa.string(),
}
SCHEMA = pa.schema(_COLUMNS, metadata={"schema_version": str(SCHEMA_VERSION)})


def encode(tenant_id: str, invoice: InvoiceData) -> bytes:
    """Return a Parquet file of one row; equal invoices give equal bytes.

    Raises: ValueError if an amount does not fit decimal128(18, 4).
    """
    table = pa.Table.from_pylist([_row(tenant_id, invoice)], schema=SCHEMA)
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _row(tenant_id: str, invoice: InvoiceData) -> dict[str, Json]:
    return {
        "tenant_id": tenant_id,
        "document_id": invoice.document_id,
        "document_type": invoice.document_type.value,
        **{name: getattr(invoice, name).value for name in (*_TEXT_FIELDS, *_DATE_FIELDS)},
        **{name: _amount(name, getattr(invoice, name).value) for name in _AMOUNT_FIELDS},
        "net_adjustment": _amount("net_adjustment", invoice.net_adjustment),
        "total_adjustment": _amount("total_adjustment", invoice.total_adjustment),
        "vendor_country": invoice.vendor_country,
        "line_items": [_struct("line_items", line.model_dump()) for line in invoice.line_items],
        "tax_parts": [_struct("tax_parts", part.model_dump()) for part in invoice.tax_parts],
        "fields": [_field(name, getattr(invoice, name)) for name in FIELD_NAMES],
        "problems": [problem.model_dump(mode="json") for problem in invoice.problems],
        "flags": list(invoice.flags),
        "confidence": invoice.confidence,
        "page_count": invoice.page_count,
        "reader": invoice.reader,
        "reader_version": invoice.reader_version,
    }


def _struct(place: str, values: dict[str, Json]) -> dict[str, Json]:
    return {
        name: _amount(f"{place}.{name}", value) if isinstance(value, Decimal) else value
        for name, value in values.items()
    }


def _field(name: str, field: FieldValue[Json]) -> dict[str, Json]:
    return {
        "name": name,
        "value": None if field.value is None else str(field.value),
        "confidence": field.confidence,
        "source": field.source.value,
        "page": field.page,
        "box": None if field.box is None else list(field.box),
        "evidence": [evidence.value for evidence in field.evidence],
    }


def _amount(name: str, value: Decimal | None) -> Decimal | None:
    """Round to the four decimals kept; the exact value stays in the JSON file."""
    if value is None:
        return None
    try:
        rounded = value.quantize(SMALLEST_AMOUNT, rounding=ROUND_HALF_EVEN)
    except InvalidOperation:
        rounded = Decimal("NaN")
    if not rounded.is_finite() or len(rounded.as_tuple().digits) > AMOUNT.precision:
        raise ValueError(f"{name} is {value}, which does not fit decimal128(18, 4): at most 14 digits before the point")
    return rounded
