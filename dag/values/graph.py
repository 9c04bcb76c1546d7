"""Implement graph algorithms over numbered steps, without recursion: components, ancestors, cycles.

A graph is given as `parents`: for each step, the steps it waits for.
"""

from collections.abc import Iterator, Sequence

Parents = Sequence[Sequence[int]]


def components(parents: Parents) -> list[list[int]]:
    """Return the strongly connected components, each ascending, parents' before children's (Tarjan)."""
    found: list[list[int]] = []
    entered = [-1] * len(parents)
    lowest = [0] * len(parents)
    stack: list[int] = []
    stacked = [False] * len(parents)
    clock = 0
    for root in range(len(parents)):
        walk: list[tuple[int, Iterator[int]]] = [] if entered[root] >= 0 else [(root, iter(parents[root]))]
        while walk:
            step, rest = walk[-1]
            if entered[step] < 0:
                entered[step] = lowest[step] = clock
                clock += 1
                stack.append(step)
                stacked[step] = True
            for parent in rest:
                if entered[parent] < 0:
                    walk.append((parent, iter(parents[parent])))
                    break
                if stacked[parent]:
                    lowest[step] = min(lowest[step], entered[parent])
            else:
                walk.pop()
                if walk:
                    above = walk[-1][0]
                    lowest[above] = min(lowest[above], lowest[step])
                if lowest[step] == entered[step]:
                    component: list[int] = []
                    while not component or component[-1] != step:
                        component.append(stack.pop())
                        stacked[component[-1]] = False
                    found.append(sorted(component))
    return found


def ancestors(parents: Parents) -> list[int]:
    """Return each step's ancestors as the bits of an integer; steps on a cycle are their own ancestors."""
    above = [0] * len(parents)
    for component in components(parents):
        mask = 0
        for step in component:
            for parent in parents[step]:
                mask |= above[parent] | 1 << parent
        for step in component:
            above[step] = mask
    return above


def cycles(parents: Parents, most: int) -> list[list[int]]:
    """Return up to `most` cycles, each in running order from its earliest step; breaking them all leaves no cycle.

    Each cycle's closing edge is removed before the search continues, so no later cycle contains it.
    """
    left = [[parent for parent in above if parent != step] for step, above in enumerate(parents)]
    found: list[list[int]] = []
    while len(found) < most:
        tangled = [component for component in components(left) if len(component) > 1]
        if not tangled:
            break
        for component in sorted(tangled):
            cycle = _shortest_cycle(left, component)
            left[cycle[0]] = [parent for parent in left[cycle[0]] if parent != cycle[-1]]
            found.append(cycle)
    return sorted(found)[:most]


def _shortest_cycle(parents: Parents, component: list[int]) -> list[int]:
    """Return a shortest path from the component's first step back to it, in running order."""
    start, members = component[0], set(component)
    next_step: dict[int, int] = {}
    queue = [start]
    for step in queue:
        for parent in parents[step]:
            if parent == start:
                return _follow(next_step, step, start)
            if parent in members and parent not in next_step:
                next_step[parent] = step
                queue.append(parent)
    raise AssertionError("a component of several steps has a cycle through each of them")


def _follow(next_step: dict[int, int], step: int, start: int) -> list[int]:
    path = [start]
    while step != start:
        path.append(step)
        step = next_step[step]
    return path


def layers_of(depends_on: Sequence[Sequence[int]]) -> list[int]:
    """Return each step's layer: 0 without parents, else one more than its deepest parent's.

    Kahn's algorithm, linear in steps and edges. A step on or after a cycle gets -1.
    """
    children: list[list[int]] = [[] for _ in depends_on]
    waiting = [len(parents) for parents in depends_on]
    for step, parents in enumerate(depends_on):
        for parent in parents:
            children[parent].append(step)
    layer = [0 if not count else -1 for count in waiting]
    settled = [step for step, count in enumerate(waiting) if not count]
    for step in settled:
        for child in children[step]:
            waiting[child] -= 1
            if not waiting[child]:
                layer[child] = layer[step] + 1  # the last parent to settle is the deepest: Kahn goes layer by layer
                settled.append(child)
    return layer
