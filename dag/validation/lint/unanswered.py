"""Warn if a step would treat an unanswered question as an answer: a missing answer is never an approval."""

import re

from docrail.dag.language.step_kinds import StepKind, Then
from docrail.dag.validation.document.outline import Outline, StepOutline
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_parts import walk
from docrail.dag.values.json_values import Json

_NOT_READ = frozenset({"id", "title", "depends_on"})
"""Fields of a step that contain no expressions."""


def check_unanswered(outline: Outline, findings: Findings) -> None:
    """Warn about each step that begins with or without a decision, and does not read the decision."""
    asked = {step.id: step for step in outline.steps if step.id is not None and _may_end_unanswered(step)}
    for step in outline.steps:
        for edge in step.depends_on:
            if edge.branch is None and edge.step in asked.keys() - {step.id} and not reads(step, edge.step):
                message = (
                    f"{step.name} also begins if no one decides '{edge.step}' in time, and does not check it: read "
                    f"the decision or `{edge.step}.timed_out` in its condition, or let 'on_timeout' fail or abort"
                )
                findings.warning("unanswered-continues", edge.path, message)


def _may_end_unanswered(step: StepOutline) -> bool:
    rule = step.part(StepKind.HUMAN).get("on_timeout")
    then, branch = (rule.get("then"), rule.get("branch")) if isinstance(rule, dict) else (rule, None)
    return then == Then.CONTINUE or branch is not None


def reads(step: StepOutline, step_id: str) -> bool:
    """Return whether an expression of the step, or any other text in it, names another step."""
    return any(names(value, step_id) for name, value in step.fields.items() if name not in _NOT_READ)


def names(value: Json, step_id: str) -> bool:
    """Return whether a text in `value` names a step."""
    word = re.compile(rf"\b{re.escape(step_id)}\b")
    return any(isinstance(part, str) and word.search(part) for _, part in walk(value))
