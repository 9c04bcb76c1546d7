"""Templates: JSON in, JSON of the same shape out; alone an expression keeps its type, inside text it is written out."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.language.expressions.expression import MAX_LENGTH
from docrail.dag.language.expressions.templates import compile_template, has_template
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_rules import MAX_DEPTH
from docrail.dag.values.json_values import Json
from tests.dag.definitions import LAW
from tests.dag.values import Known, json_values, resolve

VALUES: dict[str, Json] = {
    "a": {"total": 12.5, "lines": [{"sku": "x"}, {"sku": "y"}], "none": None, "yes": True, "text": "t", "{{ b }}": 1},
    "b": 3,
    "steps": {"a": {"status": "completed"}},
}


@pytest.mark.parametrize(
    ("template", "value"),
    [
        # alone, an expression keeps its type
        ("{{ b }}", 3),
        ("{{b}}", 3),
        ("{{ a.total }}", 12.5),
        ("{{ a.yes }}", True),
        ("{{ a.none }}", None),
        ("{{ a.lines }}", [{"sku": "x"}, {"sku": "y"}]),
        ("{{ a.lines[0] }}", {"sku": "x"}),
        ("{{ {'n': b} }}", {"n": 3}),
        ("{{ {'n': {'m': b}} }}", {"n": {"m": 3}}),
        ("{{ [b, b + 1] }}", [3, 4]),
        ("{{ '}}' }}", "}}"),
        ("{{ '{{' }}", "{{"),
        ("{{ steps.a.status }}", "completed"),
        # inside text: written out, as JSON
        (" {{ b }}", " 3"),
        ("{{ b }} ", "3 "),
        ("{{ b }}{{ b }}", "33"),
        ("n={{ b }}, total={{ a.total }}", "n=3, total=12.5"),
        ("{{ a.yes }}/{{ a.none }}/{{ a.text }}", "true/null/t"),
        ("lines: {{ a.lines }}", 'lines: [{"sku":"x"},{"sku":"y"}]'),
        ("é {{ 'ü' }} {{ ['ß'] }}", 'é ü ["ß"]'),
        ("a\nb {{ b }}", "a\nb 3"),
        ("# no comment ## {{ b }}", "# no comment ## 3"),
        ("{# no comment #} {{ b }}", "{# no comment #} 3"),
        # once only: what comes out is not resolved again
        ("{{ '{{ b }}' }}", "{{ b }}"),
        # no template
        ("", ""),
        ("plain", "plain"),
        ("}}", "}}"),
        ("{ b }", "{ b }"),
        ("{# b #}", "{# b #}"),
        ("${b} %s {0}", "${b} %s {0}"),
        ("line\r\n", "line\r\n"),
        (None, None),
        (7, 7),
        ([], []),
        ({}, {}),
        # recursive, keys untouched
        ({"x": {"y": ["{{ b }}", {"z": "{{ a.text }}!"}]}}, {"x": {"y": [3, {"z": "t!"}]}}),
        ({"{{ b }}": "{{ b }}"}, {"{{ b }}": 3}),
        # access paths
        ({"$path": ["a", "total"]}, 12.5),
        ({"$path": ["a", "lines", "1", "sku"]}, "y"),
        ({"$path": ["a", "{{ b }}"]}, 1),
        ({"$path": ["steps", "a", "status"]}, "completed"),
        ([{"$path": ["b"]}, {"x": {"$path": ["b"]}}], [3, {"x": 3}]),
    ],
)
def test_a_template_resolves_to_its_value_with_its_type(template: Json, value: Json) -> None:
    found = resolve(template, VALUES)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "template",
    [
        "{{",
        "{{ }}",
        "{{ b",
        "{{ b }",
        "{{ b b }}",
        "{{ 'open }}",
        "{{ open('x') }}",
        "{{ a.__class__ }}",
        "{{ a | attr('x') }}",
        "{{ steps }}",
        "{% if b %}x{% endif %}",
        "{% set b = 1 %}",
        "{% include 'x' %}",
        "{% import 'os' as os %}",
        "{% for x in a %}{{ x }}{% endfor %}",
        "text {% if",
        "{{ " + "(" * 400 + "1" + ")" * 400 + " }}",
        "{{ " + "not " * 200 + "true }}",
        "{{ " + "1" * 5000 + " }}",
        {"$path": []},
        {"$path": "a.total"},
        {"$path": ["a", 0]},
        {"$path": ["steps"]},
        {"$path": ["a"], "else": 1},
        {"fine": "{{ b }}", "deep": [{"broken": "{{ b"}]},
    ],
)
def test_a_template_that_makes_no_sense_is_refused_when_it_is_compiled(template: Json) -> None:
    with pytest.raises(ExpressionError):
        compile_template(template)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ a.missing }}", "`a.missing`: 'a' has no 'missing'"),
        ("total: {{ a.missing }}", "`a.missing`: 'a' has no 'missing'"),
        ("{{ c }}", "'c' has no value here"),
        ({"$path": ["a", "missing", "deeper"]}, "'a' has no 'missing'"),
        ({"$path": ["a", "lines", "2"]}, "'a.lines' has no '2'"),
        ({"$path": ["a", "lines", "-1"]}, "'a.lines' has no '-1'"),
        ({"$path": ["a", "__class__"]}, "'a' has no '__class__'"),
        ([{"x": ["{{ b }}", "{{ b.c }}"]}], "'b' has no 'c'"),
    ],
)
def test_a_reference_that_cannot_be_resolved_is_an_error_and_never_left_as_text(template: Json, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        resolve(template, VALUES)
    assert message in caught.value.message


def nested(levels: int) -> Json:
    value: Json = "{{ b }}"
    for _ in range(levels):
        value = [value]
    return value


def test_a_config_may_be_nested_as_deep_as_the_limit_and_no_deeper() -> None:
    assert json.dumps(resolve(nested(MAX_DEPTH), VALUES)).strip("[]") == "3"
    with pytest.raises(ExpressionError, match="deeper than 40"):
        compile_template(nested(MAX_DEPTH + 1))


def test_references_are_reported_once_in_document_order() -> None:
    config = {"x": "{{ b }} {{ a.total }}", "y": [{"$path": ["a", "text"]}, "{{ b }}"], "z": "{{ steps.a.status }}"}
    assert compile_template(config).references == (("b",), ("a", "total"), ("a", "text"), ("steps", "a", "status"))


@pytest.mark.parametrize(("value", "is_one"), [("{{", True), ("{%", True), ("{", False), ({"$path": 1}, True)])
def test_a_template_contains_an_expression(value: Json, is_one: bool) -> None:
    assert has_template(value) is is_one


# -- laws --

_LEAVES = json_values | st.sampled_from(
    ["{{ a }}", "{{ b }}", "<{{ a }}>", "{{ a | default(1) }}", {"$path": ["a"]}, {"$path": ["a", "b"]}]
)
_TEMPLATES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@LAW
@given(_TEMPLATES, json_values)
def test_resolving_is_pure(template: Json, value: Json) -> None:
    values = {"a": value, "b": 1}
    before = copy.deepcopy((template, values))
    try:
        compiled = compile_template(template)
        found = [compiled.resolve(Known(values)) for _ in range(2)]
    except ExpressionError:
        found = []
    assert (template, values) == before
    assert found == found[::-1]
    assert json.dumps(found, allow_nan=False)


@LAW
@given(json_values)
def test_json_without_templates_is_left_as_it_is(value: Json) -> None:
    if "{{" not in json.dumps(value) and "{%" not in json.dumps(value):
        assert resolve(value, {}) == value
        assert compile_template(value).references == ()


@LAW
@given(st.text(), st.text())
def test_the_text_around_an_expression_is_left_as_it_is(before: str, after: str) -> None:
    known_defects = ("{", "\0", "\r")
    if not any(sign in before + after for sign in known_defects):
        assert resolve(f"{before}<{{{{ b }}}}>{after}.", VALUES) == f"{before}<3>{after}."


# -- known defects --


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("a {{ b }}\n", "a 3\n"),
        ("a\r\nb {{ b }}", "a\r\nb 3"),
        ("a\rb {{ b }}", "a\rb 3"),
        ("x\0{# y #}\0 {{ b }}", "x\0{# y #}\0 3"),
    ],
)
def test_text_around_an_expression_keeps_its_newlines(template: str, value: str) -> None:
    assert resolve(template, VALUES) == value


def test_raw_is_refused_as_every_statement() -> None:
    with pytest.raises(ExpressionError):
        compile_template("{% raw %}{{ b }}{% endraw %}")


def test_an_expression_in_a_template_has_the_length_limit_of_any_other() -> None:
    with pytest.raises(ExpressionError):
        compile_template("{{ b" + "+ b" * MAX_LENGTH + "}}")


@pytest.mark.parametrize("template", ["n: {{ n * n }}", "n: {{ m }}", {"$path": ["list", "1" * 5000]}])
def test_a_number_too_long_to_be_written_is_refused(template: Json) -> None:
    with pytest.raises(ExpressionError):
        resolve(template, {"n": 10**3000, "m": 10**5000, "list": [1]})
