"""Generate the JSON Schema of a definition, for editors, from the models and the catalogue of handlers."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from docrail.dag.language import definition
from docrail.dag.language.definition import OnDeadline
from docrail.dag.language.expressions.templates import PATH_KEY
from docrail.dag.language.step_kinds import Abort, Case, Human, Model, OnTimeout, StepKind, Wait, WaitFor
from docrail.dag.language.test_cases import ExpectedStep, Failure, ItemMock, Mock
from docrail.dag.validation.rules.handlers import Catalogue, HandlerModels
from docrail.dag.validation.rules.kinds import REPEATABLE
from docrail.dag.values.json_schema import KEYWORDS
from docrail.dag.values.json_values import Json

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT_FORMS: Mapping[type[BaseModel], str] = {
    Abort: "reason",
    OnTimeout: "then",
    OnDeadline: "then",
    Failure: "type",
    ExpectedStep: "status",
}
"""Models that may be written as a text, and the field it sets: pydantic's schema does not reflect validators."""

_BOTH_OR_NONE: dict[str, Json] = {
    "dependentRequired": {"timeout_seconds": ["on_timeout"], "on_timeout": ["timeout_seconds"]}
}
_ONE_ENDING: dict[str, Json] = {"minProperties": 1, "not": {"required": ["output", "failure"]}}
_NO_ANSWER: dict[str, Json] = {"properties": {"answer": False, "times_out": False}}
_RULES: Mapping[type[Model], dict[str, Json]] = {
    Case: {
        "oneOf": [
            {"required": ["when", "branch"], "properties": {"else": False}},
            {"required": ["else"], "properties": {"when": False, "branch": False}},
        ]
    },
    OnDeadline: {"oneOf": [{"required": ["then"]}, {"required": ["branch"]}]},
    Human: _BOTH_OR_NONE,
    ItemMock: _ONE_ENDING,
    Mock: {
        **_ONE_ENDING,
        "dependentSchemas": {
            **dict.fromkeys(("output", "failure", "items"), _NO_ANSWER),
            "answer": {"properties": {"times_out": {"const": False}}},
        },
    },
    Wait: {
        **_BOTH_OR_NONE,
        "if": {"properties": {"for": {"const": WaitFor.TIMER.value}}, "required": ["for"]},
        "then": {
            "properties": dict.fromkeys(("accept", "timeout_seconds", "on_timeout"), False),
            "required": ["seconds"],
        },
        "else": {"properties": {"seconds": False}},
    },
}
"""Rules of the validator about a part as a whole, as far as a schema can express them."""

