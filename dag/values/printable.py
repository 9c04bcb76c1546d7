r"""Make text safe to print: show what commands a terminal, forges a line, reverses text or is invisible.

Names, reasons, answers and errors come from strangers. Whatever a person reads as plain text (the CLI, logs, CSV) goes
through `printable`, which replaces such a character by its number, as in `\u202e`. Letters of every language stay.

Escaped: controls (C0, DEL, C1), the separators U+2028 and U+2029, bidirectional marks, embeddings, overrides and
isolates, every other character that Unicode ignores by default (Default_Ignorable_Code_Point), interlinear annotations,
unpaired surrogates, noncharacters. Kept where a script or a picture needs them:

- U+200C and U+200D between letters of scripts that join or stack (Arabic to Mongolian), U+200D between emoji;
- a variation selector after an emoji, a digit of a keycap, a Han character or a Mongolian letter.

Tag characters are escaped even in flags of regions: they can carry a hidden text.
"""

import json
import re
from collections.abc import Callable

_JOINING = "\u0600-\u1cff\ua800-\uabff"
"""Blocks of the scripts in which a joiner between two letters changes how they look: Arabic, the Indic ones."""

_PICTURES = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
"""Blocks of emoji and symbols."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_NEEDED = (
    rf"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    rf"|(?<=[{_PICTURES}\ufe0f])\u200d(?=[{_PICTURES}])"
    rf"|(?<=[{_PICTURES}0-9#*])[\ufe0e\ufe0f]"
    rf"|(?<=[{_HAN}])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
    r"|(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f]"
)

_UNSAFE = (
    r"\x00-\x1f\x7f-\x9f\u2028\u2029"
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    r"\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U0010fffe\U0010ffff"
)

_ANY = re.compile(rf"({_NEEDED})|[{_UNSAFE}]")
_ANY_BUT_LINES = re.compile(rf"({_NEEDED}|[\t\n])|[{_UNSAFE}]")


def escaped(character: str) -> str:
    """Return a character as Python writes it in ASCII."""
    return ascii(character)[1:-1]


def escaped_in_json(character: str) -> str:
    """Return a character as JSON escapes it, so that the text's value stays; `?` for an unpaired surrogate."""
    if "\ud800" <= character <= "\udfff":
        return "?"
    return json.dumps(character)[1:-1] if character != "\x7f" else r"\u007f"


def printable(text: str, *, lines: bool = False, write: Callable[[str], str] = escaped) -> str:
    r"""Return `text` with every unsafe character escaped; with `lines`, tabs and line feeds stay.

    `write` returns what replaces a character: by default its number, as in `\x1b`, `\u202e` or `\U000e0041`.
    """
    return (_ANY_BUT_LINES if lines else _ANY).sub(lambda found: found[1] or write(found[0]), text)
