"""What a page of a list ends with, to ask for the next one: told from mistakes, and from other lists' tokens."""

import base64
import binascii
import hashlib

from dag.inputs import InputProblem
from operations.errors import InvalidInput

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
