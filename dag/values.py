"""JSON values: the only data that crosses a definition, an expression, an event or a command."""

import hashlib
import json
from typing import Any

Json = Any
"""A JSON value (None, bool, int, float, str, list, dict with string keys), checked where it enters."""


def canonical(value: Json) -> str:
    """Return `value` as JSON text that does not depend on key order or spacing."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Json) -> str:
    """Return the sha256 (hex) of `value`'s canonical JSON: equal content, equal digest."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
