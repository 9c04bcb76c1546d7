"""Check a value against a JSON Schema (draft 2020-12, the supported keywords), at a bounded cost.

Schemas come from authors and values from outside, and the check also runs inside workflow code. A library's check would
search with Python's `re`, compare each item with each other, and repeat whole values in its messages.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.patterns import search, weight_of
from docrail.dag.values.problems import Path
from docrail.dag.values.schema_formats import FORMATS
from docrail.dag.values.wording import describe, quote

MOST_VIOLATIONS = 100
"""Violations reported per value."""

MOST_WORK = 500_000
"""Units of work per check: about half a second, and a worker's workflow task may take two. A value of the largest size
that is a list of numbers needs about 200,000."""

MOST_CHOICES = 10
"""Choices of an `enum` that a message lists."""

_WEIGHT_PER_STEP = 150
"""Characters times pattern positions that cost one unit (measured: a microsecond)."""

_BYTES_PER_STEP = 32
"""Bytes of JSON text, produced to compare values, that cost one unit."""

_WORDS = ("a text", "a whole number", "a number", "true or false", "an object", "a list", "null")


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
"""JSON Schema's types, in which 1.0 is an integer and true is not a number."""

_NAMES = dict(zip(TYPES, _WORDS, strict=True))


class TooMuchWorkError(Exception):
    """A value cannot be checked within the bounded cost."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A problem of the part of a value at `path`: `is null, expected a text`."""

    path: Path
    message: str


def violations(schema: Json, value: Json) -> list[Violation]:
    """Return what in `value` does not fit the validated `schema`, MOST_VIOLATIONS at most. Raises: TooMuchWorkError."""
    return list(islice(_Check().violations(schema, value, ()), MOST_VIOLATIONS))


