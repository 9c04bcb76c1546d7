"""Define field types that the models of several nouns share; the API serves these models as they are."""

from typing import Annotated, TypeVar

from pydantic import Field

T = TypeVar("T")

Hidden = Annotated[T, Field(exclude=True)]
"""A field that the API does not show."""
