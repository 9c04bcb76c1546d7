"""Inputs: JSON Schema keywords and defaults."""

import pytest

from tests.dag.catalogue import EXTRACT, Problems, problems_of

INPUT = "inputs:\n  n: {}\n" + EXTRACT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            INPUT.replace("{}", "{type: strng}"),
            [
                (
                    "2:13 wrong-value inputs.n.type",
                    (
                        "'type' must be 'string', 'integer', 'number', 'boolean', 'object' or 'array', found the "
                        "text 'strng'"
                    ),
                    "string",
                ),
            ],
            id="unknown-type",
        ),
        pytest.param(
            INPUT.replace("{}", "{default: 3}"),
            [
                ("2:6 missing-field inputs.n.type", "'n' needs the field 'type'"),
            ],
            id="no-type",
        ),
        pytest.param(
            INPUT.replace("{}", "string"),
            [
                ("2:6 wrong-type inputs.n", "'n' must be an object, found the text 'string'", "{type: string}"),
            ],
            id="input-that-is-a-text",
        ),
        pytest.param(
            "inputs: {sla-hours: {type: integer}}\n" + EXTRACT,
            [
                (
                    "1:10 bad-id inputs['sla-hours']",
                    "'sla-hours' cannot be an id: it must begin with a letter and contain only letters, digits and _",
                    "sla_hours",
                ),
            ],
            id="input-name-with-a-dash",
        ),
        pytest.param(
            INPUT.replace("{}", "{type: integer, minumum: 3}"),
            [
                ("2:22 unknown-keyword inputs.n.minumum", "JSON Schema has no keyword 'minumum' here", "minimum"),
            ],
            id="unknown-keyword",
        ),
        pytest.param(
            INPUT.replace("{}", "{type: object, $ref: 'https://example.org/schema'}"),
            [
                (
                    "2:21 unknown-keyword inputs.n['$ref']",
                    "JSON Schema has no keyword '$ref' here: references are not followed, so write out the schema",
                ),
            ],
            id="keyword-that-would-fetch",
        ),
        pytest.param(
            INPUT.replace("{}", "{type: string, pattern: '(', minLength: -1, enum: a}"),
            [
                (
                    "2:30 wrong-pattern inputs.n.pattern",
                    "'(' is not a regular expression that is searched in linear time: unclosed group",
                ),
                (
                    "2:46 wrong-value inputs.n.minLength",
                    "'minLength' must be a whole number from 0, found the number -1",
                ),
                ("2:56 wrong-value inputs.n.enum", "'enum' must be a list, found the text 'a'"),
            ],
            id="malformed-keywords",
        ),
        pytest.param(
            INPUT.replace("{}", "{type: array, items: {type: object, properties: {a: {type: text}}}}"),
            [
                (
                    "2:65 wrong-value inputs.n.items.properties.a.type",
                    (
                        "'type' must be one of string, integer, number, boolean, object, array, null, or a list of "
                        "them, found the text 'text'"
                    ),
                ),
            ],
            id="fault-in-a-nested-schema",
        ),
        pytest.param(
            INPUT.replace("{}", "{type: integer, default: x}"),
            [
                (
                    "2:31 wrong-default inputs.n.default",
                    "the default of input 'n' is the text 'x', but its type is integer",
                ),
            ],
            id="default-of-another-type",
        ),
        pytest.param(
            INPUT.replace("{}", "{type: integer, default: true}"),
            [
                ("2:31 wrong-default inputs.n.default", "the default of input 'n' is true, but its type is integer"),
            ],
            id="true-is-no-integer",
        ),
        pytest.param(
            INPUT.replace("{}", "{type: integer, required: true, default: 3}"),
            [
                (
                    "2:38 warning unused-default inputs.n.default",
                    "the input 'n' is required, so its default is never used",
                ),
            ],
            id="default-of-a-required-input",
        ),
    ],
)
def test_a_wrong_input_is_reported_with_its_place(text: str, expected: Problems) -> None:
    assert problems_of(text) == expected
