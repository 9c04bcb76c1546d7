"""Reading a definition's text: what YAML and JSON say, where each part stands, and what cannot be read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.language.source.source import MAX_SOURCE_BYTES, read_source
from docrail.dag.language.source.tree import MAX_PARTS
from docrail.dag.validation.validate import check_definition
from docrail.dag.values.json_values import Json


def read(text: str | bytes) -> Json:
    source = read_source(text)
    assert source.problems == ()
    return source.value


def found(text: str | bytes) -> list[tuple[str, str, str]]:
    source = read_source(text)
    return [(problem.code, f"{problem.line}:{problem.column}", problem.path) for problem in source.problems]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("2024-01-01", "2024-01-01"),
        ("12:30:45", "12:30:45"),
        ("010", "010"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("+1", "+1"),
        (".5", ".5"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("-12", -12),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ('"12"', "12"),
        ("'true'", "true"),
        ("!!str 12", "12"),
        ("! 12", "12"),
        ("Ж😀", "Ж😀"),
        ('"\\u00e9"', "é"),
        ("|\n  two\n  lines\n", "two\nlines\n"),
    ],
)
def test_a_yaml_scalar_is_what_json_would_say(written: str, value: Json) -> None:
    assert canonical_type(read(f"a: {written}")["a"]) == canonical_type(value)


def canonical_type(value: Json) -> tuple[type, Json]:
    return type(value), value


def test_places_are_those_of_keys_and_values() -> None:
    places = read_source("id: é\nsteps:\n  - {id: 😀, a: [1,  2]}\n").places
    assert places.values["steps", 0, "a", 1] == (3, 21)
    assert places.keys["steps", 0, "a"] == (3, 13)
    assert places.values["id",] == (1, 5)
    assert places.values["steps", 0] == (3, 5)


def test_json_with_tabs_and_surrogate_pairs_is_read_with_places() -> None:
    source = read_source('{\n\t"a": "\\ud83d\\ude00",\n\t"b": [true, 1.5e1, {}]\n}\n')
    assert source.value == {"a": "😀", "b": [True, 15.0, {}]}
    assert source.places.keys["b",] == (3, 2)
    assert source.places.values["b", 2] == (3, 21)


def test_yaml_in_brackets_is_read() -> None:
    assert read("{id: a, steps: [b, 'c',], }  # a comment") == {"id": "a", "steps": ["b", "c"]}


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert read(b"\xef\xbb\xbfid: a") == {"id": "a"}
    assert read('\ufeff{"id": "a"}') == {"id": "a"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [("empty", "1:1", "$")], id="empty"),
        pytest.param("# nothing\n", [("empty", "1:1", "$")], id="only-a-comment"),
        pytest.param("a: 1\n---\nb: 2\n", [("several-documents", "2:1", "$")], id="two-documents"),
        pytest.param("a: 1\n\tb: 2\n", [("syntax", "2:1", "$")], id="tab-as-indentation"),
        pytest.param("a: [1, 2\n", [("syntax", "2:1", "$")], id="open-bracket"),
        pytest.param("a: b: c\n", [("syntax", "1:5", "$")], id="two-colons"),
        pytest.param('{"a": [}', [("syntax", "1:8", "$")], id="broken-json"),
        pytest.param('{"a": 1} x', [("syntax", "1:10", "$")], id="something-after-json"),
        pytest.param("a: 1\nb: 2\na: 3\n", [("duplicate-key", "3:1", "a")], id="duplicate-key"),
        pytest.param('{"a": {"b": 1, "b": 2}}', [("duplicate-key", "1:16", "a.b")], id="duplicate-key-in-json"),
        pytest.param(
            "a: {1: x, true: y}\n", [("key-not-text", "1:5", "a['1']"), ("key-not-text", "1:11", "a.true")], id="keys"
        ),
        pytest.param("? [a]\n: 1\n", [("key-not-text", "1:3", "$")], id="list-as-key"),
        pytest.param("a: &x 1\nb: *x\n", [("alias", "2:4", "b")], id="alias"),
        pytest.param("a: {<<: *x}\n", [("alias", "1:9", "a['<<']")], id="merge-key"),
        pytest.param("*x : 1\n", [("alias", "1:1", "['*x']")], id="alias-as-key"),
        pytest.param("a: !!int '1'\n", [("tag", "1:4", "a")], id="tag"),
        pytest.param("!!python/object:os.system {}\n", [("tag", "1:1", "$")], id="python-tag"),
        pytest.param("a: \x00", [("control-character", "1:4", "$")], id="nul"),
        pytest.param('{"a": "\x1b"}', [("control-character", "1:8", "$")], id="escape-character"),
        pytest.param("a: \ud800", [("control-character", "1:4", "$")], id="half-a-character"),
        pytest.param(b"a: 1\nb: \xff", [("not-utf-8", "2:4", "$")], id="not-utf-8"),
        pytest.param("a: " + "[" * 60, [("too-deep", "1:44", "$")], id="too-deep"),
        pytest.param('{"a": ' + "[" * 100_000, [("too-deep", "1:47", "$")], id="too-deep-json"),
        pytest.param("a" * (MAX_SOURCE_BYTES + 1), [("too-large", "None:None", "$")], id="too-large"),
    ],
)
def test_unreadable_text_is_reported_with_its_place(text: str | bytes, expected: list[tuple[str, str, str]]) -> None:
    assert found(text) == expected


def test_a_billion_laughs_stay_a_few() -> None:
    text = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    source = read_source(text)
    assert {problem.code for problem in source.problems} == {"alias"}
    assert source.value["a39"] == [None, None]


def test_the_number_of_values_is_limited() -> None:
    assert [code for code, _, _ in found("[" + "1," * (MAX_PARTS + 1) + "1]")] == ["too-many-values"]


def test_a_number_of_thousands_of_digits_is_refused_and_not_read() -> None:
    _, problems = check_definition(f'{{"id": {"9" * 5_000}}}', {})
    assert [problem.code for problem in problems] == ["not-json"]


def test_consequences_of_an_unread_part_are_not_reported() -> None:
    text = "id: a\nid: b\nsteps: *steps\n"
    _, problems = check_definition(text, {})
    assert [(problem.line, problem.code) for problem in problems] == [(2, "duplicate-key"), (3, "alias")]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(json_values, st.sampled_from([None, 2]), st.booleans())
def test_json_is_read_as_pythons_reader_does(value: Json, indent: int | None, ascii_only: bool) -> None:
    written = json.dumps({"a": value}, indent=indent, ensure_ascii=ascii_only)
    source = read_source(written)
    if source.complete:
        assert canonical_text(source.value) == canonical_text(json.loads(written))
    else:
        assert {problem.code for problem in source.problems} == {"control-character"}


def canonical_text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)
