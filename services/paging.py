"""Create and verify page tokens, and report filters that match nothing.

A page token is bound to its query, so that mistakes and tokens of other lists are rejected. For an empty list, report
each filter whose value does not exist, with the values that do.
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
"""Length of a token's checksum: enough to detect mistakes. Not a secret: a token reveals nothing that its query does
not protect."""


def after_of(token: bytes | None, query: str) -> str | None:
    """Return a page token as text bound to its query, or None.

    Temporal's server fails on tokens that it did not issue.
    """
    return base64.urlsafe_b64encode(_mark(token, query) + token).decode() if token else None


def token_of(after: str | None, query: str) -> bytes | None:
    """Return the page token that `after_of` encoded for the same query. Raises: InvalidInput."""
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


def text_of(after: str) -> str:
    """Return a position that is an id. Raises: InvalidInput if it has a NUL, which PostgreSQL's texts cannot have."""
    if "\0" in after:
        raise not_a_page()
    return after


def not_a_page() -> InvalidInput:
    """Return the refusal of an `after` that does not belong to this list."""
    return InvalidInput([InputProblem("after", "is not the `after` of an earlier page of this list")])


def _mark(token: bytes, query: str) -> bytes:
    return hashlib.sha256(token + query.encode()).digest()[:MARK_BYTES]


MOST_KNOWN = 20
"""Maximum number of values listed for one filter."""


MOST_COMPARED = 500
"""Maximum number of values searched for a suggestion."""


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A filter whose value does not exist, whatever the other filters are.

    `known`: the first of the existing values.
    """

    filter: Annotated[str, Field(examples=["class"])]
    value: Annotated[str, Field(examples=["ConectionError"])]
    known: Annotated[list[str], Field(description="existing values, at most 20", examples=[["ConnectionError"]])]
    has_more: Annotated[bool, Field(description="whether there are more than these")]
    suggestion: Annotated[
        str | None, Field(description="the value that was probably meant", examples=["ConnectionError"])
    ]


def unmatched(asked: Mapping[str, str | None], known: Mapping[str, Sequence[str]]) -> list[Unmatched]:
    """Return the filters in `asked`, by name, whose value is not in `known`; None means no filter.

    Pass at most MOST_COMPARED values of each filter in `known`, plus one if there are more; they must include the
    requested value if it exists.
    """
    found = []
    for name, value in asked.items():
        if value is None or value in known[name]:
            continue
        meant = Suggestions().closest(value, known[name][:MOST_COMPARED])
        has_more = len(known[name]) > MOST_KNOWN
        found.append(Unmatched(name, value, list(known[name][:MOST_KNOWN]), has_more, meant))
    return found
