"""Graph algorithms against slow, obvious ones."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.values.graph import ancestors, components, cycles

graphs = st.integers(1, 8).flatmap(
    lambda count: st.lists(st.lists(st.integers(0, count - 1), unique=True, max_size=4), min_size=count, max_size=count)
)


def reachable(parents: Sequence[Sequence[int]], step: int) -> set[int]:
    """Return every step above `step`; itself too if it is on a cycle."""
    found: set[int] = set()
    pending = list(parents[step])
    while pending:
        parent = pending.pop()
        if parent not in found:
            found.add(parent)
            pending.extend(parents[parent])
    return found


@given(graphs)
def test_ancestors_are_the_steps_that_can_be_reached(parents: list[list[int]]) -> None:
    bits = ancestors(parents)
    assert [{other for other in range(len(parents)) if bits[step] >> other & 1} for step in range(len(parents))] == [
        reachable(parents, step) for step in range(len(parents))
    ]


@given(graphs)
def test_components_hold_each_step_once_and_stand_parents_first(parents: list[list[int]]) -> None:
    found = components(parents)
    place = {step: number for number, component in enumerate(found) for step in component}
    assert sorted(place) == list(range(len(parents)))
    for step, above in enumerate(parents):
        for parent in above:
            assert place[parent] <= place[step]
            together = step == parent or (step in reachable(parents, parent) and parent in reachable(parents, step))
            assert (place[parent] == place[step]) == together


@given(graphs)
def test_each_cycle_is_one_and_without_their_edges_none_is_left(parents: list[list[int]]) -> None:
    found = cycles(parents, most=100)
    left = [[parent for parent in above if parent != step] for step, above in enumerate(parents)]
    assert bool(found) == any(step in reachable(left, step) for step in range(len(parents)))
    for cycle in found:
        assert len(set(cycle)) == len(cycle) > 1
        assert all(before in parents[after] for before, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        left[cycle[0]] = [parent for parent in left[cycle[0]] if parent != cycle[-1]]
    assert len({tuple(cycle) for cycle in found}) == len(found)
    assert not any(step in reachable(left, step) for step in range(len(parents)))


def test_the_number_of_cycles_is_limited() -> None:
    tangle = [[other for other in range(12) if other != step] for step in range(12)]
    assert len(cycles(tangle, most=5)) == 5


def test_a_long_chain_needs_no_recursion() -> None:
    chain = [[step - 1] if step else [] for step in range(20_000)]
    assert len(components(chain)) == 20_000
    assert ancestors(chain[:2_000])[-1].bit_count() == 1_999
