"""What a page of a list ends with, to ask for the next one: told from mistakes, and from other lists' tokens.

Says of a list that is empty which of its filters nothing has, and which values there are in its place.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from docrail.dag.language.inputs import InputProblem
from docrail.dag.values.suggestions import Suggestions
from docrail.services.errors import InvalidInput

MARK_BYTES = 8
"""Enough to tell a page's token from a mistake. No secret: a token says nothing that its query does not guard."""


def after_of(token: bytes | None, query: str) -> str | None:
    """Return a page's token as text that can be told from any other: Temporal's server fails on what it never gave."""
    return base64.urlsafe_b64encode(_mark(token, query) + token).decode() if token else None


def token_of(after: str | None, query: str) -> bytes | None:
    """Return the page token that `after_of` made of the same query. Raises: InvalidInput."""
    if after is None:
        return None
    try:
        marked = base64.urlsafe_b64decode(after)
    except (binascii.Error, ValueError):
        marked = b""
    mark, token = marked[:MARK_BYTES], marked[MARK_BYTES:]
    if mark != _mark(token, query):
        raise not_a_page()
    return token


def not_a_page() -> InvalidInput:
    """Return the refusal of an `after` that no page of the list ended with."""
    return InvalidInput([InputProblem("after", "is not the `after` of an earlier page of this list")])


def _mark(token: bytes, query: str) -> bytes:
    return hashlib.sha256(token + query.encode()).digest()[:MARK_BYTES]


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
