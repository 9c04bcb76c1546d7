"""NAME=VALUE arguments become inputs by the types that the definition declares."""

import pytest

from docrail.cli.inputs import parse_inputs
from docrail.dag.language.definition import Definition
from docrail.dag.values.json_values import Json

TYPES = ("string", "integer", "number", "boolean", "object", "array")
DEFINITION = Definition.model_validate(
    {
        "id": "types",
        "inputs": {f"a_{kind}": {"type": kind} for kind in TYPES} | {"small": {"type": "integer", "maximum": 9}},
        "steps": [{"id": "a", "handler": "h"}],
    }
)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("a_string=5", "5"),
        ("a_string=true", "true"),
        ("a_string=null", "null"),
        ("a_string=", ""),
        ("a_string=a=b", "a=b"),
        ('a_string="quoted"', '"quoted"'),
        ("a_integer=5", 5),
        ("a_integer=-5", -5),
        ("a_integer=null", None),
        ("a_number=2.5", 2.5),
        ("a_number=2", 2),
        ("a_number=1e3", 1000.0),
        ("a_boolean=true", True),
        ("a_boolean=false", False),
        ('a_object={"a": [1, null]}', {"a": [1, None]}),
        ("a_array=[1, 2]", [1, 2]),
        ("a_array= [ ]", []),
    ],
)
def test_a_value_is_read_as_its_input_is_declared(argument: str, value: Json) -> None:
    (found,) = parse_inputs(DEFINITION, [argument]).values()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("a_integer=abc", "--input a_integer: expected an integer such as 5, found 'abc'"),
        ("a_integer=", "--input a_integer: expected an integer such as 5, found ''"),
        ("a_integer=2.5", "--input a_integer: is the number 2.5, expected a whole number"),
        ("a_integer=true", "--input a_integer: is true, expected a whole number"),
        ("a_number=NaN", "--input a_number: expected a number such as 2.5, found 'NaN'"),
        ("a_number=1,5", "--input a_number: expected a number such as 2.5, found '1,5'"),
        ("a_boolean=yes", "--input a_boolean: expected true or false, found 'yes'"),
        ("a_boolean=True", "--input a_boolean: expected true or false, found 'True'"),
        ("a_object={a: 1}", "--input a_object: expected a JSON object such as '{\"a\": 1}', found '{a: 1}'"),
        ("a_object=5", "--input a_object: is the number 5, expected an object"),
        ("a_array=a,b", "--input a_array: expected a JSON array such as '[1, 2]', found 'a,b'"),
        ("a_array=" + "[" * 100_000, f"--input a_array: expected a JSON array such as '[1, 2]', found '{'[' * 60}…'"),
        ("small=10", "--input small: is the number 10, expected at most 9"),
        ("a_string", "--input 'a_string': expected NAME=VALUE"),
        ("=5", "--input '=5': expected NAME=VALUE"),
        ("a_strin=5", "--input a_strin: the definition 'types' has no such input (did you mean 'a_string'?)"),
        ("a_string=\udcff", "--input a_string: the value contains half of a surrogate pair, which is not a character"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_words(argument: str, message: str) -> None:
    with pytest.raises(SystemExit) as refused:
        parse_inputs(DEFINITION, [argument])
    assert refused.value.code == message


def test_a_number_too_large_for_json_is_refused() -> None:
    with pytest.raises(SystemExit, match="--input a_number: "):
        parse_inputs(DEFINITION, ["a_number=1e999"])


def test_an_input_given_twice_is_refused() -> None:
    with pytest.raises(SystemExit, match="a_integer is given twice"):
        parse_inputs(DEFINITION, ["a_integer=1", "a_integer=2"])


def test_everything_that_does_not_fit_is_reported_at_once() -> None:
    with pytest.raises(SystemExit) as refused:
        parse_inputs(DEFINITION, ["small=10", "a_object=5"])
    assert refused.value.code == (
        "the inputs do not fit the definition 'types':\n"
        "  --input small: is the number 10, expected at most 9\n"
        "  --input a_object: is the number 5, expected an object"
    )
