"""Fold text for comparison: lowercase without accents, one character for each, so that positions are preserved."""

import re
import unicodedata
from functools import cache

SQUEEZED = re.compile(r"[^a-z0-9]")
QUOTES = "\u2018\u2019\u02bc"
"""Typographic apostrophes, as in `Note d\u2019honoraires`."""


STROKED = {"\u0142": "l", "\u00f8": "o", "\u0111": "d", "\u0131": "i", "\u00e6": "a"}
"""Letters that Unicode does not take apart: the Polish l, the Nordic o and ae, the Croatian d, the Turkish i."""


@cache
def _fold_character(character: str) -> str:
    if character in QUOTES:
        return "'"
    base = unicodedata.normalize("NFKD", character.lower())
    return STROKED.get(base[0], base[0]) if base else character


def fold(text: str) -> str:
    """Return `text` in lowercase, without accents and with plain apostrophes; the length is unchanged."""
    return text.lower() if text.isascii() else "".join(map(_fold_character, text))


def squeeze(text: str) -> str:
    """Return only the letters and digits of `text`, folded, so that typesetting does not matter."""
    return SQUEEZED.sub("", fold(text))
