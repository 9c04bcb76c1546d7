"""Templates: JSON with `{{ expressions }}` and `{$path: [...]}` in it, compiled once and resolved per run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dag.expressions import STEPS, Expression, Scope, expression_spans, parse_text, read_path, values_of
from dag.values import Json, canonical
from dag.work import ExpressionError, Work

PATH_KEY = "$path"
MAX_DEPTH = 40
"""Deepest nesting of a config: deeper JSON is a mistake or an attack, and resolving recurses."""

_Resolve = Callable[[Scope, Work], Json]


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A compiled JSON value. `references` are the paths its expressions read, in document order."""

    references: tuple[tuple[str, ...], ...]
    _resolve: _Resolve

    def resolve(self, scope: Scope) -> Json:
        """Return the value with every expression replaced. Raises ExpressionError; nothing is left as text."""
        return self._resolve(scope, Work())


def has_template(value: Json) -> bool:
    """Tell whether `value` itself (not a part of it) is a template: text with `{{`, or an access path."""
    if isinstance(value, str):
        return "{{" in value or "{%" in value
    return isinstance(value, dict) and PATH_KEY in value


def is_one_expression(value: Json) -> bool:
    """Tell whether the template `value` keeps its expression's type: text around an expression makes it text.

    What cannot be read counts as one, for it is wrong in another way.
    """
    if not isinstance(value, str):
        return True
    try:
        spans = list(expression_spans(value))
    except ExpressionError:
        return True
    return spans == [(2, len(value) - 2)]


def compile_template(value: Json) -> Template:
    """Compile `value`. Raises ExpressionError with what is wrong in it."""
    references: list[tuple[str, ...]] = []
    resolve = _compile(value, references, depth=0)
    return Template(tuple(dict.fromkeys(references)), resolve or (lambda *_: value))


def _compile(value: Json, references: list[tuple[str, ...]], *, depth: int) -> _Resolve | None:
    """Return how to resolve `value`, None if it is constant; add what it reads to `references`."""
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nested deeper than {MAX_DEPTH} levels")
    if has_template(value):
        return _compile_leaf(value, references)
    if isinstance(value, dict):
        return _compile_dict({key: (item, _compile(item, references, depth=depth + 1)) for key, item in value.items()})
    if isinstance(value, list):
        return _compile_list([(item, _compile(item, references, depth=depth + 1)) for item in value])
    return None


def _compile_dict(fields: dict[str, tuple[Json, _Resolve | None]]) -> _Resolve | None:
    if all(resolve is None for _, resolve in fields.values()):
        return None
    return lambda scope, work: {
        key: resolve(scope, work) if resolve else item for key, (item, resolve) in fields.items()
    }


def _compile_list(items: list[tuple[Json, _Resolve | None]]) -> _Resolve | None:
    if all(resolve is None for _, resolve in items):
        return None
    return lambda scope, work: [resolve(scope, work) if resolve else item for item, resolve in items]


def _compile_leaf(value: Json, references: list[tuple[str, ...]]) -> _Resolve:
    if isinstance(value, dict):
        return _compile_path(value, references)
    pieces = parse_text(value)
    for piece in pieces:
        if isinstance(piece, Expression):
            references.extend(piece.references)
    only = pieces[0] if len(pieces) == 1 else None
    if isinstance(only, Expression):
        return only.evaluate  # alone, an expression keeps its type
    return lambda scope, work: "".join(_texts(pieces, scope, work))


def _compile_path(value: dict[str, Json], references: list[tuple[str, ...]]) -> _Resolve:
    keys = value[PATH_KEY]
    if len(value) > 1 or not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
        raise ExpressionError(f"{{{PATH_KEY}: ...}} takes a list of texts and nothing beside it")
    if keys == ["steps"]:
        raise ExpressionError("`steps` must be followed by a step's id")
    path = tuple(keys)
    references.append(path)

    def resolve(scope: Scope, work: Work) -> Json:
        try:
            value = read_path(path, values_of([path], scope))
            work.spend(STEPS)
            work.make(value)
        except ExpressionError as error:
            raise ExpressionError(f"`{'.'.join(path)}`: {error.message}") from error
        return value

    return resolve


def _texts(pieces: list[str | Expression], scope: Scope, work: Work) -> Iterator[str]:
    """Yield each piece as text: text as it is, anything else as JSON."""
    for piece in pieces:
        value = piece.evaluate(scope, work) if isinstance(piece, Expression) else piece
        try:
            yield value if isinstance(value, str) else canonical(value)
        except ValueError as error:  # an integer so long that Python refuses to write it
            raise ExpressionError(f"cannot be written as text: {error}") from error
