"""Define the Parquet row of a document of any kind: its fields as a list, so that every kind has the same columns.

Imports pyarrow: import this module lazily.
"""

import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FIELD = pa.struct(
    [
        ("name", pa.string()),
        ("value", pa.string()),
        ("number", pa.float64()),
        ("confidence", pa.float64()),
        ("source", pa.string()),
        ("page", pa.int32()),
        ("box", pa.list_(pa.float64())),
        ("evidence", pa.list_(pa.string())),
        ("checked_by", pa.string()),
        ("read", pa.string()),
    ]
)
SCHEMA = pa.schema(
    {
        "tenant_id": pa.string(),
        "document_id": pa.string(),
        "kind": pa.string(),
        "checked_by": pa.string(),
        "values": pa.string(),
        "fields": pa.list_(FIELD),
    }
)
"""`values` is a JSON object by the fields' names; `number` is a field's value if it is one."""


def encode(tenant_id: str, record: Mapping[str, Any]) -> bytes:
    """Return a one-row Parquet file; equal records produce equal bytes."""
    fields = [_row(name, field) for name, field in record["fields"].items()]
    plain = {name: record[name] for name in ("document_id", "kind", "checked_by")}
    row = {"tenant_id": tenant_id, **plain, "values": _json(record["values"]), "fields": fields}
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row], schema=SCHEMA), buffer, compression="none", store_schema=False)
    return buffer.getvalue()


def _row(name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    value = field["value"]
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return {**field, "name": name, "value": _text(value), "number": number, "read": _text(field["read"])}


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
