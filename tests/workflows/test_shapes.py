"""Definitions of the size that real ones reach, accepted and run to their end on the real server, and replayed."""

import json
from collections import Counter

import pytest
from temporalio.api.enums.v1 import EventType

from docrail.activities.registry import load_catalogue
from docrail.dag.language.statuses import RunStatus
from docrail.dag.validation.validate import check_definition
from tests.workflows.conftest import Bench

WIDTH, FAN_IN = 1_900, 1_100


def wide() -> list[list[str]]:
    """Return whom each of 2,000 steps waits for: 6,000 edges, a layer of 1,900 steps and a join of 1,100 of them."""
    middle = [f"m{number}" for number in range(WIDTH)]
    roots: list[list[str]] = [[] for _ in range(50)]
    behind = [[f"r{number % 50}", f"r{(number + 1) % 50}"] for number in range(WIDTH)]
    tails = [[middle[(number * 37 + place) % WIDTH] for place in range(22 + (number < 22))] for number in range(49)]
    return [*roots, *behind, middle[:FAN_IN], *tails]


def layered() -> list[list[str]]:
    """Return whom each of 2,000 steps waits for: 20 layers of 100, each step behind 3 or 4 of the one before."""
    parents: list[list[str]] = [[] for _ in range(100)]
    for number in range(100, 2_000):
        above = number // 100 * 100 - 100
        count = 3 + (number >= 1_700)
        parents.append([f"s{above + (number * 7 + place * 13) % 100}" for place in range(count)])
    return parents


def names_of(shape: str) -> list[str]:
    if shape == "layered":
        return [f"s{number}" for number in range(2_000)]
    return [*(f"r{n}" for n in range(50)), *(f"m{n}" for n in range(WIDTH)), "join", *(f"t{n}" for n in range(49))]


@pytest.mark.parametrize("shape", ["wide", "layered"])
async def test_2000_steps_of_6000_edges_are_accepted_and_run(fast: Bench, shape: str) -> None:
    parents = wide() if shape == "wide" else layered()
    steps = [
        {"id": name, "handler": "noop", "depends_on": above}
        for name, above in zip(names_of(shape), parents, strict=True)
    ]
    limits = {"max_concurrency": 500}
    definition, problems = check_definition(
        json.dumps({"id": shape, "steps": steps, "limits": limits}), load_catalogue()
    )
    assert definition is not None, problems
    assert (len(steps), sum(map(len, parents))) == (2_000, 6_000)
    handle = await fast.start(steps, limits=limits)
    report = await fast.finish(handle)
    assert (report.status, report.completed) == (RunStatus.COMPLETED, 2_000)
    assert Counter(fast.gates.calls) == Counter(names_of(shape))
    kinds = Counter([event.event_type async for event in handle.fetch_history_events()])
    # Evicted from a small cache, each would replay the run from its beginning.
    assert kinds[EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED] == 0
