"""Configure the classes that services share with the API: what it returns, and what it accepts as a body.

The docstrings of their attributes are the descriptions in the API's OpenAPI document.
"""

from typing import Annotated, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field

from docrail.dag.values.json_values import Json
from docrail.field_docs import describe_fields

SHOWN = ConfigDict(json_schema_extra=describe_fields, json_schema_serialization_defaults_required=True)
"""Of classes that the API returns."""


def body(*examples: dict[str, Json], schema: dict[str, Json] | None = None) -> ConfigDict:
    """Return the configuration of a class that the API accepts as a body: unknown attributes are refused.

    `schema`: what its JSON Schema says in addition.
    """

    def extra(shown: dict[str, Json], described: type) -> None:
        describe_fields(shown, described)
        shown |= {"examples": [*examples], **(schema or {})}

    return ConfigDict(extra="forbid", json_schema_extra=extra)


T = TypeVar("T")
Hidden = Annotated[T, Field(exclude=True)]
"""An attribute that the API does not return."""


def without_null(schema: dict[str, Json]) -> None:
    """Describe an optional field as one that is absent or has a value, never null."""
    [given] = [each for each in schema.pop("anyOf") if each != {"type": "null"}]
    schema |= given


def _whole(value: Json) -> Json:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Last part of a strict whole number: JSON writes it as 3 or 3.0, but neither as text nor as true."""


Text = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$")]
"""A reason or a remark."""
