"""Two lists of runs read as one: every run once, in order, whatever the sizes of the pages."""

import datetime as dt
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.services.runs.models import OPEN_END, ListedPlace
from docrail.services.runs.views.paging_runs import Alone, Found, Place, merged

BEGIN = dt.datetime(2026, 11, 26, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Line:
    run_id: str
    started_at: dt.datetime
    ended_at: dt.datetime | None


def order(line: Line) -> tuple[dt.datetime, dt.datetime, str]:
    return line.ended_at or OPEN_END, line.started_at, line.run_id


@st.composite
def lines(draw: st.DrawFn, prefix: str) -> list[Line]:
    """Return a list in the order of both, whose ends are all different."""
    count = draw(st.integers(0, 12))
    seconds = draw(st.lists(st.integers(0, 500), min_size=count, max_size=count, unique=True))
    is_open = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    offset = {"a": 0.0, "c": 0.5}[prefix]
    found = [
        Line(f"{prefix}{second}", at, None if still else at + dt.timedelta(seconds=1))
        for second, still in zip(seconds, is_open, strict=True)
        for at in [BEGIN + dt.timedelta(seconds=second + offset)]
    ]
    return sorted(found, key=order, reverse=True)


class Server:
    """Pages of the runs with workflows of their own, as Temporal gives them."""

    def __init__(self, runs: list[Line]) -> None:
        self.runs = runs

    def read(self, place: Alone, limit: int) -> Found[Line]:
        if place.is_over:
            return Found([], place)
        first = int((place.token or b"0").decode())
        until = first + place.skip + limit
        following = Alone(str(until).encode()) if until < len(self.runs) else Alone(None, 0, is_over=True)
        page = self.runs[first + place.skip : until]
        after = [Alone(place.token, place.skip + number + 1) for number in range(len(page) - 1)] + [following]
        return Found(list(zip(page, after, strict=False)), following)


def rows_after(rows: list[Line], place: ListedPlace | None, limit: int) -> list[Line]:
    if place is not None:
        rows = [row for row in rows if order(row) < (place.ended_at, place.started_at, place.run_id)]
    return rows[: limit + 1]


@given(lines("a"), lines("c"), st.integers(1, 5))
def test_pages_have_every_run_of_both_lists_once_and_in_order(alone: list[Line], rows: list[Line], limit: int) -> None:
    server, token, found = Server(alone), None, list[Line]()
    for _ in range(len(alone) + len(rows) + 2):
        place = Place.of(token)
        chunked = [] if place.is_chunked_over else rows_after(rows, place.chunked, limit)
        page, following = merged(server.read(place.alone, limit), chunked, place, limit=limit)
        assert len(page) <= limit
        found += page
        token = following.token
        if token is None:
            break
    assert token is None
    assert found == sorted([*alone, *rows], key=order, reverse=True)


def test_a_run_that_has_just_moved_is_listed_once() -> None:
    moved = Line("r", BEGIN, None)
    over = Alone(None, 0, is_over=True)
    page, place = merged(Found([(moved, over)], over), [moved], Place(), limit=10)
    assert (page, place.token) == ([moved], None)


@pytest.mark.parametrize("chunked", [None, ListedPlace(OPEN_END, BEGIN, "d.doc_1")])
def test_a_place_is_read_from_its_token(chunked: ListedPlace | None) -> None:
    place = Place(Alone(b"\x00\xff", 3), chunked, is_chunked_over=chunked is None)
    assert Place.of(place.token) == place
