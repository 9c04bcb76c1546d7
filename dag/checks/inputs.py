"""Checks JSON Schemas, of inputs and of answers: keywords that exist, well formed, and defaults that fit."""

from collections.abc import Callable, Mapping

from dag.checks.findings import Findings
from dag.checks.outline import Outline
from dag.checks.wording import describe, field_name, quote
from dag.formats import FORMATS
from dag.patterns import PatternError, check_pattern
from dag.problems import Path
from dag.values import Json

MOST_FIELDS = 3
"""Fields that a suggestion names."""


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


def _is_format(value: Json) -> bool:
    return isinstance(value, str) and value in FORMATS


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
    "format": (_is_format, f"one of {', '.join(FORMATS)}"),
    "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
    "required": (_is_texts, "a list of field names"),
    **dict.fromkeys(("const", "default"), _ANYTHING),
    **dict.fromkeys(("title", "description", "pattern", "$comment"), _TEXT),
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
"""The JSON Schema keywords of a schema and the rule for each one's value. `$ref` is not among them: it may fetch."""


def check_inputs(outline: Outline, findings: Findings) -> None:
    """Report keywords that JSON Schema does not have or that are malformed, and defaults of the wrong type."""
    for name, declared in (outline.inputs or {}).items():
        if not isinstance(declared, dict):
            continue  # reported with the fields
        path: Path = ("inputs", name)
        own = {"type", "required", "default"}  # `type` and `required` are fields of ours, checked with the fields
        check_schema({key: value for key, value in declared.items() if key not in own}, path, findings)
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


def check_schema(schema: dict[str, Json], path: Path, findings: Findings) -> None:
    """Report what is no JSON Schema in the object `schema`, which stands at `path`, and in the schemas within it."""
    pending: list[tuple[Path, Json]] = [(path, schema)]
    while pending:
        where, part = pending.pop()
        if isinstance(part, dict):
            for keyword, value in part.items():
                _check_keyword((*where, keyword), keyword, value, findings)
                pending.extend(_schemas_in((*where, keyword), KEYWORDS.get(keyword), value))
        elif not isinstance(part, bool):
            meant = f"{{type: {part}}}" if isinstance(part, str) and part in TYPES else None
            message = f"the schema of '{field_name(where)}' must be an object, found {describe(part)}"
            findings.error("wrong-type", where, message, meant)


def check_answer_schema(schema: Json, path: Path, findings: Findings) -> None:
    """Report what is no JSON Schema at `path`. Fields listed without `properties` around them are one mistake."""
    if not isinstance(schema, dict):
        return  # reported with the fields
    if schema and not any(keyword in KEYWORDS for keyword in schema):
        message = f"'{path[-1]}' is a JSON Schema, and none of its words stands in it"
        fields = ", ".join(f"{quote(name)}: {{type: …}}" for name in list(schema)[:MOST_FIELDS])
        findings.error("unknown-keyword", path, message, f"{{type: object, properties: {{{fields}}}}}")
        return
    check_schema(schema, path, findings)


def _check_keyword(path: Path, keyword: str, value: Json, findings: Findings) -> None:
    if keyword not in KEYWORDS:
        meant = findings.suggestions.closest(keyword, KEYWORDS)
        if meant is not None and not KEYWORDS[meant][0](value):
            meant = None
        message = f"JSON Schema has no keyword '{quote(keyword)}' here"
        if keyword.startswith("$"):
            message += ": nothing is looked up elsewhere, so write the schema out"
        elif meant is None:
            message += "; the fields of an object stand under 'properties'"
        findings.error("unknown-keyword", path, message, meant, at_key=True)
        return
    fits, expected = KEYWORDS[keyword]
    if not fits(value):
        meant = findings.suggestions.closest(value, FORMATS) if keyword == "format" and isinstance(value, str) else None
        findings.error("wrong-value", path, f"'{keyword}' must be {expected}, found {describe(value)}", meant)
    elif keyword == "pattern":
        _check_pattern(path, value, findings)
    elif keyword == "patternProperties":
        for pattern in value:
            _check_pattern((*path, pattern), pattern, findings)


def _check_pattern(path: Path, pattern: str, findings: Findings) -> None:
    try:
        check_pattern(pattern)
    except PatternError as error:
        message = f"'{quote(pattern)}' is no regular expression that can be searched in bounded time: {error}"
        findings.error("wrong-pattern", path, message)


def _schemas_in(path: Path, rule: _Rule | None, value: Json) -> list[tuple[Path, Json]]:
    if rule is _SCHEMA:
        return [(path, value)] if isinstance(value, dict) else []
    if rule is _SCHEMAS and isinstance(value, list):
        return [((*path, index), item) for index, item in enumerate(value)]
    if rule is _NAMED and isinstance(value, dict):
        return [((*path, name), item) for name, item in value.items()]
    return []
