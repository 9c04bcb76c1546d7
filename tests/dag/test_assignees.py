"""Who may not decide: whoever started the run, where a step says so; and how many people must decide alike."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine.approvals import agreement, approvals_of, barred, decide, missing_of, refusal
from docrail.dag.engine.events import AbortRequested, Cancel, Event, RecordDecision, Start, TimedOut
from docrail.dag.engine.state import Answer, Decision
from docrail.dag.language.definition import Step
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.language.step_kinds import Human
from docrail.dag.values.json_values import Json
from tests.dag.definitions import step
from tests.dag.kinds import answer, begun, done

FOUR_EYES = Human.model_validate({"assignees": {"not_the_submitter": True}})
YES, NO = {"approved": True}, {"approved": False}


@pytest.mark.parametrize("human", [Human(), Human.model_validate({"assignees": {"group": "cashiers"}})])
def test_unless_a_step_says_so_everybody_may_decide(human: Human) -> None:
    assert [refusal(human, Answer(YES, by), ("ann",)) for by in ("ann", "bob", "")] == [None] * 3
    assert barred(human, ("ann",)) == ()


def test_only_the_person_who_started_the_run_may_not_decide() -> None:
    refused = refusal(FOUR_EYES, Answer(YES, "ann"), ("ann",))
    assert refused == "ann started the run, and the step accepts only another person's decision"
    assert refusal(FOUR_EYES, Answer(YES, "bob"), ("ann",)) is None
    assert barred(FOUR_EYES, ("ann",)) == ("ann",)


@pytest.mark.parametrize(
    ("by", "known_to", "starters"),
    [("bob", "ann", ("ann",)), ("ann", "", ("bob", "ann")), ("carl", "ann", ("bob", "ann")), ("carl", "bob", ("bob",))],
)
def test_whoever_knows_the_starters_key_or_whose_key_the_starter_knows_is_the_starter(
    by: str, known_to: str, starters: tuple[str, ...]
) -> None:
    assert "one person knows the keys of both" in (refusal(FOUR_EYES, Answer(YES, by, known_to), starters) or "")
    assert barred(FOUR_EYES, starters) == starters


def test_people_who_each_know_another_persons_key_are_different_people() -> None:
    assert refusal(FOUR_EYES, Answer(YES, "bob", "it"), ("ann", "hr")) is None


@pytest.mark.parametrize(("by", "started_by"), [("bob", ""), ("", "ann"), ("", "")])
def test_an_unknown_person_is_refused(by: str, started_by: str) -> None:
    assert "is unknown" in (refusal(FOUR_EYES, Answer(YES, by), (started_by,)) or "")


def test_an_unknown_person_is_not_named() -> None:
    assert barred(FOUR_EYES, ("",)) == ()


# -- several people --

TWO = Human.model_validate({"assignees": {"approvals": 2}})


def made(*answers: tuple[str, Json]) -> tuple[Decision, ...]:
    decisions: tuple[Decision, ...] = ()
    for by, value in answers:
        decisions = decide(decisions, Answer(value, by))
    return decisions


def test_one_person_is_enough_unless_a_step_says_otherwise() -> None:
    assert [approvals_of(human) for human in (None, Human(), FOUR_EYES, TWO)] == [1, 1, 1, 2]


def test_each_of_several_people_must_be_known() -> None:
    unknown = "the person who decides is unknown, and the step needs several people to decide alike"
    assert refusal(TWO, Answer(YES, ""), ("ann",)) == unknown
    assert refusal(TWO, Answer(YES, "ann"), ("ann",)) is None


def test_people_agree_who_decide_alike_whatever_the_order_of_keys() -> None:
    decisions = made(("ann", {"a": 1, "b": 2}), ("bob", {"b": 2, "a": 1}))
    assert agreement(decisions, 2) == Answer({"a": 1, "b": 2}, "ann, bob")


@pytest.mark.parametrize(("one", "other"), [(True, 1), (1, "1"), (None, {}), ({"a": None}, {})])
def test_similar_names_are_different_people(one: Json, other: Json) -> None:
    assert agreement(made(("ann", one), ("bob", other)), 2) is None


def test_one_person_counts_once_and_what_they_decided_last_is_what_they_decided() -> None:
    once = made(("ann", YES))
    assert decide(once, Answer(YES, "ann")) is once
    changed = made(("ann", YES), ("bob", NO), ("ann", NO))
    assert agreement(changed, 2) == Answer(NO, "bob, ann")
    assert [(each.by, each.number) for each in changed] == [("bob", 2), ("ann", 3)]


@pytest.mark.parametrize(("first", "second"), [(("ann", ""), ("bob", "ann")), (("bob", "ann"), ("carl", "ann"))])
@pytest.mark.parametrize("turn", [1, -1])
def test_whoever_knows_anothers_key_is_one_person_with_them(
    first: tuple[str, str], second: tuple[str, str], turn: int
) -> None:
    decisions: tuple[Decision, ...] = ()
    for by, known_to in (first, second)[::turn]:
        decisions = decide(decisions, Answer(YES, by, known_to))
    assert len(decisions) == 1
    assert agreement(decisions, 2) is None


def test_how_many_are_missing_follows_the_most_who_agree() -> None:
    assert [missing_of(each, 3) for each in ([], [YES], [YES, NO], [YES, NO, YES], [YES] * 4)] == [3, 2, 2, 1, 0]


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.booleans()), max_size=12), st.integers(2, 4))
def test_it_is_agreed_as_soon_as_so_many_different_people_stand_by_one_decision(
    answers: list[tuple[str, bool]], needed: int
) -> None:
    decisions: tuple[Decision, ...] = ()
    stands: dict[str, bool] = {}
    for by, value in answers:
        decisions = decide(decisions, Answer(value, by))
        stands[by] = value
        agreed = agreement(decisions, needed)
        alike = [list(stands.values()).count(each) for each in (True, False)]
        assert {each.by: each.value for each in decisions} == stands
        assert (agreed is not None) == (max(alike) >= needed)
        if agreed is not None:
            assert set(agreed.by.split(", ")) == {name for name in stands if stands[name] is agreed.value}
            return


def asked(*depends_on: str, **human: Json) -> Step:
    return step("h", *depends_on, human={"assignees": {"approvals": 2}, **human})


def test_the_step_goes_on_with_the_decision_that_enough_people_made() -> None:
    world = begun(asked(), step("a", "h", config={"yes": "{{ h.approved }}", "by": "{{ steps.h.answered_by }}"}))
    assert world.send(answer("h", YES, "ann")) == [RecordDecision("h", Decision("ann", YES, 1))]
    assert world.send(answer("h", YES, "ann")) == []
    assert world.run.status is RunStatus.WAITING
    assert world.send(answer("h", YES, "bob")) == [
        RecordDecision("h", Decision("bob", YES, 2)),
        Cancel("h"),
        Start("a", {"yes": True, "by": "ann, bob"}),
    ]
    assert world.send(answer("h", NO, "eve")) == []


@pytest.mark.parametrize("order", [*permutations([("ann", YES), ("bob", NO), ("cy", YES)])])
def test_in_any_order_people_decide_the_same(order: tuple[tuple[str, Json], ...]) -> None:
    world = begun(asked())
    for by, value in order:
        world.send(answer("h", value, by))
    assert (world.run.steps[0].status, world.run.steps[0].output) == (StepStatus.COMPLETED, YES)


def test_a_step_that_does_not_wait_yet_takes_no_shared_decision() -> None:
    world = begun(step("a"), asked("a"))
    assert [world.send(answer("h", YES, by)) for by in ("ann", "bob")] == [[], []]
    world.send(done("a"))
    assert world.run.steps[1].status is StepStatus.WAITING


@pytest.mark.parametrize(
    ("event", "status"),
    [(TimedOut("h", 9.0), StepStatus.FAILED), (AbortRequested("enough", 9.0), StepStatus.WAITING)],
)
def test_too_few_decide_nothing_when_time_is_up_or_the_run_ends(event: Event, status: StepStatus) -> None:
    world = begun(asked(timeout_seconds=60, on_timeout="fail"))
    world.send(answer("h", YES, "ann"))
    world.send(event)
    assert world.send(answer("h", YES, "bob")) == []
    assert (world.run.steps[0].status, world.run.steps[0].output) == (status, None)
