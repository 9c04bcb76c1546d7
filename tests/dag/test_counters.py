"""The counters that make an event cheap always equal those rebuilt from the steps' states."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine.counters import rebuild
from docrail.dag.engine.events import AbortRequested, CancelRequested, Event, PauseRequested, ResumeRequested
from docrail.dag.engine.plan import Plan
from docrail.dag.engine.state import Counters, RunState
from tests.dag.definitions import LAW, Case, cases, picks
from tests.dag.world import Picker, World

modes = st.one_of(cases(aborts=True), cases("fail_fast", aborts=True), cases("park"))
stops = st.sampled_from([AbortRequested("enough", 0.5), CancelRequested(0.5)])


def comparable(counters: Counters) -> Counters:
    """Return the counters without what may differ: the order within a heap."""
    return replace(counters, ready=sorted(counters.ready), ready_free=sorted(counters.ready_free))


def assert_rebuilt(plan: Plan, run: RunState) -> None:
    assert comparable(run.counters) == comparable(rebuild(plan, run))


@LAW
@given(modes, picks, st.integers(0, 12), stops, st.integers(0, 12))
def test_after_every_event_the_counters_equal_rebuilt_ones(
    case: Case, order: list[int], paused_at: int, stop: Event, stopped_at: int
) -> None:
    world, pick = World(case.definition, case.failing, case.vanishing, case.overdue), Picker(order)
    requests: dict[int, Event] = {paused_at: PauseRequested(0.5), paused_at + 1: ResumeRequested(0.5), stopped_at: stop}
    assert_rebuilt(world.plan, world.run)
    world.start()
    assert_rebuilt(world.plan, world.run)
    for moment in range(200):
        if request := requests.get(moment):
            world.send(request)
            assert_rebuilt(world.plan, world.run)
        if not world.turn(pick):
            return
        assert_rebuilt(world.plan, world.run)
