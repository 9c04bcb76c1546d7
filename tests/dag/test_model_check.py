"""Every state of every small plan, under every event a shell can send at that moment: no deadlock, no false success."""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest

from docrail.dag.language.definition import Step, TriggerRule
from tests.dag.definitions import definition, step
from tests.dag.exploration import Exploration

pytestmark = pytest.mark.slow

SHAPES: tuple[tuple[tuple[str, ...], ...], ...] = (
    ((), (), ()),
    ((), (), ("a",)),
    ((), (), ("b",)),
    ((), ("a",), ()),
    ((), ("a",), ("a",)),
    ((), (), ("a", "b")),
    ((), ("a",), ("b",)),
    ((), ("a",), ("a", "b")),
)
"""All acyclic graphs over three steps whose edges go forward in the document: every other one is one of these."""


def documents() -> Iterator[tuple[Step, ...]]:
    """Yield the steps of every plan: shapes x trigger rules of steps with parents x optional."""
    for shape in SHAPES:
        rules = [TriggerRule if parents else (TriggerRule.NONE_FAILED,) for parents in shape]
        for chosen, optional in product(product(*rules), product((False, True), repeat=3)):
            yield tuple(
                step(name, *parents, trigger_rule=rule, optional=may_fail)
                for name, parents, rule, may_fail in zip("abc", shape, chosen, optional, strict=True)
            )


@pytest.mark.parametrize("on_failure", ["continue", "fail_fast"])
def test_every_state_of_every_plan_of_three_steps_is_safe(on_failure: str, capsys: pytest.CaptureFixture[str]) -> None:
    total: Counter[str] = Counter()
    for steps in documents():
        total += Exploration(definition(*steps, on_failure=on_failure, max_concurrency=2)).go()
    with capsys.disabled():
        print(  # noqa: T201 - a check that covers less than it did should be seen
            f"\nmodel check, {on_failure}: {dict(total)}"
        )
    assert total["plans"] == 1064


@pytest.mark.parametrize("on_failure", ["continue", "fail_fast"])
@pytest.mark.parametrize(("dispatch", "limit"), [("layers", 3), ("layers", 1), ("ready", 3), ("ready", 1)])
def test_every_state_is_safe_whatever_the_limits(on_failure: str, dispatch: str, limit: int) -> None:
    for steps in documents():
        if not any(step.optional for step in steps):
            Exploration(definition(*steps, on_failure=on_failure, dispatch=dispatch, max_concurrency=limit)).go()
