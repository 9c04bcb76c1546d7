"""Warn about suspicious branches: a switch that may match no case, a branch or timeout that no step follows.

Also warns if a step would treat an unanswered question as an answer: a missing answer is never an approval.
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from docrail.dag.language.step_kinds import StepKind, Then
from docrail.dag.validation.document.outline import Outline, StepOutline, schema_of
from docrail.dag.validation.document.schemas import check_fit
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_parts import walk
from docrail.dag.values.json_values import Json

MOST_CASES = 50
"""Cases per switch that are examined: a few values are tried for each."""

_PATH = r"[A-Za-z_]\w*(?:\.\w+)*"
_LITERAL = r"true|false|-?[0-9]{1,15}(?:\.[0-9]{1,6})?|'[^'\\]*'|\"[^\"\\]*\""
_OPERATOR = "[=!]=|[<>]=?"
_COMPARISON = re.compile(
    rf"[(\s]*(?:(?P<path>(?!true\b|false\b){_PATH})\s*(?P<operator>{_OPERATOR})\s*(?P<literal>{_LITERAL})"
    rf"|(?P<first>{_LITERAL})\s*(?P<turned>{_OPERATOR})\s*(?P<last>(?!true\b|false\b){_PATH}))[)\s]*"
)
_HOLDS: Mapping[str, Callable[[Json, Json], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TURNED: Mapping[str, str] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NOT_READ = frozenset({"id", "title", "depends_on"})
"""Fields of a step that contain no expressions."""

_OF_THE_RUN = frozenset({"steps", "workflow", "run"})
"""Names whose parts have values set by the engine, which no schema in the definition describes."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A condition that compares the value at `path` with a literal."""

    path: str
    operator: str
    literal: str | float | bool

    def holds(self, value: str | float | bool) -> bool:
        return _HOLDS[self.operator](value, self.literal)


def check_dead_branches(outline: Outline, findings: Findings) -> None:
    """Warn about switches without an `else` and branches that lead nowhere."""
    followed = {edge.text for step in outline.steps for edge in step.depends_on}
    for step in outline.steps:
        if step.kind is StepKind.SWITCH:
            _check_end(step, outline, findings)
            _check_branches(step, followed, outline, findings)
        elif step.kind in (StepKind.WAIT, StepKind.HUMAN):
            _check_timeout(step, step.kind, followed, outline, findings)


def _check_end(step: StepOutline, outline: Outline, findings: Findings) -> None:
    cases = step.fields[StepKind.SWITCH]
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        return
    conditions = [case["when"].strip() for case in cases if isinstance(case.get("when"), str)]
    if len(conditions) == len(cases) > 0 and _leaves_something(conditions, outline):
        message = f"{step.name} fails if no case is true: end with {{else: NAME}} for everything else"
        findings.lint("no-else", (*step.path, "switch"), message)


def _check_branches(step: StepOutline, followed: set[str], outline: Outline, findings: Findings) -> None:
    """Warn about branches with the id of a step, which authors mistake for a way to start that step."""
    for number, case in enumerate(step.fields[StepKind.SWITCH] if step.branches else ()):
        field = "branch" if "branch" in case else "else"
        name, other = f"{step.id}.{case[field]}", outline.step(case[field])
        if step.id is None or other is None or name in followed or reads(other, step.id):
            continue
        message = (
            f"no step depends on '{name}': the name of a branch does not start a step, so '{other.id}' begins "
            f"whichever case is true; if it belongs to the branch, give it depends_on: [{name}]"
        )
        findings.lint("leads-nowhere", (*step.path, "switch", number, field), message)


def _leaves_something(conditions: Sequence[str], outline: Outline) -> bool:
    """Return whether some value certainly matches no case: all compare the same path with literals of one type."""
    comparisons = [found for condition in conditions[: MOST_CASES + 1] if (found := _comparison(condition))]
    paths = {comparison.path for comparison in comparisons}
    if len(comparisons) != len(conditions) or len(conditions) > MOST_CASES or len(paths) != 1:
        return False
    path = comparisons[0].path
    literals = {comparison.literal for comparison in comparisons}
    kind = _kind(comparisons[0].literal)
    if path.partition(".")[0] in _OF_THE_RUN or any(_kind(literal) is not kind for literal in literals):
        return False
    schema = _schema_at(path, outline)
    return any(
        _kind(value) is kind and not any(comparison.holds(value) for comparison in comparisons) and _fits(value, schema)
        for value in _witnesses(literals, schema)
    )


def _comparison(condition: str) -> _Comparison | None:
    found = _COMPARISON.fullmatch(condition)
    if found is None:
        return None
    if found["path"]:
        return _Comparison(found["path"], found["operator"], _literal(found["literal"]))
    return _Comparison(found["last"], _TURNED.get(found["turned"], found["turned"]), _literal(found["first"]))


def _literal(text: str) -> str | float | bool:
    if text in ("true", "false"):
        return text == "true"
    if text[0] in "'\"":
        return text[1:-1]
    return float(text) if "." in text else int(text)


def _kind(value: Json) -> type:
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def _witnesses(literals: set[str | float | bool], schema: Json) -> Iterator[Json]:
    """Yield values to try: the literals, values between and beyond them, and those that a schema lists."""
    yield from literals
    yield from (True, False)
    listed = schema.get("enum") if isinstance(schema, dict) else None
    yield from listed if isinstance(listed, list) else ()
    yield "_".join(["", *(text for text in literals if isinstance(text, str)), ""])
    numbers = sorted(number for number in literals if _kind(number) is float and not isinstance(number, str))
    for number in numbers:
        for near in (math.floor(number) - 1, math.floor(number), math.ceil(number), math.ceil(number) + 1):
            if near >= 0 or schema is not None or number < 0:  # an amount without a schema may be a count
                yield near
    if isinstance(schema, dict) and schema.get("type") == "number":
        yield from ((low + high) / 2 for low, high in pairwise(numbers))


def _fits(value: Json, schema: Json) -> bool:
    scratch = Findings()
    check_fit(schema, value, ("value",), scratch)
    return not scratch.has_errors


def _schema_at(path: str, outline: Outline) -> Json:
    """Return the schema of an input or of a part of an answer, None if it is unknown."""
    root, *keys = path.split(".")
    if root == "inputs":
        name, *keys = keys or [""]
        schema: Json = schema_of((outline.inputs or {}).get(name))
    else:
        step = outline.step(root)
        schema = (step.part(StepKind.WAIT).get("accept") or step.part(StepKind.HUMAN).get("form")) if step else None
    for key in keys:
        fields = schema.get("properties") if isinstance(schema, dict) else None
        schema = fields.get(key) if isinstance(fields, dict) else None
    return schema


def _check_timeout(step: StepOutline, kind: StepKind, followed: set[str], outline: Outline, findings: Findings) -> None:
    rule = step.part(kind).get("on_timeout")
    branch = rule.get("branch") if isinstance(rule, dict) else None
    if step.id is None or not isinstance(branch, str) or f"{step.id}.{branch}" in followed:
        return
    if names(outline.outputs, step.id) or any(reads(other, step.id) for other in outline.steps):
        return
    if kind is StepKind.HUMAN and step.id in followed:
        return  # reported by check_unanswered
    message = f"no step depends on '{step.id}.{branch}' or reads '{step.id}': a missing answer changes nothing"
    findings.lint("leads-nowhere", (*step.path, kind, "on_timeout", "branch"), message)


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
    if step.kind is StepKind.HUMAN and step.deadline_branch is not None:
        return True
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
