"""Warns of ways that are hardly meant: a switch that may lead nowhere, a timeout that nobody follows."""

import re
from collections.abc import Mapping

from dag.checks.findings import Findings
from dag.checks.outline import Outline, StepOutline
from dag.checks.silence import reads
from dag.kinds import StepKind
from dag.values import Json

_COMPARISON = re.compile(r"(?P<left>[\w.]+)\s*(?P<operator>[=!]=|[<>]=?)\s*(?P<right>[\w.]+|'[^']*'|\"[^\"]*\")")
_NEGATION = re.compile(r"not\s+(?P<whole>[\w.]+|\(.*\))")
_OUTCOMES: Mapping[str, frozenset[str]] = {
    "==": frozenset("="),
    "!=": frozenset("<>"),
    "<": frozenset("<"),
    "<=": frozenset("<="),
    ">": frozenset(">"),
    ">=": frozenset(">="),
}
"""Of two values, when a comparison holds: the one is less, equal or more."""


def check_doubts(outline: Outline, findings: Findings) -> None:
    """Report, as warnings, switches without an end and branches of timeouts that lead nowhere."""
    followed = {edge.text for step in outline.steps for edge in step.depends_on}
    for step in outline.steps:
        if step.kind is StepKind.SWITCH:
            _check_end(step, outline, findings)
        elif step.kind in (StepKind.WAIT, StepKind.HUMAN):
            _check_timeout(step, step.kind, followed, outline, findings)


def _check_end(step: StepOutline, outline: Outline, findings: Findings) -> None:
    cases = step.fields[StepKind.SWITCH]
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        return
    conditions = [case["when"].strip() for case in cases if isinstance(case.get("when"), str)]
    if len(conditions) == len(cases) > 0 and not _leaves_nothing(conditions, outline):
        message = f"{step.name} fails if no case is true: end with {{else: NAME}}, the way of whatever else comes"
        findings.doubt("no-else", (*step.path, "switch"), message)


def _leaves_nothing(conditions: list[str], outline: Outline) -> bool:
    """Tell whether one of the conditions is always true, as far as their texts show."""
    held: dict[tuple[str, str], frozenset[str]] = {}
    values: dict[str, set[str]] = {}
    truths: set[tuple[str, bool]] = set()
    for condition in conditions:
        truths.add(_truth(condition))
        if found := _COMPARISON.fullmatch(condition):
            left, operator, right = found["left"], found["operator"], found["right"]
            pair = (left, right)
            held[pair] = held.get(pair, frozenset()) | _OUTCOMES[operator]
            if operator == "==":
                values.setdefault(left, set()).add(right.strip("'\""))
    return (
        any((text, not truth) in truths for text, truth in truths)
        or frozenset("<=>") in held.values()
        or any(_all_of(left, outline) <= found for left, found in values.items() if _all_of(left, outline))
    )


def _truth(condition: str) -> tuple[str, bool]:
    """Return what a condition asks about, and whether it asks for that or for its opposite."""
    if found := _NEGATION.fullmatch(condition):
        text, truth = _truth(found["whole"].removeprefix("(").removesuffix(")").strip())
        return text, not truth
    found = _COMPARISON.fullmatch(condition)
    if found and found["operator"] in ("==", "!=") and found["right"] in ("true", "false"):
        return found["left"], (found["right"] == "true") == (found["operator"] == "==")
    return condition, True


def _all_of(path: str, outline: Outline) -> frozenset[str]:
    """Return all values that an input or an answer may have, none if it does not say."""
    root, _, name = path.partition(".")
    step = outline.step(root)
    schema: Json = (outline.inputs or {}).get(name) if root == "inputs" else None
    if step is not None:
        answer = step.part(StepKind.WAIT).get("accept") or step.part(StepKind.HUMAN).get("form")
        fields = answer.get("properties") if isinstance(answer, dict) else None
        schema = fields.get(name) if isinstance(fields, dict) else None
    values = schema.get("enum") if isinstance(schema, dict) else None
    return frozenset(value for value in values if isinstance(value, str)) if isinstance(values, list) else frozenset()


def _check_timeout(step: StepOutline, kind: StepKind, followed: set[str], outline: Outline, findings: Findings) -> None:
    rule = step.part(kind).get("on_timeout")
    branch = rule.get("branch") if isinstance(rule, dict) else None
    if step.id is None or not isinstance(branch, str) or f"{step.id}.{branch}" in followed:
        return
    if any(reads(other, step.id) for other in outline.steps):
        return
    if kind is StepKind.HUMAN and step.id in followed:
        return  # told as silence that is taken for an answer
    message = f"no step depends on '{step.id}.{branch}' or reads '{step.id}': that nobody answered changes nothing"
    findings.doubt("leads-nowhere", (*step.path, kind, "on_timeout", "branch"), message)
