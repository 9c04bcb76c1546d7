"""Laws of steps that wait, branch, end a run or run over a list, in addition to those of every step."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from docrail.dag.engine.events import AbortRequested, Cancel, CancelRequested, PauseRequested, ResumeRequested
from docrail.dag.engine.saved_state import load, save
from docrail.dag.language.statuses import SETTLED, RunStatus, SkipReason, StepStatus
from tests.dag.definitions import LAW, Case, cases, picks
from tests.dag.rewinding import rewind
from tests.dag.specification import ENDED, RAN, Fate, failed_items, specify
from tests.dag.watch import items_of
from tests.dag.world import Picker, World

modes = st.one_of(cases(aborts=True), cases("fail_fast", aborts=True))
moments = st.integers(0, 8)
UNSETTLED = (StepStatus.PENDING, StepStatus.QUEUED, StepStatus.WAITING)


def world_of(case: Case) -> World:
    return World(case.definition, case.failing, case.vanishing, case.overdue)


def answer_early(world: World, case: Case, pick: Picker) -> list[str]:
    """Answer some of the steps that are still to wait; return which."""
    if world.ledger.stop:
        return []
    open_steps = [step for step in world.watch.order if step in case.early and not world.states[step].answer]
    chosen = [step for step in open_steps if world.states[step].status in UNSETTLED and pick(["yes", "no"]) == "yes"]
    for step in chosen:
        is_waiting = world.states[step].status is StepStatus.WAITING
        commands = world.send(world.reply(step))
        assert commands[:1] == [Cancel(step)] if is_waiting else commands == []
    return chosen


def go_answering(world: World, case: Case, pick: Picker) -> set[str]:
    """Play a run to its end with answers that come as they like; return who was answered before they waited."""
    early: set[str] = set()
    answer_early(world, case, pick)
    world.start()
    while True:
        for step in answer_early(world, case, pick):
            if step not in world.ledger.started:
                early.add(step)
        if not world.turn(pick):
            return early


@LAW
@given(cases(), picks)
def test_an_early_answer_is_as_good_as_one_in_time(case: Case, order: list[int]) -> None:
    world = world_of(case)
    early = go_answering(world, case, Picker(order))
    assert not early.intersection(world.ledger.started)
    assert world.results == world_of(case).go().results


@LAW
@given(cases(aborts=True), picks)
def test_a_run_is_aborted_exactly_if_one_of_its_steps_calls_for_it(case: Case, order: list[int]) -> None:
    world = world_of(case).go(Picker(order))
    specified = specify(case.definition, case.lost, case.overdue)
    assert world.ledger.finished is specified.run
    if specified.run is not RunStatus.ABORTED:
        assert world.fates == specified
        return
    stopped = [Fate(StepStatus.SKIPPED, SkipReason.ABORTED), Fate(StepStatus.CANCELLED)]
    assert all(fate in (*stopped, specified.steps[step]) for step, fate in world.fates.steps.items())
    called = [step for step, fate in world.fates.steps.items() if _calls_for_the_end(world, step, fate)]
    assert len(called) == 1, "the first one ends the run, and nothing begins after it"


def _calls_for_the_end(world: World, step: str, fate: Fate) -> bool:
    is_abort = world.watch.steps[step].abort is not None
    return fate == RAN if is_abort else fate == ENDED and world.states[step].decided_by == "timeout"


@settings(LAW, max_examples=LAW.max_examples // 2)
@given(cases(), picks)
def test_the_output_of_a_list_has_each_item_in_the_order_of_the_list(case: Case, order: list[int]) -> None:
    world = world_of(case).go(Picker(order))
    fates = world.fates.steps
    for step, for_each in world.watch.fans.items():
        state, definition = world.states[step], world.watch.steps[step]
        if state.fan is None or world.is_hasty(step):
            continue
        failed = failed_items(definition, {parent: fates[parent] for parent in definition.parents}, case.lost)
        assert state.output["total"] == len(for_each.items) == state.output["completed"] + state.output["failed"]
        assert state.output["failed"] == len(failed)
        places = enumerate(state.output["items"])
        assert {place for place, item in places if item["status"] == "failed"} == failed
        keys = [str(item["n"] if for_each.key else place) for place, item in enumerate(for_each.items)]
        assert [item["key"] for item in state.output["items"]] == keys
        assert all(
            item.get("output", {"made_by": None})["made_by"] in world.ledger.started | {None}
            for item in state.output["items"]
        )


@settings(LAW, max_examples=LAW.max_examples // 3)
@given(cases(), picks)
def test_a_list_whose_items_may_not_fail_is_stopped_by_the_first_that_does(case: Case, order: list[int]) -> None:
    world = world_of(case).go(Picker(order))
    for step in filter(world.is_hasty, world.watch.fans):
        reported = [item["status"] for item in world.states[step].output["items"]]
        over = reported.count("failed") - world.watch.fans[step].max_failures
        assert over >= 1
        begun = items_of(world.ledger.started, step)
        assert reported.count("skipped") <= len(reported) - len(begun)
        assert world.states[step].output["total"] == len(reported)


@settings(LAW, max_examples=LAW.max_examples // 3)
@given(modes, picks, moments, moments)
def test_a_state_reloaded_before_every_event_behaves_the_same(
    case: Case, order: list[int], paused_at: int, stopped_at: int
) -> None:
    def play(*, reloads: bool) -> World:
        world, pick = world_of(case), Picker(order)
        for turn in range(3 * len(world.watch.order)):
            if reloads:
                world.run = load(world.plan, json.loads(json.dumps(save(world.plan, world.run))))
            if turn == 0:
                world.start()
            if turn == paused_at:
                world.send(PauseRequested(world.tick()))
            if turn == paused_at + 3:
                world.send(ResumeRequested(world.tick()))
            answer_early(world, case, pick)
            world.turn(pick)
            if turn == stopped_at:
                world.send(AbortRequested("enough", world.tick()))
        return world

    kept, reloaded = play(reloads=False), play(reloads=True)
    assert reloaded.trace == kept.trace
    assert save(reloaded.plan, reloaded.run) == save(kept.plan, kept.run)


@settings(LAW, max_examples=LAW.max_examples // 2)
@given(modes, picks, moments, st.booleans())
def test_a_rewound_run_keeps_the_answers_it_did_not_use(
    case: Case, order: list[int], stopped_at: int, stubborn: bool
) -> None:
    first, pick = world_of(case), Picker(order)
    first.stubborn = frozenset(first.watch.order if stubborn else ())
    first.start()
    first.turns(stopped_at, pick)
    answer_early(first, case, pick)
    first.send(CancelRequested(first.tick()))
    first.go(pick)
    again = rewind(first.plan, first.run)
    for step, state in first.watch.states(again).items():
        behind = [first.watch.states(again)[parent].status for parent in first.watch.parents[step]]
        if state.status not in SETTLED and all(status in SETTLED for status in behind):
            assert state.answer == first.states[step].answer


@LAW
@given(cases("park"), picks)
def test_a_run_whose_parked_steps_are_given_outputs_ends_as_if_they_had_completed(case: Case, order: list[int]) -> None:
    world = world_of(case).go(Picker(order))
    assert world.fates == specify(case.definition, case.lost, case.overdue, fixed=True)
