"""Read JSON with the position of every value, which Python's own reader does not report."""

import json
import re
from bisect import bisect_right
from typing import Literal

from docrail.dag.language.source.tree import TreeBuilder, number
from docrail.dag.language.source.yaml_text import NUMBER
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Place

_TOKEN = re.compile(
    r'[ \t\n\r]*(?:(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")'
    rf"|(?P<number>{NUMBER.pattern})|(?P<word>true|false|null)|(?P<mark>[\[\]{{}},:])|(?P<end>\Z))"
)
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}

_Expected = Literal["value", "first value", "key", "first key", "colon", "comma"]


class NotJsonError(Exception):
    """The text is not JSON; it may be YAML."""


def read_json(text: str, tree: TreeBuilder) -> None:
    """Read `text` into `tree`. Raises NotJsonError, and SourceError if a limit is exceeded."""
    breaks = [0, *(match.end() for match in re.finditer("\n", text))]
    reader = _Reader(tree)
    position = 0
    while True:
        token = _TOKEN.match(text, position)
        if token is None or token.lastgroup is None:
            raise NotJsonError
        kind, position = token.lastgroup, token.end()
        if kind == "end":
            break
        start = token.start(kind)
        line = bisect_right(breaks, start)
        reader.take(kind, token[kind], (line, start - breaks[line - 1] + 1))
    if reader.expected != "comma" or reader.closers:
        raise NotJsonError


class _Reader:
    """JSON's grammar: which token may come next, and which brackets are open."""

    def __init__(self, tree: TreeBuilder) -> None:
        self.tree = tree
        self.expected: _Expected = "value"
        self.closers: list[str] = []

    def take(self, kind: str, written: str, place: Place) -> None:
        """Process one token. Raises NotJsonError if it is not allowed here."""
        if kind == "mark":
            self._take_mark(written, place)
        elif kind == "text" and self.expected in ("key", "first key"):
            self.tree.key(_text(written), place)
            self.expected = "colon"
        elif self.expected in ("value", "first value"):
            self.tree.add(_scalar(kind, written), place)
            self.expected = "comma"
        else:
            raise NotJsonError

    def _take_mark(self, mark: str, place: Place) -> None:
        match mark, self.expected:
            case "{", "value" | "first value":
                self._begin({}, "}", place)
            case "[", "value" | "first value":
                self._begin([], "]", place)
            case ":", "colon":
                self.expected = "value"
            case ",", "comma" if self.closers:
                self.expected = "key" if self.closers[-1] == "}" else "value"
            case (("}" | "]"), "comma" | "first key" | "first value") if self.closers and self.closers[-1] == mark:
                self.closers.pop()
                self.tree.end()
                self.expected = "comma"
            case _:
                raise NotJsonError

    def _begin(self, container: dict[str, Json] | list[Json], closer: str, place: Place) -> None:
        self.tree.begin(container, place)
        self.closers.append(closer)
        self.expected = "first key" if closer == "}" else "first value"


def _scalar(kind: str, written: str) -> Json:
    if kind == "number":
        return number(written)
    return _WORDS[written] if kind == "word" else _text(written)


def _text(written: str) -> str:
    if "\\" not in written:
        return written[1:-1]
    try:
        return str(json.loads(written))
    except ValueError as error:
        raise NotJsonError from error
