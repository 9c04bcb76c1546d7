"""Define the JSON Schema of the fields to read: single values, each with the labels by which pages name it."""

import re
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from docrail.field_docs import describe_fields
from docrail.invoices.values.folding import fold

MOST_FIELDS, MOST_LABELS, MOST_CHOICES = 40, 30, 50
"""Limits of a schema. Each label is looked for in each cell of each page."""
SINGLE = ("string", "number", "integer", "boolean")
LATER = ("array", "object")
"""Types that are not read: their values are spread over the page, and a label shows only where they begin."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class ValueType(StrEnum):
    """What a field's value is, and so how its text is parsed."""

    TEXT = "text"
    CHOICE = "choice"
    DATE = "date"
    NUMBER = "number"
    INTEGER = "integer"
    TRUTH = "truth"


def words_of(label: str) -> list[str]:
    """Return the words of a label, folded; what is between them on a page does not matter."""
    return re.findall(r"[^\W_]+", fold(label))


def _label(text: str) -> str:
    if not words_of(text):
        raise ValueError("a label needs a letter or a digit")
    return text


def _type(given: Any) -> Any:
    if given in LATER:
        raise ValueError(
            f"only single values are read ({', '.join(SINGLE)}; a date is a string with format: date). "
            "Lists and objects, such as the lines of a table, are not: leave them out of the schema"
        )
    return given


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("a field's name needs lowercase letters, digits and _, at most 64, and begins with a letter")
    if text.startswith("model_") or hasattr(BaseModel, text):
        raise ValueError("the name is reserved: choose another")
    return text


Label = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_label)]
Name = Annotated[str, AfterValidator(_name)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True, json_schema_extra=describe_fields)


class FieldSchema(_Model):
    """The JSON Schema of one field."""

    type: Annotated[Literal["string", "number", "integer", "boolean"], BeforeValidator(_type)]
    """The type of the value."""
    format: Literal["date"] | None = None
    """`date`: the text is a day, given as YYYY-MM-DD."""
    title: Annotated[str, Field(max_length=80)] = ""
    """What people call it, and a label."""
    description: Annotated[str, Field(max_length=500)] = ""
    """What it is, for a model."""
    enum: Annotated[tuple[Label, ...], Field(min_length=1, max_length=MOST_CHOICES)] | None = None
    """The possible texts."""
    labels: Annotated[tuple[Label, ...], Field(max_length=MOST_LABELS)] = Field(default=(), alias="x-labels")
    """Labels that pages print at it, in any language."""

    @model_validator(mode="after")
    def _fits(self) -> "FieldSchema":
        if self.type != "string" and (self.format or self.enum):
            raise ValueError(f"'format' and 'enum' are for the type string, not for {self.type}")
        if self.format and self.enum:
            raise ValueError("'format' and 'enum' exclude each other")
        return self

    @property
    def value_type(self) -> ValueType:
        """Return what the value is."""
        match self.type:
            case "number":
                return ValueType.NUMBER
            case "integer":
                return ValueType.INTEGER
            case "boolean":
                return ValueType.TRUTH
        if self.enum:
            return ValueType.CHOICE
        return ValueType.DATE if self.format else ValueType.TEXT


class FieldsSchema(_Model):
    """A JSON Schema of an object whose properties are single values."""

    type: Literal["object"] = "object"
    """It is an object."""
    title: Annotated[str, Field(max_length=80)] = ""
    """What the document is, such as `purchase order`."""
    description: Annotated[str, Field(max_length=1000)] = ""
    """What the document is, for a model."""
    required: tuple[str, ...] = ()
    """Fields that every such document has: a person looks for one that was not found."""
    properties: Annotated[dict[Name, FieldSchema], Field(min_length=1, max_length=MOST_FIELDS)]
    """The fields by name."""
    additional_properties: Literal[False] = Field(default=False, alias="additionalProperties")
    """There are no other fields."""

    @model_validator(mode="after")
    def _is_consistent(self) -> "FieldsSchema":
        unknown = [name for name in self.required if name not in self.properties]
        if unknown:
            raise ValueError(f"'required' names {', '.join(unknown)}, which 'properties' does not have")
        names: dict[str, str] = {}
        for name in self.properties:
            for label in self.labels_of(name):
                other = names.setdefault(" ".join(words_of(label)), name)
                if other != name:
                    raise ValueError(f"the label '{label}' names two fields, {other} and {name}")
        return self

    def labels_of(self, name: str) -> tuple[str, ...]:
        """Return the labels of a field: its title, its name in words, and its `x-labels`."""
        field = self.properties[name]
        labels = (field.title, *field.labels, name.replace("_", " "))
        return tuple({" ".join(words_of(label)): label for label in reversed(labels) if label}.values())[::-1]

    def title_of(self, name: str) -> str:
        """Return what people call the field."""
        return self.properties[name].title or name.replace("_", " ")
