"""Implement the expression language: a whitelisted subset of Jinja2's expressions, pure functions of a run's values.

`condition`, `{{ ... }}` and `outputs` share the language. Expressions have no calls, clock, randomness or environment,
and attribute access reads keys of JSON objects only. They can therefore run inside workflow code and replay identically
on every worker.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Protocol

from jinja2 import TemplateError, TemplateSyntaxError, Undefined, nodes

from docrail.dag.language.expressions.environment import MAX_ITEMS, WORK, bounded, require
from docrail.dag.language.expressions.evaluation import code_of
from docrail.dag.language.expressions.expression_errors import LackError, called, no_value, show
from docrail.dag.language.expressions.grammar import check_tree, constant_of, misuse, parse
from docrail.dag.values.cost import ExpressionError, Work
from docrail.dag.values.json_parts import NOTHING, lookup, lookup_written
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path
from docrail.dag.values.stored import part_of

MAX_LENGTH = 1_000
"""Longest expression, in characters: enough for any readable rule, and it bounds the cost of parsing."""
MAX_BRACKETS = 12
"""Deepest nesting of brackets: Jinja's parser uses about 20 of Python's 1,000 stack frames for each."""
STEPS = 5  # base cost of an evaluation, without its filters and comparisons (dag/values/cost.py)
_TOKENS = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[()\[\]{}]""", re.DOTALL)
"""String literals, as a whole, and brackets."""
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # a lone surrogate, which cannot be encoded

FAULTS = (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""Exceptions that parsing or evaluating an author's expression may raise; any other is a bug and must surface."""


class Scope(Protocol):
    """The values that an expression may read. `name` and `step` raise KeyError for unknown names."""

    def name(self, name: str) -> Json:
        """Return the value of a plain name: a step's output, `inputs`, `document`, ..."""

    def step(self, step_id: str) -> Mapping[str, Json]:
        """Return what `steps.<id>` shows: status, error, attempts, reason, decided_by, output."""

    def loaded(self, values: dict[str, Json], paths: Sequence[Path], *, alone: bool) -> dict[str, Json]:
        """Return `values` with the loaded parts that `paths` read filled in; `alone`: the expression is only a path."""
        del paths, alone
        return values

    def charge(self, steps: int) -> None:
        """Count the work of an evaluation (dag/values/cost.py). Does nothing by default."""
        del steps


class Expression:
    """A compiled expression. `paths` are the constant paths that it reads; `references` the same as texts.

    `path` is set if the expression is only a path, None if it computes something.
    """

    __slots__ = ("_tree", "_value_of", "path", "paths", "references", "text")

    def __init__(self, text: str, tree: nodes.Expr) -> None:
        """Check `tree`, parsed from `text` by Jinja, against the whitelist. Raises ExpressionError."""
        check_tree(tree)
        self.text = text
        self.paths = tuple(dict.fromkeys(_paths(tree)))
        self.references = tuple(dict.fromkeys(tuple(map(str, path)) for path in self.paths))
        self._tree = tree
        self._value_of: Callable[[dict[str, Json]], Json] | None = None
        self.path = _path_of(tree)
        if self.path is not None:  # most expressions are only a path, which can be read without Jinja
            self._value_of = partial(read_path, self.path)

    @property
    def misuse(self) -> str | None:
        """Why it fails with every value although it compiles; None if it does not."""
        return misuse(self._tree)

    def evaluate(self, scope: Scope, work: Work | None = None, *, alone: bool = False) -> Json:
        """Return the expression's value as JSON. Counts towards `work`, or its own budget. Raises ExpressionError.

        `alone`: the value is passed on unchanged, so a path may give a stored value's placeholder.
        """
        own, work = work is None, work or Work()
        try:
            work.spend(STEPS)
            if self._value_of is None:  # compiled on first use: the validator never evaluates
                code = code_of(self._tree)
                self._value_of = lambda values: plain(code(values))
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
    """Compile `text`. Raises ExpressionError with the reason."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression has {len(text)} characters, more than {MAX_LENGTH}")
    # Jinja's parser recurses into brackets, and the limit must not depend on the caller's stack.
    depth = 0
    for token in _TOKENS.finditer(text):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth > MAX_BRACKETS:
            raise ExpressionError(f"brackets are nested deeper than {MAX_BRACKETS} levels")
    try:
        return Expression(text, parse(text))
    except FAULTS as error:
        message = error.message if isinstance(error, TemplateSyntaxError) else str(error)
        raise ExpressionError(message or "syntax error") from error


def parse_text(text: str) -> list[str | Expression]:
    """Split text with `{{ }}` into plain pieces and expressions. Raises ExpressionError."""
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
    """Yield the start and end of each expression in `{{ }}` in `text`, without the braces. Raises ExpressionError."""
    position = 0
    while (start := text.find("{{", position)) >= 0:
        end = _end_of_expression(text, start + 2)
        yield start + 2, end
        position = end + 2


def _end_of_expression(text: str, start: int) -> int:
    """Return the position of the `}}` that closes an expression, skipping those inside texts and objects."""
    depth = 0
    for token in _TOKENS.finditer(text, start):
        if not depth and text.startswith("}}", token.start()):
            return token.start()
        depth += (token[0] in "([{") - (token[0] in ")]}")
    raise ExpressionError("`{{` is not closed by `}}`")


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
            raise ExpressionError("the text contains the character NUL, which PostgreSQL cannot store")
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
    """Return the top-level names that `references` start with; a name without a value is omitted."""
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
    """Return the value at `path`; digits given as text index a list. Raises ExpressionError.

    A path into a stored value gives the placeholder of the part.
    """
    value: Json = values
    for depth, key in enumerate(path):
        if (part := part_of(value)) is not None:
            return part.at(path[depth:]).to_json()
        found = lookup_written(value, key)
        if found is NOTHING:
            if not depth:
                raise ExpressionError(no_value(str(key)))
            raise LackError(value, key, called(path[:depth]))
        value = found
    return value if isinstance(value, dict | list | str) else plain(value)


def _subject_of(error: LackError, paths: Sequence[Path], values: Mapping[str, Json]) -> str:
    """Return the author's name for the value that lacks a part; empty if no path leads to it."""
    for path in paths:
        value: Json = values
        for depth, key in enumerate(path):
            if value is error.found and isinstance(error.key, str | int) and key == error.key:
                return called(path[:depth])
            value = lookup(value, key)
    return ""


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
