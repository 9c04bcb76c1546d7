"""The expression language: what it takes, what it gives, what it refuses, and that it is a pure function of JSON."""

import copy
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.language.expressions.environment import FILTERS
from docrail.dag.language.expressions.expression import MAX_LENGTH, compile_expression
from docrail.dag.language.expressions.expression_errors import NOTHING_IN_LIST
from docrail.dag.language.expressions.grammar import MAX_DEPTH
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import MAX_INTEGER, Json
from tests.dag.definitions import LAW
from tests.dag.values import Known, evaluate, json_values

VALUES: dict[str, Json] = {
    "extract": {"total": 1200.5, "vendor": " ACME ", "lines": [{"n": 2, "ok": True}, {"n": 1, "ok": False}], "x": None},
    "inputs": {"limit": 1000, "tags": ["b", "a", "b"], "name": "invoice", "items": [3, 1, 2], "empty": []},
    "steps": {"extract": {"status": "completed", "error": None}},
    "odd": {"a b": 1, "_x": 2, "__class__": 3, "0": "zero", "keys": "a key, not a method"},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # names and paths
        ("extract.total", 1200.5),
        ("extract['total']", 1200.5),
        ("extract.lines[0].n", 2),
        ("extract.lines.1.n", 1),
        ("extract.lines[-1].n", 1),
        ("extract.x", None),
        ("inputs.items[inputs.items[1]]", 1),
        ("extract[inputs.tags[1] | default('a') | lower] | default('none')", "none"),
        ("odd['a b']", 1),
        ("odd._x", 2),
        ("odd['__class__']", 3),
        ("odd['0']", "zero"),
        ("odd.keys", "a key, not a method"),
        ("inputs.items", [3, 1, 2]),
        ("steps.extract.status", "completed"),
        ('steps["extract"].error', None),
        # constants
        ("1", 1),
        ("1.5", 1.5),
        ("'a'", "a"),
        ('"a"', "a"),
        ("true", True),
        ("none", None),
        ("[1, 'a', none]", [1, "a", None]),
        ("(1, 2)", [1, 2]),
        ("{'a': {'b': [1]}}", {"a": {"b": [1]}}),
        # logic
        ("extract.total > inputs.limit", True),
        ("1 < 2 < 3", True),
        ("1 < 3 < 2 or 3 >= 3 != 4 <= 3", False),
        ("1 in [1] and 1 not in [2]", True),
        ("extract.total >= 1000 and not extract.lines[1].ok", True),
        ("false or 'x' == 'x'", True),
        ("'a' in inputs.tags", True),
        ("'z' not in inputs.tags", True),
        ("'voice' in inputs.name", True),
        ("'total' in extract", True),
        ("extract.x is none", True),
        ("extract.x is not none", False),
        ("extract.missing is defined", False),
        ("extract.missing.deeper.still is defined", False),
        ("nobody is defined", False),
        ("extract.total is number", True),
        ("inputs.name is string", True),
        ("2 is in inputs.items", True),
        ("'big' if extract.total > 1000 else 'small'", "big"),
        ("'x' if false else 'y'", "y"),
        # arithmetic
        ("extract.total + 1", 1201.5),
        ("7 // 2", 3),
        ("7 % 4", 3),
        ("7 / 2", 3.5),
        ("2 * 3 - 1", 5),
        ("-inputs.limit", -1000),
        ("-(1 - 3)", 2),
        # filters
        ("extract.vendor | trim | lower", "acme"),
        ("inputs.name | upper", "INVOICE"),
        ("inputs.items | length", 3),
        ("inputs.items | sum", 6),
        ("inputs.items | min", 1),
        ("inputs.items | max", 3),
        ("inputs.items | first", 3),
        ("inputs.items | last", 2),
        ("inputs.items | sort", [1, 2, 3]),
        ("inputs.items | sort(reverse=true)", [3, 2, 1]),
        ("inputs.tags | unique", ["b", "a"]),
        ("inputs.tags | join('-')", "b-a-b"),
        ("extract.total | round(0) | int", 1200),
        ("extract.total | round(1, 'floor')", 1200.5),
        ("'42' | int", 42),
        ("'4.5' | float", 4.5),
        ("'x' | int(7)", 7),
        ("extract.lines | map(attribute='n')", [2, 1]),
        ("extract.lines | map(attribute='n') | sum", 3),
        ("extract.lines | sum(attribute='n')", 3),
        ("extract.lines | sort(attribute='n') | first", {"n": 1, "ok": False}),
        ("extract.lines | selectattr('ok') | map(attribute='n')", [2]),
        ("extract.lines | rejectattr('ok') | list | length", 1),
        ("extract.lines | selectattr('n', 'gt', 1) | list | length", 1),
        ("inputs.items | select('ge', 2)", [3, 2]),
        ("inputs.items | reject('eq', 3) | list", [1, 2]),
        ("inputs.tags | map('upper')", ["B", "A", "B"]),
        # what is not there
        ("extract.missing | default(0)", 0),
        ("extract.missing.deeper[0].still | default('x')", "x"),
        ("nobody.knows | default('x')", "x"),
        ("inputs.empty | first | default('nothing')", "nothing"),
        ("inputs.empty | max | default(0)", 0),
        ("inputs.items[99] | default(0)", 0),
        ("extract.x | default('x')", None),
        ("extract.x | default('x', true)", "x"),
        ("extract.missing or 1 if false else 2", 2),
        ("'here' if extract.missing is defined else 'gone'", "gone"),
    ],
)
def test_an_expression_gives_its_value_with_its_type(text: str, value: Json) -> None:
    found = evaluate(text, VALUES)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        # calls, however they are written
        "open('/etc/passwd')",
        "extract.keys()",
        "inputs.name.upper()",
        "range(10)",
        "lipsum()",
        "cycler(1)",
        "dict(a=1)",
        "namespace(a=1)",
        "(extract)()",
        "'{0.__class__}'.format(1)",
        "'%s' | format(1)",
        "self()",
        # names and attributes with two underscores in front
        "__builtins__",
        "__import__('os')",
        "extract.__class__",
        "''.__class__.__mro__",
        "extract.__init__.__globals__",
        # filters and tests that reach further, or that are not there
        "extract | attr('__class__')",
        "extract | attr('total')",
        "extract | tojson",
        "extract | pprint",
        "extract | items",
        "extract | dictsort",
        "inputs.items | random",
        "inputs.items | batch(2)",
        "inputs.items | groupby('a')",
        "inputs.items | slice(2)",
        "inputs.name | replace('a', 'b')",
        "inputs.name | safe",
        "inputs.name | string",
        "inputs.name | center(1000000000)",
        "inputs.name | indent(1000000000)",
        "inputs.name | urlize",
        "inputs.name | filesizeformat",
        "inputs.name | nothing",
        "inputs.name is callable",
        "inputs.name is filter",
        "inputs.name is nothing",
        # what is to be done with each part, by a name
        "inputs.tags | map('nope')",
        "inputs.tags | map('attr', '__class__')",
        "inputs.tags | map('tojson')",
        "inputs.tags | map(inputs.name)",
        "inputs.tags | map",
        "inputs.tags | map(default=1)",
        "inputs.tags | select('nope')",
        "inputs.tags | select('callable')",
        "inputs.tags | reject('__compare')",
        "inputs.tags | selectattr('a', 'nope')",
        "inputs.tags | rejectattr",
        # operators
        "2 ** 64",
        "'a' ~ 'b'",
        "inputs.items[0:2]",
        "inputs.items[::-1]",
        # statements, comments, more than one expression, nothing
        "{% set x = 1 %}",
        "{% for x in inputs.items %}{% endfor %}",
        "{# comment #}",
        "1 {# comment #}",
        "1 }} {{ 2",
        "{{ 1 }}",
        "1; 2",
        "1, 2",
        "x = 1",
        "lambda: 1",
        "[x for x in inputs.items]",
        "1 if",
        "inputs.",
        "inputs.items[",
        "'open",
        "'\\x'",
        "&",
        "$path",
        "",
        " ",
        "\n",
        # steps without a name that can be checked
        "steps",
        "steps | length",
        "steps[inputs.name].status",
        "[steps]",
        # size
        "(" * 400 + "1" + ")" * 400,
        "[" * 300 + "]" * 300,
        "not " * 200 + "true",
        "-" * 900 + "1",
        " + ".join(["1"] * (MAX_DEPTH + 2)),
        "1" + " " * MAX_LENGTH,
    ],
)
def test_expressions_outside_the_language_are_refused_when_compiled(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_expression(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extract.missing", "'extract' has no 'missing': it has total, vendor, lines, x"),
        (
            "nobody",
            "'nobody' has no value here: a step has one once it completed; `nobody | default(...)` gives another",
        ),
        (
            "nobody.knows",
            "'nobody' has no value here: a step has one once it completed; `nobody | default(...)` gives another",
        ),
        (
            "nobody > 1",
            "'nobody' has no value here: a step has one once it completed; `nobody | default(...)` gives another",
        ),
        ("extract.missing == 1", "'extract' has no 'missing': it has total, vendor, lines, x"),
        ("not extract.missing", "'extract' has no 'missing': it has total, vendor, lines, x"),
        ("extract.missing + 1", "'extract' has no 'missing': it has total, vendor, lines, x"),
        ("extract.missing | upper", "'extract' has no 'missing': it has total, vendor, lines, x"),
        ("extract.missing | length", "'extract' has no 'missing': it has total, vendor, lines, x"),
        ("extract.missing | default(extract.gone)", "'extract' has no 'gone': it has total, vendor, lines, x"),
        ("[extract.missing]", "'extract' has no 'missing': it has total, vendor, lines, x"),
        ("{'a': extract.missing}", "'extract' has no 'missing': it has total, vendor, lines, x"),
        ("inputs.items | map(attribute='a')", "the number 3 has no 'a'"),
        ("extract.lines | map(attribute='__class__') | list", "an object has no '__class__': it has n, ok"),
        ("inputs.tags | map(attribute='__class__') | list", "the text 'b' has no '__class__'"),
        ("inputs.tags | selectattr('__class__') | list", "the text 'b' has no '__class__'"),
        ("inputs.tags | sort(attribute='__class__') ", "the text 'a' has no '__class__'"),
        ("inputs.tags | map(attribute='upper') | list", "the text 'b' has no 'upper'"),
        ("inputs.name.upper", "'inputs.name' has no 'upper': it is the text 'invoice'"),
        ("inputs.name[0]", "'inputs.name' has no element 0: it is the text 'invoice'"),
        (
            "inputs.items.pop",
            "'inputs.items' has no 'pop': it is a list; read an element, as in [0], or all, `| map(attribute='pop')`",
        ),
        ("inputs.items[99]", "'inputs.items' has no element 99: it is a list of 3, numbered from 0"),
        ("inputs.items[true]", "a list has no part that true names: it is a list of 3, numbered from 0"),
        ("inputs.items['0x']", "'inputs.items' has no '0x': it is a list of 3, numbered from 0"),
        ("['a', none] | join", "`join` needs texts or numbers, got null"),
        ("[true] | join", "`join` needs texts or numbers, got true"),
        ("none | upper", "`upper` needs a text, got null"),
        ("'\\x00'", "the text contains the character NUL, which PostgreSQL cannot store"),
        ("1 / 0", "division by zero, by `/`"),
        ("1 % 0", "division by zero, by `%`"),
        ("'a' * 1000000000", "`*` needs numbers, got the text 'a'"),
        ("1000000000 * 'a'", "`*` needs numbers, got the text 'a'"),
        ("[1] * 1000000000", "`*` needs numbers, got a list"),
        ("'a' + 'b'", "`+` needs numbers, got the text 'a'; texts go side by side, {{ a }}{{ b }}"),
        ("[1] + [2]", "`+` needs numbers, got a list"),
        ("'%1000000000d' % 1", "`%` needs numbers, got the text '%1000000000d'"),
        ("true + 1", "`+` needs numbers, got true"),
        ("none + 1", "`+` needs numbers, got null"),
        ("-'a'", "`-` needs a number, got the text 'a'"),
        ("'a' < 1", "`<` cannot compare the text 'a' with the number 1: `| float` converts a text to a number"),
        ("none > 1", "`>` cannot compare null with the number 1: check `is not none` first"),
        ("1 in 5", "`in` looks into a list, an object or a text, got the number 5"),
        ("5 | length", "`length` needs a list, an object or a text, got the number 5"),
        (
            "[1, 'a'] | sort",
            "`sort` compares texts with texts and numbers with numbers; objects by a part, `| sort(attribute='date')`",
        ),
        ("['a', 1] | sum", "`sum` needs numbers, got the text 'a'"),
        ("1 if false", "`if` without `else` gave nothing: add an `else`"),
        ("{1: 2}", "an object's keys must be texts, found the number 1"),
        ("1e308 * 10", "the number inf is not a JSON value"),
        ("-1e308 * 10 - 1e308 * 10", "the number -inf is not a JSON value"),
        ("inputs.empty | first", NOTHING_IN_LIST),
        ("inputs.empty | max", NOTHING_IN_LIST),
    ],
)
def test_evaluation_errors_are_reported_in_the_authors_terms(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, VALUES)
    assert caught.value.message == f"`{text}`: {message}"


