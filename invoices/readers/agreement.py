"""Decides whether two readings of one field say the same, however each is written."""

from decimal import Decimal

from invoices.readers.folding import squeeze

NAMES = frozenset({"vendor_name", "buyer_name"})
SHORTEST_NAME = 5
"""Letters and digits. A shorter name lies inside too many others to say anything."""


def agree(name: str, one: object, other: object) -> bool | None:
    """Tell whether two values of field `name` are the same; None if one is only a part of the other.

    Amounts agree without their signs: a credit note's page prints a minus where its XML has none. A name agrees with
    a longer one that holds it ("Muster" and "Muster GmbH"); for a number the shorter one proves nothing.
    """
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return abs(one) == abs(other)
    if not (isinstance(one, str) and isinstance(other, str)):
        return one == other
    short, long = sorted((squeeze(one), squeeze(other)), key=len)
    if short == long:
        return bool(short) or one == other
    if not short or short not in long:
        return False
    return True if name in NAMES and len(short) >= SHORTEST_NAME else None
