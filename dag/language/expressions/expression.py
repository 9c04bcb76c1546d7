"""The expression language: Jinja2's expression syntax behind a whitelist, as pure functions of a run's values.

One language for `condition`, `{{ ... }}` and `outputs`. Nothing is called, nothing has a clock, a random source or an
environment, and attribute access reads keys of JSON objects only: so an expression may run inside workflow code and
replays the same on every worker.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Protocol

from jinja2 import TemplateError, TemplateSyntaxError, Undefined, nodes

from docrail.dag.language.expressions.environment import MAX_ITEMS, NOTHING, WORK, bounded, lookup, require
from docrail.dag.language.expressions.evaluation import code_of
from docrail.dag.language.expressions.expression_errors import LackError, called, nobody, show
from docrail.dag.language.expressions.grammar import check_tree, constant_of, misuse, parse
from docrail.dag.values.cost import ExpressionError, Work
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import Path, part_of

__all__ = [
    "Expression",
    "Scope",
    "compile_expression",
    "expression_spans",
    "parse_text",
    "read_path",
    "values_of",
]

MAX_LENGTH = 1_000
"""Longest expression, in characters: enough for any readable rule, and it bounds what parsing can cost."""
MAX_BRACKETS = 12
"""Deepest nesting of brackets: Jinja's parser takes about 20 of Python's 1,000 stack frames for each."""
STEPS = 5  # what an evaluation costs beside its filters and comparisons (dag.values.cost)
_TOKENS = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[()\[\]{}]""", re.DOTALL)
"""Texts, as a whole, and brackets."""
_INDEX = re.compile("[0-9]{1,9}")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # half a surrogate pair: no text that can be encoded

FAULTS = (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading or evaluating somebody's expression may raise; anything else is a bug of ours and must surface."""


class Scope(Protocol):
    """The values an expression may read. `name` and `step` raise KeyError for what is not there."""

    def name(self, name: str) -> Json:
        """Return the value of a plain name: a step's output, `inputs`, `document`, ..."""
        ...

    def step(self, step_id: str) -> Mapping[str, Json]:
        """Return what `steps.<id>` shows: status, error, attempts, reason, decided_by, output."""
        ...

    def loaded(self, values: dict[str, Json], paths: Sequence[Path], *, alone: bool) -> dict[str, Json]:
        """Return `values` with the stored parts in place that `paths` read; `alone`: nothing is made of them."""
        del paths, alone
        return values

    def charge(self, steps: int) -> None:
        """Count what an evaluation took (dag.values.cost), where somebody counts."""
        del steps


class Expression:
    """A compiled expression. `paths` are what it reads, as far as they are constant; `references` the same as texts.

    `path` is the one that it is and nothing else, None for an expression that computes.
    """

    __slots__ = ("_tree", "_value_of", "path", "paths", "references", "text")

    def __init__(self, text: str, tree: nodes.Expr) -> None:
        """Check `tree`, as Jinja's parser read it from `text`, against the whitelist. Raises ExpressionError."""
        check_tree(tree)
        self.text = text
        self.paths = tuple(dict.fromkeys(_paths(tree)))
        self.references = tuple(dict.fromkeys(tuple(map(str, path)) for path in self.paths))
        self._tree = tree
        self._value_of: Callable[[dict[str, Json]], Json] | None = None
        self.path = _path_of(tree)
        if self.path is not None:  # most expressions are nothing else: reading them directly skips Jinja
            self._value_of = partial(read_path, self.path)

    @property
    def misuse(self) -> str | None:
        """What makes it fail with every value, though it can be compiled; None if nothing does."""
        return misuse(self._tree)

    def evaluate(self, scope: Scope, work: Work | None = None, *, alone: bool = False) -> Json:
        """Return the expression's value, a JSON value, for `work`, by default its own. Raises ExpressionError.

        `alone`: nothing is made of the value, so what a path leads to may be what stands for it.
        """
        own, work = work is None, work or Work()
        try:
            work.spend(STEPS)
            if self._value_of is None:  # code is made when first needed: a validator never runs what it checks
                self._value_of = _plain_code_of(self._tree)
            given = values_of(self.references, scope)
            values = scope.loaded(given, self.paths, alone=alone and self.path is not None)
            value = self._value_of({**values, WORK: work})
            work.make(value)
        except LackError as error:
            subject = _subject_of(error, self.paths, values)
            raise error.of(subject, is_whole=values is given).within(f"`{self.text}`") from error
        except ExpressionError as error:
            raise error.within(f"`{self.text}`") from error
        except FAULTS as error:
            raise ExpressionError(f"`{self.text}`: {error}") from error
        finally:
            if own:
                scope.charge(work.spent)
        return value


def compile_expression(text: str) -> Expression:
    """Compile `text`. Raises ExpressionError with what is wrong with it."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression has {len(text)} characters, more than {MAX_LENGTH}")
    _check_brackets(text)
    try:
        return Expression(text, parse(text))
    except FAULTS as error:
        message = error.message if isinstance(error, TemplateSyntaxError) else str(error)
        raise ExpressionError(message or "syntax error") from error


def parse_text(text: str) -> list[str | Expression]:
    """Split text with `{{ }}` in it into plain pieces and expressions. Raises ExpressionError."""
    if "{%" in text:
        raise ExpressionError("statements ({% %}) are not allowed, only {{ expressions }}")
    pieces: list[str | Expression] = []
    position = 0
    for start, end in expression_spans(text):
        if start - 2 > position:
            pieces.append(text[position : start - 2])
        pieces.append(compile_expression(text[start:end].strip()))
        position = end + 2
    return pieces + [text[position:]] * (position < len(text))


def expression_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each expression in `{{ }}` begins and ends in `text`, without the braces. Raises ExpressionError."""
    position = 0
    while (start := text.find("{{", position)) >= 0:
        end = _end_of_expression(text, start + 2)
        yield start + 2, end
        position = end + 2


def _end_of_expression(text: str, start: int) -> int:
    """Return where the `}}` stands that closes an expression: not one inside a text or an object."""
    depth = 0
    for token in _TOKENS.finditer(text, start):
        if not depth and text.startswith("}}", token.start()):
            return token.start()
        depth += (token[0] in "([{") - (token[0] in ")]}")
    raise ExpressionError("`{{` is not closed by `}}`")


def _check_brackets(text: str) -> None:
    """Refuse deep nesting before Jinja's parser recurses into it: how deep it may go must not depend on our caller."""
    depth = 0
    for token in _TOKENS.finditer(text):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth > MAX_BRACKETS:
            raise ExpressionError(f"brackets are nested deeper than {MAX_BRACKETS} levels")


def plain(value: Json) -> Json:
    """Return `value` as plain JSON of bounded size. Raises ExpressionError for anything else."""
    return _plain(value, count(1))


def _plain(value: Json, seen: Iterator[int]) -> Json:  # noqa: PLR0911 - a case a kind of value
    if next(seen) > MAX_ITEMS:
        raise ExpressionError(f"the value has more than {MAX_ITEMS} parts")
    match value:
        case Undefined():
            return require(value)
        case None | bool():
            return value
        case int():
            return bounded(value)
        case float() if math.isfinite(value):
            return value
        case str() if "\0" in value:
            raise ExpressionError("the text holds the character NUL, which PostgreSQL cannot store")
        case str() if not _HALF_CHARACTER.search(value):
            return str(value)
        case dict():
            return {_key(key): _plain(item, seen) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, seen) for item in value]
        case _:
            raise ExpressionError(f"{show(value)} is not a JSON value")


