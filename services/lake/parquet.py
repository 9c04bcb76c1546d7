"""Define the Parquet schema of an invoice: exact amounts, nested line items and fields.

Imports pyarrow: import this module lazily.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.folders import Folder
from docrail.dag.values.json_values import Json
from docrail.invoices.kinds import Arrow
from docrail.invoices.model import FIELDS, FieldValue, InvoiceData, LineItem, TaxPart
from docrail.services.lake.models import LakeVersion

LAKE_SCHEMA_VERSION = 400 + len(FIELDS)
"""Version of the columns: grows with each invoice field; add 100 for any other change. Columns missing in an older file
are null."""

AMOUNT = pa.decimal128(18, 4)
SMALLEST_AMOUNT = Decimal("0.0001")
TIME = pa.timestamp("us", tz="UTC")
BOX = pa.list_(pa.float64())
_TYPES: dict[Arrow, pa.DataType] = {Arrow.TEXT: pa.string(), Arrow.DATE: pa.date32(), Arrow.AMOUNT: AMOUNT}

LINE_ITEM = pa.struct(
    [
        ("description", pa.string()),
        ("quantity", AMOUNT),
        ("unit_price", AMOUNT),
        ("amount", AMOUNT),
        ("tax_rate", AMOUNT),
        ("page", pa.int32()),
        ("box", BOX),
    ]
)
TAX_PART = pa.struct([("rate", AMOUNT), ("base", AMOUNT), ("tax", AMOUNT)])
CANDIDATE = pa.struct(
    [
        ("value", pa.string()),
        ("source", pa.string()),
        ("page", pa.int32()),
        ("box", BOX),
        ("word_score", pa.float64()),
    ]
)
FIELD = pa.struct(
    [
        ("name", pa.string()),
        ("value", pa.string()),
        ("confidence", pa.float64()),
        ("source", pa.string()),
        ("page", pa.int32()),
        ("box", BOX),
        ("word_score", pa.float64()),
        ("evidence", pa.list_(pa.string())),
        ("candidates", pa.list_(CANDIDATE)),
        ("locked", pa.bool_()),
        ("locked_by", pa.string()),
        ("locked_at", TIME),
        ("lock_reason", pa.string()),
    ]
)
PROBLEM = pa.struct([(name, pa.string()) for name in ("code", "severity", "message", "field")])

_STATED = ("vendor_trade_name", "account", "account_scheme")
"""E-invoices may state a trading name next to the registered one, and an account that is not an IBAN."""
_COLUMNS: dict[str, pa.DataType] = {
    "tenant_id": pa.string(),
    "document_id": pa.string(),
    "version": pa.int32(),
    "saved_at": TIME,
    "status": pa.string(),
    **{name: _TYPES[spec.kind.arrow] for name, spec in FIELDS.items()},
    "net_adjustment": AMOUNT,
    "total_adjustment": AMOUNT,
    "vendor_country": pa.string(),
    **dict.fromkeys(_STATED, pa.string()),
    "line_items": pa.list_(LINE_ITEM),
    "tax_parts": pa.list_(TAX_PART),
    "fields": pa.list_(FIELD),
    "problems": pa.list_(PROBLEM),
    "flags": pa.list_(pa.string()),
    "confidence": pa.float64(),
    "page_count": pa.int32(),
    "reader": pa.string(),
    "reader_version": pa.string(),
    "readers": pa.list_(pa.string()),
    "model": pa.string(),
    "prompt_version": pa.string(),
    "calibration": pa.string(),
}
SCHEMA = pa.schema(_COLUMNS, metadata={"schema_version": str(LAKE_SCHEMA_VERSION)})

_DAMAGED = (pa.ArrowException, OSError, ValueError, OverflowError, KeyError, TypeError)
"""Errors of pyarrow and Python for bytes that are not a valid Docrail file: mostly OSError and UnicodeDecodeError."""


class LakeFileDamaged(StorageError):  # noqa: N818  # a statement about the file
    """A file named as a document or a part is not a Docrail Parquet file: the disk or a person changed it."""

    def __init__(self, path: str, found: str) -> None:
        super().__init__(f"{path} is not a Parquet file that Docrail wrote ({found}): restore a backup or remove it")
        self.path = path


def encode(tenant_id: str, invoice: InvoiceData, version: LakeVersion) -> bytes:
    """Return a one-row Parquet file; equal invoices of one version produce equal bytes.

    Raises: ValueError if an amount does not fit decimal128(18, 4).
    """
    table = pa.Table.from_pylist([_row(tenant_id, invoice, version)], schema=SCHEMA)
    buffer = io.BytesIO()
    # Compression, dictionaries and statistics pay off over many rows; they make one row twice as large, and five times
    # as slow to read.
    bare = pq.ParquetWriter(
        buffer, SCHEMA, compression="none", use_dictionary=False, write_statistics=False, store_schema=False
    )
    with bare as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"schema_version": str(LAKE_SCHEMA_VERSION)})
    return buffer.getvalue()


def pack(table: pa.Table) -> bytes:
    """Return many rows as a Parquet file; equal tables produce equal bytes."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def read_rows(folder: Folder, path: str) -> pa.Table:
    """Return the rows of a file in the current schema: columns that its release did not have are null.

    Columns of a later release are dropped; `schema_version_of` reveals that. Blocking. Raises: LakeFileDamaged, OSError
    (from the folder alone).
    """
    data = folder.read(path)
    with _named_if_damaged(path):
        return _unpack(data)


