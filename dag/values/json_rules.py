"""Check that a value is JSON that all components can carry: finite, limited in depth, with storable text."""

import math

from docrail.dag.values.findings import Findings
from docrail.dag.values.json_parts import children
from docrail.dag.values.json_values import MAX_INTEGER, Json
from docrail.dag.values.problems import Path


def check_json(value: Json, findings: Findings) -> bool:
    """Return whether `value` is JSON; report each part that is not. Must be the first check."""
    pending: list[tuple[Path, Json]] = [((), value)]
    sound = True
    while pending:
        path, part = pending.pop()
        fault = _fault(part)
        if fault is None and len(path) > MAX_DEPTH:
            fault = f"is nested deeper than {MAX_DEPTH} levels"
        if fault is None:
            pending.extend(((*path, key), inner) for key, inner in children(part))
            continue
        sound = False
        findings.error("not-json", path, f"the value {fault}")
    return sound


def _fault(value: Json) -> str | None:
    """Return why `value` itself, without its parts, is not JSON; None if it is."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _text_fault(value)
    if isinstance(value, int):
        return None if abs(value) <= MAX_INTEGER else "is a whole number that does not fit 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else "is a number that is not finite"
    if isinstance(value, dict):
        faults = (_text_fault(key) if isinstance(key, str) else "has a key that is not text" for key in value)
        return next((fault for fault in faults if fault), None)
    return None if isinstance(value, list) else f"is of a kind that JSON does not have ({type(value).__name__})"


def _text_fault(text: str) -> str | None:
    if "\0" in text:
        return "contains the character NUL, which PostgreSQL cannot store"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "contains half of a surrogate pair, which is not a character"
    return None


MAX_DEPTH = 40
"""Deepest nesting of a config: deeper JSON is a mistake or an attack, and resolving recurses."""