def _key(key: Json) -> str:
    if not isinstance(key, str):
        raise ExpressionError(f"an object's keys must be texts, found {show(key)}")
    return key


def values_of(references: Iterable[tuple[str, ...]], scope: Scope) -> dict[str, Json]:
    """Return the top-level names that `references` start with; a name without a value is left out."""
    values: dict[str, Json] = {}
    for path in references:
        try:
            if path[0] == "steps":
                values.setdefault("steps", {})[path[1]] = scope.step(path[1])
            elif path[0] not in values:
                values[path[0]] = scope.name(path[0])
        except KeyError:
            continue
    return values


def read_path(path: Path, values: Mapping[str, Json]) -> Json:
    """Return what `path` leads to; digits given as text index a list. Raises ExpressionError.

    Into a stored value, it leads to what stands for the part.
    """
    value: Json = values
    for depth, key in enumerate(path):
        if (part := part_of(value)) is not None:
            return part.at(path[depth:]).to_json()
        found = lookup(value, key)
        if found is NOTHING and isinstance(value, list) and isinstance(key, str) and _INDEX.fullmatch(key):
            found = lookup(value, int(key))
        if found is NOTHING:
            if not depth:
                raise ExpressionError(nobody(str(key)))
            raise LackError(value, key, called(path[:depth]))
        value = found
    return value if isinstance(value, dict | list | str) else plain(value)


def _subject_of(error: LackError, paths: Sequence[Path], values: Mapping[str, Json]) -> str:
    """Return how the author calls what has not what was asked of it; nothing if no path leads there."""
    for path in paths:
        value: Json = values
        for depth, key in enumerate(path):
            if value is error.found and isinstance(error.key, str | int) and key == error.key:
                return called(path[:depth])
            value = lookup(value, key)
    return ""


def _plain_code_of(tree: nodes.Expr) -> Callable[[dict[str, Json]], Json]:
    code = code_of(tree)
    return lambda values: plain(code(values))


def _path_of(node: nodes.Node) -> Path | None:
    """Return the path that `node` is, if it is a name followed by constant keys and nothing else."""
    keys: list[str | int] = []
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        key = node.attr if isinstance(node, nodes.Getattr) else constant_of(node.arg)
        if isinstance(key, bool) or not isinstance(key, str | int):
            return None
        keys.append(key)
        node = node.node
    return (node.name, *reversed(keys)) if isinstance(node, nodes.Name) else None


def _paths(node: nodes.Node) -> Iterator[Path]:
    path = _path_of(node)
    if path is None:
        for child in node.iter_child_nodes():
            yield from _paths(child)
        return
    if path == ("steps",):
        raise ExpressionError("`steps` must be followed by a step's id, as in steps.extract.status")
    yield path
