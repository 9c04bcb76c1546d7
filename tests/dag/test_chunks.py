"""Long lists run in chunks: the window slides over all of them, and what ends a short list early ends a long one."""

from collections import Counter, deque
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine.events import (
    AbortRequested,
    Cancel,
    Chunk,
    ChunkEnded,
    ChunkThinned,
    Command,
    Event,
    Finish,
    Item,
    PauseRequested,
    Record,
    Resolution,
    ResolutionKind,
    Resolved,
    ResumeRequested,
    RunStarted,
    Start,
    StartChunk,
    StepCancelled,
    StepCompleted,
    StepFailed,
    Store,
    Stored,
)
from docrail.dag.engine.map_chunk import MAX_ENDS_BYTES, ChunkRun, for_report
from docrail.dag.engine.map_items import LANES, MAX_CHUNK_BYTES, MAX_STORED_BYTES
from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.saved_state import begin
from docrail.dag.engine.state import EarlierError, ItemEnd, StepError, StepState
from docrail.dag.engine.transitions import advance
from docrail.dag.explain.report import report_of
from docrail.dag.language.definition import Step
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import CHUNK_ITEMS, MAX_ITEMS
from docrail.dag.values.json_values import LONGEST_MESSAGE, Json, size_of
from docrail.dag.values.stored import part_of
from tests.dag.definitions import definition, step
from tests.dag.kinds import BROKEN, mapped
from tests.dag.test_counters import assert_rebuilt

DONE = ItemEnd(StepStatus.COMPLETED, {"ok": True}, None, 1)
FAILED = ItemEnd(StepStatus.FAILED, None, BROKEN, 2)
MARK = {"$stored": "0" * 64, "bytes": 70_000}


@dataclass
class Fleet:
    """A run with long lists, and the chunks of it that run."""

    steps: tuple[Step, ...]
    limits: Json = field(default_factory=dict)
    on_failure: str = "continue"
    chunks: dict[tuple[str, int], StartChunk] = field(default_factory=dict)
    finished: RunStatus | None = None
    began: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.plan = compile_plan(definition(*self.steps, on_failure=self.on_failure, **self.limits))
        self.run = begin(self.plan, {}, {})
        self.waiting: deque[Event] = deque()
        self.commands = self.send(RunStarted(1.0))

    def send(self, event: Event) -> list[Command]:
        commands = advance(self.plan, self.run, event)
        for command in commands:
            match command:
                case StartChunk(name, items):
                    self.chunks[name, items[0].place] = command
                    self.began.update(item.place for item in items)
                case Store(name):
                    self.waiting.append(Stored(name, MARK, 9.0))
                case Finish(status):
                    self.finished = status
        return commands

    def end(self, key: tuple[str, int], ends: dict[int, ItemEnd] | None = None) -> list[Command]:
        """End a chunk: the given items by index as they say, the others completed."""
        command = self.chunks.pop(key)
        reported = tuple((ends or {}).get(item.place, DONE) for item in command.items)
        return self.send(ChunkEnded(key[0], Chunk(key[1]), reported, 9.0))

    def go(self, ends: dict[int, ItemEnd] | None = None) -> "Fleet":
        """End chunks, the oldest first, until nothing is left."""
        while self.chunks or self.waiting:
            if self.waiting:
                self.send(self.waiting.popleft())
            else:
                self.end(next(iter(self.chunks)), ends)
        return self

    @property
    def widths(self) -> list[int]:
        return [chunk.width for chunk in self.chunks.values()]

    def state(self, name: str = "m") -> StepState:
        return self.run.steps[self.plan.index[name]]


def fleet(count: int, *more: Step, limits: Json = None, on_failure: str = "continue", **for_each: Json) -> Fleet:
    fields = {"max_concurrency": 20, **for_each}
    items = [{"n": place} for place in range(count)]
    config = {"n": "{{ item.n }}"}
    return Fleet((mapped("m", items, config=config, **fields), *more), limits or {"max_concurrency": 20}, on_failure)


def test_a_list_may_have_as_many_items_as_are_allowed() -> None:
    ended = fleet(MAX_ITEMS).go()
    assert ended.finished is RunStatus.COMPLETED
    assert set(ended.began) == set(range(MAX_ITEMS))
    assert set(ended.began.values()) == {1}
    assert part_of(ended.state().output) is not None


