"""JSON Schema: the same judgement as a library's, in words that name the place, at a bounded cost."""

import contextlib
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from docrail.dag.values.json_schema import MOST_VIOLATIONS, TooMuchWorkError, violations
from docrail.dag.values.json_values import Json
from docrail.dag.values.patterns import PatternError, check_pattern, search, weight_of
from docrail.dag.values.schema_formats import FORMATS

NAMES = st.sampled_from(["a", "b", "ab"])
NUMBERS = st.integers(-3, 3) | st.sampled_from([1.0, 0.5, 2.5])
PATTERNS = st.sampled_from(["a", "^b$", "[ab]{2}", "^$"])


def grow_values(parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.lists(parts, max_size=4) | st.dictionaries(NAMES, parts, max_size=3)


def grow_schemas(parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    some = st.lists(parts, min_size=1, max_size=3)
    counts = st.integers(0, 3)
    keywords: dict[str, st.SearchStrategy[Json]] = {
        **dict.fromkeys(("items", "contains", "additionalProperties", "propertyNames", "not"), parts),
        **dict.fromkeys(("if", "then", "else"), parts),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), some),
        **dict.fromkeys(("properties", "dependentSchemas"), st.dictionaries(NAMES, parts, max_size=3)),
        **dict.fromkeys(("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"), counts),
        **dict.fromkeys(("minContains", "maxContains"), counts),
        "patternProperties": st.dictionaries(PATTERNS, parts, max_size=2),
        "uniqueItems": st.booleans(),
        "required": st.lists(NAMES, unique=True, max_size=2),
    }
    return st.fixed_dictionaries({}, optional=keywords)


VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.sampled_from(["", "a", "b", "ab"]), grow_values, max_leaves=8
)
TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"]
LEAVES: st.SearchStrategy[Json] = st.booleans() | st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, unique=True),
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
        "multipleOf": st.integers(1, 3),
        "enum": st.lists(VALUES, max_size=3),
        "const": VALUES,
        "pattern": PATTERNS,
    },
)
SCHEMAS = st.recursive(LEAVES, grow_schemas, max_leaves=6)


@given(SCHEMAS, VALUES)
@example({"type": "integer"}, 1.0)
@example({"type": "integer"}, True)
@example({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", 1])
def test_a_value_fits_where_the_library_says_so(schema: Json, value: Json) -> None:
    assert (violations(schema, value) == []) == Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "value", "reported"),
    [
        ({"type": ["string", "null"]}, 3, ": is the number 3, expected a text or null"),
        ({"maximum": 9}, 10, ": is the number 10, expected at most 9"),
        ({"enum": ["a", 1]}, "b", """: is the text 'b', expected one of "a", 1"""),
        ({"pattern": "^[A-Z]{3}$"}, "eur", ": is the text 'eur', expected a text like ^[A-Z]{3}$"),
        ({"uniqueItems": True}, [1, 2, 1.0], "2: is equal to item 0, expected different ones"),
        ({"properties": {"a": {"required": ["b"]}}}, {"a": {}}, "a.b: is required"),
        ({"items": {"minLength": 2}}, ["ab", "a"], "1: is the text 'a', expected at least 2 characters"),
        ({"additionalProperties": False}, {"x": 1}, "x: must not be there"),
        ({"propertyNames": {"maxLength": 1}}, {"xy": 1}, ": has a field whose name is the text 'xy', expected at most"),
        ({"format": "date"}, "21.11.2026", ": is the text '21.11.2026', expected the format date"),
    ],
)
def test_a_violation_has_its_place_and_what_was_found_and_expected(schema: Json, value: Json, reported: str) -> None:
    [violation] = violations(schema, value)
    assert f"{'.'.join(map(str, violation.path))}: {violation.message}".startswith(reported)


def test_a_multiple_is_one_of_the_numbers_as_written() -> None:
    assert violations({"multipleOf": 0.01}, 19.99) == []
    assert violations({"multipleOf": 0.01}, 19.995) != []


def test_a_value_with_many_violations_reports_some() -> None:
    assert len(violations({"items": {"type": "string"}}, [1] * 1000)) == MOST_VIOLATIONS


