"""Checks what a definition says about its inputs: JSON Schema's keywords, well formed, and defaults that fit."""

import re
from collections.abc import Callable, Mapping

from dag.checks.findings import Findings
from dag.checks.outline import Outline
from dag.checks.wording import describe, quote
from dag.problems import Path
from dag.values import Json

LONGEST_PATTERN = 500
"""No readable pattern is longer."""


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


TYPES: Mapping[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and value == int(value),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}
"""JSON Schema's types; to it 1.0 is an integer and true is no number."""


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_type(value: Json) -> bool:
    return value in TYPES if isinstance(value, str) else _is_texts(value) and bool(value) and set(value) <= set(TYPES)


def _is_pattern(value: Json) -> bool:
    if not isinstance(value, str) or len(value) > LONGEST_PATTERN:
        return False
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


_Rule = tuple[Callable[[Json], bool], str]
_ANYTHING: _Rule = (lambda _: True, "anything")
_TEXT: _Rule = (lambda value: isinstance(value, str), "a text")
_TRUTH: _Rule = (lambda value: isinstance(value, bool), "true or false")
_NUMBER: _Rule = (_is_number, "a number")
_COUNT: _Rule = (_is_count, "a whole number from 0")
_LIST: _Rule = (lambda value: isinstance(value, list), "a list")
_SCHEMA: _Rule = (lambda value: isinstance(value, dict | bool), "a schema (an object)")
_SCHEMAS: _Rule = (lambda value: isinstance(value, list) and bool(value), "a list of schemas")
_NAMED: _Rule = (lambda value: isinstance(value, dict), "an object with a schema for each name")

KEYWORDS: Mapping[str, _Rule] = {
    "type": (_is_type, f"one of {', '.join(TYPES)}, or a list of them"),
    "pattern": (_is_pattern, f"a regular expression of at most {LONGEST_PATTERN} characters"),
    "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
    "required": (_is_texts, "a list of field names"),
    **dict.fromkeys(("const", "default"), _ANYTHING),
    **dict.fromkeys(("title", "description", "format", "$comment"), _TEXT),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _TRUTH),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT),
    **dict.fromkeys(("minContains", "maxContains"), _COUNT),
    **dict.fromkeys(("enum", "examples"), _LIST),
    **dict.fromkeys(
        ("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"), _SCHEMA
    ),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _SCHEMAS),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), _NAMED),
}
"""The JSON Schema keywords of an input and the rule for each one's value. `$ref` is not among them: it may fetch."""


def check_inputs(outline: Outline, findings: Findings) -> None:
    """Report keywords that JSON Schema does not have or that are malformed, and defaults of the wrong type."""
    for name, declared in (outline.inputs or {}).items():
        if not isinstance(declared, dict):
            continue  # reported with the fields
        path: Path = ("inputs", name)
        own = {"type", "required", "default"}  # `type` and `required` are fields of ours, checked with the fields
        _check_schema({key: value for key, value in declared.items() if key not in own}, path, findings)
        _check_default(declared, path, findings)


def _check_default(declared: dict[str, Json], path: Path, findings: Findings) -> None:
    default, kind = declared.get("default"), declared.get("type")
    if default is None:
        return
    if isinstance(kind, str) and kind in TYPES and not TYPES[kind](default):
        message = f"the default of input '{path[-1]}' is {describe(default)}, but its type is {kind}"
        findings.error("wrong-default", (*path, "default"), message)
    if declared.get("required") is True:
        message = f"the input '{path[-1]}' is required, so its default is never used"
        findings.warning("unused-default", (*path, "default"), message, at_key=True)


def _check_schema(schema: dict[str, Json], path: Path, findings: Findings) -> None:
    pending: list[tuple[Path, Json]] = [(path, schema)]
    while pending:
        where, part = pending.pop()
        if not isinstance(part, dict):
            continue
        for keyword, value in part.items():
            _check_keyword((*where, keyword), keyword, value, findings)
            pending.extend(_schemas_in((*where, keyword), KEYWORDS.get(keyword), value))


def _check_keyword(path: Path, keyword: str, value: Json, findings: Findings) -> None:
    if keyword not in KEYWORDS:
        meant = findings.suggestions.closest(keyword, KEYWORDS)
        findings.error(
            "unknown-keyword", path, f"JSON Schema has no keyword '{quote(keyword)}' here", meant, at_key=True
        )
        return
    fits, expected = KEYWORDS[keyword]
    if not fits(value):
        findings.error("wrong-value", path, f"'{keyword}' must be {expected}, found {describe(value)}")


def _schemas_in(path: Path, rule: _Rule | None, value: Json) -> list[tuple[Path, Json]]:
    if rule is _SCHEMA:
        return [(path, value)]
    if rule is _SCHEMAS and isinstance(value, list):
        return [((*path, index), item) for index, item in enumerate(value)]
    if rule is _NAMED and isinstance(value, dict):
        return [((*path, name), item) for name, item in value.items()]
    return []
