"""Warns of steps that run definitions which are not published: their runs could not be started."""

from collections.abc import Collection, Iterator

from dag.checks.findings import Findings
from dag.definition import Definition

NestedRef = tuple[str, int | None]
"""A definition that a step runs: its id and its version, None for the one that new runs get."""


def nested_refs(definition: Definition) -> Iterator[NestedRef]:
    """Yield what the steps run; not the definition itself, which is published with them."""
    for step in definition.steps:
        if step.workflow is not None and (step.workflow.id, step.workflow.version) != (definition.id, None):
            yield step.workflow.id, step.workflow.version


def check_nested(definition: Definition, unpublished: Collection[NestedRef], findings: Findings) -> None:
    """Report each step that runs one of the `unpublished`. A warning: it may be published before the first run."""
    for place, step in enumerate(definition.steps):
        if step.workflow is None or (step.workflow.id, step.workflow.version) not in unpublished:
            continue
        version = step.workflow.version
        wanted = repr(step.workflow.id) if version is None else f"version {version} of {step.workflow.id!r}"
        field = "id" if version is None else "version"
        message = f"step {step.id!r} runs {wanted}, which is not published yet: until it is, no run can be started"
        findings.warning("unknown-definition", ("steps", place, "workflow", field), message)
