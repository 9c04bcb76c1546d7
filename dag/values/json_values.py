"""JSON values: the only data that crosses a definition, an expression, an event or a command."""

import hashlib
import json
from bisect import bisect
from typing import Any

from pydantic_core import to_json

Json = Any
"""A JSON value (None, bool, int, float, str, list, dict with string keys), checked where it enters."""

MAX_INTEGER = 2**63 - 1
"""Largest integer that other programs, PostgreSQL's bigint and Parquet's int64 among them, can read."""

MAX_VALUE_BYTES = 262_144
"""Largest config, output or set of outputs, as JSON. A run's whole report must stay below Temporal's payload limit of
2 MiB; a result above that limit would be refused for ever. Documents go by reference."""

LONGEST_MESSAGE = 2_000
"""Characters of an error's message or a reason: enough to read, and with every step's the report still travels."""


def shortened(text: str, most: int = LONGEST_MESSAGE) -> str:
    """Return `text` with at most `most` characters, the last of them … if some are missing."""
    return text if len(text) <= most else text[: most - 1] + "…"


def canonical(value: Json) -> str:
    """Return `value` as JSON text that does not depend on key order or spacing."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Json) -> str:
    """Return the sha256 (hex) of `value`'s canonical JSON: equal content, equal digest."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def size_of(value: Json) -> int:
    """Return how many bytes `value` takes as JSON, as Temporal is given it. Fast: runs ask it of all they carry."""
    return len(to_json(value, inf_nan_mode="constants"))


def fitted(text: str, most_bytes: int) -> str:
    """Return `text`, cut if need be, so that it takes at most `most_bytes` bytes (5 or more) as JSON with its quotes.

    What JSON escapes takes up to six bytes a character.
    """
    if len(text) + 2 <= most_bytes and size_of(text) <= most_bytes:
        return text
    lengths = range(1, min(len(text), most_bytes) + 1)
    kept = bisect(lengths, most_bytes - len("…".encode()), key=lambda length: size_of(text[:length]))
    return text[:kept] + "…"
