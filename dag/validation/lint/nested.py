"""Order definitions for publishing by the definitions they run, and warn about unpublished ones.

A run cannot be started while a definition that it runs is unpublished.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from docrail.dag.language.definition import Definition
from docrail.dag.values.findings import Findings

NestedRef = tuple[str, int | None]
"""A definition that a step runs: its id and its version, None for the version of new runs."""


@dataclass(frozen=True, slots=True)
class Unpublished:
    """The nested references that cannot be resolved, and the known ids that may have been meant."""

    refs: Collection[NestedRef] = ()
    known: Collection[str] = ()


ALL_PUBLISHED = Unpublished()


def nested_refs(definition: Definition) -> Iterator[NestedRef]:
    """Yield the definitions that the steps run; for a fixed version also the id alone."""
    for step in definition.steps:
        if step.workflow is not None:
            yield step.workflow.id, step.workflow.version
            yield step.workflow.id, None


def publishing_order(definitions: Sequence[Definition]) -> list[int]:
    """Return the positions in publishing order, nested definitions first; the given order if there is a cycle.

    Several versions of one definition keep their order: new runs use the last one.
    """
    before = {place: _before(place, definitions) for place in range(len(definitions))}
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError:
        return list(before)


def _before(place: int, definitions: Sequence[Definition]) -> list[int]:
    own = definitions[place]
    nested = {definition_id for definition_id, _ in nested_refs(own)}
    return [
        other
        for other, definition in enumerate(definitions)
        if definition.id in nested or (definition.id == own.id and other < place)
    ]


def check_nested(definition: Definition, unpublished: Unpublished, findings: Findings) -> None:
    """Warn about each step that runs an unpublished definition: it may be published before the first run."""
    known = {definition_id for definition_id in unpublished.known if definition_id != definition.id}
    for place, step in enumerate(definition.steps):
        if step.workflow is None or (step.workflow.id, step.workflow.version) not in unpublished.refs:
            continue
        wanted, version = step.workflow.id, step.workflow.version
        is_unknown = (wanted, None) in unpublished.refs
        shown = repr(wanted) if version is None else f"version {version} of {wanted!r}"
        message = f"step {step.id!r} runs {shown}, which is not published: publish it before a run is started"
        path = ("steps", place, "workflow", "id" if is_unknown else "version")
        meant = findings.suggestions.closest(wanted, known) if is_unknown else None
        findings.warning("unknown-definition", path, message, meant)
