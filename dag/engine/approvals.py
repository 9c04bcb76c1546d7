"""Decide who may answer a human step, beyond what API keys allow, and when enough people agree.

Each person has one decision, their latest; whoever knows another person's key is one with them. The step's answer is
the first value that the required number of people share, so the order of decisions makes no difference, and no one can
undo what others agreed on.
"""

from collections import Counter
from collections.abc import Sequence

from docrail.dag.engine.state import Answer, Decision
from docrail.dag.language.step_kinds import Human
from docrail.dag.values.json_values import Json, canonical


def barred(human: Human, starters: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the people whose decision the step does not accept, as far as they are known."""
    return tuple(filter(None, starters)) if _bars_submitter(human) else ()


def approvals_of(human: Human | None) -> int:
    """Return how many people must decide alike; 1 for a step without assignees."""
    return human.assignees.approvals if human is not None and human.assignees is not None else 1


def refusal(human: Human, answer: Answer, starters: tuple[str, ...]) -> str | None:
    """Return why the step refuses a person's decision, None if it accepts it. An unknown person is refused as well.

    `starters`: who started the run, then those who know that person's key or ran it again with other inputs.
    """
    if not answer.by and approvals_of(human) > 1:
        return "the person who decides is unknown, and the step needs several people to decide alike"
    return _refusal_of_starter(answer, starters) if _bars_submitter(human) else None


def _refusal_of_starter(answer: Answer, starters: tuple[str, ...]) -> str | None:
    by, started_by = answer.by, starters[0]
    if not started_by:
        return "who started the run is unknown, and the step does not accept that person's decision: start a new run"
    if not by:
        return "who decides is unknown, and the step does not accept the decision of whoever started the run"
    if not _people(answer) & set(starters):
        return None
    if by == started_by:
        return f"{by} started the run, and the step accepts only another person's decision"
    return (
        f"{by} counts as {started_by}, who started the run, because one person knows the keys of both or ran it again "
        "with other inputs: expected another person"
    )


def _people(made: Answer | Decision) -> frozenset[str]:
    """Return the names of those who may have made it."""
    return frozenset({made.by, made.known_to or made.by})


def _bars_submitter(human: Human) -> bool:
    return human.assignees is not None and human.assignees.not_the_submitter


def decide(decisions: tuple[Decision, ...], answer: Answer) -> tuple[Decision, ...]:
    """Return `decisions` with one more person's decision, or a person's changed one; a repetition changes nothing."""
    key = canonical(answer.value)
    if any(each.by == answer.by and canonical(each.value) == key for each in decisions):
        return decisions
    number = decisions[-1].number + 1 if decisions else 1
    others = (each for each in decisions if not _people(each) & _people(answer))
    return (*others, Decision(answer.by, answer.value, number, answer.known_to))


def agreement(decisions: Sequence[Decision], needed: int) -> Answer | None:
    """Return the value that `needed` people share and their names in the order of their decisions; None without one."""
    if not decisions:
        return None
    value = decisions[-1].value  # only the latest decision can complete an agreement
    people = [each.by for each in decisions if canonical(each.value) == canonical(value)]
    return Answer(value, ", ".join(people)) if len(people) >= needed else None


def missing_of(decisions: Sequence[Json], needed: int) -> int:
    """Return the approvals still needed for the leading decision. `decisions` has each person's value or its digest."""
    return max(needed - max(Counter(map(canonical, decisions)).values(), default=0), 0)