_TEMPLATE: dict[str, Json] = {
    "description": "A text with {{ expressions }} in it, or an access path.",
    "anyOf": [
        {"type": "string", "pattern": r"\{\{"},
        {
            "type": "object",
            "properties": {
                PATH_KEY: {
                    "description": "The path to a value: a step or `inputs`, then the keys below it.",
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                }
            },
            "required": [PATH_KEY],
            "additionalProperties": False,
        },
    ],
}
_ONE = ("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("$defs", "patternProperties", "properties")
_OF_PARTS = frozenset({"additionalProperties", "items", "patternProperties", "prefixItems", "properties"})
"""Keywords whose schemas apply to a part of the value; the others apply to the value itself."""

Schema = dict[str, Any]


def definition_schema(catalogue: Catalogue) -> Schema:
    """Return the JSON Schema (draft 2020-12) of everything authors may write: aliases, commands and all handlers.

    Only what a schema can express is covered. References, cycles and expressions are checked by `validate` alone.
    """
    whole = definition.Definition.model_json_schema()
    _without_titles(whole)
    _without_nulls(whole)
    parts: Schema = whole.pop("$defs")
    for model, rules in _RULES.items():
        parts[model.__name__] |= rules
    _add_text_forms(parts)
    for part in [*parts.values()]:
        if StepKind.HANDLER.value in part.get("properties", ()):
            _add_handlers(part, catalogue)
    for handler in catalogue.values():
        parts |= _config_schemas(handler)
    step = parts[definition.Step.__name__]
    _finish_step(step)
    _finish_input(parts[definition.Input.__name__])
    whole["dependentRequired"] = {"on_deadline": ["deadline_seconds"]}
    whole["properties"]["defaults"] = {
        "description": "Defaults of every step that does not set them.",
        "type": "object",
        "properties": {name: step["properties"][name] for name in definition.DEFAULTABLE},
        "additionalProperties": False,
    }
    whole["properties"]["id"] |= {"not": {"enum": sorted(definition.RESERVED_IDS)}}
    whole["properties"]["steps"] |= _NAMED_IF_LINKED
    parts |= {"Template": _TEMPLATE, definition.Definition.__name__: whole}
    listed = {**whole["properties"]["steps"], "description": "A bare list of steps: commands in order."}
    return {
        "$schema": DIALECT,
        "title": "Docrail definition",
        "if": {"type": "array"},
        "then": listed,
        "else": {"$ref": f"#/$defs/{definition.Definition.__name__}"},
        "$defs": parts,
    }


def _add_text_forms(parts: Schema) -> None:
    for model, name in TEXT_FORMS.items():
        if model.__name__ in parts:
            written_out = parts[model.__name__]
            described = {"description": written_out.pop("description")}
            parts[model.__name__] = {**described, "anyOf": [written_out, written_out["properties"][name]]}


def _add_handlers(part: Schema, catalogue: Catalogue) -> None:
    """Restrict `handler` to the known names, and `config` to the schema of that handler."""
    names = {handler.name: [handler.name, *handler.aliases] for handler in catalogue.values()}
    every = [name for listed in names.values() for name in listed]
    part["properties"]["handler"] = {"description": "The code that the step runs.", "enum": every}
    part["allOf"] = part.get("allOf", []) + [
        {
            "if": {"properties": {"handler": {"enum": names[handler.name]}}, "required": ["handler"]},
            "then": _with_config(handler),
        }
        for handler in catalogue.values()
    ]


def _with_config(handler: HandlerModels) -> Schema:
    words = _words_for("config")
    then: Schema = {"properties": {word: {"$ref": f"#/$defs/{_config_name(handler)}"} for word in words}}
    is_needed = bool(handler.config.model_json_schema().get("required"))
    return then | ({"anyOf": [{"required": [word]} for word in words]} if is_needed else {})


def _config_name(handler: HandlerModels) -> str:
    return f"config.{handler.name}"


def _config_schemas(handler: HandlerModels) -> Schema:
    """Return the schemas of a handler's config and of its parts, by name; every value may be a template."""
    name = _config_name(handler)
    schema = handler.config.model_json_schema(ref_template=f"#/$defs/{name}.{{model}}")
    _without_titles(schema)
    parts: Schema = {f"{name}.{part}": inner for part, inner in schema.pop("$defs", {}).items()}
    parts[name] = schema
    for part in parts.values():
        _allow_templates(part)
    return parts


def _allow_templates(schema: Schema) -> None:
    """Allow a template in place of each part of `schema`, but not of `schema` itself."""
    for word, holder, key in _below(schema):
        inner = holder[key]
        if isinstance(inner, dict):
            _allow_templates(inner)
            if word in _OF_PARTS and inner.keys() - {"default", "description", "examples"}:
                described = {word: inner.pop(word) for word in ("default", "description", "examples") if word in inner}
                holder[key] = {**described, "anyOf": [inner, {"$ref": "#/$defs/Template"}]}


def _finish_step(step: Schema) -> None:
    """Add what the model leaves to the validator: aliases, reserved ids, exactly one kind and its fields."""
    fields: Schema = step["properties"]
    fields["id"] = {**fields["id"], "not": {"enum": sorted(definition.RESERVED_WORDS)}}
    for word, name in definition.STEP_ALIASES.items():
        fields[word] = {**fields[name], "description": f"An alias of `{name}`."}
    del step["required"]
    of_handlers = [word for name in sorted(definition.HANDLER_FIELDS | {"priority"}) for word in _words_for(name)]
    step["allOf"] = [
        {"oneOf": [{"required": [kind.value]} for kind in StepKind]},
        {"if": _has("handler"), "else": {"properties": dict.fromkeys(of_handlers, False)}},
        {"if": _has("for_each"), "then": {"anyOf": [_has(kind.value) for kind in REPEATABLE]}},
        {"not": {"required": ["cache", "compensate"]}},
        *({"not": {"required": [word, name]}} for word, name in definition.STEP_ALIASES.items()),
        *step["allOf"],
    ]


def _has(name: str) -> Schema:
    return {"required": [name]}


def _words_for(name: str) -> list[str]:
    return [name, *(word for word, meant in definition.STEP_ALIASES.items() if meant == name)]


def _has_word_for(name: str) -> Schema:
    return {"anyOf": [_has(word) for word in _words_for(name)]}


_NAMED_IF_LINKED: Schema = {
    "if": {"contains": _has_word_for("depends_on")},
    "then": {"items": _has_word_for("id")},
}
"""Commands in order need no ids (spellings/chain.py); steps with edges do."""


def _finish_input(part: Schema) -> None:
    """List the JSON Schema keywords that an input may use: the model accepts any, the validator does not."""
    described = {name: {"description": f"JSON Schema's `{name}`: {shape}."} for name, (_, shape) in KEYWORDS.items()}
    part["properties"] = described | part["properties"]
    part["additionalProperties"] = False


def _without_titles(schema: Schema) -> None:
    """Remove the titles that pydantic derives from names: editors would show them instead of the descriptions."""
    schema.pop("title", None)
    for _, holder, key in _below(schema):
        if isinstance(holder[key], dict):
            _without_titles(holder[key])


def _without_nulls(schema: Schema) -> None:
    """Remove the null alternative of optional fields: authors omit them, and unions give worse messages."""
    for _, holder, key in _below(schema):
        inner = holder[key]
        if isinstance(inner, dict):
            _without_nulls(inner)
            match inner:
                case {"anyOf": [dict() as one, {"type": "null"}]}:
                    holder[key] = {word: part for word, part in inner.items() if word not in ("anyOf", "default")} | one


def _below(schema: Schema) -> Iterator[tuple[str, Any, Any]]:
    """Yield the position of each schema directly within `schema`: its keyword, its container, and the key or index."""
    for word in _ONE:
        if word in schema:
            yield word, schema, word
    for word in _SEVERAL:
        for index in range(len(schema.get(word, ()))):
            yield word, schema[word], index
    for word in _NAMED:
        for name in [*schema.get(word, ())]:
            yield word, schema[word], name
