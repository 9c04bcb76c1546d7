"""Laws of the scheduler, over random plans, failures and orders of completion. `World` asserts safety all along."""

import copy
import json
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine.events import (
    WHOLE_STEP,
    AbortRequested,
    Answered,
    CancelRequested,
    Event,
    Item,
    Part,
    PauseRequested,
    ResumeRequested,
    RunStarted,
    Start,
    StepCancelled,
    StepCompleted,
    StepFailed,
    TimedOut,
)
from docrail.dag.engine.saved_state import load, save
from docrail.dag.engine.state import Answer, RunState, StepError, StepState
from docrail.dag.language.statuses import SETTLED, RunStatus, SkipReason, StepStatus
from docrail.dag.values.json_values import Json
from tests.dag.definitions import LAW, MOST_ITEMS, Case, cases, picks
from tests.dag.rewinding import rewind
from tests.dag.specification import specify, work_name
from tests.dag.watch import counters, is_timer, part_of
from tests.dag.world import Picker, World

moments = st.integers(0, 8)
modes = st.one_of(cases(aborts=True), cases("fail_fast", aborts=True))
stops = st.sampled_from([AbortRequested("enough", 0.5), CancelRequested(0.5)])


def world_of(case: Case) -> World:
    return World(case.definition, case.failing, case.vanishing, case.overdue)


@LAW
@given(cases(), picks, picks)
def test_order_of_completion_never_changes_the_outcome(case: Case, one: list[int], other: list[int]) -> None:
    a, b = world_of(case).go(Picker(one)), world_of(case).go(Picker(other))
    assert a.results == b.results
    assert a.reported == b.reported


@LAW
@given(cases(), picks)
def test_fates_equal_the_specification(case: Case, order: list[int]) -> None:
    assert world_of(case).go(Picker(order)).fates == specify(case.definition, case.lost, case.overdue)


@LAW
@given(modes, picks, moments)
def test_every_run_ends_after_as_many_answers_as_starts(case: Case, order: list[int], paused_at: int) -> None:
    world = world_of(case)
    world.start()
    world.turns(paused_at, Picker(order))
    world.go(Picker(order))
    assert world.ledger.finished is not None
    assert len(world.trace) == 1 + len(world.ledger.started)


@LAW
@given(modes, picks, moments, moments, st.booleans())
def test_a_state_that_went_through_json_behaves_the_same(
    case: Case, order: list[int], paused_at: int, saved_at: int, resumes: bool
) -> None:
    kept, reloaded = world_of(case), world_of(case)
    for world in (kept, reloaded):
        pick = Picker(order)
        world.start()
        world.turns(paused_at, pick)
        world.send(PauseRequested(world.tick()))
        world.turns(saved_at, pick)
        if world is reloaded:
            world.run = load(world.plan, json.loads(json.dumps(save(world.plan, world.run))))
        world.send(ResumeRequested(world.tick()) if resumes else AbortRequested("enough", world.tick()))
        world.go(pick)
    assert [commands for _, commands in reloaded.trace] == [commands for _, commands in kept.trace]
    assert save(reloaded.plan, reloaded.run) == save(kept.plan, kept.run)


@LAW
@given(modes, picks, moments, stops, st.booleans())
def test_a_stop_always_ends_the_run_and_starts_nothing(
    case: Case, order: list[int], stopped_at: int, stop: Event, stubborn: bool
) -> None:
    world = world_of(case)
    world.stubborn = frozenset(world.watch.order) if stubborn else frozenset()
    pick = Picker(order)
    world.start()
    world.turns(stopped_at, pick)
    before = copy.deepcopy(world.states)
    ran, already = world.ledger.active, world.ledger.finished or world.ledger.stop
    world.send(stop)
    assert world.ledger.asked == ran
    world.go(pick)
    assert world.ledger.finished is (already or world.ledger.stop)
    if not already:
        for step, state in world.states.items():
            assert state == before[step] or _is_stopped(before[step], state, stubborn)


def _is_stopped(before: StepState, after: StepState, stubborn: bool) -> bool:
    if before.status in (StepStatus.RUNNING, StepStatus.WAITING):
        return after.status in SETTLED if stubborn else after.status is StepStatus.CANCELLED
    assert before.status in (StepStatus.PENDING, StepStatus.QUEUED)
    return (after.status, after.reason) == (StepStatus.SKIPPED, SkipReason.ABORTED)