class _Check:
    """One check of one value, with its remaining work and its cache of serialised choices."""

    def __init__(self) -> None:
        self._left = MOST_WORK
        self._choices: dict[int, frozenset[str]] = {}

    def violations(self, schema: Json, value: Json, path: Path) -> Iterator[Violation]:
        self.spend(1)
        if schema is False:
            yield Violation(path, "must not be there")
        if not isinstance(schema, dict):
            return
        for keyword, argument in schema.items():
            self.spend(1)
            if keyword in _PLAIN:
                kind, holds, expected = _PLAIN[keyword]
                if TYPES[kind](value) and not holds(value, argument):
                    yield Violation(path, f"is {describe(value)}, expected {expected(argument)}")
            elif keyword in _RULES:
                yield from _RULES[keyword](self, schema, value, path)
            else:
                for inner, part, keys in self._inner(keyword, schema, value):
                    yield from self.violations(inner, part, (*path, *keys))

    def _inner(self, keyword: str, schema: dict[str, Json], value: Json) -> Iterator[tuple[Json, Json, Path]]:
        """Yield the schemas that `keyword` applies to the value or to its parts, each with the part and its keys."""
        match keyword, schema[keyword], value:
            case "allOf", parts, _:
                yield from ((part, value, ()) for part in parts)
            case "if", condition, _:
                yield schema.get("then" if self.fits(condition, value) else "else", True), value, ()
            case "items", rest, list():
                first = len(schema.get("prefixItems", ()))
                yield from ((rest, value[index], (index,)) for index in range(first, len(value)))
            case "prefixItems", parts, list():
                pairs = zip(parts, value, strict=False)
                yield from ((part, item, (index,)) for index, (part, item) in enumerate(pairs))
            case "properties", named, dict():
                self.spend(len(named))
                yield from ((part, value[name], (name,)) for name, part in named.items() if name in value)
            case "patternProperties", patterns, dict():
                for name, item in value.items():
                    yield from ((part, item, (name,)) for text, part in patterns.items() if self.matches(text, name))
            case "additionalProperties", other, dict():
                named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
                left = (name for name in value if name not in named)
                unmatched = (name for name in left if not any(self.matches(text, name) for text in patterns))
                yield from ((other, value[name], (name,)) for name in unmatched)
            case "dependentSchemas", named, dict():
                self.spend(len(named))
                yield from ((part, value, ()) for name, part in named.items() if name in value)

    def fits(self, schema: Json, value: Json) -> bool:
        return next(self.violations(schema, value, ()), None) is None

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise TooMuchWorkError

    def matches(self, pattern: str, text: str) -> bool:
        self.spend(weight_of(pattern) * len(text) // _WEIGHT_PER_STEP + 1)
        return search(pattern, text)

    def written(self, value: Json) -> str:
        """Return `value` as text that is equal for values equal in JSON Schema: 1 and 1.0, but not 1 and true."""
        text = canonical(_even(value))
        self.spend(len(text) // _BYTES_PER_STEP + 1)
        return text

    def is_one_of(self, value: Json, choices: list[Json]) -> bool:
        known = self._choices.get(id(choices))  # the schema outlives the check, so no other list has this id
        if known is None:
            known = self._choices[id(choices)] = frozenset(map(self.written, choices))
        return self.written(value) in known


def _even(value: Json) -> Json:
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _even(part) for name, part in value.items()}
        case list():
            return [_even(part) for part in value]
        case _:
            return value


def _is_multiple(value: float, of: float) -> bool:
    """Compare the numbers as written: 19.99 is a multiple of 0.01, although its binary approximation is not."""
    return Fraction(str(value)) % Fraction(str(of)) == 0


_Plain = tuple[str, Callable[[Json, Json], bool], Callable[[Json], str]]

_PLAIN: Mapping[str, _Plain] = {
    "minimum": ("number", lambda value, limit: value >= limit, lambda limit: f"at least {limit}"),
    "maximum": ("number", lambda value, limit: value <= limit, lambda limit: f"at most {limit}"),
    "exclusiveMinimum": ("number", lambda value, limit: value > limit, lambda limit: f"more than {limit}"),
    "exclusiveMaximum": ("number", lambda value, limit: value < limit, lambda limit: f"less than {limit}"),
    "multipleOf": ("number", _is_multiple, lambda unit: f"a multiple of {unit}"),
    "minLength": ("string", lambda text, least: len(text) >= least, lambda least: f"at least {least} characters"),
    "maxLength": ("string", lambda text, most: len(text) <= most, lambda most: f"at most {most} characters"),
    "format": ("string", lambda text, name: FORMATS[name](text), lambda name: f"the format {name}"),
    "minItems": ("array", lambda items, least: len(items) >= least, lambda least: f"at least {least} items"),
    "maxItems": ("array", lambda items, most: len(items) <= most, lambda most: f"at most {most} items"),
    "minProperties": ("object", lambda parts, least: len(parts) >= least, lambda least: f"at least {least} fields"),
    "maxProperties": ("object", lambda parts, most: len(parts) <= most, lambda most: f"at most {most} fields"),
}
"""Keywords that check a single value: the type they apply to, the check, and the rule in words."""


def _type(_: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(TYPES[kind](value) for kind in kinds):
        yield Violation(path, f"is {describe(value)}, expected {' or '.join(_NAMES[kind] for kind in kinds)}")


def _enum(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    if not check.is_one_of(value, schema["enum"]):
        shown = [quote(canonical(choice)) for choice in schema["enum"][:MOST_CHOICES]]
        rest = ", …" if len(schema["enum"]) > MOST_CHOICES else ""
        yield Violation(path, f"is {describe(value)}, expected one of {', '.join(shown)}{rest}")


def _const(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    if check.written(value) != check.written(schema["const"]):
        yield Violation(path, f"is {describe(value)}, expected {describe(schema['const'])}")


def _pattern(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    if isinstance(value, str) and not check.matches(schema["pattern"], value):
        yield Violation(path, f"is {describe(value)}, expected a text like {quote(schema['pattern'])}")


def _unique(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    if not isinstance(value, list) or not schema["uniqueItems"]:
        return
    seen: dict[str, int] = {}
    for index, item in enumerate(value):
        first = seen.setdefault(check.written(item), index)
        if first != index:
            yield Violation((*path, index), f"is equal to item {first}, expected different ones")


def _contains(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    if not isinstance(value, list):
        return
    count = sum(check.fits(schema["contains"], item) for item in value)
    least, most = schema.get("minContains", 1), schema.get("maxContains", len(value))
    if not least <= count <= most:
        rule = f"at least {least}" if count < least else f"at most {most}"
        yield Violation(path, f"has {count} items that fit `contains`, expected {rule}")


def _required(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    if isinstance(value, dict):
        check.spend(len(schema["required"]))
        for name in schema["required"]:
            if name not in value:
                yield Violation((*path, name), "is required")


def _property_names(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    if isinstance(value, dict):
        for name in value:
            for violation in check.violations(schema["propertyNames"], name, path):
                yield Violation(path, f"has a field whose name {violation.message}")


def _any_of(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    if not any(check.fits(part, value) for part in schema["anyOf"]):
        yield Violation(path, f"is {describe(value)}, which fits none of the {len(schema['anyOf'])} schemas of `anyOf`")


def _one_of(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    count = sum(check.fits(part, value) for part in schema["oneOf"])
    if count != 1:
        total = len(schema["oneOf"])
        yield Violation(
            path, f"is {describe(value)}, which fits {count} of the {total} schemas of `oneOf`, expected one"
        )


def _not(check: _Check, schema: dict[str, Json], value: Json, path: Path) -> Iterator[Violation]:
    if check.fits(schema["not"], value):
        yield Violation(path, f"is {describe(value)}, which the schema under `not` forbids")


_Rule = Callable[[_Check, dict[str, Json], Json, Path], Iterator[Violation]]

_RULES: Mapping[str, _Rule] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "uniqueItems": _unique,
    "contains": _contains,
    "required": _required,
    "propertyNames": _property_names,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
}
"""The other keywords that check the value itself. Those that apply a schema to it or to its parts are in `_inner`."""


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_type(value: Json) -> bool:
    return value in TYPES if isinstance(value, str) else _is_texts(value) and bool(value) and set(value) <= set(TYPES)


_SchemaRule = tuple[Callable[[Json], bool], str]

_ANYTHING: _SchemaRule = (lambda _: True, "anything")

_TEXT: _SchemaRule = (lambda value: isinstance(value, str), "a text")

_TRUTH: _SchemaRule = (lambda value: isinstance(value, bool), "true or false")

_NUMBER: _SchemaRule = (_is_number, "a number")

_COUNT: _SchemaRule = (lambda value: type(value) is int and value >= 0, "a whole number from 0")

_LIST: _SchemaRule = (lambda value: isinstance(value, list), "a list")

SCHEMA: _SchemaRule = (lambda value: isinstance(value, dict | bool), "a schema (an object)")

SCHEMAS: _SchemaRule = (lambda value: isinstance(value, list) and bool(value), "a list of schemas")

NAMED: _SchemaRule = (lambda value: isinstance(value, dict), "an object with a schema for each name")

KEYWORDS: Mapping[str, _SchemaRule] = {
    "type": (_is_type, f"one of {', '.join(TYPES)}, or a list of them"),
    "format": (lambda value: isinstance(value, str) and value in FORMATS, f"one of {', '.join(FORMATS)}"),
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
        ("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"), SCHEMA
    ),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), SCHEMAS),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), NAMED),
}
"""The supported JSON Schema keywords and the rule for each one's value. `$ref` is unsupported: it may fetch."""
