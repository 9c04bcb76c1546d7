"""Ask a model for the fields of a schema: the prompt, the schema of the answer, and its conversion into a reading."""

import hashlib
from typing import Any

from pydantic import BaseModel, create_model

from docrail.invoices.by_schema.reading import FieldsReading
from docrail.invoices.by_schema.schema import FieldSchema, FieldsSchema, ValueType
from docrail.invoices.by_schema.values import from_model
from docrail.invoices.llm.prompt import HOW_TO_READ
from docrail.invoices.llm.wire import READER, WireField, field_of
from docrail.invoices.model import FieldValue

_SAID: dict[ValueType, str] = {
    ValueType.DATE: "a date",
    ValueType.NUMBER: "a number",
    ValueType.INTEGER: "a whole number",
    ValueType.TRUTH: "yes or no",
}


def prompt_of(schema: FieldsSchema) -> str:
    """Return the prompt for a document with these fields."""
    kind = f", which should be a {schema.title}" if schema.title else ""
    about = f" {schema.description}" if schema.description else ""
    fields = "\n".join(f"- {name}: {_described(schema, name)}" for name in schema.properties)
    return f"You read one business document{kind}.{about}\n{HOW_TO_READ}{fields}\n"


def prompt_version(schema: FieldsSchema) -> str:
    """Return the version of the prompt, as records of cost show it."""
    return f"fields-{hashlib.sha256(prompt_of(schema).encode()).hexdigest()[:8]}"


def answer_model(schema: FieldsSchema) -> type[BaseModel]:
    """Return the schema of the answer: flat, as the API needs it. Each field is required, but may be null."""
    fields: dict[str, Any] = dict.fromkeys(schema.properties, (WireField, ...))
    return create_model("Fields", **fields)


def reading_of(schema: FieldsSchema, answer: BaseModel) -> FieldsReading:
    """Return the answer as a reading. Texts that are no values of their fields are left out."""
    fields = {name: _field(field, getattr(answer, name)) for name, field in schema.properties.items()}
    return FieldsReading(fields=fields, reader=READER)


def _field(field: FieldSchema, read: WireField) -> FieldValue[Any]:
    value = from_model(field, read.value)
    return FieldValue() if value is None else field_of(read, value)


def _described(schema: FieldsSchema, name: str) -> str:
    field = schema.properties[name]
    labels = ", ".join(schema.labels_of(name))
    choices = "" if field.enum is None else f"one of {', '.join(field.enum)}"
    kind = _SAID.get(field.value_type, choices)
    return "; ".join(filter(None, [field.description or schema.title_of(name), kind, f"labels: {labels}"]))
