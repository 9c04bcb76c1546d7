"""Describe the fields of a class in its JSON Schema with the docstrings below them, read when a schema is made.

pydantic's `use_attribute_docstrings` reads them when the class is made: a third of the time in which a worker starts.
"""

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any


def describe_fields(schema: dict[str, Any], described: type) -> None:
    """Add the docstrings of its fields to the schema of a class, but to no field that says `description`."""
    properties, fields = schema.get("properties", {}), getattr(described, "model_fields", {})
    for name, text in field_docs(described).items():
        alias = fields[name].alias if name in fields else None
        if (shown := properties.get(alias or name)) is not None:
            shown.setdefault("description", text)


def field_docs(described: type) -> Mapping[str, str]:
    """Return the docstrings below the fields of the class and of its bases, by field."""
    found: dict[str, str] = {}
    for each in reversed(described.__mro__):
        found |= _of_module(each.__module__).get(each.__qualname__, {})
    return found


@cache
def _of_module(name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings of the fields of a module's classes; none if its source is not there."""
    try:
        source = inspect.getsource(sys.modules[name])
    except (KeyError, OSError, TypeError):  # an own handler's module, a program without sources, a built-in
        return {}
    return {each.name: _of_class(each) for each in ast.parse(source).body if isinstance(each, ast.ClassDef)}


def _of_class(parsed: ast.ClassDef) -> Mapping[str, str]:
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in pairwise(parsed.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }
