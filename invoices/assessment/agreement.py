"""Decides whether two readings of one field say the same, however each is written."""

from typing import Any

from docrail.invoices.model import FIELDS


def agree(name: str, one: Any, other: Any) -> bool | None:
    """Tell whether two values of field `name` are the same; None if one is only a part of the other."""
    return FIELDS[name].kind.same(one, other)