def read_document(tenant: Folder, path: str, document_id: str, version: int) -> pa.Table:
    """Return the row of a document's small file, fully validated. Blocking. Raises: as `read_rows`."""
    table = read_rows(tenant, path)
    with _named_if_damaged(path):
        held = [(row["document_id"], row["version"]) for row in table.to_pylist()]
        if held != [(document_id, version)]:
            raise ValueError(f"it holds {held[:3]}")
    return table


def read_versions(tenant: Folder, path: str) -> dict[str, int]:
    """Return the version of each document in a part, reading only those columns. Blocking. Raises: as `read_rows`."""
    try:
        with tenant.open(path) as file:
            return _versions_of(pa.PythonFile(file, mode="r"))
    except _DAMAGED:  # or the folder is unavailable, which the next call distinguishes
        data = tenant.read(path)
    with _named_if_damaged(path):
        return _versions_of(pa.BufferReader(data))


def versions_in(table: pa.Table) -> dict[str, int]:
    """Return the version of each document, in row order; each document occurs once."""
    columns = (table[name].to_pylist() for name in ("document_id", "version"))
    return cast("dict[str, int]", dict(zip(*columns, strict=True)))


def schema_version_of(table: pa.Table) -> int:
    """Return the schema version of the release that wrote the rows' file."""
    return int(table.schema.metadata[b"schema_version"])


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Return one table with all rows in one chunk: a thousand chunks cost more than the copy."""
    return pa.concat_tables([SCHEMA.empty_table(), *tables]).combine_chunks()


@contextmanager
def _named_if_damaged(path: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise LakeFileDamaged(path, str(error)) from None


def _unpack(data: bytes) -> pa.Table:
    file = pq.ParquetFile(pa.BufferReader(data))
    written_by = {"schema_version": str(int((file.metadata.metadata or {}).get(b"schema_version", b"0")))}
    table = file.read(use_threads=False)  # for one row, threads cost more than the work
    table.validate(full=True)  # reading does not validate the encoding of texts
    if not table.schema.equals(SCHEMA):
        table = pa.Table.from_pylist(table.to_pylist(), schema=SCHEMA)
    return table.replace_schema_metadata(written_by)


def _versions_of(file: pa.NativeFile) -> dict[str, int]:
    return versions_in(pq.read_table(file, columns=["document_id", "version"]))


def _row(tenant_id: str, invoice: InvoiceData, version: LakeVersion) -> dict[str, Json]:
    return {
        "tenant_id": tenant_id,
        "document_id": invoice.document_id,
        "version": version.number,
        "saved_at": version.saved_at,
        "status": version.status,
        **{name: _column(name, spec.kind.arrow, getattr(invoice, name).value) for name, spec in FIELDS.items()},
        "net_adjustment": _amount("net_adjustment", invoice.net_adjustment),
        "total_adjustment": _amount("total_adjustment", invoice.total_adjustment),
        "vendor_country": invoice.vendor_country,
        **{name: getattr(invoice, name) for name in _STATED},
        "line_items": [_struct("line_items", line) for line in invoice.line_items],
        "tax_parts": [_struct("tax_parts", part) for part in invoice.tax_parts],
        "fields": [_field(name, getattr(invoice, name)) for name in FIELDS],
        "problems": [problem.model_dump(mode="json") for problem in invoice.problems],
        "flags": list(invoice.flags),
        **{name: getattr(invoice, name) for name in ("confidence", "page_count", "reader", "reader_version")},
        "readers": list(invoice.readers),
        **{name: getattr(invoice, name) for name in ("model", "prompt_version", "calibration")},
    }


def _column(name: str, arrow: Arrow, value: Json) -> Json:
    return _amount(name, value) if arrow is Arrow.AMOUNT else value


def _struct(place: str, model: LineItem | TaxPart) -> dict[str, Json]:
    return {
        name: _amount(f"{place}.{name}", value) if isinstance(value, Decimal) else value
        for name, value in model.model_dump().items()
    }


def _field(name: str, field: FieldValue[Json]) -> dict[str, Json]:
    lock = field.lock
    return {
        "name": name,
        "value": _text(field.value),
        "confidence": field.confidence,
        "source": field.source.value,
        "page": field.page,
        "box": field.box,
        "word_score": field.word_score,
        "evidence": [evidence.value for evidence in field.evidence],
        "candidates": [
            {**candidate.model_dump(), "value": _text(candidate.value), "source": candidate.source.value}
            for candidate in field.candidates
        ],
        "locked": lock is not None,
        "locked_by": lock and lock.by,
        "locked_at": lock and lock.at,
        "lock_reason": lock and lock.why,
    }


def _text(value: Json) -> str | None:
    return None if value is None else str(value)


def _amount(name: str, value: Decimal | None) -> Decimal | None:
    """Round to the four decimals stored; the exact value stays in the JSON file."""
    if value is None:
        return None
    if not isinstance(value, Decimal):
        raise TypeError(f"{name} is the {type(value).__name__} {value!r}: amounts are exact, so Decimals")
    try:
        rounded = value.quantize(SMALLEST_AMOUNT, rounding=ROUND_HALF_EVEN)
    except InvalidOperation:
        rounded = Decimal("NaN")
    if not rounded.is_finite() or len(rounded.as_tuple().digits) > AMOUNT.precision:
        raise ValueError(f"{name} is {value}, which does not fit decimal128(18, 4): at most 14 digits before the point")
    return rounded
