"""Configure the classes that services share with the API: what it returns, and what it accepts as a body.

The docstrings of their attributes are the descriptions in the API's OpenAPI document.
"""

from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field

from docrail.dag.values.json_values import Json

SHOWN = ConfigDict(use_attribute_docstrings=True, json_schema_serialization_defaults_required=True)
"""Of classes that the API returns."""


def body(*examples: dict[str, Json]) -> ConfigDict:
    """Return the configuration of a class that the API accepts as a body: unknown attributes are refused."""
    return ConfigDict(extra="forbid", use_attribute_docstrings=True, json_schema_extra={"examples": [*examples]})


T = TypeVar("T")
Hidden = Annotated[T, Field(exclude=True)]
"""An attribute that the API does not return."""


Text = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$")]
"""A reason or a remark."""
