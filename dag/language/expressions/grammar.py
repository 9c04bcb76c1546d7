"""Define the expression grammar: a whitelist over the trees of Jinja's parser."""

import math
import re
from collections.abc import Mapping
from functools import cache
from inspect import Signature, signature, unwrap

from jinja2 import nodes
from jinja2.lexer import operators
from jinja2.parser import Parser

from docrail.dag.language.expressions.environment import ALONE, ENVIRONMENT, FILTERS, TESTS
from docrail.dag.language.expressions.expression_errors import wrong_filter_call, wrong_test_call
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import STORED
from docrail.dag.values.suggestions import closest

_WORDS = r"(?!(?:and|else|if|in|is|not|or|[Tt]rue|[Ff]alse|[Nn]one)\b)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
"""A path: names, the first of which is not a keyword."""
_PATH = re.compile(_WORDS, re.ASCII)
_COMPARISON = re.compile(
    rf"""({_WORDS})\ *(==|!=|<=|>=|<|>)\ *(?:({_WORDS})|'([ -&(-[\]-~]*)'|"([ !#-[\]-~]*)"|(0|[1-9][0-9]{{0,17}}))""",
    re.ASCII,
)
"""A path compared with another path, a plain text or an integer: most conditions have this form."""
MAX_DEPTH = 60
"""Deepest tree of an expression: a chain of 60 operators. Jinja's compiler takes a few frames for each."""
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
NAMING: Mapping[str, tuple[str, int, tuple[str, ...]]] = {
    "map": ("filter", 0, FILTERS),
    **dict.fromkeys(("select", "reject"), ("test", 0, TESTS)),
    **dict.fromkeys(("selectattr", "rejectattr"), ("test", 1, TESTS)),
}
"""Filters whose argument names a filter or a test: the kind, the argument's position, and the known names."""


def parse(text: str) -> nodes.Expr:
    """Return the tree of an expression, as Jinja's parser reads it. Raises: ExpressionError, TemplateSyntaxError."""
    if _PATH.fullmatch(text):
        return _path(text)
    if found := _COMPARISON.fullmatch(text):
        return _comparison(found)
    try:
        parser = Parser(ENVIRONMENT, text, state="variable")
        tree = parser.parse_expression()
    except SyntaxError as error:  # Python's own, for a number with digits other than 0 to 9
        raise ExpressionError(error.msg) from error
    if not parser.stream.eos:
        raise ExpressionError(f"unexpected {parser.stream.current.value!r} after the expression")
    return tree


def _path(text: str) -> nodes.Expr:
    """Return the tree of a name with keys. Most expressions have this form, and the parser takes ten times as long."""
    name, *keys = text.split(".")
    tree: nodes.Expr = nodes.Name(name, "load", lineno=1)
    for key in keys:
        tree = nodes.Getattr(tree, key, "load", lineno=1)
    return tree


def _comparison(found: re.Match[str]) -> nodes.Expr:
    left, operator, path, text, quoted, number = found.groups()
    value = quoted if text is None else text
    right = _path(path) if path else nodes.Const(int(number) if value is None else value, lineno=1)
    return nodes.Compare(_path(left), [nodes.Operand(operators[operator], right)], lineno=1)


def check_tree(tree: nodes.Node) -> None:
    """Check that the language allows everything in `tree`. Raises: ExpressionError."""
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
            refusal = _unknown("filter", name, FILTERS)
        case nodes.Test(name=name) if name not in TESTS:
            refusal = _unknown("test", name, TESTS)
        case nodes.Filter(name=name, args=args, kwargs=kwargs) if name in NAMING:
            refusal = _refusal_of_naming(name, args, [str(keyword.key) for keyword in kwargs])
        case nodes.Const(value=float(value)) if not math.isfinite(value):
            refusal = "the number is too large"
        case nodes.Pair(key=nodes.Const(value=key)) if key == STORED:
            refusal = f"the key '{STORED}' is reserved for references to stored values"
        case nodes.Name(name="self"):
            refusal = "'self' is reserved by Jinja and has no value here"
        case nodes.Getattr(attr=name) | nodes.Name(name=name) if name.startswith("__"):
            refusal = f"names that begin with two underscores are not allowed: '{name}'"
    if refusal:
        raise ExpressionError(refusal)


def misuse(tree: nodes.Node) -> str | None:
    """Return which filter or test has the wrong number of arguments and fails with every value; None if none has."""
    calls = [tree] if isinstance(tree, nodes.Filter | nodes.Test) else []
    calls += tree.find_all((nodes.Filter, nodes.Test))
    return next((misuse for node in calls if (misuse := _misuse_in(node))), None)


def _misuse_in(node: nodes.Filter | nodes.Test) -> str | None:
    args, keywords = list(node.args), [str(keyword.key) for keyword in node.kwargs]
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return None
    kind, name = "test" if isinstance(node, nodes.Test) else "filter", node.name
    if name in NAMING and kind == "filter":
        kind, place, _ = NAMING[name]
        if len(args) <= place:
            return None  # an attribute without a test is enough
        name, args = constant_of(args[place]), args[place + 1 :]
    if kind == "test":
        is_alone = name in ALONE
        return wrong_test_call(name, is_alone=is_alone) if keywords or len(args) != (not is_alone) else None
    try:
        _takes(name).bind(*args, **dict.fromkeys(keywords))
    except TypeError:
        return wrong_filter_call(name)
    return None


@cache
def _takes(name: str) -> Signature:
    """Return the arguments that a filter takes after the value, without those that Jinja passes to some."""
    function = ENVIRONMENT.filters[name]
    own = 1 + (getattr(unwrap(function), "jinja_pass_arg", None) is not None)
    return Signature([*signature(function).parameters.values()][own:])


def _refusal_of_naming(name: str, args: list[nodes.Expr], keywords: list[str]) -> str | None:
    """Return what is wrong with the name given to a filter, None if nothing is."""
    kind, place, known = NAMING[name]
    if len(args) <= place:
        is_complete = "attribute" in keywords if name == "map" else len(args) == place
        return None if is_complete else f"`{name}` needs the attribute to take from each part"
    given = constant_of(args[place])
    if given in known:
        return None
    if isinstance(given, str):
        return _unknown(kind, given, known)
    return f"`{name}` needs a {kind}'s name as a text; {kind}s are {', '.join(known)}"


def _unknown(kind: str, name: str, known: tuple[str, ...]) -> str:
    near = closest(name, known)
    hint = f" (did you mean '{near}'?)" if near else f"; {kind}s are {', '.join(known)}"
    return f"there is no {kind} '{name}'{hint}"


def constant_of(node: nodes.Node) -> Json:
    """Return the constant value of `node`, None if it is not a constant."""
    return node.value if isinstance(node, nodes.Const) else None
