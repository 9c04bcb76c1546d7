"""Checks that each step is of one kind, and has no field that means nothing for it."""

from collections.abc import Mapping

from dag.checks.caching import check_cache
from dag.checks.cases import check_switch
from dag.checks.findings import Findings
from dag.checks.hints import EXAMPLES
from dag.checks.items import check_for_each
from dag.checks.outline import Outline, StepOutline
from dag.checks.waits import check_human, check_wait
from dag.checks.wording import quote
from dag.definition import HANDLER_FIELDS
from dag.kinds import StepKind
from dag.values import Json

NOUNS: Mapping[StepKind, str] = {
    StepKind.HANDLER: "a handler",
    StepKind.WAIT: "a wait",
    StepKind.HUMAN: "a human step",
    StepKind.WORKFLOW: "a nested workflow",
    StepKind.ABORT: "an abort",
    StepKind.SWITCH: "a switch",
}
"""How messages call a step of each kind."""

REPEATABLE = (StepKind.HANDLER, StepKind.WORKFLOW)
"""The kinds that may run once for each element of a list."""

_INSTEAD: Mapping[tuple[StepKind, str], str] = {
    (StepKind.WAIT, "timeout_seconds"): "how long it waits is 'timeout_seconds' within 'wait'",
    (StepKind.HUMAN, "timeout_seconds"): "how long it waits is 'timeout_seconds' within 'human'",
    (StepKind.HUMAN, "config"): "what the person sees stands in 'human.show'",
    (StepKind.HUMAN, "priority"): "how urgent the question is stands in 'human.priority'",
    (StepKind.WORKFLOW, "config"): "what the other definition gets stands in 'workflow.inputs'",
}
"""Where what was probably meant stands, for some kinds and fields."""


def check_kinds(outline: Outline, findings: Findings) -> None:
    """Report steps without a kind, of several kinds, with fields of another kind, and what is wrong within a kind."""
    for step in outline.steps:
        if step.is_object:
            _check_kind(step, findings)
            _check_fields(step, findings)
            _check_within(step, outline, findings)


def _check_kind(step: StepOutline, findings: Findings) -> None:
    empty = [kind for kind in StepKind if kind in step.fields and kind not in step.kinds]
    if len(step.kinds) > 1:
        first, second, *_ = (name for name in step.fields if name in step.kinds)
        message = f"{step.name} has both '{first}' and '{second}': a step does one thing, so make two steps of it"
        findings.error("several-kinds", (*step.path, second), message, at_key=True)
    elif not step.kinds and empty:
        message = f"{step.name} says nothing under '{empty[0]}'; write `{EXAMPLES[empty[0]]}`"
        findings.error("no-kind", (*step.path, empty[0]), message)
    elif not step.kinds:
        *most, last = StepKind
        message = f"{step.name} does not say what it does: give it one of {', '.join(most)} or {last}"
        findings.error("no-kind", step.path, message)


def _check_fields(step: StepOutline, findings: Findings) -> None:
    """Report the fields of a step that mean something for other kinds only."""
    kind = step.kind
    if kind is None:
        return
    if step.fields.get("for_each") is not None and kind not in REPEATABLE:
        message = (
            f"{step.name} is {NOUNS[kind]}: only handlers and nested workflows run once for each element of a list"
        )
        findings.error("misplaced-field", (*step.path, "for_each"), message, at_key=True)
    if kind is StepKind.HANDLER:
        return
    for name in step.fields:
        if name in HANDLER_FIELDS or name == "priority":
            path = (*step.path, name)
            why = _INSTEAD.get((kind, name), "that is for steps that run a handler")
            message = f"{step.name} is {NOUNS[kind]}, so it takes no '{findings.author_path(path)[-1]}': {why}"
            findings.error("misplaced-field", path, message, at_key=True)


def _check_within(step: StepOutline, outline: Outline, findings: Findings) -> None:
    check_for_each(step, outline, findings)
    match step.kind:
        case StepKind.HANDLER:
            check_cache(step, findings)
        case StepKind.WAIT:
            check_wait(step, findings)
        case StepKind.HUMAN:
            check_human(step, findings)
        case StepKind.SWITCH:
            check_switch(step, findings)
        case StepKind.WORKFLOW:
            _check_nested(step, outline.id, findings)


def _check_nested(step: StepOutline, definition_id: Json, findings: Findings) -> None:
    nested = step.part(StepKind.WORKFLOW).get("id")
    if isinstance(nested, str) and nested == definition_id:
        message = f"{step.name} would run '{quote(nested)}', this very definition, in itself, and so on without an end"
        findings.error("recursion", (*step.path, "workflow", "id"), message)