BACKTRACKS: list[tuple[Json, Json]] = [
    ({"pattern": "^(a+)+$"}, "a" * 200_000 + "!"),
    ({"patternProperties": {"^(a+)+$": True}, "additionalProperties": False}, {"a" * 200_000 + "!": 1}),
]
QUADRATIC: list[tuple[Json, Json]] = [
    ({"uniqueItems": True}, [{"number": number, "text": "x" * 30} for number in range(5000)]),
    ({"items": {"enum": list(range(20_000))}}, list(range(40_000))),
]
ENDLESS: list[tuple[Json, Json]] = [
    ({"pattern": "[ab]*a.{5000}[c-e]{2}"}, "ab" * 130_000),
    ({"items": {"allOf": [{"type": "integer"}] * 5000}}, [1] * 50_000),
    ({"items": {"enum": ["x" * 500_000]}}, [1] * 100_000),
    ({"uniqueItems": True, "items": {"uniqueItems": True, "items": {"uniqueItems": True}}}, [[["x" * 99] * 999] * 99]),
]


@pytest.mark.parametrize(("schema", "value"), [*BACKTRACKS, *QUADRATIC, *ENDLESS])
def test_a_check_ends_within_a_worker_s_two_seconds(schema: Json, value: Json) -> None:
    began = time.process_time()
    with contextlib.suppress(TooMuchWorkError):
        violations(schema, value)
    assert time.process_time() - began < 2


def test_a_list_of_numbers_of_the_largest_size_can_be_checked() -> None:
    assert violations({"type": "array", "items": {"type": "integer", "minimum": 0}}, [1] * 100_000) == []


@pytest.mark.parametrize("pattern", ["(", "(" * 5000, "(?=a)b", r"(a)\1", "[a-", r"(\w{1,100}){1,100}"])
def test_a_pattern_that_cannot_be_searched_in_linear_time_is_refused_in_one_line(pattern: str) -> None:
    with pytest.raises(PatternError) as refused:
        check_pattern(pattern)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) <= 100


def test_the_end_in_a_pattern_is_the_end_of_the_text() -> None:
    assert not search("^a$", "a\n")


@pytest.mark.parametrize(
    ("pattern", "weight"), [("abc", 3), (r"[a\]b]{3}\d", 4), ("(ab){2,10}c", 21), ("((a{3}){4}){5}", 60), ("a{2,}", 2)]
)
def test_the_weight_of_a_pattern_is_its_length_written_out(pattern: str, weight: int) -> None:
    assert weight_of(pattern) == weight


def accepted(name: str) -> Callable[[str], bool]:
    return lambda text: violations({"format": name}, text) == []


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("date", ["2024-02-29", "0001-01-01"], ["2023-02-29", "2026-1-1", "20260101", "2026-01-01\n", "2026-13-01"]),
        ("date-time", ["2026-11-21T10:00:00Z", "2026-11-21t10:00:00.5+02:00"], ["2026-11-21", "2026-11-21T10:00:00"]),
        ("time", ["10:00:00Z", "23:59:60Z", "01:59:60+02:00"], ["10:00", "24:00:00Z", "22:59:60Z", "10:00:00"]),
        ("duration", ["P1Y2M3DT4H5M6S", "PT1M", "P4W"], ["P", "PT", "P1", "1D", "P1W2D", "P1DT"]),
        ("email", ["a.b+c@example.org"], ["a", "@b", "a b@c.d", "a@b@c", "a@-b.c", "a@b\n"]),
        ("hostname", ["example.org", "localhost"], ["-a.b", "a..b", "a_b", "x" * 64, "a.b\n", ""]),
        ("ipv4", ["127.0.0.1"], ["1.2.3", "01.2.3.4", "1.2.3.256"]),
        ("ipv6", ["::1", "2001:db8::8:800:200c:417a"], ["::1%lo", "1.2.3.4", ":::"]),
        ("uri", ["https://example.org/a?b=%20#c", "urn:isbn:1"], ["example.org", "http://a b", "http://%zz"]),
        ("uuid", ["0f9c6c4b-3a2d-4e5f-8a7b-6c5d4e000000"], ["0f9c6c4b3a2d4e5f8a7b6c5d4e000000", "x"]),
        ("json-pointer", ["", "/a/~0b/0"], ["a", "/~2"]),
    ],
)
def test_a_format_is_checked(name: str, right: list[str], wrong: list[str]) -> None:
    assert [text for text in right if not accepted(name)(text)] == []
    assert [text for text in wrong if accepted(name)(text)] == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_checked_in_linear_time(name: str) -> None:
    began = time.process_time()
    for text in ("a" * 250_000, "a." * 100_000 + "@", "/~0" * 80_000 + "~", "P" + "1" * 250_000, "%20" * 80_000 + "%"):
        accepted(name)(text)
    assert time.process_time() - began < 1
