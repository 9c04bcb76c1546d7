"""The preview of steps that will not run: only those that certainly do not."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine.plan import compile_plan
from docrail.dag.engine.retry import Edit, Fate, plan_retry
from docrail.dag.engine.saved_state import save
from docrail.dag.explain.retry_preview import foretold
from docrail.dag.language.statuses import SkipReason, StepStatus
from docrail.dag.values.json_values import Json
from tests.dag.definitions import LAW, Case, cases, definition, picks, step
from tests.dag.test_retry import SKIP, WHO, ended, gone_on, output, retried
from tests.dag.world import Picker, World


def reported(world: World, edits: Mapping[str, Edit]) -> dict[str, str]:
    retry = retried(world, edits)
    return {name: str(fate.fate) for name, fate in foretold(world.plan, retry, 9.0).items()}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ([step("c", "b"), step("d", "c")], {"c": "skipped", "d": "skipped"}),
        ([step("c", "b", trigger_rule="all_done"), step("d", "c")], {"c": "rerun", "d": "rerun"}),
        ([step("x"), step("c", "b", "x")], {"x": "rerun", "c": "rerun"}),
        ([step("x"), step("c", "b", "x", trigger_rule="all_success")], {"x": "rerun", "c": "skipped"}),
        (
            [
                step("x"),
                step("c", "b", "x", trigger_rule="all_success"),
                step("d", "c"),
                step("e", "c", trigger_rule="one_failed"),
            ],
            {"x": "rerun", "c": "skipped", "d": "skipped", "e": "rerun"},
        ),
        ([step("x"), step("c", "b", "x", trigger_rule="one_failed")], {"x": "rerun", "c": "rerun"}),
        ([step("x"), step("c", "b", "x", trigger_rule="all_failed")], {"x": "rerun", "c": "skipped"}),
        ([step("c", "a", condition="a.n > 1")], {"c": "skipped"}),
    ],
)
def test_the_effects_of_skipping_a_step_are_predicted(more: list[Json], expected: dict[str, str]) -> None:
    world = ended(definition(step("a"), step("b", "a"), *more), "a", "b", "x")
    assert reported(world, {"a": output({"n": 1}), "b": SKIP}) == {"a": "new", "b": "new"} | expected


def test_the_other_ways_of_a_switch_are_predicted() -> None:
    switch = [{"when": "a.n > 1", "branch": "big"}, {"else": "small"}]
    steps = [step("a"), step("s", "a", switch=switch), step("b", "s.big"), step("c", "s.small")]
    found = reported(ended(definition(*steps), "a"), {"a": output({"n": 1})})
    assert found == {"a": "new", "s": "rerun", "b": "skipped", "c": "rerun"}


chosen = st.dictionaries(
    st.integers(0, 11).map("s{}".format), st.sampled_from([SKIP, output({"by": "hand"})]), max_size=3
)


@LAW
@given(cases(), picks, chosen)
def test_steps_predicted_to_be_skipped_are_skipped(case: Case, order: list[int], edits: dict[str, Edit]) -> None:
    world = World(case.definition, case.failing, case.vanishing, case.overdue).go(Picker(order))
    edits = {name: edit for name, edit in edits.items() if name in world.plan.index}
    retry = plan_retry(world.plan, compile_plan(case.definition), save(world.plan, world.run), edits, WHO)
    fates = foretold(world.plan, retry, 9.0)
    is_kept = {name: state.status for name, state in world.states.items() if fates[name].fate is Fate.REUSED}
    again = gone_on(retry, case.definition, *case.failing)
    for name, state in again.states.items():
        if fates[name].fate is Fate.SKIPPED:
            assert state.status is StepStatus.SKIPPED
            others = (SkipReason.ABORTED, SkipReason.UPSTREAM_FAILED)  # the run ends before, or something fails
            assert state.reason in (fates[name].why, *others)
    assert all(again.states[name].status is status for name, status in is_kept.items())