def test_each_element_is_an_item_with_its_config_and_key() -> None:
    command = fleet(CHUNK_ITEMS + 1).commands[0]
    assert isinstance(command, StartChunk)
    assert [(item.place, item.key, item.config) for item in command.items[:2]] == [
        (0, "0", {"n": 0}),
        (1, "1", {"n": 1}),
    ]


def test_the_lanes_share_the_window() -> None:
    began = fleet(MAX_ITEMS, limits={"max_concurrency": 50}, max_concurrency=10)
    assert began.widths == [3, 3, 3, 1]
    began.end(("m", 0))
    assert began.widths == [3, 3, 1, 3]


def test_a_window_of_one_is_one_lane() -> None:
    assert fleet(MAX_ITEMS, max_concurrency=1).widths == [1]


def test_the_run_s_own_limit_counts_the_items_of_chunks() -> None:
    began = fleet(MAX_ITEMS, step("a"), limits={"max_concurrency": 6})
    assert (began.widths, began.run.counters.slots_used) == ([2, 2, 2], 6)
    began.end(("m", 0))
    assert (began.widths, began.run.counters.slots_used) == ([2, 2, 2], 6)


def test_steps_next_to_a_long_list_get_their_slots() -> None:
    began = fleet(1_000, step("a"), limits={"max_concurrency": 20}, max_concurrency=10)
    assert Start("a", {}) in began.commands
    assert sum(began.widths) + 1 == began.run.counters.slots_used == 11


def test_nested_runs_take_no_slots_in_chunks_either() -> None:
    nested = mapped("m", list(range(300)), workflow={"id": "other"}, max_concurrency=40)
    began = Fleet((nested,), {"max_concurrency": 2})
    assert (sum(began.widths), began.run.counters.slots_used) == (40, 0)


def test_chunks_get_smaller_towards_the_end() -> None:
    ended = fleet(2_000)
    lengths = [len(chunk.items) for chunk in ended.chunks.values()]
    ended.go()
    assert lengths[0] == CHUNK_ITEMS
    assert lengths == sorted(lengths, reverse=True)
    assert len(lengths) == LANES


def test_a_chunk_s_configs_are_as_large_as_travels() -> None:
    items: Json = [0] * 300
    began = Fleet((mapped("m", items, config={"text": "x" * 10_000}, max_concurrency=1),), {"max_concurrency": 1})
    (chunk,) = began.chunks.values()
    size = sum(size_of(item.config) for item in chunk.items)
    assert MAX_CHUNK_BYTES <= size < MAX_CHUNK_BYTES + 11_000


def test_failures_are_reported_by_item() -> None:
    ended = fleet(300, max_failures=1).go({7: FAILED})
    assert ended.finished is RunStatus.COMPLETED
    reported = ended.state().fan
    assert reported is not None
    assert reported.failed == 1


def test_too_many_failures_fail_the_step() -> None:
    ended = fleet(300).go({7: FAILED, 299: FAILED})
    assert ended.finished is RunStatus.FAILED
    error = ended.state().error
    assert error == StepError("ItemsFailed", "2 of 300 items failed: 7, 299; 7: it broke")
    assert ended.state().attempts == 298 + 2 * 2


def test_the_counters_of_a_list_in_chunks_equal_rebuilt_ones() -> None:
    began = fleet(3_000, max_concurrency=20)
    began.send(ChunkThinned("m", Chunk(0), 1, 248, 1, 9.0))
    while began.chunks:
        assert_rebuilt(began.plan, began.run)
        began.end(next(iter(began.chunks)))
    assert_rebuilt(began.plan, began.run)


def test_items_whose_config_cannot_be_resolved_fail_alone() -> None:
    items: Json = [{"n": place} if place % 2 else {} for place in range(600)]
    ended = Fleet((mapped("m", items, config={"n": "{{ item.n }}"}, max_failures=300),), {"max_concurrency": 9}).go()
    assert (ended.finished, sum(ended.began.values())) == (RunStatus.COMPLETED, 300)


def test_a_list_none_of_whose_items_can_begin_starts_no_chunk() -> None:
    """Its errors together are too large for the run itself and are stored first."""
    ended = Fleet((mapped("m", [{}] * 600, config={"n": "{{ item.n }}"}),), {"max_concurrency": 9})
    assert (ended.finished, ended.chunks) == (None, {})
    assert ended.go().finished is RunStatus.FAILED


