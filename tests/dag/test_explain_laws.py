"""Laws of explanations, over random definitions in every state they come to."""

from hypothesis import given

from docrail.dag.engine.eligibility import RULES, Outcomes
from docrail.dag.explain.facts import RunExplanation, StepExplanation, Verdict
from docrail.dag.language.statuses import SkipReason, StepStatus
from docrail.dag.language.step_kinds import StepKind
from tests.dag.definitions import LAW, Case, cases, picks
from tests.dag.explained import explain_run
from tests.dag.world import Picker, World

NOT_BEGUN = (StepStatus.PENDING, StepStatus.QUEUED)


def world_of(case: Case) -> World:
    return World(case.definition, case.failing, case.vanishing, case.overdue)


def explained(world: World) -> RunExplanation:
    return explain_run(world.plan, world.run, "tested.1", limit=500)


def refuses(step: StepExplanation) -> SkipReason | None:
    """Return why the rule would skip a step with its reported parents."""
    parents = step.parents
    outcomes = Outcomes(completed=parents.completed, bad=parents.failed, skipped=parents.skipped)
    return RULES[step.rule.name](outcomes)


@given(cases(), picks)
@LAW
def test_each_step_that_has_not_begun_names_its_reason(case: Case, numbers: list[int]) -> None:
    world, pick = world_of(case), Picker(numbers)
    world.start()
    while True:
        for step in explained(world).steps.values():
            held = step.status in NOT_BEGUN and world.run.stopping is None
            assert not held or step.hold is not None
            assert step.hold is None or step.status in (*NOT_BEGUN, StepStatus.RUNNING)
        if not world.turn(pick):
            break


@given(cases(aborts=True), picks)
@LAW
def test_the_verdict_of_a_rule_follows_from_the_reported_parents(case: Case, numbers: list[int]) -> None:
    for step in explained(world_of(case).go(Picker(numbers))).steps.values():
        if step.rule.verdict is Verdict.NO:
            assert step.reason is refuses(step)
        elif step.rule.verdict is Verdict.YES:
            assert refuses(step) is None
        else:
            assert step.reason is SkipReason.ABORTED


@given(cases(), picks)
@LAW
def test_a_condition_is_false_for_a_step_skipped_by_it_and_true_for_one_that_began(
    case: Case, numbers: list[int]
) -> None:
    for step in explained(world_of(case).go(Picker(numbers))).steps.values():
        if step.condition is not None:
            assert (step.condition.verdict is Verdict.NO) is (step.reason is SkipReason.CONDITION_FALSE)
            assert (step.condition.verdict is Verdict.YES) or step.started_at is None


@given(cases(), picks)
@LAW
def test_a_switch_that_took_a_branch_has_one_true_case_and_only_false_ones_before_it(
    case: Case, numbers: list[int]
) -> None:
    for step in explained(world_of(case).go(Picker(numbers))).steps.values():
        verdicts = [reported.verdict for reported in step.cases]
        if step.kind is StepKind.SWITCH and step.status is StepStatus.COMPLETED:
            taken = verdicts.index(Verdict.YES)
            assert step.cases[taken].branch == step.branch
            assert set(verdicts[:taken]) <= {Verdict.NO}
            assert set(verdicts[taken + 1 :]) <= {Verdict.NOT_ASKED}


@given(cases(aborts=True), picks)
@LAW
def test_every_step_has_words(case: Case, numbers: list[int]) -> None:
    explanation = explained(world_of(case).go(Picker(numbers)))
    assert explanation.words
    assert all(step.words for step in explanation.steps.values())