def test_a_result_is_plain_json_and_not_a_lazy_list() -> None:
    assert evaluate("inputs.tags | map('upper')", VALUES) == ["B", "A", "B"]
    assert type(evaluate("inputs.items | select", VALUES)) is list


def test_references_are_the_paths_an_expression_reads() -> None:
    text = "a.b[0].c > inputs.x and (steps.d.status == 'failed' or e['f'] | default(g) | length > 1)"
    expected = (("a", "b", "0", "c"), ("inputs", "x"), ("steps", "d", "status"), ("e", "f"), ("g",))
    assert compile_expression(text).references == expected


@pytest.mark.parametrize("name", ["result", "context", "environment", "loop", "caller", "super", "missing", "class"])
def test_a_step_may_be_called_what_jinja_or_python_use_for_themselves(name: str) -> None:
    assert evaluate(f"{name}.total + 1", {name: {"total": 2}}) == 3


def test_a_compiled_expression_keeps_nothing_of_an_evaluation() -> None:
    expression = compile_expression("[a | default('none')] | first")
    assert [expression.evaluate(Known({"a": 1})), expression.evaluate(Known())] == [1, "none"]


# -- laws --

_ATOMS = st.sampled_from(
    [
        "a",
        "b.c",
        "a[0]",
        "a.b.c",
        "steps.a.status",
        "missing",
        "1",
        "2.5",
        "'x'",
        "true",
        "none",
        "[]",
        "[a, b]",
        "{'k': a}",
        *("(b, 1)", "''", "-1", "0"),
    ]
)
_FILTERS = st.sampled_from(
    [name for name in FILTERS if name not in ("map", "selectattr", "rejectattr")]
    + ["map('upper')", "map(attribute='a')", "join(',')", "default(1)", "select('gt', 1)", "selectattr('a')"]
)
_OPERATORS = st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "==", "!=", ">=", "in", "not in", "and", "or"])
expressions = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, _OPERATORS, inner),
        st.builds("({} | {})".format, inner, _FILTERS),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("(not {})".format, inner),
        st.builds("{}[{}]".format, st.sampled_from(["a", "b"]), inner),
        st.builds("({} is {})".format, inner, st.sampled_from(["defined", "none", "number", "string", "eq(1)"])),
    ),
    max_leaves=8,
)
scopes = st.fixed_dictionaries(
    {"a": json_values, "b": json_values, "steps": st.fixed_dictionaries({"a": st.just({"status": "completed"})})}
)


