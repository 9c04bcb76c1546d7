"""Define how an hour's metrics lie in a Parquet file. Imports pyarrow: import this module lazily."""

import datetime as dt
from collections.abc import Iterable

import pyarrow as pa
from prometheus_client.samples import Sample

from docrail.services.lake.parquet import pack

COLUMNS: dict[str, pa.DataType] = {
    "hour": pa.timestamp("us", "UTC"),
    "taken_at": pa.timestamp("us", "UTC"),
    "name": pa.string(),
    "labels": pa.map_(pa.string(), pa.string()),
    "value": pa.float64(),
}
"""A row for each sample: its name and labels as on the metrics page."""

SNAPSHOT = pa.schema(COLUMNS)


def encode_snapshot(hour: dt.datetime, taken_at: dt.datetime, samples: Iterable[Sample]) -> bytes:
    """Return the file of the metrics that were read at `taken_at`, in the hour that begins at `hour`."""
    rows = [
        {
            "hour": hour,
            "taken_at": taken_at,
            "name": sample.name,
            "labels": list(sample.labels.items()),
            "value": float(sample.value),
        }
        for sample in samples
    ]
    return pack(pa.Table.from_pylist(rows, schema=SNAPSHOT))
