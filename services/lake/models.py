"""Define lake files, saved documents and their versions."""

import datetime as dt
from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class LakeVersion:
    """One state of a document in the lake. Numbers begin at 1."""

    number: int
    saved_at: dt.datetime
    status: str = "open"
    """The review's decision: `approved`, `rejected`, or `open`."""
