"""The expression language: Jinja2's expression syntax behind a whitelist, as pure functions of a run's values.

One language for `condition`, `{{ ... }}` and `outputs`. Nothing is called, nothing has a clock, a random source or an
environment, and attribute access reads keys of JSON objects only: so an expression may run inside workflow code and
replays the same on every worker.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Protocol, cast

from jinja2 import TemplateError, TemplateSyntaxError, Undefined, nodes
from jinja2.parser import Parser

from dag.sandbox import ENVIRONMENT, FILTERS, NOTHING, TESTS, ExpressionError, lookup, show
from dag.values import Json

__all__ = ["Expression", "ExpressionError", "Scope", "compile_expression", "parse_text", "read_path", "values_of"]

MAX_LENGTH = 1_000
"""Longest expression, in characters: enough for any readable rule, and it bounds what parsing can cost."""
MAX_DEPTH = 60
"""Deepest nesting of an expression, below what Python's recursion limit allows Jinja's compiler."""
MAX_ITEMS = 100_000
"""Longest list an expression may produce."""

_ALLOWED = (
    *(nodes.Name, nodes.Const, nodes.Getattr, nodes.Getitem, nodes.Compare, nodes.Operand, nodes.CondExpr),
    *(nodes.And, nodes.Or, nodes.Not, nodes.Neg, nodes.Pos, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair),
    *(nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Keyword),
    *(nodes.Filter, nodes.Test),
)
_REFUSED: dict[type[nodes.Node], str] = {
    nodes.Call: "calls are not allowed; use a filter, as in `items | length`",
    nodes.Pow: "the power operator is not allowed",
    nodes.Concat: "`~` is not allowed; write the text around {{ }} instead",
    nodes.Slice: "slices are not allowed; use `first`, `last` or an index",
}
FAULTS = (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading or evaluating somebody's expression may raise; anything else is a bug of ours and must surface."""


class Scope(Protocol):
    """The values an expression may read. Both methods raise KeyError for what is not there."""

    def name(self, name: str) -> Json:
        """Return the value of a plain name: a step's output, `inputs`, `document`, ..."""
        ...

    def step(self, step_id: str) -> Mapping[str, Json]:
        """Return what `steps.<id>` shows: status, error, attempts, reason, decided_by, output."""
        ...


NO_STATEMENTS = "statements ({% %}) are not allowed, only {{ expressions }}"
Path = tuple[str | int, ...]


class Expression:
    """A compiled expression. `references` are the paths it reads, as far as they are constant names."""

    __slots__ = ("_tree", "_value_of", "references", "text")

    def __init__(self, text: str, tree: nodes.Expr) -> None:
        """Check `tree`, as Jinja's parser read it from `text`, against the whitelist. Raises ExpressionError."""
        _check(tree)
        self.text = text
        self.references = tuple(dict.fromkeys(_references(tree)))
        self._tree = tree
        self._value_of: Callable[[dict[str, Json]], Json] | None = None
        path = _path_of(tree)
        if path is not None:  # most expressions are nothing else: reading them directly skips Jinja
            self._value_of = partial(read_path, path)

    def evaluate(self, scope: Scope) -> Json:
        """Return the expression's value, a JSON value. Raises ExpressionError."""
        try:
            if self._value_of is None:  # code is made when first needed: a validator never runs what it checks
                self._value_of = _code_of(self._tree)
            return self._value_of(values_of(self.references, scope))
        except ExpressionError as error:
            raise ExpressionError(f"`{self.text}`: {error.message}") from error
        except FAULTS as error:
            raise ExpressionError(f"`{self.text}`: {error}") from error


def compile_expression(text: str) -> Expression:
    """Compile `text`. Raises ExpressionError with what is wrong with it."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression has {len(text)} characters, more than {MAX_LENGTH}")
    try:
        parser = Parser(ENVIRONMENT, text, state="variable")
        tree = parser.parse_expression()
        if not parser.stream.eos:
            raise ExpressionError(f"unexpected {parser.stream.current.value!r} after the expression")
        return Expression(text, tree)
    except FAULTS as error:
        raise ExpressionError(_reading_fault(error)) from error


def parse_text(text: str) -> list[str | Expression]:
    """Split text with `{{ }}` in it into plain pieces and expressions. Raises ExpressionError."""
    try:
        tree = ENVIRONMENT.parse(text)
    except FAULTS as error:
        raise ExpressionError(NO_STATEMENTS if "{%" in text else _reading_fault(error)) from error
    pieces: list[str | Expression] = []
    for statement in tree.body:
        if not isinstance(statement, nodes.Output):
            raise ExpressionError(NO_STATEMENTS)
        for piece in statement.nodes:
            is_text = isinstance(piece, nodes.TemplateData)
            pieces.append(cast(nodes.TemplateData, piece).data if is_text else Expression(text.strip(), piece))
    return pieces


def _reading_fault(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "the expression is nested too deeply"
    return str(error.message if isinstance(error, TemplateSyntaxError) else error) or "syntax error"


def plain(value: Json) -> Json:
    """Return `value` as plain JSON: generators become lists. Raises ExpressionError for anything else."""
    if isinstance(value, Undefined):
        str(value)  # raises, naming what is missing
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | Iterator):
        items = [plain(item) for item in islice(value, MAX_ITEMS + 1)]
        if len(items) > MAX_ITEMS:
            raise ExpressionError(f"the list is longer than {MAX_ITEMS} items")
        return items
    raise ExpressionError(f"{show(value)} is not a JSON value")


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
    """Return what `path` leads to; digits given as text index a list. Raises ExpressionError."""
    value: Json = values
    for depth, key in enumerate(path):
        found = lookup(value, key)
        if found is NOTHING and isinstance(value, list) and isinstance(key, str) and key.isdecimal():
            found = lookup(value, int(key))
        if found is NOTHING:
            where = ".".join(map(str, path[:depth]))
            raise ExpressionError(f"'{where}' has no '{key}'" if where else f"'{key}' has no value here")
        value = found
    return value


def _code_of(tree: nodes.Expr) -> Callable[[dict[str, Json]], Json]:
    tree.set_environment(ENVIRONMENT)
    body: list[nodes.Node] = [nodes.Assign(nodes.Name("result", "store"), tree, lineno=1)]
    template = ENVIRONMENT.from_string(nodes.Template(body, lineno=1))

    def value_of(values: dict[str, Json]) -> Json:
        context = template.new_context(values)
        for _ in template.root_render_func(context):
            pass
        return plain(context.vars["result"])

    return value_of


def _check(tree: nodes.Node) -> None:
    level: list[nodes.Node] = [tree]
    for _ in range(MAX_DEPTH):
        for node in level:
            _check_node(node)
        level = [child for node in level for child in node.iter_child_nodes()]
        if not level:
            return
    raise ExpressionError("the expression is nested too deeply")


def _check_node(node: nodes.Node) -> None:
    refusal = _REFUSED.get(type(node))
    if refusal is None and not isinstance(node, _ALLOWED):
        refusal = f"{type(node).__name__} is not allowed in an expression"
    match node:
        case nodes.Filter(name=name) if name not in FILTERS:
            refusal = f"there is no filter '{name}'; filters are {', '.join(FILTERS)}"
        case nodes.Test(name=name) if name not in TESTS:
            refusal = f"there is no test '{name}'; tests are {', '.join(TESTS)}"
        case nodes.Getattr(attr=name) | nodes.Name(name=name) if name.startswith("__"):
            refusal = f"names with two underscores in front are not allowed: '{name}'"
    if refusal:
        raise ExpressionError(refusal)


def _path_of(node: nodes.Node) -> Path | None:
    """Return the path that `node` is, if it is a name followed by constant keys and nothing else."""
    keys: list[str | int] = []
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        key = node.attr if isinstance(node, nodes.Getattr) else _constant(node.arg)
        if isinstance(key, bool) or not isinstance(key, str | int):
            return None
        keys.append(key)
        node = node.node
    return (node.name, *reversed(keys)) if isinstance(node, nodes.Name) else None


def _constant(node: nodes.Node) -> Json:
    return node.value if isinstance(node, nodes.Const) else None


def _references(node: nodes.Node) -> Iterator[tuple[str, ...]]:
    path = _path_of(node)
    if path is None:
        for child in node.iter_child_nodes():
            yield from _references(child)
        return
    names = tuple(map(str, path))
    if names == ("steps",):
        raise ExpressionError("`steps` must be followed by a step's id, as in steps.extract.status")
    yield names