def test_a_hasty_list_stops_its_chunks_at_the_first_failure() -> None:
    began = fleet(3_000, on_item_error="fail_fast")
    assert {chunk.stop_after for chunk in began.chunks.values()} == {0}
    firsts = [place for _, place in began.chunks]
    stopped = ItemEnd(StepStatus.PENDING)
    reported = {item.place: stopped for item in began.chunks["m", 0].items} | {0: DONE, 1: FAILED}
    assert began.end(("m", 0), reported) == [Cancel("m", Chunk(place)) for place in firsts[1:]]
    began.go(dict.fromkeys(range(3000), stopped))
    assert (began.finished, len(began.began)) == (RunStatus.FAILED, CHUNK_ITEMS * LANES)
    assert part_of(began.state().output) is not None


def test_a_failure_in_one_chunk_leaves_fewer_to_the_next() -> None:
    began = fleet(3_000, on_item_error="fail_fast", max_failures=5)
    began.end(("m", 0), {0: FAILED, 1: FAILED})
    assert [chunk.stop_after for chunk in began.chunks.values()] == [5, 5, 5, 3]


def test_an_abort_stops_the_chunks_and_keeps_what_is_done() -> None:
    began = fleet(3_000)
    firsts = [place for _, place in began.chunks]
    assert began.send(AbortRequested("enough", 5.0)) == [Cancel("m", Chunk(place)) for place in firsts]
    began.go({place: ItemEnd(StepStatus.PENDING) for place in range(100, 3_000)})
    assert (began.finished, began.state().status) == (RunStatus.ABORTED, StepStatus.CANCELLED)


@pytest.mark.parametrize(
    "event", [StepFailed("m", StepError("Terminated", "gone"), 1, 9.0, Chunk(0)), StepCancelled("m", 9.0, Chunk(0))]
)
def test_a_chunk_that_is_lost_has_failed_with_all_its_items(event: Event) -> None:
    began = fleet(3_000, max_failures=3_000)
    count = len(began.chunks.pop(("m", 0)).items)
    began.send(event)
    fan = began.state().fan
    assert fan is not None
    assert fan.failed == count
    assert began.go().finished is RunStatus.COMPLETED


def test_repeated_and_late_events_change_nothing() -> None:
    began = fleet(3_000)
    ends = (DONE,) * len(began.chunks["m", 0].items)
    began.end(("m", 0))
    before = began.state()
    assert began.send(ChunkEnded("m", Chunk(0), ends, 9.0)) == []
    assert began.send(StepCompleted("m", None, 1, 9.0, Item(5))) == []
    assert began.state() == before


def test_a_paused_run_begins_no_chunk() -> None:
    began = fleet(3_000)
    began.send(PauseRequested(5.0))
    assert began.end(("m", 0)) == []
    assert [type(command) for command in began.send(ResumeRequested(6.0))] == [StartChunk]


def test_only_the_failed_items_of_a_long_list_run_again() -> None:
    ended = fleet(600, on_failure="park").go({5: FAILED, 599: FAILED})
    assert ended.state().status is StepStatus.PARKED
    ended.began.clear()
    commands = ended.send(Resolved("m", Resolution(ResolutionKind.RETRY), 20.0))
    assert commands == [Start("m", {"n": 5}, Item(5)), Start("m", {"n": 599}, Item(599)), Record("m")]
    ended.send(StepCompleted("m", {"ok": True}, 1, 21.0, Item(5)))
    ended.send(StepCompleted("m", {"ok": True}, 1, 21.0, Item(599)))
    assert ended.go().finished is RunStatus.COMPLETED


def test_a_report_counts_the_items_of_chunks() -> None:
    began = fleet(3_000)
    began.end(("m", 0), {3: FAILED})
    report = report_of(began.plan, began.run, run_id="r", tenant_id="t", version=1, digest="d")
    counts = report.steps["m"].items
    assert counts is not None
    assert (counts.total, counts.completed, counts.failed) == (3_000, CHUNK_ITEMS - 1, 1)
    assert counts.running == 20


