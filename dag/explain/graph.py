"""Draw a plan with at most MOST_NODES nodes: steps, and groups of steps that can be opened.

A group is a range of steps in plan order: some layers, one layer, or a part of a layer. The groups of a plan form a
tree, the same for every run of it. A group's id is the positions of its first and last step, as in `40-79`; no step's
id begins with a digit. What is drawn depends only on the plan and on the open groups, so that states can change
without a new layout.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from pydantic import BaseModel, ConfigDict

from docrail.dag.engine.plan import Plan
from docrail.dag.language.step_kinds import StepKind
from docrail.field_docs import describe_fields

MOST_NODES = 300
"""Nodes of one drawing, however many groups are to be open."""

MOST_PARTS = 150
"""Layers or steps into which a group opens at once; more are put into bands first. A smaller plan has no groups."""

BAND = 50
"""Layers or steps in a band."""

MOST_BANDS = 100
"""Bands into which a group opens at most."""

MOST_EDGES = 2_000
"""Edges of one drawing; the others are counted."""

_GROUP_ID = re.compile(r"(0|[1-9][0-9]{0,8})-([1-9][0-9]{0,8})")


class Drawn(BaseModel):
    """A part of a drawing."""

    model_config = ConfigDict(
        frozen=True, json_schema_extra=describe_fields, json_schema_serialization_defaults_required=True
    )


class GraphNode(Drawn):
    """A step, or a closed group of steps."""

    id: str
    """Id of the step, or of the group: the positions of its first and last step in plan order, as in `40-79`."""
    title: str
    """The step's title; empty for a group."""
    kind: StepKind | None
    """What the step does; null for a group."""
    handler: str | None
    """The step's handler; null if it has none, and for a group."""
    is_list: bool
    """Whether the step runs once for each element of a list."""
    layer: int
    """Its layer, from 0: the length of the longest path to it."""
    last_layer: int
    """The last layer of a group; for a step its layer."""
    steps: int
    """How many steps it contains; 1 for a step."""


class GraphEdge(Drawn):
    """An arrow between two nodes."""

    source: str
    """Id of the node that goes first."""
    target: str
    """Id of the node that waits for it."""
    branch: str | None
    """The branch of a step after which another step follows; null: any."""
    edges: int
    """How many dependencies between steps it shows."""


class Graph(Drawn):
    """A drawing of a definition: its steps, those of large ones in groups that can be opened."""

    steps: int
    """How many steps the definition has."""
    layers: int
    """How many layers it has."""
    open: tuple[str, ...]
    """The groups that are open: those requested, as far as there is room for their nodes, the last one first."""
    nodes: tuple[GraphNode, ...]
    """The nodes in plan order, at most 300."""
    edges: tuple[GraphEdge, ...]
    """The arrows between the nodes."""
    edges_omitted: int
    """How many arrows are left out because there are too many to draw."""


@dataclass(frozen=True, slots=True)
class Group:
    """The steps from position `first` to `last`; a single step if they are equal."""

    first: int
    last: int

    @property
    def id(self) -> str:
        """Return the id of a group of several steps."""
        return f"{self.first}-{self.last}"

    @property
    def is_step(self) -> bool:
        """Return whether it is a single step."""
        return self.first == self.last

    def contains(self, other: "Group") -> bool:
        """Return whether all steps of `other` are in this group."""
        return self.first <= other.first and other.last <= self.last


def graph_of(plan: Plan, wanted: Sequence[str]) -> Graph:
    """Return the drawing of a plan with the `wanted` groups open; ids of other groups are ignored."""
    opened = open_groups(plan, wanted)
    shown = shown_groups(plan, opened)
    edges = _edges(plan, shown)
    return Graph(
        steps=len(plan.steps),
        layers=len(plan.layers),
        open=tuple(group.id for group in opened),
        nodes=tuple(_node(plan, group) for group in shown),
        edges=tuple(edges[:MOST_EDGES]),
        edges_omitted=max(0, len(edges) - MOST_EDGES),
    )


def open_groups(plan: Plan, wanted: Sequence[str]) -> list[Group]:
    """Return the open groups in plan order, outer ones first: those wanted and the ones around them.

    Those at the end of `wanted` are opened first, as long as there are at most MOST_NODES nodes.
    """
    opened: set[Group] = set()
    nodes = len(_children(plan, _whole(plan)))
    for group_id in reversed(wanted):
        missing = [group for group in _way_into(plan, group_id) if group not in opened]
        more = sum(len(_children(plan, group)) - 1 for group in missing)
        if nodes + more <= MOST_NODES:
            opened.update(missing)
            nodes += more
    return sorted(opened, key=lambda group: (group.first, -group.last))


