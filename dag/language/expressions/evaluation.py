"""Compile an expression's tree to Python functions, one per node, with the results of Jinja's generated code.

Jinja generates Python source and compiles it, a millisecond per expression. A turn of a run, for which Temporal allows
two seconds, may evaluate thousands of expressions for the first and only time.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Undefined, nodes
from jinja2.runtime import Context
from jinja2.utils import missing

from docrail.dag.language.expressions.environment import ENVIRONMENT, compare
from docrail.dag.values.json_values import Json

Code = Callable[[Context], Any]
"""The code of a node: returns its value, or an undefined value, in an evaluation's context."""

NO_ELSE = "the inline if-expression on line {} evaluated to false and no else section was defined."
"""Jinja's own message, as its generated code would raise it."""


def code_of(tree: nodes.Expr) -> Callable[[dict[str, Json]], Any]:
    """Return a function that evaluates a checked tree (grammar.py), given the values by name."""
    code = _code_of(tree)
    return lambda values: code(Context(ENVIRONMENT, values, None, {}))


def _code_of(node: nodes.Node) -> Code:
    """Return the code of a node, made from the code of its parts."""
    return _CODE[type(node)](node, *map(_code_of, node.iter_child_nodes()))


def _name(node: nodes.Name) -> Code:
    name = node.name

    def look_up(context: Context) -> Any:
        value = context.parent.get(name, missing)
        return ENVIRONMENT.undefined(name=name) if value is missing else value

    return look_up


def _comparison(node: nodes.Compare, first: Code, *rest: Code) -> Code:
    """Return a comparison. All operands are evaluated first, even if an early one decides the result."""
    named = [(operand.op, part) for operand, part in zip(node.ops, rest, strict=True)]
    return lambda context: compare(context, first(context), [(name, part(context)) for name, part in named])


def _choice(node: nodes.CondExpr, test: Code, then: Code, otherwise: Code | None = None) -> Code:
    if otherwise is not None:
        return lambda context: then(context) if test(context) else otherwise(context)
    hint = NO_ELSE.format(node.lineno)
    return lambda context: then(context) if test(context) else Undefined(hint)


def _call(node: nodes.Filter | nodes.Test, of: Code, *parts: Code) -> Code:
    """Return a call of a filter or a test, each of which takes the context first (environment.py)."""
    known: Mapping[str, Any] = ENVIRONMENT.filters if isinstance(node, nodes.Filter) else ENVIRONMENT.tests
    function, positional = known[node.name], parts[: len(node.args)]
    if len(parts) == len(positional):
        return lambda context: function(context, of(context), *[part(context) for part in positional])
    keywords = [(str(keyword.key), _code_of(keyword.value)) for keyword in node.kwargs]
    more = _code_of(node.dyn_args or nodes.Tuple([], "load"))
    named = _code_of(node.dyn_kwargs or nodes.Dict([]))

    def call(context: Context) -> Any:
        args = [of(context), *[part(context) for part in positional]]
        named_here = {key: part(context) for key, part in keywords}
        return function(context, *args, *more(context), **named_here, **named(context))

    return call


def _sign(node: nodes.UnaryExpr, of: Code) -> Code:
    operator = node.operator
    return lambda context: ENVIRONMENT.call_unop(context, operator, of(context))


def _arithmetic(node: nodes.BinExpr, left: Code, right: Code) -> Code:
    operator = node.operator
    return lambda context: ENVIRONMENT.call_binop(context, operator, left(context), right(context))


_CODE: Mapping[type[nodes.Node], Callable[..., Code]] = {
    nodes.Name: _name,
    nodes.Const: lambda node: lambda _: node.value,
    nodes.Getattr: lambda node, of: lambda context: ENVIRONMENT.getattr(of(context), node.attr),
    nodes.Getitem: lambda _, of, key: lambda context: ENVIRONMENT.getitem(of(context), key(context)),
    nodes.List: lambda _, *parts: lambda context: [part(context) for part in parts],
    nodes.Tuple: lambda _, *parts: lambda context: tuple([part(context) for part in parts]),
    nodes.Dict: lambda _, *pairs: lambda context: dict([pair(context) for pair in pairs]),
    nodes.Pair: lambda _, key, value: lambda context: (key(context), value(context)),
    nodes.Keyword: lambda _, value: value,
    nodes.Operand: lambda _, value: value,
    nodes.And: lambda _, left, right: lambda context: left(context) and right(context),
    nodes.Or: lambda _, left, right: lambda context: left(context) or right(context),
    nodes.Not: lambda _, of: lambda context: not of(context),
    **dict.fromkeys((nodes.Neg, nodes.Pos), _sign),
    **dict.fromkeys((nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod), _arithmetic),
    nodes.Compare: _comparison,
    nodes.CondExpr: _choice,
    **dict.fromkeys((nodes.Filter, nodes.Test), _call),
}
"""The code of each kind of node, given the node and the code of its parts."""
