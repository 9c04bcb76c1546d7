"""Describe a definition's shape: its layers, its longest chain, and a Mermaid flowchart."""

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence

from docrail.dag.language.definition import Definition, Dispatch, Step, edge_of
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.graph import layers_of

SHAPES: Mapping[StepKind, tuple[str, str]] = {
    StepKind.HANDLER: ("[", "]"),
    StepKind.WAIT: ("([", "])"),
    StepKind.HUMAN: ("[/", "/]"),
    StepKind.WORKFLOW: ("[[", "]]"),
    StepKind.ABORT: ("((", "))"),
    StepKind.SWITCH: ("{", "}"),
}
"""Mermaid's brackets: a box, rounded, slanted (manual input), with double sides, a circle, a diamond."""


def layers(definition: Definition) -> tuple[tuple[str, ...], ...]:
    """Return the ids of the steps that can start together, layer by layer, in document order."""
    depths = layers_of(_parents(definition))
    grouped: list[list[str]] = [[] for _ in range(max(depths) + 1)]
    for step, depth in zip(definition.steps, depths, strict=True):
        grouped[depth].append(step.id)
    return tuple(tuple(layer) for layer in grouped)


MOST_COMPARED = 1_000
"""Calls up to which the exact maximum is computed; for more, `max_concurrency` is returned."""


def most_at_once(definition: Definition) -> int:
    """Return how many handler calls can run at once: independent of each other, and within the run's limit."""
    limit, parents = definition.limits.max_concurrency, _parents(definition)
    depths, calls = layers_of(parents), [_calls(step) for step in definition.steps]
    widest = Counter[int]()
    for depth, count in zip(depths, calls, strict=True):
        widest[depth] += count
    most = max(widest.values())
    if definition.limits.dispatch is Dispatch.LAYERS or most >= limit:
        return min(limit, most)
    if sum(calls) > MOST_COMPARED:
        return limit
    order = sorted(range(len(depths)), key=lambda number: (depths[number], number))
    return min(limit, _widest(order, parents, calls))


def _calls(step: Step) -> int:
    if step.kind is not StepKind.HANDLER:
        return 0  # takes no slot
    return step.for_each.max_concurrency if step.for_each else 1


def _widest(order: Sequence[int], parents: Sequence[Sequence[int]], calls: Sequence[int]) -> int:
    """Return the size of the largest set of independent calls: the smallest number of chains that cover all calls.

    This is Dilworth's theorem; the chains come from a maximum matching of each call with one that follows it.
    """
    above: dict[int, frozenset[int]] = {}
    followers: dict[int, list[int]] = {}
    copies: dict[int, range] = {}
    total = 0
    for number in order:
        above[number] = frozenset().union(*(above[parent] | {*copies[parent]} for parent in parents[number]))
        copies[number] = range(total, total + calls[number])
        total += calls[number]
        for call in sorted(above[number]):
            followers.setdefault(call, []).extend(copies[number])
    before: dict[int, int] = {}
    return total - sum(_matched(call, followers, before) for call in range(total))


def _matched(call: int, followers: Mapping[int, Sequence[int]], before: dict[int, int]) -> bool:
    """Match `call` with a follower, rematching other calls if necessary. `before` maps each follower to its call."""
    reached: dict[int, int] = {}
    waiting = deque([call])
    while waiting:
        current = waiting.popleft()
        for follower in followers.get(current, ()):
            if follower in reached:
                continue
            reached[follower] = current
            if follower in before:
                waiting.append(before[follower])
                continue
            _rematch(follower, call, reached, before)
            return True
    return False


def _rematch(follower: int, call: int, reached: Mapping[int, int], before: dict[int, int]) -> None:
    own = {first: last for last, first in before.items()}
    while True:
        current = reached[follower]
        before[follower], moved = current, own.get(current)
        if current == call or moved is None:
            return
        follower = moved


def critical_path(definition: Definition) -> tuple[str, ...]:
    """Return the longest chain of steps, each waiting for the previous one; the first in document order if several."""
    parents = _parents(definition)
    depths = layers_of(parents)
    step = depths.index(max(depths))
    chain = [step]
    while depths[step]:
        step = min(parent for parent in parents[step] if depths[parent] == depths[step] - 1)
        chain.append(step)
    return tuple(definition.steps[step].id for step in reversed(chain))


def mermaid(definition: Definition) -> str:
    """Return the definition as a Mermaid flowchart."""
    return "\n".join(_lines(definition)) + "\n"


def _lines(definition: Definition) -> Iterator[str]:
    # Steps are drawn as s0, s1, ...: an id may be a Mermaid keyword, such as `end`.
    names = {step.id: f"s{number}" for number, step in enumerate(definition.steps)}
    yield "flowchart LR"
    for step in definition.steps:
        begin, end = SHAPES[step.kind]
        yield f'    {names[step.id]}{begin}"{_label(step)}"{end}'
    for step in definition.steps:
        for text in step.depends_on:
            parent, branch = edge_of(text)
            arrow = f"-->|{_escape(branch)}|" if branch else "-->"
            yield f"    {names[parent]} {arrow} {names[step.id]}"


def _label(step: Step) -> str:
    lines = [step.id, step.title, "for each item" if step.for_each else ""]
    return "<br/>".join(_escape(line) for line in lines if line)


def _escape(text: str) -> str:
    """Return `text` with every character escaped that Mermaid, HTML or Markdown could interpret."""
    line = " ".join(text.split())
    return re.sub(r"[^\w .,:/()+-]", lambda match: f"#{ord(match[0])};", line)


def _parents(definition: Definition) -> list[list[int]]:
    place = {step.id: number for number, step in enumerate(definition.steps)}
    return [[place[parent] for parent in step.parents] for step in definition.steps]
