"""Define live events: what changed, and where in the sequence of all changes a reader stands."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.services.access.models import Principal, Scope
from docrail.services.model_config import SHOWN


class Kind(StrEnum):
    """What an event is about."""

    DOCUMENT = "document"
    REVIEW = "review"
    RUN = "run"
    FAILURE = "failure"
    DEFINITION = "definition"
    EXPORT = "export"
    BATCH = "batch"


NEEDED: Mapping[Kind, Scope] = dict.fromkeys(Kind, Scope.READ) | {Kind.REVIEW: Scope.REVIEW}
"""The scope that reads the objects of each kind, and so sees its events."""

ACCESS = "access"
"""Kind of the rows about revoked keys and sessions. They are not sent: the streams of the tenant are checked again."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Change:
    """An object has changed: read it again if it is shown."""

    kind: Kind
    """What changed: `run` also for each change of one of its steps, if the caller watches the run."""
    id: Annotated[str, Field(examples=["rev_0f9c6c4b3a2d4e5f8a7b6c5d4e"])]
    """Id of the object; of a failure `RUN_ID/STEP_ID`."""
    version: Annotated[int, Field(examples=[1795458896123456])]
    """Rises with each change of the object: microseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Happened:
    """A change of one tenant's object. `run_id`: the run that the object belongs to."""

    tenant_id: str
    change: Change
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """What a reader has seen: all transactions that `snapshot` sees. Written by PostgreSQL, `xmin:xmax:running`."""

    snapshot: str
    read_at: int
    """When, in seconds since 1970 by the database's clock."""

    def __str__(self) -> str:
        """Return the position as text, for the process itself: the ids of events seal it (seals.py)."""
        return f"{self.read_at}-{self.snapshot}"


_POSITION = re.compile(r"(\d{1,12})-(\d{1,20}:\d{1,20}:(?:\d{1,20}(?:,\d{1,20}){0,500})?)", re.ASCII)


def position_of(text: str) -> Position | None:
    """Return the position that a text names; None if it names none."""
    found = _POSITION.fullmatch(text)
    return None if found is None else Position(found[2], int(found[1]))


@dataclass(frozen=True, slots=True)
class Read:
    """What one look at the table found. `has_more`: only the beginning, because there is too much."""

    happened: Sequence[Happened]
    position: Position
    has_more: bool
    suspects: frozenset[str] = frozenset()
    """Tenants in which a key or a session was revoked."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a client asked for."""

    run_id: str | None = None
    """Only what belongs to this run or its nested runs; None: everything."""
    watched: frozenset[str] = frozenset()
    """Runs whose steps are watched too."""
    batch_id: str | None = None
    """Only what happens to this batch; None: everything."""

    def takes(self, happened: Happened) -> bool:
        """Return whether the client asked for this."""
        if self.batch_id is not None:
            return (happened.change.kind, happened.change.id) == (Kind.BATCH, self.batch_id)
        if self.run_id is None:
            return True
        return happened.run_id is not None and f"{happened.run_id}~".startswith(f"{self.run_id}~")


def visible_kinds(who: Principal) -> frozenset[Kind]:
    """Return the kinds of objects that the principal may read."""
    return frozenset(kind for kind in Kind if NEEDED[kind] in who.scopes)
