"""Docstrings below fields become the descriptions of a JSON Schema."""

from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from docrail.field_docs import describe_fields, field_docs

T = TypeVar("T")
DESCRIBED = ConfigDict(json_schema_extra=describe_fields)


class Base(BaseModel):
    model_config = DESCRIBED

    kept: int
    """In the base."""
    other: int = Field(alias="x-other")
    """Under
    its alias."""


class Derived(Base, Generic[T]):
    value: T
    """A value."""
    stated: int = Field(description="stated")
    """Below."""
    bare: int
    NUMBER: ClassVar[int] = 3
    """Of no field."""


@dataclass(frozen=True, slots=True)
class Plain:
    __pydantic_config__: ClassVar[ConfigDict] = DESCRIBED

    base: Base
    """Another object."""


def described(of: type) -> dict[str, str | None]:
    properties = TypeAdapter(of).json_schema()["properties"]
    return {name: shown.get("description") for name, shown in properties.items()}


def test_fields_have_the_docstrings_of_their_class_and_its_bases() -> None:
    assert described(Derived[int]) == {
        "kept": "In the base.",
        "x-other": "Under\nits alias.",
        "value": "A value.",
        "stated": "stated",
        "bare": None,
    }


def test_a_field_with_an_object_is_described_too() -> None:
    assert described(Plain) == {"base": "Another object."}


@pytest.mark.parametrize("module", ["builtins", "not_imported"])
def test_a_class_without_source_has_none(module: str) -> None:
    assert field_docs(type("Made", (), {"__module__": module})) == {}