@LAW
@given(cases(), picks, moments, moments)
def test_pause_then_resume_loses_nothing(case: Case, order: list[int], paused_at: int, resumed_after: int) -> None:
    world, pick = world_of(case), Picker(order)
    world.start()
    world.turns(paused_at, pick)
    world.send(PauseRequested(world.tick()))
    begun = world.ledger.started
    world.turns(resumed_after, pick)
    assert world.ledger.started == begun
    world.send(ResumeRequested(world.tick()))
    assert world.go(pick).results == world_of(case).go().results


@LAW
@given(modes)
def test_a_run_paused_before_it_starts_starts_nothing(case: Case) -> None:
    world = world_of(case)
    world.send(PauseRequested(world.tick()))
    world.start()
    assert not world.ledger.started
    world.send(ResumeRequested(world.tick()))
    assert world.go().results == world_of(case).go().results


@LAW
@given(cases(), picks, st.sets(st.integers(0, 11)), moments, st.sampled_from(["end", "abort", "now"]))
def test_rewind_reruns_failed_work_and_what_follows_and_nothing_else(
    case: Case, order: list[int], failing_again: set[int], moment: int, how: str
) -> None:
    first, pick = world_of(case), Picker(order)
    first.start()
    first.turns(moment, pick)
    if how == "abort":
        first.send(AbortRequested("enough", first.tick()))
    if how != "now":
        first.go(pick)
    redo = _undone(first)
    again = frozenset(f"s{number}" for number in failing_again)
    second = World(case.definition, again | _items(again), overdue=case.overdue & again)
    second.run = rewind(second.plan, first.run)
    kept = {step: copy.deepcopy(state) for step, state in first.states.items() if step not in redo}
    done = _items_kept(first, redo)
    second.go(pick)
    assert {part_of(work)[0] for work in second.ledger.started} <= redo
    assert not second.ledger.started.intersection(done)
    assert {step: second.states[step] for step in kept} == kept
    lost = {work for work in second.failing - done if part_of(work)[0] not in kept}
    late = (second.overdue - kept.keys()) | {step for step in kept if first.states[step].decided_by == "timeout"}
    assert second.fates == specify(case.definition, lost, late)


def _items(steps: Iterable[str]) -> frozenset[str]:
    """Return every other item of these steps."""
    return frozenset(work_name(step, place) for step in steps for place in (0, 2, 4))


def _items_kept(world: World, redo: set[str]) -> set[str]:
    """Return the items that completed in steps that did not, if nothing that their list came from is done again."""
    return {
        work_name(step, place)
        for step in redo
        if not redo.intersection(world.watch.parents[step])
        for fan in [world.states[step].fan]
        if fan
        for place, item in enumerate(fan.items)
        if item.status is StepStatus.COMPLETED
    }


def _undone(world: World) -> set[str]:
    """Return the steps that failed, were cut short or never came to run because of that, and all that follow.

    Of a completed run these are the steps that may have failed items, and have some.
    """
    because = {SkipReason.UPSTREAM_FAILED, SkipReason.ABORTED}
    is_completed = world.run.outcome is RunStatus.COMPLETED
    undone: set[str] = set()
    for step in world.watch.order:  # parents come first
        state = world.states[step]
        fell = state.status not in SETTLED or state.status in (StepStatus.FAILED, StepStatus.CANCELLED)
        fell = fell or (is_completed and state.fan is not None and state.fan.failed > 0)
        if fell or state.reason in because or undone.intersection(world.watch.parents[step]):
            undone.add(step)
    return undone


@LAW
@given(cases("fail_fast", surprises=False), picks)
def test_a_fail_fast_run_that_is_rewound_and_fixed_ends_as_if_nothing_had_failed(case: Case, order: list[int]) -> None:
    first = world_of(case).go(Picker(order))
    late = {step for step in first.states.keys() - _undone(first) if first.states[step].decided_by == "timeout"}
    second = World(case.definition)
    second.run = rewind(second.plan, first.run)
    assert second.go(Picker(order)).fates == specify(case.definition, frozenset(), late)


