"""Warns of ways that are hardly meant: a switch that may lead nowhere, a branch or a timeout that nobody follows."""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from docrail.dag.language.step_kinds import StepKind
from docrail.dag.validation.document.outline import Outline, StepOutline, schema_of
from docrail.dag.validation.document.schemas import check_fit
from docrail.dag.validation.lint.unanswered import names, reads
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_values import Json

MOST_CASES = 50
"""Of a switch that is looked at: each is tried with a few values for each."""

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
_OF_THE_RUN = frozenset({"steps", "workflow", "run"})
"""Words whose parts have values of the engine's, which no schema here tells."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A condition that compares what `path` leads to with a literal."""

    path: str
    operator: str
    literal: str | float | bool

    def holds(self, value: str | float | bool) -> bool:
        return _HOLDS[self.operator](value, self.literal)


def check_doubts(outline: Outline, findings: Findings) -> None:
    """Report, as warnings, switches without an end and branches that lead nowhere."""
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
        message = f"{step.name} fails if no case is true: end with {{else: NAME}}, the way of whatever else comes"
        findings.doubt("no-else", (*step.path, "switch"), message)


def _check_branches(step: StepOutline, followed: set[str], outline: Outline, findings: Findings) -> None:
    """Report branches that are called as a step is, which people take for a way to start that step."""
    for number, case in enumerate(step.fields[StepKind.SWITCH] if step.branches else ()):
        field = "branch" if "branch" in case else "else"
        name, other = f"{step.id}.{case[field]}", outline.step(case[field])
        if step.id is None or other is None or name in followed or reads(other, step.id):
            continue
        message = (
            f"no step depends on '{name}': the name of a branch starts nothing, so step '{other.id}' begins whatever "
            f"comes true; if it belongs to the branch, give it depends_on: [{name}]"
        )
        findings.doubt("leads-nowhere", (*step.path, "switch", number, field), message)


def _leaves_something(conditions: Sequence[str], outline: Outline) -> bool:
    """Tell whether some value certainly makes no condition true: all compare the same with literals of one kind."""
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
    """Yield values to try: those that are compared with, between and beyond them, and those that a schema lists."""
    yield from literals
    yield from (True, False)
    listed = schema.get("enum") if isinstance(schema, dict) else None
    yield from listed if isinstance(listed, list) else ()
    yield "_".join(["", *(text for text in literals if isinstance(text, str)), ""])
    numbers = sorted(number for number in literals if _kind(number) is float and not isinstance(number, str))
    for number in numbers:
        for near in (math.floor(number) - 1, math.floor(number), math.ceil(number), math.ceil(number) + 1):
            if near >= 0 or schema is not None or number < 0:  # amounts of which nothing is said may be counts
                yield near
    if isinstance(schema, dict) and schema.get("type") == "number":
        yield from ((low + high) / 2 for low, high in pairwise(numbers))


def _fits(value: Json, schema: Json) -> bool:
    scratch = Findings()
    check_fit(schema, value, ("value",), scratch)
    return not scratch.has_errors


def _schema_at(path: str, outline: Outline) -> Json:
    """Return the schema of an input or of a part of an answer, None if nothing says it."""
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
        return  # told as silence that is taken for an answer
    message = f"no step depends on '{step.id}.{branch}' or reads '{step.id}': that nobody answered changes nothing"
    findings.doubt("leads-nowhere", (*step.path, kind, "on_timeout", "branch"), message)
