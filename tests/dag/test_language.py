"""Paths are read without Jinja's parser: into the same trees, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateSyntaxError, nodes
from jinja2.parser import Parser

from dag.expressions import compile_expression
from dag.language import parse
from dag.sandbox import ENVIRONMENT
from dag.work import ExpressionError
from tests.dag.definitions import LAW

WORDS = (
    *("and", "or", "not", "if", "else", "elif", "in", "is", "true", "True", "false", "False", "none", "None", "TRUE"),
    *("self", "loop", "super", "range", "caller", "recursive", "with", "missing", "__class__", "_", "a", "s1", "ins"),
    *("1", "0", "1e5", "é", "", " ", "a b", "a\n", "ﬁ", "\u0661"),
)
PATHS = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=4)), min_size=1, max_size=5).map(".".join)


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


@given(PATHS)
@LAW
def test_a_path_is_read_as_jinja_reads_it(text: str) -> None:
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
    "text", ["steps.a.output", "and", "true.x", "a.1", "a..b", "a.", ".a", "a\n", "not.a", "a.not"]
)
def test_examples(text: str) -> None:
    expected = parsed_by_jinja(text)
    if expected is None:
        with pytest.raises((ExpressionError, TemplateSyntaxError)):
            parse(text)
    else:
        assert outline(parse(text)) == outline(expected)
