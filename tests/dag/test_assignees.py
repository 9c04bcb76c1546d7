"""Who may not decide: whoever started the run, where a step says so; and nobody who cannot be told from them."""

import pytest

from dag.assignees import barred, refusal
from dag.kinds import Human

FOUR_EYES = Human.model_validate({"assignees": {"not_the_submitter": True}})


@pytest.mark.parametrize("human", [Human(), Human.model_validate({"assignees": {"group": "cashiers"}})])
def test_unless_a_step_says_so_everybody_may_decide(human: Human) -> None:
    assert [refusal(human, by, "ann") for by in ("ann", "bob", "")] == [None] * 3
    assert barred(human, "ann") == ()


def test_whoever_started_the_run_may_not_and_others_may() -> None:
    assert refusal(FOUR_EYES, "ann", "ann") == "ann started the run, and the step takes only somebody else's decision"
    assert refusal(FOUR_EYES, "bob", "ann") is None
    assert barred(FOUR_EYES, "ann") == ("ann",)


@pytest.mark.parametrize(("by", "started_by"), [("bob", ""), ("", "ann"), ("", "")])
def test_who_is_not_known_is_not_taken(by: str, started_by: str) -> None:
    assert "is not known" in (refusal(FOUR_EYES, by, started_by) or "")


def test_nobody_is_named_who_is_not_known() -> None:
    assert barred(FOUR_EYES, "") == ()
