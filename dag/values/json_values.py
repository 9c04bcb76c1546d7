"""Define JSON values: the only data in definitions, expressions, events and commands."""

import hashlib
import json
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic_core import to_json

Json = Any
"""A JSON value (None, bool, int, float, str, list, dict with string keys), checked at the boundaries."""

MAX_INTEGER = 2**63 - 1
"""Largest integer that other programs can read, such as PostgreSQL's bigint and Parquet's int64."""

MAX_VALUE_BYTES = 262_144
"""Largest config, output or set of outputs, in bytes of JSON. A run's whole report must stay below Temporal's payload
limit of 2 MiB: a larger result would be refused on every attempt. Documents are passed by reference."""

LONGEST_MESSAGE = 2_000
"""Characters of an error message or a reason: readable, and short enough for a report with one per step."""


def shortened(text: str, most: int = LONGEST_MESSAGE) -> str:
    """Return `text` shortened to at most `most` characters, ending with … if it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def canonical(value: Json) -> str:
    """Return `value` as JSON text that does not depend on key order or spacing."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Json) -> str:
    """Return the sha256 (hex) of `value`'s canonical JSON: equal content, equal digest."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def size_of(value: Json) -> int:
    """Return the size of `value` in bytes of JSON, as sent to Temporal. Fast, since runs measure all they carry."""
    return len(to_json(value, inf_nan_mode="constants"))


def fitted(text: str, most_bytes: int) -> str:
    """Return `text`, cut if necessary, so that it takes at most `most_bytes` bytes (5 or more) as JSON with its quotes.

    Escaped characters take up to six bytes each.
    """
    if len(text) + 2 <= most_bytes and size_of(text) <= most_bytes:
        return text
    lengths = range(1, min(len(text), most_bytes) + 1)
    kept = bisect(lengths, most_bytes - len("…".encode()), key=lambda length: size_of(text[:length]))
    return text[:kept] + "…"


class RepeatedKeyError(ValueError):
    """An object of JSON has a key twice."""


def pairs_once(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    """Return an object of JSON, as a hook of `json.loads`. Raises: RepeatedKeyError."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise RepeatedKeyError(f"an object has the key {shortened(twice, 60)!r} twice")
    return found


def strict_json(text: str) -> Json:
    """Return the JSON value of a text.

    Raises: ValueError, also for NaN, Infinity and an object with a key twice, and RecursionError.
    """
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=pairs_once)


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is not a JSON number")
