"""JSON values: the only data that crosses a definition, an expression, an event or a command."""

import hashlib
import json
from typing import Any

Json = Any
"""A JSON value (None, bool, int, float, str, list, dict with string keys), checked where it enters."""

MAX_INTEGER = 2**63 - 1
"""Largest integer that other programs, PostgreSQL's bigint and Parquet's int64 among them, can read."""

MAX_VALUE_BYTES = 262_144
"""Largest config, output or set of outputs, as JSON. A run's whole report must stay below Temporal's payload limit of
2 MiB; a result above that limit would be refused for ever. Documents go by reference."""


def canonical(value: Json) -> str:
    """Return `value` as JSON text that does not depend on key order or spacing."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Json) -> str:
    """Return the sha256 (hex) of `value`'s canonical JSON: equal content, equal digest."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def size_of(value: Json) -> int:
    """Return how many bytes `value` takes as JSON."""
    return len(canonical(value).encode())
