"""Inspect the fixed fields of pydantic models, for suggestions and for checking references."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, RootModel

_LISTS = (list, tuple, set, frozenset)


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A path leaves a model's fixed fields `depth` keys down, where only `known` exist."""

    depth: int
    known: tuple[str, ...]


def fixed_fields(model: type[BaseModel], *, computed: bool = False) -> Mapping[str, Any] | None:
    """Return the annotation of each field by its name in JSON; None if other fields are allowed."""
    if model.model_config.get("extra") == "allow" or issubclass(model, RootModel):
        return None
    fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    if computed:
        fields |= {name: field.return_type for name, field in model.model_computed_fields.items()}
    return fields


def find_unknown_field(model: type[BaseModel], path: tuple[str, ...]) -> UnknownField | None:
    """Follow `path` into the dump of `model`; return where it names a field that can never exist."""
    kind: Any = model
    for depth, key in enumerate(path):
        if _is_model(kind):
            fields = fixed_fields(kind, computed=True)
            if fields is None:
                return None
            if key not in fields:
                return UnknownField(depth, tuple(fields))
            kind = _plain(fields[key])
        elif get_origin(kind) is list and key.lstrip("-").isdecimal():
            kind = _plain(get_args(kind)[0])
        else:
            return None
    return None


def model_at(model: type[BaseModel], path: tuple[str | int, ...]) -> type[BaseModel] | None:
    """Return the model of the part of a value at `path`, None if it is not a single model."""
    kind: Any = model
    for key in path:
        kind = _below(kind, key)
    return kind if _is_model(kind) else None


def _below(kind: Any, key: str | int) -> Any:
    if _is_model(kind):
        return _plain((fixed_fields(kind) or {}).get(str(key)))
    arguments = get_args(kind)
    if isinstance(key, int) and get_origin(kind) in _LISTS and arguments:
        return _plain(arguments[0])
    if get_origin(kind) is dict and len(arguments) > 1:
        return _plain(arguments[1])
    return None


def _plain(kind: Any) -> Any:
    """Return `kind` without Annotated and without `| None`; None for a union of several kinds."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        choices = [choice for choice in get_args(kind) if choice is not NoneType]
        return _plain(choices[0]) if len(choices) == 1 else None
    return kind


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
