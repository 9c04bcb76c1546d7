"""Compile and resolve templates: JSON with `{{ expressions }}` and `{$path: [...]}` in it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from docrail.dag.language.expressions.expression import (
    STEPS,
    Expression,
    Scope,
    expression_spans,
    parse_text,
    read_path,
    values_of,
)
from docrail.dag.language.expressions.expression_errors import LackError
from docrail.dag.values.cost import ExpressionError, Work
from docrail.dag.values.json_parts import children
from docrail.dag.values.json_rules import MAX_DEPTH
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.problems import Path

PATH_KEY = "$path"

_Resolve = Callable[[Scope, Work], Json]


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A compiled JSON value. `references` are the paths its expressions read, in document order.

    `alone`: paths that are a whole value, which need not be loaded to be passed on. `computed`: paths inside a text or
    an expression that computes with them.
    """

    references: tuple[tuple[str, ...], ...]
    alone: tuple[Path, ...]
    computed: tuple[Path, ...]
    _resolve: _Resolve

    def resolve(self, scope: Scope) -> Json:
        """Return the value with every expression replaced. Raises ExpressionError."""
        work = Work()
        try:
            return self._resolve(scope, work)
        finally:
            scope.charge(work.spent)


def has_template(value: Json) -> bool:
    """Return whether `value` itself (not a part of it) is a template: text with `{{`, or an access path."""
    if isinstance(value, str):
        return "{{" in value or "{%" in value
    return isinstance(value, dict) and PATH_KEY in value


def is_one_expression(value: Json) -> bool:
    """Return whether the template `value` keeps its expression's type: surrounding text would make it a text.

    True for a template that cannot be parsed, which is reported elsewhere.
    """
    if not isinstance(value, str):
        return True
    try:
        spans = list(expression_spans(value))
    except ExpressionError:
        return True
    return spans == [(2, len(value) - 2)]


def compile_template(value: Json) -> Template:
    """Compile `value`. Raises ExpressionError with the reason."""
    read = _Read([], [], [])
    resolve = _compile(value, read, depth=0)
    references, alone = tuple(dict.fromkeys(read.references)), tuple(dict.fromkeys(read.alone))
    return Template(references, alone, tuple(dict.fromkeys(read.computed)), resolve or (lambda *_: value))


@dataclass(frozen=True, slots=True)
class _Read:
    """The paths that a template reads, collected while it is compiled (Template)."""

    references: list[tuple[str, ...]]
    alone: list[Path]
    computed: list[Path]


def _compile(value: Json, read: _Read, *, depth: int) -> _Resolve | None:
    """Return a function that resolves `value`, None if it is constant; add the paths it reads to `read`."""
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nested deeper than {MAX_DEPTH} levels")
    if has_template(value):
        return _compile_leaf(value, read)
    parts = [(key, item, _compile(item, read, depth=depth + 1)) for key, item in children(value)]
    if all(resolve is None for _, _, resolve in parts):
        return None
    if isinstance(value, dict):
        return lambda scope, work: {key: resolve(scope, work) if resolve else item for key, item, resolve in parts}
    return lambda scope, work: [resolve(scope, work) if resolve else item for _, item, resolve in parts]


def _compile_leaf(value: Json, read: _Read) -> _Resolve:
    if isinstance(value, dict):
        return _compile_path(value, read)
    pieces = parse_text(value)
    only = pieces[0] if len(pieces) == 1 else None
    for piece in pieces:
        if isinstance(piece, Expression):
            read.references.extend(piece.references)
            (read.alone if piece is only and piece.path else read.computed).extend(piece.paths)
    if isinstance(only, Expression):
        return partial(only.evaluate, alone=True)  # keeps its type
    return lambda scope, work: "".join(_texts(pieces, scope, work))


def _compile_path(value: dict[str, Json], read: _Read) -> _Resolve:
    keys = value[PATH_KEY]
    if len(value) > 1 or not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
        raise ExpressionError(f"{{{PATH_KEY}: ...}} takes a list of texts and no other field")
    if keys == ["steps"]:
        raise ExpressionError("`steps` must be followed by a step's id")
    path, name = tuple(keys), f"`{'.'.join(keys)}`"
    read.references.append(path)
    read.alone.append(path)

    def resolve(scope: Scope, work: Work) -> Json:
        given = values_of([path], scope)
        values = scope.loaded(given, [path], alone=True)
        try:
            value = read_path(path, values)
            work.spend(STEPS)
            work.make(value)
        except LackError as error:
            raise error.of(is_whole=values is given).within(name) from error
        except ExpressionError as error:
            raise error.within(name) from error
        return value

    return resolve


def _texts(pieces: list[str | Expression], scope: Scope, work: Work) -> Iterator[str]:
    """Yield each piece as text: text as it is, anything else as JSON."""
    for piece in pieces:
        value = piece.evaluate(scope, work) if isinstance(piece, Expression) else piece
        try:
            yield value if isinstance(value, str) else canonical(value)
        except ValueError as error:  # an integer too long for Python to print
            raise ExpressionError(f"cannot be written as text: {error}") from error