def test_outputs_that_are_too_large_to_be_stored_fail_the_step() -> None:
    large = ItemEnd(StepStatus.COMPLETED, "x" * (MAX_STORED_BYTES // 290), None, 1)
    ended = fleet(300).go(dict.fromkeys(range(300), large))
    error = ended.state().error
    assert error is not None
    assert error.type == "OutputTooLargeError"


@given(
    count=st.integers(1, 30),
    width=st.integers(1, 5),
    stop_after=st.none() | st.integers(0, 3),
    order=st.lists(st.tuples(st.integers(0, 100), st.booleans())),
)
def test_a_chunk_begins_every_item_once_until_it_is_stopped(
    count: int, width: int, stop_after: int | None, order: list[tuple[int, bool]]
) -> None:
    chunk = ChunkRun(count, width, stop_after)
    running: list[int] = []
    failed, turn, stopped = 0, 0, False
    began: list[int] = []
    while not chunk.is_over:
        new = list(chunk.begin())
        began += new
        running += new
        assert not (stopped and new)
        assert len(running) <= width
        assert len(running) == width or began == list(range(count)) or stopped
        pick, fails = order[turn % len(order)] if order else (0, False)
        turn += 1
        number = running.pop(pick % len(running))
        failed += fails
        asked = chunk.end(number, FAILED if fails else DONE)
        must_stop = stop_after is not None and failed > stop_after
        assert asked == (sorted(running) if must_stop and not stopped else [])
        stopped = stopped or must_stop
    assert running == []
    assert began == list(range(len(began)))
    assert [ended.status for ended in chunk.ends[len(began) :]] == [StepStatus.PENDING] * (count - len(began))
    assert stopped or len(began) == count


def test_errors_of_a_chunk_are_cut_until_all_of_them_travel() -> None:
    """A control character takes six bytes as JSON."""
    failed = ItemEnd(StepStatus.FAILED, None, StepError("ValueError", "\x01" * LONGEST_MESSAGE), 1)
    ends = for_report([failed] * 250)
    assert 1_000_000 < size_of(ends) <= MAX_ENDS_BYTES
    assert {ended.error and len(ended.error.message) for ended in ends} == {LONGEST_MESSAGE // 2}
    assert for_report([failed, DONE]) == (failed, DONE)


def test_a_chunk_reports_the_last_errors_of_earlier_attempts() -> None:
    met = [EarlierError(number, StepError("ConnectionError", "no network")) for number in (1, 2)]
    ends = for_report([ItemEnd(StepStatus.COMPLETED, {}, attempts=3, earlier=tuple(met))] * 4)
    assert [ended.earlier for ended in ends] == [(), (met[1],), tuple(met), tuple(met)]


def test_a_chunk_whose_errors_are_shortened_reports_no_more_earlier_errors() -> None:
    met = tuple(EarlierError(number, StepError("ConnectionError", "no network")) for number in range(5))
    failed = ItemEnd(StepStatus.FAILED, None, StepError("ValueError", "\x01" * LONGEST_MESSAGE), 6, earlier=met)
    ends = for_report([failed] * 250)
    assert size_of(ends) <= MAX_ENDS_BYTES
    assert [ended.earlier for ended in ends] == [()] * 249 + [met]


@pytest.mark.parametrize("status", [StepStatus.CANCELLED, StepStatus.PENDING])
def test_items_that_a_chunk_lost_have_failed(status: StepStatus) -> None:
    """The chunk was cancelled in Temporal: the list must not look complete."""
    ended = fleet(300).go({7: ItemEnd(status)})
    assert ended.finished is RunStatus.FAILED
    assert ended.state().error == StepError(
        "ItemsFailed", "1 of 300 items failed: 7; 7: cancelled from outside the run"
    )


def test_definitions_of_nested_runs_leave_less_room_in_a_chunk() -> None:
    items: Json = [0] * 300
    began = Fleet((mapped("m", items, workflow={"id": "other", "inputs": {"x": "y" * 10_000}}, max_concurrency=1),))
    began.run.traffic.nested_bytes = 1_400_000
    assert len(began.chunks.popitem()[1].items) > 10
    began.send(ChunkEnded("m", Chunk(0), (DONE,) * len(began.commands[0].items), 2.0))  # type: ignore[union-attr]
    assert len(began.chunks.popitem()[1].items) == 10
