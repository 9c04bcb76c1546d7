"""Read and check a definition's text, YAML or JSON. Gives a value, or problems with their positions."""

import json
import re
import sys
from dataclasses import dataclass

from docrail.dag.language.source.json_text import NotJsonError, read_json
from docrail.dag.language.source.tree import SourceError, TreeBuilder
from docrail.dag.language.source.yaml_text import read_yaml
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Places, Problem

MAX_SOURCE_BYTES = 3_000_000
"""Twice the limit of a definition as JSON: room for comments and indentation."""

_NOT_TEXT = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML does not allow; JSON's control characters are among them."""

_MEANT_AS_JSON = re.compile(r'\s*\{\s*("|\}|\Z)')


@dataclass(frozen=True, slots=True)
class Source:
    """The value of a text. `complete`: whether it could be read to its end; if not, `problems` says why."""

    value: Json
    places: Places
    problems: tuple[Problem, ...]
    complete: bool


def read_source(text: str | bytes) -> Source:
    """Read YAML or JSON text. Never raises: a text that cannot be read gives a problem with its position."""
    tree = TreeBuilder()
    try:
        decoded = _decode(text)
        if decoded.lstrip(" \t\r\n")[:1] in ("{", "["):
            tree = _read_brackets(decoded, tree)
        else:
            read_yaml(decoded, tree)
    except SourceError as error:
        return Source(None, tree.places, (*tree.problems, error.problem), complete=False)
    return Source(tree.value, tree.places, tuple(tree.problems), complete=True)


def _read_brackets(text: str, tree: TreeBuilder) -> TreeBuilder:
    """Read text that begins like JSON; YAML's flow style begins the same way."""
    try:
        read_json(text, tree)
    except NotJsonError:
        tree = TreeBuilder()
        try:
            read_yaml(text, tree)
        except SourceError as error:
            raise _json_error(text) or error from error
    return tree


def _json_error(text: str) -> SourceError | None:
    """Return the syntax error of a text meant as JSON (its first field is quoted), in JSON's terms."""
    if not _MEANT_AS_JSON.match(text):
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return SourceError("syntax", f"not JSON: {error.msg}", (error.lineno, error.colno))
    except (ValueError, RecursionError):
        return None
    return None


def _decode(text: str | bytes) -> str:
    if len(text) > MAX_SOURCE_BYTES:
        raise SourceError("too-large", f"the text has {len(text)} bytes, more than {MAX_SOURCE_BYTES}", None)
    text = (text if isinstance(text, str) else _decode_bytes(text)).removeprefix("\ufeff")
    wrong = _NOT_TEXT.search(text)
    if wrong is not None:
        message = f"the character U+{ord(wrong[0]):04X} is not allowed in a text"
        raise SourceError("control-character", message, _line_and_column(text, wrong.start()))
    return text


def _decode_bytes(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        before = text[: error.start].decode()
        raise SourceError("not-utf-8", "the text is not UTF-8", _line_and_column(before, len(before))) from error


def _line_and_column(text: str, position: int) -> tuple[int, int]:
    before = text[:position]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def place(problem: Problem) -> tuple[int, int]:
    """Return a problem's line and column as a sort key; problems without a position come last."""
    return (problem.line or sys.maxsize, problem.column or 0)
