"""Makes Python functions of an expression's tree, one for each node, that give what the code that Jinja makes would.

Jinja writes Python source and has it compiled: a millisecond for each expression, and a turn of a run, for which
Temporal gives two seconds, may evaluate thousands of them for the first and only time.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from jinja2 import Undefined, nodes
from jinja2.runtime import Context
from jinja2.utils import missing

from docrail.dag.language.expressions.environment import ENVIRONMENT, compare
from docrail.dag.values.json_values import Json

Code = Callable[[Context], Any]
"""What a node does: it gives a value, or something that may be missing, in the context that an evaluation has."""

NO_ELSE = "the inline if-expression on line {} evaluated to false and no else section was defined."
"""Jinja's own message, which the code that it makes would raise."""


def code_of(tree: nodes.Expr) -> Callable[[dict[str, Json]], Any]:
    """Return the code of a checked tree (dag.language.expressions.grammar): from named values to the tree's value."""
    code = _code_of(tree)
    return lambda values: code(Context(ENVIRONMENT, values, None, {}))


def _code_of(node: nodes.Node) -> Code:
    return _CODE[type(node)](node)


def _codes_of(parts: Iterable[nodes.Node]) -> list[Code]:
    return [_code_of(part) for part in parts]


def _name(node: nodes.Name) -> Code:
    name = node.name

    def look_up(context: Context) -> Any:
        value = context.parent.get(name, missing)
        return ENVIRONMENT.undefined(name=name) if value is missing else value

    return look_up


def _constant(node: nodes.Const) -> Code:
    value = node.value
    return lambda _: value


def _attribute(node: nodes.Getattr) -> Code:
    of, key = _code_of(node.node), node.attr
    return lambda context: ENVIRONMENT.getattr(of(context), key)


def _item(node: nodes.Getitem) -> Code:
    of, key = _code_of(node.node), _code_of(node.arg)
    return lambda context: ENVIRONMENT.getitem(of(context), key(context))


def _list(node: nodes.List) -> Code:
    parts = _codes_of(node.items)
    return lambda context: [part(context) for part in parts]


def _tuple(node: nodes.Tuple) -> Code:
    parts = _codes_of(node.items)
    return lambda context: tuple([part(context) for part in parts])


def _dict(node: nodes.Dict) -> Code:
    pairs = [(_code_of(pair.key), _code_of(pair.value)) for pair in node.items]
    return lambda context: {key(context): value(context) for key, value in pairs}


def _and(node: nodes.And) -> Code:
    left, right = _code_of(node.left), _code_of(node.right)
    return lambda context: left(context) and right(context)


def _or(node: nodes.Or) -> Code:
    left, right = _code_of(node.left), _code_of(node.right)
    return lambda context: left(context) or right(context)


def _not(node: nodes.Not) -> Code:
    of = _code_of(node.node)
    return lambda context: not of(context)


def _sign(node: nodes.UnaryExpr) -> Code:
    of, operator = _code_of(node.node), node.operator
    return lambda context: ENVIRONMENT.call_unop(context, operator, of(context))


def _arithmetic(node: nodes.BinExpr) -> Code:
    left, right, operator = _code_of(node.left), _code_of(node.right), node.operator
    return lambda context: ENVIRONMENT.call_binop(context, operator, left(context), right(context))


def _comparison(node: nodes.Compare) -> Code:
    """Return what compares. All that is compared is evaluated first, also where an early part tells the answer."""
    first = _code_of(node.expr)
    rest = [(operand.op, _code_of(operand.expr)) for operand in node.ops]
    return lambda context: compare(context, first(context), [(name, part(context)) for name, part in rest])


def _choice(node: nodes.CondExpr) -> Code:
    test, then = _code_of(node.test), _code_of(node.expr1)
    if node.expr2 is not None:
        otherwise = _code_of(node.expr2)
        return lambda context: then(context) if test(context) else otherwise(context)
    hint = NO_ELSE.format(node.lineno)
    return lambda context: then(context) if test(context) else Undefined(hint)


def _call(node: nodes.Filter | nodes.Test) -> Code:
    """Return what calls a filter or a test. Each takes the context first (dag.language.expressions.environment)."""
    known: Mapping[str, Any] = ENVIRONMENT.filters if isinstance(node, nodes.Filter) else ENVIRONMENT.tests
    function, of, parts = known[node.name], _code_of(cast("nodes.Expr", node.node)), _codes_of(node.args)
    if not node.kwargs and node.dyn_args is None and node.dyn_kwargs is None:
        return lambda context: function(context, of(context), *[part(context) for part in parts])
    keywords = [(str(keyword.key), _code_of(keyword.value)) for keyword in node.kwargs]
    more = _code_of(node.dyn_args or nodes.Tuple([], "load"))
    named = _code_of(node.dyn_kwargs or nodes.Dict([]))

    def call(context: Context) -> Any:
        args = [of(context), *[part(context) for part in parts]]
        named_here = {key: part(context) for key, part in keywords}
        return function(context, *args, *more(context), **named_here, **named(context))

    return call


_CODE: Mapping[type[nodes.Node], Callable[[Any], Code]] = {
    nodes.Name: _name,
    nodes.Const: _constant,
    nodes.Getattr: _attribute,
    nodes.Getitem: _item,
    nodes.List: _list,
    nodes.Tuple: _tuple,
    nodes.Dict: _dict,
    nodes.And: _and,
    nodes.Or: _or,
    nodes.Not: _not,
    **dict.fromkeys((nodes.Neg, nodes.Pos), _sign),
    **dict.fromkeys((nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod), _arithmetic),
    nodes.Compare: _comparison,
    nodes.CondExpr: _choice,
    **dict.fromkeys((nodes.Filter, nodes.Test), _call),
}
