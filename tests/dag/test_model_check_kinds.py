"""Every state of every plan of two steps of whatever kinds, under every event a shell can send at that moment."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations_with_replacement, product

import pytest

from docrail.dag.language.definition import Step
from docrail.dag.values.json_values import Json
from tests.dag.definitions import definition, step
from tests.dag.exploration import Exploration
from tests.dag.specification import READS_ITEM

pytestmark = pytest.mark.slow


def wait(on_timeout: Json) -> dict[str, Json]:
    return {"wait": {"for": "signal", "timeout_seconds": 60, "on_timeout": on_timeout}}


def items(*numbers: int | None, **fields: Json) -> dict[str, Json]:
    """Return the fields of a step over a list; None stands for an item whose config cannot be resolved."""
    listed = [{} if number is None else {"n": number} for number in numbers]
    return {"for_each": {"items": listed} | fields, "config": READS_ITEM}


PARTS: Mapping[str, dict[str, Json]] = {
    "handler": {},
    "nested run": {"workflow": {"id": "other"}},
    "wait that fails": wait("fail"),
    "wait that aborts": wait("abort"),
    "wait that branches": wait({"branch": "late"}),
    "question": {"human": {"timeout_seconds": 60, "on_timeout": "continue"}},
    "timer": {"wait": {"for": "timer", "seconds": 5}},
    "wrong timer": {"wait": {"for": "timer", "seconds": "{{ none }}"}},
    "switch": {"switch": [{"when": "1 > 2", "branch": "small"}, {"else": "large"}]},
    "abort": {"abort": "enough"},
    "no items": items(),
    "items one by one": items(0, 1, max_concurrency=1, max_failures=1),
    "hasty items": items(0, 1, 2, max_concurrency=2, on_item_error="fail_fast"),
    "broken items": items(0, None, 2, max_concurrency=2, on_item_error="fail_fast"),
    "nested runs": items(0, None) | {"workflow": {"id": "other", "inputs": READS_ITEM}},
}
BRANCHES = {"switch": ".large", "wait that branches": ".late"}
ROUGH = ("handler", "wait that fails", "wait that aborts", "abort", "items one by one", "broken items")
"""Parts that get in each other's way when they stand side by side, or are tried again."""


def side_by_side(*names: str) -> Iterator[tuple[Step, ...]]:
    for first, second in combinations_with_replacement(names, 2):
        yield step("a", **PARTS[first]), step("b", **PARTS[second])


def in_line(*names: str) -> Iterator[tuple[Step, ...]]:
    """Yield two steps one after the other, into one of its branches if it has any."""
    for first, second in product(names, names):
        yield step("a", **PARTS[first]), step("b", f"a{BRANCHES.get(first, '')}", **PARTS[second])


def explore(plans: Iterable[tuple[Step, ...]], **limits: Json) -> Counter[str]:
    total: Counter[str] = Counter()
    for steps in plans:
        total += Exploration(definition(*steps, **limits)).go()
    return total


@pytest.mark.parametrize("on_failure", ["continue", "fail_fast"])
def test_every_state_of_every_pair_of_kinds_is_safe(on_failure: str, capsys: pytest.CaptureFixture[str]) -> None:
    plans = [*in_line(*PARTS), *side_by_side(*PARTS)]
    total = explore(plans, on_failure=on_failure, max_concurrency=2)
    with capsys.disabled():
        print(f"\nmodel check of kinds, {on_failure}: {dict(total)}")  # noqa: T201 - as for handlers
    assert total["plans"] == len(PARTS) ** 2 + len(PARTS) * (len(PARTS) + 1) // 2


@pytest.mark.parametrize("on_deadline", ["notify", "abort", {"branch": "late"}], ids=str)
def test_every_state_is_safe_when_the_deadline_passes_at_any_moment(on_deadline: Json) -> None:
    """Whether it only notifies, ends the run, or ends the waits for an answer, before and after it."""
    waits = ("handler", "wait that fails", "wait that branches", "question", "timer", "items one by one")
    total = explore([*in_line(*waits), *side_by_side(*waits)], on_deadline=on_deadline, max_concurrency=1)
    assert total["ends"] > 0


def test_every_state_is_safe_where_failed_steps_are_parked() -> None:
    explore([*in_line(*ROUGH), *side_by_side("handler", *ROUGH[3:])], on_failure="park", max_concurrency=2)


@pytest.mark.parametrize(("dispatch", "limit"), [("layers", 1), ("ready", 1), ("layers", 3)])
def test_every_state_of_kinds_is_safe_whatever_the_limits(dispatch: str, limit: int) -> None:
    explore([*in_line(*ROUGH), *side_by_side(*ROUGH)], dispatch=dispatch, max_concurrency=limit)
