import random
from collections.abc import Callable
from functools import partial

import pytest

from docrail.dag.engine.plan import Plan, plan_of
from docrail.dag.explain.graph import (
    MOST_EDGES,
    MOST_NODES,
    MOST_PARTS,
    graph_of,
    groups_around,
    groups_around_all,
    open_groups,
    shown_groups,
)
from docrail.dag.explain.progress import RunProgress, StepProgress, focus_of, node_states
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.statuses import RunStatus, StepStatus


def plan(parents: list[list[int]]) -> Plan:
    steps = [
        {"id": f"s{at}", "handler": "noop", "depends_on": [f"s{parent}" for parent in each]}
        for at, each in enumerate(parents)
    ]
    return plan_of(to_json(Definition.model_validate({"id": "drawn", "steps": steps})))


def chain(length: int) -> Plan:
    return plan([[at - 1] if at else [] for at in range(length)])


def wide(length: int) -> Plan:
    return plan([[], *([0] for _ in range(length))])


def layered(layers: int, width: int) -> Plan:
    first: list[list[int]] = [[] for _ in range(width)]
    later = [[(layer - 1) * width + at] for layer in range(1, layers) for at in range(width)]
    return plan(first + later)


def test_a_small_definition_is_drawn_step_by_step() -> None:
    graph = graph_of(plan([[], [0], [0], [1, 2]]), [])
    assert [node.id for node in graph.nodes] == ["s0", "s1", "s2", "s3"]
    assert [(edge.source, edge.target) for edge in graph.edges] == [
        ("s0", "s1"),
        ("s0", "s2"),
        ("s1", "s3"),
        ("s2", "s3"),
    ]
    assert (graph.steps, graph.layers, graph.open, graph.edges_omitted) == (4, 3, (), 0)


def test_a_branch_is_shown_at_its_arrow() -> None:
    steps = [
        {"id": "route", "switch": [{"when": "true", "branch": "large"}, {"else": "small"}]},
        {"id": "pay", "handler": "noop", "depends_on": ["route.large"]},
    ]
    found = graph_of(plan_of({"dsl": 1, "id": "branching", "steps": steps}), [])
    assert [(edge.source, edge.target, edge.branch) for edge in found.edges] == [("route", "pay", "large")]


@pytest.mark.parametrize(
    "drawn",
    [
        partial(chain, 2_000),
        partial(wide, 2_000),
        partial(layered, 5, 400),
        partial(layered, 400, 5),
        partial(wide, 20_000),
    ],
    ids=["chain", "wide", "flat", "deep", "huge"],
)
def test_a_large_definition_is_drawn_in_groups_that_open_down_to_every_step(drawn: Callable[[], Plan]) -> None:
    large = drawn()
    graph = graph_of(large, [])
    assert len(graph.nodes) <= MOST_PARTS
    assert sum(node.steps for node in graph.nodes) == len(large.steps)
    for index in random.Random(7).sample(range(len(large.steps)), 20):
        inside = graph_of(large, groups_around(large, index))
        assert large.steps[index].id in {node.id for node in inside.nodes}
        assert len(inside.nodes) <= MOST_NODES
        assert sum(node.steps for node in inside.nodes) == len(large.steps)


def test_however_many_groups_are_wanted_there_is_a_bound_and_the_last_wanted_is_open() -> None:
    large = wide(2_000)
    groups = [group for at in range(0, 2_001, 10) for group in groups_around(large, at)]
    graph = graph_of(large, groups)
    assert len(graph.nodes) <= MOST_NODES
    assert groups[-1] in graph.open
    assert graph_of(large, graph.open).nodes == graph.nodes


def test_arrows_between_groups_are_joined_and_bounded() -> None:
    groups = graph_of(layered(5, 400), [])
    assert next((edge.source, edge.target, edge.edges) for edge in groups.edges) == ("0-399", "400-799", 400)
    tangled = graph_of(plan([*([] for _ in range(70)), *(list(range(70)) for _ in range(70))]), [])
    assert (len(tangled.edges), tangled.edges_omitted) == (MOST_EDGES, 70 * 70 - MOST_EDGES)


def test_a_single_step_is_drawn() -> None:
    assert [node.id for node in graph_of(chain(1), []).nodes] == ["s0"]


@pytest.mark.parametrize(
    "drawn", [partial(chain, 3), partial(chain, 2_000), partial(layered, 5, 400)], ids=["small", "chain", "flat"]
)
def test_the_groups_around_all_steps_are_those_around_each(drawn: Callable[[], Plan]) -> None:
    plan = drawn()
    assert groups_around_all(plan) == [groups_around(plan, index) for index in range(len(plan.steps))]


@pytest.mark.parametrize("group", ["", "x", "5-1", "0-1999", "1-2", "0-99999", "s0", "00-49"])
def test_an_unknown_group_is_ignored(group: str) -> None:
    assert graph_of(chain(2_000), [group]).open == ()


def test_a_group_has_the_state_of_its_most_interesting_step() -> None:
    large = chain(2_000)
    steps = [
        StepProgress(status=StepStatus.COMPLETED, attempts=1, started_at=at, ended_at=at + 1) for at in range(2_000)
    ]
    steps[60] = StepProgress(status=StepStatus.FAILED, attempts=4, started_at=60, ended_at=90)
    run = RunProgress(status=RunStatus.FAILED, steps=tuple(steps))
    shown = shown_groups(large, open_groups(large, []))
    states = node_states(large, run, shown)
    assert states["50-99"].status is StepStatus.FAILED
    assert states["50-99"].counts == {StepStatus.COMPLETED: 49, StepStatus.FAILED: 1}
    assert (states["50-99"].attempts, states["50-99"].started_at, states["50-99"].ended_at) == (53, 50, 100)
    assert states["0-49"].status is StepStatus.COMPLETED
    assert focus_of(run) == 60


def test_a_group_has_ended_only_with_all_its_steps() -> None:
    large = chain(200)
    steps = [StepProgress(status=StepStatus.COMPLETED, started_at=1, ended_at=2), *([StepProgress()] * 199)]
    states = node_states(large, RunProgress(status=RunStatus.RUNNING, steps=tuple(steps)), shown_groups(large, []))
    assert (states["0-49"].status, states["0-49"].started_at, states["0-49"].ended_at) == (StepStatus.PENDING, 1, None)


def test_what_is_not_known_has_no_state() -> None:
    small = chain(2)
    assert node_states(small, RunProgress(status=RunStatus.RUNNING), shown_groups(small, [])) == {}
