"""Decide whether two readings of a field agree."""

from typing import Any

from docrail.invoices.model import FIELDS


def agree(name: str, one: Any, other: Any) -> bool | None:
    """Return whether two values of field `name` agree, ignoring format; None if one is only part of the other."""
    return FIELDS[name].kind.same(one, other)