@LAW
@given(modes, picks, picks, moments)
def test_late_and_repeated_events_change_nothing(
    case: Case, order: list[int], others: list[int], stopped_at: int
) -> None:
    world, pick, choose = world_of(case), Picker(order), Picker(others)
    _assert_ignored(world, list(world.watch.order))
    world.start()
    for turn in range((MOST_ITEMS + 1) * len(world.watch.order)):
        if turn == stopped_at:
            world.send(AbortRequested("enough", world.tick()))
            _assert_repeats_are_ignored(world, [AbortRequested("again", 99.0), CancelRequested(99.0)])
        _assert_repeats_are_ignored(world, [RunStarted(99.0)])
        idle = [step for step in world.watch.order if step not in world.ledger.active]
        if idle:
            _assert_ignored(world, [choose(idle)])
        world.turn(pick)
    assert world.ledger.finished
    _assert_ignored(world, world.watch.order)
    _assert_repeats_are_ignored(
        world,
        [
            RunStarted(99.0),
            PauseRequested(99.0),
            ResumeRequested(99.0),
            CancelRequested(99.0),
            AbortRequested("", 99.0),
        ],
    )


def _assert_ignored(world: World, steps: list[str]) -> None:
    for step in steps:
        fan, error = world.states[step].fan, StepError("Late", "late")
        idle = (
            [item for item in range(len(fan.items)) if work_name(step, item) not in world.ledger.running] if fan else []
        )
        answers: list[Event] = [TimedOut(step, 99.0)]
        parts: list[Part] = [WHOLE_STEP, *map(Item, idle if fan else [0])]
        for part in parts:
            late = StepCompleted(step, "late", 1, 99.0, part), StepFailed(step, error, 1, 99.0, part)
            answers += [*late, StepCancelled(step, 99.0, part)]
        if world.states[step].status in SETTLED or world.ledger.stop or not _is_answerable(world, step):
            answers.append(Answered(step, Answer("late"), 99.0))
        _assert_repeats_are_ignored(world, answers)


def _is_answerable(world: World, step: str) -> bool:
    definition = world.watch.steps[step]
    return bool(definition.wait or definition.human) and not is_timer(definition)


def _assert_repeats_are_ignored(world: World, events: list[Event]) -> None:
    before = copy.deepcopy(world.run)
    for event in events:
        ledger = world.ledger.copy()
        assert world.send(event) == []
        world.ledger = ledger
    assert _of_run(world, world.run) == _of_run(world, before)


def _of_run(world: World, run: RunState) -> Json:
    """Return what a run comes to, without the count of bytes: what is late has gone through the history too."""
    end = run.paused, run.stopping, run.stop_reason, run.outcome, run.outputs, run.started_at, run.ended_at
    return run.steps, end, counters(run)


@LAW
@given(cases("fail_fast"), picks)
def test_fail_fast_starts_nothing_after_the_first_failure_and_names_it(case: Case, order: list[int]) -> None:
    world = world_of(case).go(Picker(order))
    answered: set[str] = set()
    fell = False
    for event, commands in world.trace:
        assert not (fell and [command for command in commands if isinstance(command, Start)])
        if isinstance(event, StepFailed | StepCancelled):
            answered.add(event.step)
            fell = fell or (event.step in world.watch.vital and event.part == WHOLE_STEP)
    vital = {step for step in world.watch.vital if world.states[step].status is StepStatus.FAILED}
    assert (world.ledger.finished is RunStatus.FAILED) == bool(vital)
    assert all(world.states[step].status is not StepStatus.CANCELLED for step in world.watch.order) or vital


@LAW
@given(cases("fail_fast"), picks)
def test_fail_fast_without_a_failure_is_continue(case: Case, order: list[int]) -> None:
    specified = specify(case.definition, case.lost, case.overdue)
    if specified.run is RunStatus.COMPLETED:
        assert world_of(case).go(Picker(order)).fates == specified


@LAW
@given(modes, picks)
def test_equal_arguments_give_equal_commands(case: Case, order: list[int]) -> None:
    def commands() -> list[Json]:
        return [reported for _, reported in world_of(case).go(Picker(order)).trace]

    assert commands() == commands()
