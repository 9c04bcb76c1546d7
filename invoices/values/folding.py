"""Folds text for comparison: small letters without accents, one character for one, so that positions stay true."""

import re
import unicodedata
from functools import cache

SQUEEZED = re.compile(r"[^a-z0-9]")
QUOTES = "\u2018\u2019\u02bc"
"""Typeset apostrophes: `Note d\u2019honoraires`."""


@cache
def _fold_character(character: str) -> str:
    if character in QUOTES:
        return "'"
    base = unicodedata.normalize("NFKD", character.lower())
    return base[0] if base else character


def fold(text: str) -> str:
    """Return `text` in small letters without accents and with plain apostrophes, of the same length."""
    return text.lower() if text.isascii() else "".join(map(_fold_character, text))


def squeeze(text: str) -> str:
    """Return only the letters and digits of `text`, folded: what stays the same however it is set."""
    return SQUEEZED.sub("", fold(text))
