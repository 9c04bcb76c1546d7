"""Describe handlers with their configs and outputs, for the API, the CLI and the reference page."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import Field

from docrail.dag.values.json_values import Json
from docrail.dag.values.suggestions import Suggestions
from docrail.handlers import BrokenHandler, Catalogue, Handler
from docrail.services.errors import NotFound, WrongState

Schema = Mapping[str, Json]

REQUIRED = "required"

_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}


@dataclass(frozen=True, slots=True)
class HandlerInfo:
    """A handler. The schemas are JSON Schema, draft 2020-12."""

    name: Annotated[str, Field(examples=["send_webhook"])]
    aliases: Annotated[
        tuple[str, ...], Field(description="other names that definitions may use; a run shows its own name")
    ]
    summary: Annotated[str, Field(description="what it does, in a sentence")]
    config_schema: Annotated[dict[str, Json], Field(description="JSON Schema of a step's `config`")]
    output_schema: Annotated[dict[str, Json], Field(description="JSON Schema of what later steps read")]


@dataclass(frozen=True, slots=True)
class HandlerList:
    """Every handler, by name."""

    handlers: list[HandlerInfo]
    broken: Annotated[tuple[BrokenHandler, ...], Field(description="handlers outside the tree that cannot be used")]


@dataclass(frozen=True, slots=True)
class FieldLine:
    """A field's description in words. `default` is `required`, the JSON of the default, or empty if there is none."""

    name: str
    type: str
    meaning: str
    default: str


def list_handlers(catalogue: Catalogue) -> list[HandlerInfo]:
    """Return the descriptions of all handlers, by name."""
    return [describe(handler) for handler in catalogue.values()]


def load_handler(catalogue: Catalogue, name: str) -> HandlerInfo:
    """Return the handler with that name or alias. Raises: WrongState if it is broken, NotFound with a suggestion."""
    if handler := catalogue.get(name):
        return describe(handler)
    if broken := next((each for each in catalogue.broken_handlers if each.name == name), None):
        raise WrongState("show the handler", f"unusable: {broken}", "handler")
    names = [known for found in catalogue.values() for known in (found.name, *found.aliases)]
    raise NotFound("handler", name, Suggestions().closest(name, names))


@cache
def describe(handler: Handler) -> HandlerInfo:
    """Return the description of a handler. The first time takes milliseconds."""
    return HandlerInfo(
        name=handler.name,
        aliases=handler.aliases,
        summary=handler.summary,
        config_schema=handler.config.model_json_schema(),
        output_schema=handler.output.model_json_schema(mode="serialization"),
    )


def lines_of(schema: Schema) -> Iterator[FieldLine]:
    """Yield the fields of an object's schema, in schema order."""
    for name, field in schema.get("properties", {}).items():
        yield FieldLine(name, type_words(field, schema), field.get("description", ""), default_words(name, schema))


def type_words(field: Schema, schema: Schema) -> str:
    """Describe in words what a JSON Schema allows; `schema` is the one that contains its `$defs`."""
    match field:
        case {"$ref": str(reference)}:
            words = type_words(schema["$defs"][reference.rpartition("/")[2]], schema)
        case {"anyOf": [*choices]}:
            words = " or ".join(type_words(choice, schema) for choice in choices)
        case {"enum": [*choices]}:
            words = "one of " + ", ".join(f"`{choice}`" for choice in choices)
        case {"items": items}:
            words = f"list of {type_words(items, schema)}"
        case {"properties": properties}:
            words = "object: " + ", ".join(f"`{name}`" for name in properties)
        case {"additionalProperties": dict(values)}:
            words = f"object of {type_words(values, schema)}"
        case _:
            bounds = [f"{word} {field[bound]:g}" for bound, word in _BOUNDS.items() if bound in field]
            words = ", ".join([field.get("format") or field.get("type") or "any JSON", *bounds])
    return words


def default_words(name: str, schema: Schema) -> str:
    """Describe the default of an object's field in words; empty if it is null."""
    if name in schema.get("required", ()):
        return REQUIRED
    value = schema["properties"][name].get("default")
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def light_handlers(catalogue: Mapping[str, Handler], bodies: Iterable[Mapping[str, Json]]) -> tuple[str, ...]:
    """Return the light ones of the handlers that definitions name."""
    names = dict.fromkeys(step["handler"] for body in bodies for step in body["steps"] if step.get("handler"))
    return tuple(name for name in names if name in catalogue and catalogue[name].is_light)