@LAW
@given(expressions, scopes)
def test_evaluation_gives_json_or_an_expression_error_and_never_changes_its_inputs(
    text: str, values: dict[str, Json]
) -> None:
    expression, before = compile_expression(text), copy.deepcopy(values)
    found = [_value_of(expression.evaluate(Known(values))) for _ in range(2)] if _works(text, values) else []
    assert values == before
    assert found == found[::-1]


def _works(text: str, values: dict[str, Json]) -> bool:
    try:
        evaluate(text, values)
    except ExpressionError:
        return False
    return True


def _value_of(found: Json) -> str:
    return json.dumps(found, allow_nan=False)


_TOKENS = [
    *"ab1.'\"[](){}|,:+-*/%<>=!~_ \\\n#&",
    " and ",
    " if ",
    " else ",
    " is ",
    " not ",
    " in ",
    "{{",
    "}}",
    "**",
    "{%",
]


@LAW
@given(st.lists(st.sampled_from(_TOKENS), max_size=12).map("".join) | st.text(max_size=20))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    with suppress(ExpressionError):
        compile_expression(text)


_PLAIN_TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=126))
_INTEGERS = st.integers(-MAX_INTEGER, MAX_INTEGER)
_CONSTANTS = st.recursive(
    st.booleans() | _INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | _PLAIN_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_PLAIN_TEXT, inner, max_size=3),
    max_leaves=8,
)


