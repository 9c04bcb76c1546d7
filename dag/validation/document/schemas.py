"""Check the JSON Schemas of inputs and answers: known keywords, well formed, and with fitting defaults."""

from docrail.dag.validation.document.outline import Outline
from docrail.dag.values import json_schema
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_values import Json
from docrail.dag.values.patterns import PatternError, check_pattern
from docrail.dag.values.problems import Path
from docrail.dag.values.schema_formats import FORMATS
from docrail.dag.values.wording import describe, field_name, quote

MOST_FIELDS = 3
"""Fields that a suggestion lists."""


def check_inputs(outline: Outline, findings: Findings) -> None:
    """Report keywords that JSON Schema does not have or that are malformed, and defaults of the wrong type."""
    for name, declared in (outline.inputs or {}).items():
        if not isinstance(declared, dict):
            continue  # reported with the fields
        path: Path = ("inputs", name)
        own = {"type", "required", "default"}  # `type` and `required` are fields of the model, checked with the fields
        check_schema({key: value for key, value in declared.items() if key not in own}, path, findings)
        _check_default(declared, path, findings)


def _check_default(declared: dict[str, Json], path: Path, findings: Findings) -> None:
    default, kind = declared.get("default"), declared.get("type")
    if default is None:
        return
    if isinstance(kind, str) and kind in json_schema.TYPES and not json_schema.TYPES[kind](default):
        message = f"the default of input '{path[-1]}' is {describe(default)}, but its type is {kind}"
        findings.error("wrong-default", (*path, "default"), message)
    if declared.get("required") is True:
        message = f"the input '{path[-1]}' is required, so its default is never used"
        findings.warning("unused-default", (*path, "default"), message, at_key=True)


def check_schema(schema: dict[str, Json], path: Path, findings: Findings) -> None:
    """Report what is not valid JSON Schema in the object `schema` at `path`, and in the schemas within it."""
    pending: list[tuple[Path, Json]] = [(path, schema)]
    while pending:
        where, part = pending.pop()
        if isinstance(part, dict):
            for keyword, value in part.items():
                _check_keyword((*where, keyword), keyword, value, findings)
                pending.extend(_schemas_in((*where, keyword), json_schema.KEYWORDS.get(keyword), value))
        elif not isinstance(part, bool):
            meant = f"{{type: {part}}}" if isinstance(part, str) and part in json_schema.TYPES else None
            message = f"the schema of '{field_name(where)}' must be an object, found {describe(part)}"
            findings.error("wrong-type", where, message, meant)


def check_answer_schema(schema: Json, path: Path, findings: Findings) -> None:
    """Report what is not valid JSON Schema at `path`. Fields listed without `properties` are reported once."""
    if not isinstance(schema, dict):
        return  # reported with the fields
    if schema and not any(keyword in json_schema.KEYWORDS for keyword in schema):
        message = f"'{path[-1]}' must be a JSON Schema, and has none of its keywords"
        fields = ", ".join(f"{quote(name)}: {{type: …}}" for name in list(schema)[:MOST_FIELDS])
        findings.error("unknown-keyword", path, message, f"{{type: object, properties: {{{fields}}}}}")
        return
    check_schema(schema, path, findings)


def _check_keyword(path: Path, keyword: str, value: Json, findings: Findings) -> None:
    if keyword not in json_schema.KEYWORDS:
        meant = findings.suggestions.closest(keyword, json_schema.KEYWORDS)
        if meant is not None and not json_schema.KEYWORDS[meant][0](value):
            meant = None
        message = f"JSON Schema has no keyword '{quote(keyword)}' here"
        if keyword.startswith("$"):
            message += ": references are not followed, so write out the schema"
        elif meant is None:
            message += "; write the fields of an object under 'properties'"
        findings.error("unknown-keyword", path, message, meant, at_key=True)
        return
    fits, expected = json_schema.KEYWORDS[keyword]
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
        message = f"'{quote(pattern)}' is not a regular expression that is searched in linear time: {error}"
        findings.error("wrong-pattern", path, message)


def _schemas_in(path: Path, rule: json_schema._SchemaRule | None, value: Json) -> list[tuple[Path, Json]]:
    if rule is json_schema.SCHEMA:
        return [(path, value)] if isinstance(value, dict) else []
    if rule is json_schema.SCHEMAS and isinstance(value, list):
        return [((*path, index), item) for index, item in enumerate(value)]
    if rule is json_schema.NAMED and isinstance(value, dict):
        return [((*path, name), item) for name, item in value.items()]
    return []


def check_fit(schema: Json, value: Json, path: Path, findings: Findings) -> None:
    """Report the parts of `value`, at `path`, that do not fit a schema. An invalid schema is reported elsewhere."""
    scratch = Findings()
    check_answer_schema(schema, path, scratch)
    if not isinstance(schema, dict) or scratch.has_errors:
        return
    try:
        for violation in json_schema.violations(schema, value):
            field = ".".join(map(str, (path[-1], *violation.path)))
            findings.error("schema-mismatch", (*path, *violation.path), f"'{quote(field)}' {violation.message}")
    except json_schema.TooMuchWorkError:
        findings.error(
            "schema-mismatch",
            path,
            f"'{path[-1]}' takes too much work to check against its schema: shorten it, or simplify the schema",
        )