def shown_groups(plan: Plan, opened: Iterable[Group]) -> list[Group]:
    """Return the groups and steps that are drawn, in plan order."""
    are_open = frozenset(opened)
    shown: list[Group] = []
    stack = _children(plan, _whole(plan))[::-1]
    while stack:
        group = stack.pop()
        if group in are_open:
            stack += reversed(_children(plan, group))
        else:
            shown.append(group)
    return shown


def groups_around(plan: Plan, index: int) -> list[str]:
    """Return the ids of the groups that are open when the step at this position is drawn, outermost first."""
    return [group.id for group in _way_to(plan, Group(index, index))]


def groups_around_all(plan: Plan) -> list[list[str]]:
    """Return `groups_around` for every position."""
    around: list[list[str]] = [[] for _ in plan.steps]
    stack = [(group, list[str]()) for group in _children(plan, _whole(plan))]
    while stack:
        group, outer = stack.pop()
        if group.is_step:
            around[group.first] = outer
        else:
            inner = [*outer, group.id]
            stack += [(child, inner) for child in _children(plan, group)]
    return around


def _whole(plan: Plan) -> Group:
    return Group(0, len(plan.steps) - 1)


def _way_into(plan: Plan, group_id: str) -> list[Group]:
    """Return the group and those around it, outermost first; nothing if the plan has no such group."""
    if (match := _GROUP_ID.fullmatch(group_id)) is None:
        return []
    group = Group(int(match[1]), int(match[2]))
    if not _whole(plan).contains(group) or group.first >= group.last:
        return []
    way = _way_to(plan, group)
    return [*way, group] if group in _children(plan, way[-1] if way else _whole(plan)) else []


def _way_to(plan: Plan, wanted: Group) -> list[Group]:
    """Return the groups that contain `wanted` and more, outermost first."""
    way: list[Group] = []
    inside = _whole(plan)
    while True:
        around = next((child for child in _children(plan, inside) if child.contains(wanted)), wanted)
        if around in (wanted, inside):
            return way
        way.append(around)
        inside = around


def _children(plan: Plan, group: Group) -> list[Group]:
    """Return what a group opens into: its layers, or the steps of its only layer, in bands if they are many."""
    if group == _whole(plan) and len(plan.steps) <= MOST_PARTS:
        return [Group(index, index) for index in range(len(plan.steps))]
    first, last = plan.steps[group.first].layer, plan.steps[group.last].layer
    if first == last:
        parts = [Group(index, index) for index in range(group.first, group.last + 1)]
    else:
        parts = [Group(layer[0], layer[-1]) for layer in plan.layers[first : last + 1]]
    if len(parts) <= MOST_PARTS:
        return parts
    size = max(BAND, ceil(len(parts) / MOST_BANDS))
    bands = (parts[at : at + size] for at in range(0, len(parts), size))
    return [Group(band[0].first, band[-1].last) for band in bands]


def node_id(plan: Plan, group: Group) -> str:
    """Return the id of the node that draws a group or a step."""
    return plan.steps[group.first].id if group.is_step else group.id


def _node(plan: Plan, group: Group) -> GraphNode:
    step = plan.steps[group.first]
    return GraphNode(
        id=node_id(plan, group),
        title=step.definition.title if group.is_step else "",
        kind=step.kind if group.is_step else None,
        handler=step.definition.handler if group.is_step else None,
        is_list=group.is_step and step.definition.for_each is not None,
        layer=step.layer,
        last_layer=plan.steps[group.last].layer,
        steps=group.last - group.first + 1,
    )


def _edges(plan: Plan, shown: Sequence[Group]) -> list[GraphEdge]:
    """Return the arrows; dependencies inside a node are not drawn."""
    drawn_by = [group for group in shown for _ in range(group.first, group.last + 1)]
    counts = Counter(
        (source, target, branch)
        for parent, child, branch in _dependencies(plan)
        if (source := drawn_by[parent]) != (target := drawn_by[child])
        for branch in [branch if source.is_step and target.is_step else None]
    )
    return [
        GraphEdge(source=node_id(plan, source), target=node_id(plan, target), branch=branch, edges=count)
        for (source, target, branch), count in counts.items()
    ]


def _dependencies(plan: Plan) -> Iterator[tuple[int, int, str | None]]:
    for step in plan.steps:
        for parent in step.parents:
            for branch in step.branches.get(parent, (None,)):
                yield parent, step.index, branch