@LAW
@given(_CONSTANTS)
def test_a_json_constant_gives_itself(value: Json) -> None:
    text = json.dumps(value)
    if len(text) <= MAX_LENGTH:
        assert evaluate(text, {}) == value


# -- known defects of the language --

BIG = {"n": 10**3000, "text": "x" * 4000, "items": [1, 2], "self": {"total": 2}}


@pytest.mark.parametrize("text", ["1e400", "1e400 > n", "'inf' | float", "'nan' | float", "[n, 1e999] | max > 3"])
def test_an_infinite_constant_is_refused_and_never_stops_a_run(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(text, BIG)


@pytest.mark.parametrize("text", ["n * n", "[n * n]", "n * n * n * n"])
def test_a_number_too_long_to_be_written_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(text, BIG)


@pytest.mark.parametrize("text", ["1 | round(-100000)", "text | join(text)", "text | join(text) | length"])
def test_a_filter_that_costs_far_more_than_its_input_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(text, BIG)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("not (items | select('gt', 5))", True),
        ("(items | select('gt', 5)) and true", []),
        ("(items | select('gt', 1)) == [2]", True),
        ("items | map('round') | length", 2),
        ("items | map('round') | last", 2),
    ],
)
def test_a_filter_that_gives_a_list_gives_a_list_everywhere(text: str, value: Json) -> None:
    assert evaluate(text, BIG) == value


@pytest.mark.parametrize("text", ["self.total + 1", "self is defined", "[self]"])
def test_a_name_of_jinjas_own_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="reserved by Jinja"):
        compile_expression(text)


def test_a_text_that_cannot_be_encoded_is_refused() -> None:
    with pytest.raises(ExpressionError):
        evaluate('"\\ud800"', {})


def test_compiling_does_not_depend_on_the_callers_stack_depth() -> None:
    def verdicts(frames: int) -> list[bool]:
        return verdicts(frames - 1) if frames else [_compiles("(" * depth + "1" + ")" * depth) for depth in range(80)]

    assert verdicts(0) == verdicts(300)


def _compiles(text: str) -> bool:
    try:
        compile_expression(text)
    except ExpressionError:
        return False
    return True
