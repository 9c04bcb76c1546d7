"""Paths and plain comparisons are read without Jinja's parser: into the same trees, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateSyntaxError, nodes
from jinja2.parser import Parser

from docrail.dag.language.expressions.environment import ENVIRONMENT
from docrail.dag.language.expressions.expression import compile_expression
from docrail.dag.language.expressions.grammar import parse
from docrail.dag.values.cost import ExpressionError
from tests.dag.definitions import LAW
from tests.dag.values import evaluate

WORDS = (
    *("and", "or", "not", "if", "else", "elif", "in", "is", "true", "True", "false", "False", "none", "None", "TRUE"),
    *("self", "loop", "super", "range", "caller", "recursive", "with", "missing", "__class__", "_", "a", "s1", "ins"),
    *("1", "0", "1e5", "é", "", " ", "a b", "a\n", "ﬁ", "\u0661"),
)
PATHS = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=4)), min_size=1, max_size=5).map(".".join)
OPERANDS = st.one_of(
    PATHS,
    st.sampled_from(("'x'", '"x"', "'it''s'", "'a\\n'", "'é'", "''", '"\'"', "01", "10", "1_0", "1.5", "0x1", "-1")),
    st.integers(0, 10**20).map(str),
    st.text(max_size=4).map("'{}'".format),
)
OPERATORS = st.sampled_from(("==", "!=", "<=", ">=", "<", ">", "=", "<>", "in", "is", "===", "|", "and"))
SPACES = st.sampled_from(("", " ", "  ", "\n", "\t"))
COMPARISONS = st.tuples(PATHS, SPACES, OPERATORS, SPACES, OPERANDS).map("".join)


def parsed_by_jinja(text: str) -> nodes.Expr | None:
    """Return the tree, None if the parser takes the text for no expression."""
    try:
        parser = Parser(ENVIRONMENT, text, state="variable")
        tree = parser.parse_expression()
    except (TemplateSyntaxError, SyntaxError):
        return None
    return tree if parser.stream.eos else None


def outline(tree: nodes.Node) -> list[tuple[object, ...]]:
    """Return what a tree is made of, its places and environment with it."""
    below = [part for child in tree.iter_child_nodes() for part in outline(child)]
    return [(type(tree), tree.lineno, tree.environment, [value for _, value in tree.iter_fields()]), *below]


@given(PATHS | COMPARISONS)
@LAW
def test_it_is_read_as_jinja_reads_it(text: str) -> None:
    expected = parsed_by_jinja(text)
    try:
        tree = parse(text)
    except (ExpressionError, TemplateSyntaxError):
        assert expected is None
        return
    assert expected is not None
    assert outline(tree) == outline(expected)


@pytest.mark.parametrize("text", ["1.\u0661", "1e\u0661", "\u0661.1"])
def test_numbers_in_other_digits_are_refused_as_expressions_are(text: str) -> None:
    with pytest.raises(ExpressionError, match="invalid"):
        compile_expression(f"a == {text}")


@pytest.mark.parametrize(
    "text",
    [
        *("steps.a.output", "and", "true.x", "a.1", "a..b", "a.", ".a", "a\n", "not.a", "a.not"),
        *("a == 'x'", 'a.b != "x y"', "a<1", "a >= b.c", "a == 'x' 'y'", "a == 1 == 2", "a == true", "a == 01"),
    ],
)
def test_examples(text: str) -> None:
    expected = parsed_by_jinja(text)
    if expected is None:
        with pytest.raises((ExpressionError, TemplateSyntaxError)):
            parse(text)
    else:
        assert outline(parse(text)) == outline(expected)


@pytest.mark.parametrize(
    ("text", "problems_of"),
    [
        ("a | round(1, 2, 3)", "`round` cannot be called like this; write it as in `| round(2)`"),
        ("a | default(1, foo=2)", "`default` cannot be called like this; write it as in `| default(0)`"),
        ("[1] | list(2)", "`list` cannot be called like this; write it as in `| list`"),
        ("['x'] | map('upper', 1) | list", "`upper` cannot be called like this; write it as in `| upper`"),
        ("a is gt", "`is gt` takes one value"),
        ("1 if not (a is eq(1, 2)) else 2", "`is eq` takes one value"),
        ("a is defined(1)", "`is defined` takes nothing"),
        ("[1] | select('gt') | list", "`is gt` takes one value"),
        ("[{'b': 1}] | rejectattr('b', 'none', 2) | list", "`is none` takes nothing"),
    ],
)
def test_wrong_arguments_are_reported_before_the_run(text: str, problems_of: str) -> None:
    assert compile_expression(text).misuse == problems_of
    with pytest.raises(ExpressionError):
        evaluate(text, {"a": 1.25})


@pytest.mark.parametrize(
    "text",
    [
        *("a | round", "a | round(1)", "a | round(1, 'ceil')", "a | round(precision=1)", "b | default(2, true)"),
        *(
            "a | int(0, 10)",
            "'x' | trim('x')",
            "[1] | join(', ')",
            "[1, 2] | sort(reverse=true)",
            "[1] | unique | list",
        ),
        *("[{'b': 1}] | sum(attribute='b')", "[{'b': 1}] | map(attribute='b', default=2) | list", "a is gt 1"),
        *("a is number", "b is not defined", "a in [1]", "[1] | select | list", "[1] | select('gt', 0) | list"),
        *(
            "[{'b': 1}] | selectattr('b') | list",
            "[{'b': 1}] | selectattr('b', 'eq', 1) | list",
            "['x'] | map('trim', 'x') | list",
        ),
    ],
)
def test_valid_arguments_pass(text: str) -> None:
    assert compile_expression(text).misuse is None
    evaluate(text, {"a": 1.25})
