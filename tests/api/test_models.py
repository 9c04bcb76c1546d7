"""What the API returns and accepts exists once: as a model of a service, which the API uses as it is."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

import docrail.api

FEWEST = 3
"""Models with fewer fields are alike by chance."""


def models(room: str) -> Iterator[type]:
    package = importlib.import_module(f"docrail.{room}")
    for found in pkgutil.walk_packages(package.__path__, f"docrail.{room}."):
        for value in vars(importlib.import_module(found.name)).values():
            if isinstance(value, type) and value.__module__ == found.name and names(value):
                yield value


def names(model: type) -> frozenset[str]:
    """Return the names of the fields that a model shows; none if it is not a model."""
    if dataclasses.is_dataclass(model):
        return frozenset(field.name for field in dataclasses.fields(model) if not is_hidden(field.type))
    return frozenset(model.model_fields) if issubclass(model, BaseModel) else frozenset()


def is_hidden(annotation: object) -> bool:
    return any(isinstance(each, FieldInfo) and each.exclude for each in getattr(annotation, "__metadata__", ()))


def copies(copying: list[type], copied: list[type]) -> list[tuple[str, str]]:
    known = {names(model): model.__name__ for model in copied if len(names(model)) >= FEWEST}
    return [(model.__name__, known[names(model)]) for model in copying if names(model) in known]


def test_no_model_of_the_api_has_the_fields_of_a_services_model() -> None:
    assert copies([*models("api")], [*models("services")]) == []


def test_no_model_of_the_api_copies_the_attributes_of_another() -> None:
    folder = Path(docrail.api.__file__ or "").parent
    assert [path.name for path in folder.glob("*.py") if "from_attributes" in path.read_text("utf-8")] == []


@pytest.mark.parametrize("fields", [["a", "b", "c"], ["a", "b", "c", "hidden"]])
def test_a_copy_is_found_whatever_the_original_hides(fields: list[str]) -> None:
    hidden = Annotated[int, Field(exclude=True)]
    original = dataclasses.make_dataclass("Original", [(name, hidden if name == "hidden" else int) for name in fields])

    class Copy(BaseModel):
        c: int
        b: int
        a: int

    assert copies([Copy], [original]) == [("Copy", "Original")]
