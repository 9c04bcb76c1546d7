"""Says of a list that is empty which of its filters nothing has, and which values there are in its place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from dag.checks.suggestions import Suggestions

MOST_KNOWN = 20
"""Values that are told of one filter."""

MOST_COMPARED = 500
"""Values among which the one that was meant is looked for."""


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A filter whose value nothing has, whatever the other filters say. `known`: values that there are, first ones."""

    filter: Annotated[str, Field(examples=["class"])]
    value: Annotated[str, Field(examples=["ConectionError"])]
    known: Annotated[list[str], Field(description="values that there are, at most 20", examples=[["ConnectionError"]])]
    has_more: Annotated[bool, Field(description="whether there are more than those")]
    suggestion: Annotated[
        str | None, Field(description="the one that was probably meant", examples=["ConnectionError"])
    ]


def unmatched(asked: Mapping[str, str | None], known: Mapping[str, Sequence[str]]) -> list[Unmatched]:
    """Return those of the filters `asked` for, by name, whose value is not `known`; None is no filter.

    Of `known` at most MOST_COMPARED of each are to be given, and one more if there are more: the value asked for is
    among them if there is one.
    """
    found = []
    for name, value in asked.items():
        if value is None or value in known[name]:
            continue
        meant = Suggestions().closest(value, known[name][:MOST_COMPARED])
        has_more = len(known[name]) > MOST_KNOWN
        found.append(Unmatched(name, value, list(known[name][:MOST_KNOWN]), has_more, meant))
    return found
