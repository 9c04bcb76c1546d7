"""Merge two lists of runs page by page: those with workflows of their own, and those that share one.

Both are in the order of Temporal's lists: open runs first, then by their ends, latest first; at the same end by start.
A page of Temporal's may be used in part: it is then read again, from the place after its last used run.
"""

import base64
import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Generic, Protocol, TypeVar

from docrail.dag.values.json_values import Json
from docrail.services.paging import not_a_page, text_of
from docrail.services.runs.models import OPEN_END, ListedPlace


class Listed(Protocol):
    """What orders a run in the lists."""

    @property
    def run_id(self) -> str:
        """Return its id."""

    @property
    def started_at(self) -> dt.datetime:
        """Return when it started."""

    @property
    def ended_at(self) -> dt.datetime | None:
        """Return when it ended, None while it runs."""


Run = TypeVar("Run", bound=Listed)
MOST_SKIPPED = 10_000
"""More than a page of Temporal's list has."""


@dataclass(frozen=True, slots=True)
class Alone:
    """A place in Temporal's list: after `skip` executions of the page that `token` begins."""

    token: bytes | None = None
    skip: int = 0
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A place in both lists."""

    alone: Alone = Alone()
    chunked: ListedPlace | None = None
    """After this run; None: at the beginning."""
    is_chunked_over: bool = False

    @classmethod
    def of(cls, token: bytes | None) -> "Place":
        """Return the place that `token` is for; None: the beginning. Raises: InvalidInput."""
        if token is None:
            return cls()
        try:
            found = json.loads(token)
            alone, chunked = found["alone"], found["chunked"]
            encoded, skip = alone["token"], range(MOST_SKIPPED)[alone["skip"]]
            return cls(
                Alone(None if encoded is None else base64.b64decode(encoded), skip, is_over=bool(alone["is_over"])),
                None if chunked is None else _listed_place(chunked),
                is_chunked_over=bool(found["is_chunked_over"]),
            )
        except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError):  # its checksum is not a secret
            raise not_a_page() from None

    @property
    def token(self) -> bytes | None:
        """Return the place as a token; None at the end of both lists."""
        if self.alone.is_over and self.is_chunked_over:
            return None
        alone, after = self.alone, self.chunked
        encoded = alone.token and base64.b64encode(alone.token).decode()
        chunked = after and [after.ended_at.isoformat(), after.started_at.isoformat(), after.run_id]
        found = {
            "alone": asdict(alone) | {"token": encoded},
            "chunked": chunked,
            "is_chunked_over": self.is_chunked_over,
        }
        return json.dumps(found).encode()


@dataclass(frozen=True, slots=True)
class Found(Generic[Run]):
    """Runs with workflows of their own, each with the place after it, and the place after all that was read."""

    runs: Sequence[tuple[Run, Alone]]
    end: Alone


def merged(alone: Found[Run], chunked: Sequence[Run], place: Place, *, limit: int) -> tuple[list[Run], Place]:
    """Return the next `limit` runs of both lists, and the place after them.

    `chunked` has more than `limit` runs if there are more. A run that has just moved may be in both.
    """
    runs, taken, passed = list[Run](), 0, 0
    known = {run.run_id for run, _ in alone.runs}
    while len(runs) < limit:
        first = alone.runs[taken][0] if taken < len(alone.runs) else None  # the run, without its place
        other = chunked[passed] if passed < len(chunked) else None
        if first is None and (other is None or not alone.end.is_over):
            break
        if first is not None and (other is None or _order(first) >= _order(other)):
            runs.append(first)
            taken += 1
        elif other is not None:
            if other.run_id not in known:
                runs.append(other)
            passed += 1
    at = alone.end if taken == len(alone.runs) else alone.runs[taken - 1][1] if taken else place.alone
    last = _place_of(chunked[passed - 1]) if passed else place.chunked
    return runs, replace(place, alone=at, chunked=last, is_chunked_over=passed == len(chunked))


def _listed_place(found: Json) -> ListedPlace:
    return ListedPlace(_moment(found[0]), _moment(found[1]), text_of(found[2]))


def _moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).astimezone(dt.UTC)


def _order(run: Listed) -> tuple[dt.datetime, dt.datetime]:
    return run.ended_at or OPEN_END, run.started_at


def _place_of(run: Listed) -> ListedPlace:
    return ListedPlace(run.ended_at or OPEN_END, run.started_at, run.run_id)
