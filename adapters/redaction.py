"""Redact secrets in texts, in the forms in which a service, a library or a log may repeat what it was sent.

Covered: the value itself in either case, also with line breaks in it; escaped for JSON, Python, URLs, HTML and
quoted-printable, once or several times, each character on its own; in hexadecimal and base64, alone or within a longer
text; backwards; what a base64 value decodes to, and the password in `user:password`. Not covered: a part of a value,
other separators between its characters, compression, encryption, hashes and base64 of base64.
"""

import base64
import binascii
import html
import html.entities
import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from docrail.dag.values.json_values import Json

REDACTED = "[secret]"
SHORTEST = 6
"""Shorter values are not redacted: they protect nothing, and may be words of the text."""

PIECE = 64
"""Longer secrets are searched for in pieces: a pattern takes milliseconds for each character."""

LONGEST_FORM = 8
"""Characters that one character of a value may take, as `&#x0041;`."""

_SEVERAL = re.compile(rf"(?:{re.escape(REDACTED)}){{2,}}")
_GAP = r"(?:\s|\\{1,4}[rn]){0,8}"
_HEX_GAP = r"""[\s:.,'"-]{0,4}(?:0x|\\{1,4}x)?"""

_REVEALED: ContextVar[set[str] | None] = ContextVar("revealed secrets", default=None)
"""The secrets that the activity of this context was given."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """Replaces the values by `[secret]`. The representation hides them."""

    values: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"Redaction of {len(self.values)}"

    def text(self, text: str) -> str:
        """Return `text` with the values replaced."""
        parts = sorted(set().union(*map(_parts, self.values)), key=len, reverse=True)
        plain = _plain_forms(text) if parts else ()
        for part in parts:
            if any(needle in form for needle, _ in _forms(part) for form in plain):
                text = _redacted(text, part)
        return text

    def json(self, value: Json) -> Json:
        """Return `value` with the values replaced in all its texts, names and numbers."""
        match value:
            case _ if not self.values:
                return value
            case str():
                return self.text(value)
            case dict():
                return {self.text(name): self.json(part) for name, part in value.items()}
            case list():
                return [self.json(part) for part in value]
            case int() | float() if self.text(str(value)) != str(value):
                return REDACTED
            case _:
                return value

    def beginning(self, text: str) -> str:
        """Return what may be shown of a text that was cut: its end may be the beginning of a secret."""
        longest = max(map(len, self.values), default=0)
        return self.text(text)[: -LONGEST_FORM * longest or None]


def start_recording() -> None:
    """Record the secrets that this context and the tasks that it starts are given from now on."""
    _REVEALED.set(set())


def record(value: str) -> None:
    """Record a secret that is given to this context, if that is recorded."""
    revealed = _REVEALED.get()
    if revealed is not None:
        revealed.add(value)


def recorded() -> frozenset[str]:
    """Return the secrets that this context was given."""
    return frozenset(_REVEALED.get() or ())


def redaction() -> Redaction:
    """Return the redaction of the secrets that this context was given."""
    return Redaction(recorded())


@contextmanager
def redacted_logs() -> Iterator[None]:
    """Redact every log record of a context that was given secrets, for all handlers of this process."""
    former = logging.getLogRecordFactory()
    logging.setLogRecordFactory(_redacting(former))
    try:
        yield
    finally:
        logging.setLogRecordFactory(former)


def _redacting(make: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
    def redacted(*args: object, **kwargs: object) -> logging.LogRecord:
        record, own = make(*args, **kwargs), redaction()
        if own.values:
            record.msg, record.args = own.text(record.getMessage()), ()
            if record.exc_info:
                record.exc_text, record.exc_info = own.text(logging.Formatter().formatException(record.exc_info)), None
        return record

    return redacted


# The patterns take a second for a megabyte, so they are used only where a cruder search finds something.

_ROUNDS = 3
_ESCAPED = re.compile(r"\\{1,8}(?:x([0-9a-fA-F]{2})|u\{?0{0,6}([0-9a-fA-F]{1,6})\}?)|=([0-9A-F]{2})")
_REMOVED = {code: None for code in range(128) if not chr(code).isalnum()}


def _plain_forms(text: str) -> tuple[str, ...]:
    """Return the text as it is and unescaped, letters and digits only."""
    forms = [text, text.replace("0x", "")]
    for _ in range(_ROUNDS):
        text = _ESCAPED.sub(_unescaped, unquote(html.unescape(text)))
        if text == forms[-1]:
            break
        forms.append(text)
    return tuple(map(_plain, forms))


def _unescaped(found: re.Match[str]) -> str:
    code = int(next(filter(None, found.groups())), 16)
    return chr(code) if code < sys.maxunicode else ""


def _plain(text: str) -> str:
    return text.lower().replace("\\n", "").replace("\\r", "").translate(_REMOVED)


def _redacted(text: str, part: str) -> str:
    text = text.replace(part, REDACTED)
    plain = _plain_forms(text)
    for needle, spelled in _forms(part):
        if any(needle in form for form in plain):
            text = re.sub(spelled, REDACTED, text)  # which keeps the last 512 compiled patterns
    return _SEVERAL.sub(REDACTED, text)


@lru_cache(maxsize=1024)
def _forms(part: str) -> tuple[tuple[str, str], ...]:
    """Return the patterns of a part's forms, each after what a text with that form has among its plain forms.

    That cannot be said of other characters than ASCII: it is "" then, which every text has.
    """
    hexadecimal = part.encode().hex()
    spelled = {
        part: _spelled(part, either_case=True),
        part[::-1]: _spelled(part[::-1], either_case=True),
        hexadecimal: _HEX_GAP.join(_either_case(f"{byte:02x}") for byte in part.encode()),
        **{encoded: _spelled(encoded, either_case=False) for encoded in _in_base64(part)},
    }
    return tuple((_plain(form) if part.isascii() else "", pattern) for form, pattern in spelled.items())


@lru_cache(maxsize=256)
def _parts(value: str) -> frozenset[str]:
    """Return the lines of a secret, what they decode to, and the passwords in these, in pieces of a bounded length."""
    texts: set[str] = set()
    for line in value.splitlines():
        for text in (line, line.removeprefix("whsec_"), _decoded(line.removeprefix("whsec_"))):
            texts |= {text.strip(), text.partition(":")[2].strip()}
    pieces = (text[at : at + PIECE] for text in texts for at in range(0, len(text), PIECE))
    return frozenset(piece for piece in pieces if len(piece) >= SHORTEST)


def _decoded(text: str) -> str:
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return found if found.isprintable() else ""


def _in_base64(text: str) -> Iterator[str]:
    """Yield what base64 makes of the text at each of the three places where it may begin, without the neighbours."""
    for before in range(3):
        data = b"\0" * before + text.encode()
        yield base64.b64encode(data).decode()[before and before + 1 : len(data) * 8 // 6]


def _spelled(text: str, *, either_case: bool) -> str:
    """Return a pattern for a text of which each character may be escaped. The groups are atomic: no backtracking."""
    first, *others = (_character(each, either_case=either_case) for each in text)
    return _GAP.join([f"(?:{first})", *(f"(?>{other})" for other in others)])


def _character(character: str, *, either_case: bool) -> str:
    code, octets = ord(character), character.encode("utf-8", "surrogatepass")
    utf16 = character.encode("utf-16-be", "surrogatepass").hex()
    number = f"0{{0,6}}{code};?|[xX]0{{0,6}}{_either_case(f'{code:x}')};?"
    name = html.entities.codepoint2name.get(code, "apos" if character == "'" else "")
    literals = {character, character.lower(), character.upper()} if either_case else {character}
    if character in "+-/_" and not either_case:
        literals |= {"-", "+"} if character in "+-" else {"_", "/"}  # the alphabet of URLs
    return "|".join(
        [
            "".join(f"%(?:25){{0,3}}{_either_case(f'{octet:02x}')}" for octet in octets),
            "".join(f"={octet:02X}" for octet in octets),
            "".join(rf"\\{{1,8}}x{_either_case(f'{octet:02x}')}" for octet in octets),
            "".join(rf"\\{{1,8}}u{_either_case(utf16[at : at + 4])}" for at in range(0, len(utf16), 4)),
            rf"\\{{1,8}}u\{{0{{0,6}}{_either_case(f'{code:x}')}\}}",
            f"&(?:amp;){{0,3}}#(?:{number})",
            *([f"&(?:amp;){{0,3}}{name};"] if name else []),
            *(_ESCAPES.get(character, [])),
            *(rf"\\{{1,8}}{re.escape(literal)}" for literal in sorted(literals)),
            *map(re.escape, sorted(literals)),
        ]
    )


_ESCAPES: Mapping[str, list[str]] = {
    " ": [r"\+", r"\s"],
    "\n": [r"\\{1,8}n", r"\s"],
    "\r": [r"\\{1,8}r"],
    "\t": [r"\\{1,8}t", r"\s"],
}


def _either_case(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)
