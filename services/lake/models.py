"""Define lake files, saved documents and their versions."""

import datetime as dt
from dataclasses import dataclass

from docrail.adapters.postgres.pool import StorageError


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A file of the lake; `path` is relative to its root, `size` in bytes."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, order=True, slots=True)
class Saved:
    """A document's file, as described by its name."""

    document_id: str
    version: int
    path: str


class StandingChanged(StorageError):  # noqa: N818  # a statement about the document
    """The document was decided or corrected after it was loaded, so the loaded state must not be saved."""

    def __init__(self, document_id: str) -> None:
        super().__init__(f"the review of document {document_id!r} has changed since it was loaded: load it again")


@dataclass(frozen=True, slots=True)
class LakeVersion:
    """One state of a document in the lake. Numbers begin at 1."""

    number: int
    saved_at: dt.datetime
    status: str = "open"
    """The review's decision: `approved`, `rejected`, or `open`."""
