"""The window of a long list slides: items that take long hold their own places, and no other item waits for them."""

from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docrail.dag.engine.events import (
    AbortRequested,
    Cancel,
    Chunk,
    ChunkEnded,
    ChunkThinned,
    Event,
    PauseRequested,
    ResumeRequested,
    StartChunk,
    StepCompleted,
    StepFailed,
)
from docrail.dag.engine.map_chunk import ChunkRun, Progress
from docrail.dag.engine.map_items import LANES, counts_of, has_work
from docrail.dag.engine.state import FanState, ItemEnd
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import CHUNK_ITEMS
from tests.dag.definitions import step
from tests.dag.test_chunks import DONE, FAILED, Fleet, fleet

STOPPED = ItemEnd(StepStatus.CANCELLED, attempts=1)


@dataclass
class Shell:
    """A run and its chunks as the shell drives them: messages between them take a while."""

    fleet: Fleet
    held: Collection[int] = ()
    chunks: dict[int, ChunkRun] = field(default_factory=dict)
    places: dict[int, list[int]] = field(default_factory=dict)
    lent: dict[int, int] = field(default_factory=dict)
    running: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The chunk of each item that runs, and its number there."""
    ended: list[int] = field(default_factory=list)
    letters: deque[ChunkThinned] = field(default_factory=deque)
    words: int = 0

    def __post_init__(self) -> None:
        self.begin()

    @property
    def fan(self) -> FanState:
        fan = self.fleet.state().fan
        assert fan is not None
        return fan

    def begin(self) -> None:
        """Start the chunks that the run has begun, and in them the items that may begin."""
        for (_, first), command in self.fleet.chunks.items():
            if first not in self.chunks:
                self.chunks[first] = ChunkRun(len(command.items), command.width, command.stop_after)
                self.places[first], self.lent[first] = [item.place for item in command.items], command.width
        for first, chunk in self.chunks.items():
            self.running |= {self.places[first][number]: (first, number) for number in chunk.begin()}
        assert self.fan.width <= self.fan.window
        assert self.fleet.run.counters.slots_used <= self.fleet.plan.max_concurrency
        running = Counter(first for first, _ in self.running.values())
        assert all(running[first] <= chunk.width for first, chunk in self.fan.chunks.items())
        each = self.fleet.steps[0].for_each
        is_offered = each is not None and self.fleet.run.outcome is None and has_work(self.fan, each)
        assert self.fleet.run.counters.ready.count(0) == is_offered

    def end_item(self, place: int, ended: ItemEnd = DONE) -> None:
        first, number = self.running.pop(place)
        self.ended.append(place)
        for stopped in self.chunks[first].end(number, ended):
            self.end_item(self.places[first][stopped], STOPPED)
        if first in self.chunks and self.chunks[first].is_over:
            chunk = self.chunks.pop(first)
            self.fleet.chunks.pop(("m", first))
            self.fleet.send(ChunkEnded("m", Chunk(first), tuple(chunk.ends), 9.0))
        self.begin()

    def widen(self, first: int) -> None:
        """Let a chunk report its places, if there is something to report."""
        if self.chunks[first].has_thinned:
            shown = self.chunks[first].report()
            self.letters.append(ChunkThinned("m", Chunk(first), shown.running, shown.completed, shown.failed, 9.0))
            self.words += 1

    def read(self) -> None:
        """Let the oldest word of a chunk come to the run."""
        self.fleet.send(self.letters.popleft())
        self.begin()

    def lend(self) -> None:
        """Let all chunks hear of places they are lent."""
        for first, chunk in self.chunks.items():
            width = self.fan.chunks[first].width
            if width > self.lent[first]:
                self.lent[first] = width
                chunk.widen(width)
        self.begin()

    def may_end(self) -> list[int]:
        return [place for place in self.running if place not in self.held]

    def settle(self) -> "Shell":
        """Let everything happen that can, the words last, until only held items run."""
        while True:
            if free := self.may_end():
                self.end_item(free[0])
            elif self.letters:
                self.read()
            else:
                before = self.words, len(self.running)
                self.lend()
                for first in list(self.chunks):
                    self.widen(first)
                if before == (self.words, len(self.running)) and not self.may_end():
                    return self


@settings(deadline=None)
@given(
    count=st.integers(CHUNK_ITEMS + 1, 900),
    window=st.integers(1, 30),
    limit=st.integers(1, 40),
    held=st.lists(st.integers(0, 899), max_size=30, unique=True),
    moves=st.lists(
        st.tuples(st.sampled_from(["end", "widen", "read", "lend", "pause", "resume"]), st.integers(0, 999))
    ),
)
def test_items_that_take_long_keep_no_other_from_its_end(
    count: int, window: int, limit: int, held: list[int], moves: list[tuple[str, int]]
) -> None:
    held = [place for place in held if place < count][: min(window, limit) - 1]
    shell = Shell(fleet(count, limits={"max_concurrency": limit}, max_concurrency=window), held)
    for move, pick in moves:
        if move == "end" and (free := shell.may_end()):
            shell.end_item(free[pick % len(free)])
        elif move == "widen" and shell.chunks:
            shell.widen(list(shell.chunks)[pick % len(shell.chunks)])
        elif move == "read" and shell.letters:
            shell.read()
        elif move == "lend":
            shell.lend()
        elif move in ("pause", "resume"):
            shell.fleet.send(PauseRequested(5.0) if move == "pause" else ResumeRequested(5.0))
    shell.fleet.send(ResumeRequested(6.0))
    shell.begin()
    shell.settle()
    assert sorted([*shell.ended, *held]) == list(range(count))
    assert sorted(shell.running) == sorted(held)
    assert shell.fleet.run.counters.slots_used == len(held)
    shell.held = ()
    shell.settle().fleet.go()
    assert shell.fleet.finished is RunStatus.COMPLETED
    assert sorted(shell.ended) == list(range(count))


def test_as_many_items_as_the_window_has_places_hold_all_others_up() -> None:
    shell = Shell(fleet(300, max_concurrency=3), [0, 10, 20]).settle()
    assert len(shell.running) + len(shell.ended) < 300
    assert sorted(shell.running) == [0, 10, 20]


def test_quick_items_need_few_chunks() -> None:
    shell = Shell(fleet(10_000, limits={"max_concurrency": 100}, max_concurrency=100))
    firsts = set(shell.chunks)
    while free := shell.may_end():
        shell.end_item(free[0])
        firsts |= set(shell.chunks)
    assert (shell.fleet.go().finished, shell.words) == (RunStatus.COMPLETED, 0)
    assert len(firsts) < 70


def test_a_few_free_places_go_to_a_chunk_that_has_more_to_do() -> None:
    began = fleet(3_000)
    firsts = list(began.state().fan.chunks)  # type: ignore[union-attr]
    assert began.widths == [5, 5, 5, 5]
    assert began.send(ChunkThinned("m", Chunk(0), 4, 246, 0, 9.0)) == []
    fan = began.state().fan
    assert fan is not None
    assert [fan.chunks[first].width for first in firsts] == [4, 5, 5, 6]


def test_enough_free_places_begin_the_next_chunk() -> None:
    began = fleet(3_000)
    (command,) = began.send(ChunkThinned("m", Chunk(0), 1, 249, 0, 9.0))
    assert isinstance(command, StartChunk)
    assert (command.width, len(began.chunks)) == (4, LANES + 1)


def test_the_reports_of_a_chunk_are_counted_until_it_ends() -> None:
    began = fleet(3_000, max_failures=9)
    began.send(ChunkThinned("m", Chunk(0), 1, 240, 9, 9.0))
    fan = began.state().fan
    assert fan is not None
    counts = counts_of(fan)
    assert (counts.completed, counts.failed, counts.running) == (240, 9, 20)
    began.end(("m", 0), dict.fromkeys(range(9), FAILED))
    counts = counts_of(fan)
    assert (counts.completed, counts.failed) == (241, 9)


def test_reported_failures_leave_fewer_to_the_next_chunk_and_stop_the_list() -> None:
    began = fleet(3_000, on_item_error="fail_fast", max_failures=5)
    (command,) = began.send(ChunkThinned("m", Chunk(0), 1, 245, 4, 9.0))
    assert isinstance(command, StartChunk)
    assert command.stop_after == 1
    firsts = [first for _, first in began.chunks]
    shown = began.send(ChunkThinned("m", Chunk(firsts[1]), 1, 247, 2, 9.0))
    assert shown == [Cancel("m", Chunk(first)) for first in firsts]


@pytest.mark.parametrize(
    "event",
    [
        ChunkThinned("m", Chunk(0), 5, 0, 0, 9.0),
        ChunkThinned("m", Chunk(0), 9, 0, 0, 9.0),
        ChunkThinned("m", Chunk(7), 1, 0, 0, 9.0),
        ChunkThinned("m", Chunk(0), -1, 0, 0, 9.0),
        ChunkThinned("a", Chunk(0), 1, 0, 0, 9.0),
        ChunkThinned("gone", Chunk(0), 1, 0, 0, 9.0),
    ],
)
def test_a_report_without_news_changes_nothing(event: Event) -> None:
    began = fleet(3_000, step("a"))
    assert began.send(event) == []
    assert began.widths == [5, 5, 5, 5]


def test_a_stopped_run_lends_no_places() -> None:
    began = fleet(3_000)
    began.send(AbortRequested("enough", 5.0))
    assert began.send(ChunkThinned("m", Chunk(0), 1, 245, 4, 9.0)) == []
    stopped = dict.fromkeys(range(3_000), STOPPED)
    assert began.go(stopped).finished is RunStatus.ABORTED
    assert began.run.counters.slots_used == 0


def test_a_step_next_to_a_long_list_takes_a_slot_that_came_free() -> None:
    began = fleet(1_000, step("a"), step("b", depends_on=["a"]), limits={"max_concurrency": 21})
    began.send(PauseRequested(4.0))
    began.send(ChunkThinned("m", Chunk(0), 1, 245, 4, 9.0))
    began.send(StepCompleted("a", {}, 1, 9.0))
    assert began.run.counters.slots_used == 16
    began.send(ResumeRequested(5.0))
    assert began.run.counters.slots_used == 21


def test_a_chunk_that_thinned_and_is_lost_has_failed_with_all_its_items() -> None:
    began = fleet(3_000, max_failures=3_000)
    began.send(ChunkThinned("m", Chunk(0), 1, 240, 0, 9.0))
    count = len(began.chunks.pop(("m", 0)).items)
    began.send(StepFailed("m", FAILED.error, 1, 9.0, Chunk(0)))  # type: ignore[arg-type]
    assert (began.state().fan or FanState([])).failed == count
    assert began.go().finished is RunStatus.COMPLETED


def test_of_a_wide_window_a_few_places_may_stay_free() -> None:
    """Else each item that ends late would cost the run events of its history, and thousands would fill it."""
    began = fleet(3_000, limits={"max_concurrency": 128}, max_concurrency=128)
    assert began.widths == [32] * 4
    began.send(ChunkThinned("m", Chunk(0), 29, 221, 0, 9.0))
    fan = began.state().fan
    assert fan is not None
    assert fan.width == 125
    began.send(ChunkThinned("m", Chunk(0), 28, 222, 0, 9.0))
    assert fan.width == 128


def test_a_chunk_reports_free_slots_only_when_all_its_items_have_begun() -> None:
    chunk = ChunkRun(3, 2, None)
    list(chunk.begin())
    chunk.end(0, DONE)
    assert not chunk.has_thinned
    list(chunk.begin())
    assert not chunk.has_thinned
    chunk.end(1, FAILED)
    assert chunk.has_thinned_much
    assert chunk.report() == Progress(running=1, completed=1, failed=1)
    assert not chunk.has_thinned


def test_a_wide_chunk_reports_at_once_only_many_free_slots() -> None:
    chunk = ChunkRun(20, 20, None)
    list(chunk.begin())
    chunk.end(0, DONE)
    assert (chunk.has_thinned, chunk.has_thinned_much) == (True, False)
    chunk.end(1, DONE)
    assert chunk.has_thinned_much


def test_a_stopped_chunk_reports_only_its_end() -> None:
    chunk = ChunkRun(2, 2, None)
    list(chunk.begin())
    chunk.stop()
    chunk.end(0, STOPPED)
    assert not chunk.has_thinned
