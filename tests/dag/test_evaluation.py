"""What evaluates expressions gives what Jinja's own code gives: the same value or error, for the same work."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jinja2 import nodes, pass_context
from jinja2.runtime import Context
from jinja2.visitor import NodeTransformer

from docrail.dag.language.expressions.environment import WORK, Environment, compare
from docrail.dag.language.expressions.evaluation import code_of
from docrail.dag.language.expressions.expression import FAULTS, plain
from docrail.dag.language.expressions.grammar import check_tree, parse
from docrail.dag.values.cost import ExpressionError, Work
from docrail.dag.values.json_values import Json
from tests.dag.definitions import LAW
from tests.dag.values import json_values

COMPARE = "__compare"


@pass_context
def _compare(context: Context, left: Json, *rest: Json) -> bool:
    return compare(context, left, zip(rest[::2], rest[1::2], strict=True))


class _Generating(Environment):
    """The environment as Jinja makes code for it."""

    def __init__(self) -> None:
        super().__init__()
        self.intercepted_binops, self.intercepted_unops = frozenset(("+", "-", "*", "/", "//", "%")), frozenset("+-")
        self.optimized = False  # folding constants would evaluate, and fail, while compiling
        self.tests[COMPARE] = _compare


GENERATING = _Generating()


class _Compared(NodeTransformer):
    """Replaces Python's comparison, which is not charged for, by ours."""

    def visit_Compare(self, node: nodes.Compare) -> nodes.Test:  # noqa: N802 - Jinja calls it by the node's name
        self.generic_visit(node)
        pairs = ((nodes.Const(operand.op), operand.expr) for operand in node.ops)
        return nodes.Test(node.expr, COMPARE, [part for pair in pairs for part in pair], [], None, None)


def generated(tree: nodes.Expr) -> Callable[[dict[str, Json]], Any]:
    """Return the code that Jinja makes of a tree, which is changed."""
    tree = _Compared().visit(tree)
    tree.set_environment(GENERATING)
    body: list[nodes.Node] = [nodes.Assign(nodes.Name("result", "store"), tree, lineno=1)]
    template = GENERATING.from_string(nodes.Template(body, lineno=1))

    def value_of(values: dict[str, Json]) -> Any:
        context = template.new_context(values)
        list(template.root_render_func(context))
        return context.vars["result"]

    return value_of


def outcome(code: Callable[[dict[str, Json]], Any], values: dict[str, Json]) -> tuple[object, ...]:
    """Return what came of it, as text, for -0.0 and 1.0 equal what they are not, and how much work it was."""
    work = Work()
    try:
        found: object = repr(plain(code({**values, WORK: work})))
    except ExpressionError as error:
        found = (type(error), error.message)
    except FAULTS as error:
        found = (type(error), str(error))
    return found, work.spent


ATOMS = (
    *("a", "b.c", "a[0]", "a.b.c", "steps.a.status", "missing", "missing.x", "1", "2.5", "'x'", "true", "none", "-a"),
    *("[]", "[a, b]", "(a,)", "()", "{'k': a}", "{a: 1, 'k': b}", "''", "0", "9223372036854775807", "1e300", "b['c']"),
)
CALLS = (
    *("default(1)", "default(b, true)", "length", "round", "round(1)", "round(precision=a)", "int", "float", "lower"),
    *("join(',')", "join(d='-')", "sum", "sum(attribute='a')", "sum(start=1)", "min", "max", "first", "last", "list"),
    *("sort", "sort(reverse=true)", "sort(attribute='a')", "map('upper')", "map(attribute='a', default=0)", "unique"),
    *("select('gt', 1)", "selectattr('a')", "rejectattr('a', 'eq', b)", "default(*[1])", "round(**{'precision': 1})"),
    *("default(1, *[true], **{})", "trim"),
)
TESTS = ("defined", "none", "number", "string", "eq(1)", "in [1, a]", "ge b", "boolean", "undefined", "lt(*[2])")
BETWEEN = ("+", "-", "*", "/", "//", "%", "<", "==", "!=", ">=", "in", "not in", "and", "or")
EXPRESSIONS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(BETWEEN), inner),
        st.builds("({} < {} != {})".format, inner, inner, inner),
        st.builds("({} | {})".format, inner, st.sampled_from(CALLS)),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} if {})".format, inner, inner),
        st.builds("({}{})".format, st.sampled_from(("not ", "-", "+")), inner),
        st.builds("a[{}]".format, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("{{'k': {}}}".format, inner),
        st.builds("({} is {})".format, inner, st.sampled_from(TESTS)),
    ),
    max_leaves=8,
)
VALUES = st.fixed_dictionaries({"a": json_values, "b": json_values, "steps": st.just({"a": {"status": "completed"}})})


@LAW
@given(EXPRESSIONS, VALUES)
@example("(a if false)\n  | default(1)", {"a": 1, "b": 2})
@example("a\n if b", {"a": 1, "b": False})
@example("result", {"result": 1})
def test_it_gives_what_jinjas_code_gives(text: str, values: dict[str, Json]) -> None:
    check_tree(parse(text))
    assert outcome(code_of(parse(text)), values) == outcome(generated(parse(text)), values)


@pytest.mark.parametrize("text", ["'1' < 2 < missing.x", "a == 1 == missing"])
def test_all_that_is_compared_is_evaluated_first(text: str) -> None:
    values: dict[str, Json] = {"a": 2}
    assert outcome(code_of(parse(text)), values) == outcome(generated(parse(text)), values)
