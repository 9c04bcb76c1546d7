"""Read a list of commands without edges as the chain of steps they mean.

A document that is a bare list of steps is a chain. So is a `steps` list that reads `previous`, unless a step has
`depends_on`. (Steps without edges that do not read each other start together.) In a chain:

- each step waits for the previous step. A step with a `condition` or an `abort` may be skipped, so the steps after it
  also wait for the steps before it, back to a step that always runs. If the first step may be skipped, a step `start`
  is added, which only completes. It comes last, so that the other steps keep their positions.
- `previous` is the output of the step before; an `abort` has none and is passed over. In `outputs` it is the output of
  the last step. It is replaced by the step's id here, so no other module knows it.
- a step without an id is named after its command or its kind: `wait_for_response`, `send_webhook`, `wait_2`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from docrail.dag.language.definition import RESERVED_WORDS
from docrail.dag.language.expressions.expression import expression_spans
from docrail.dag.language.expressions.templates import PATH_KEY
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.validation.document.outline import Part, parts_of, templates_in
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_parts import replaced
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import is_id

UNNAMED = "commands"
"""The id of a definition that is a bare list."""

PREVIOUS = "previous"

MOST_CONDITIONAL = 50
"""Longest row of steps that may be skipped: each of them is a parent of all that follow in the row."""

START: dict[str, Json] = {StepKind.SWITCH: [{"else": "start"}]}
"""A step that completes at once: steps after skippable ones need a parent that completed."""

_NAMES = re.compile(rf"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\.\s*\w+|\b{PREVIOUS}\b""", re.DOTALL)
"""Texts and attributes, which only look like the name, and the name itself."""

_LONGEST_NAME = 58
"""Leaves room for a number within the 64 characters of an id."""


def is_list_of_steps(value: Json) -> bool:
    """Return whether a document is a bare list of steps."""
    return isinstance(value, list) and bool(value) and all(isinstance(step, dict) for step in value)


def name_list(steps: Json, findings: Findings) -> dict[str, Json]:
    """Return the definition that a bare list of steps means. It gets a default id, with a warning."""
    findings.wrapped = ("steps",)
    message = f"a bare list has no id, so the definition's id is '{UNNAMED}'; to set it, write 'id' and 'steps'"
    findings.warning("no-id", (), message)
    return {"id": UNNAMED, "steps": steps}


def link(document: dict[str, Json], findings: Findings, *, is_bare: bool) -> dict[str, Json]:
    """Return `document`, its aliases replaced, with the edges, ids and references of a chain if it is one."""
    steps = document.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        return document
    if any("depends_on" in step for step in steps) or not (is_bare or any(map(_reads_previous, steps))):
        return document
    start = [START] if len(steps) > 1 and _may_be_skipped(steps[0]) else []
    *ids, start_id = _ids([*steps, START], findings.commands)
    linked: list[dict[str, Json]] = []
    for number, step in enumerate(steps):
        above = _parents(steps, number)
        if len(above) > MOST_CONDITIONAL:
            message = f"more than {MOST_CONDITIONAL} steps in a row have a condition"
            advice = "write 'depends_on' for the steps after them"
            findings.error("too-many-conditions", ("steps", number), f"{message}; {advice}")
            return document
        before = _before(steps, number)
        if before is None:
            _check_first(step, number, findings)
        parents = [ids[parent] for parent in above]
        if start and all(_may_be_skipped(steps[parent]) for parent in above):
            parents.append(start_id)
        name = None if before is None else ids[before]
        linked.append({"id": ids[number], **_with_previous(step, name), **({"depends_on": parents} if parents else {})})
    linked += [{"id": start_id, **step} for step in start]
    last = _before(steps, len(steps))
    outputs = document.get("outputs")
    if last is not None and outputs is not None:
        document = {**document, "outputs": _in_value(outputs, ids[last])}
    return {**document, "steps": linked}


def _parents(steps: Sequence[dict[str, Json]], number: int) -> list[int]:
    """Return the steps that a step waits for: the previous one, and the ones before it if it may be skipped."""
    parents: list[int] = []
    for before in range(number - 1, -1, -1):
        parents.append(before)
        if not _may_be_skipped(steps[before]) or len(parents) > MOST_CONDITIONAL:
            break
    return parents[::-1]


def _may_be_skipped(step: dict[str, Json]) -> bool:
    return step.get("condition") is not None or step.get(StepKind.ABORT) is not None


def _before(steps: Sequence[dict[str, Json]], number: int) -> int | None:
    """Return the step whose output is `previous` for the step with that number."""
    return next((n for n in range(number - 1, -1, -1) if steps[n].get(StepKind.ABORT) is None), None)


def _check_first(step: dict[str, Json], number: int, findings: Findings) -> None:
    """Report `previous` in a step without a previous one."""
    message = "'previous' is the output of the step before, and there is none before this one"
    for part in parts_of(step):
        whole = [(part.path, part.value)] if part.is_expression else templates_in(part.path, part.value)
        for path, value in whole:
            if _replaced(replace(part, value=value), "x") != value:
                findings.error("unknown-name", ("steps", number, *path), message)


def _ids(steps: Sequence[dict[str, Json]], commands: Mapping[int, str]) -> list[str]:
    """Return each step's id: its own, or a unique one made from its command or its kind."""
    taken = {step["id"] for step in steps if isinstance(step.get("id"), str)} | RESERVED_WORDS
    numbers: dict[str, Iterator[int]] = {}
    ids: list[str] = []
    for number, step in enumerate(steps):
        own = step.get("id")
        if not isinstance(own, str):
            own = name = _name_of(step, commands.get(number))
            while own in taken:
                own = f"{name}_{next(numbers.setdefault(name, count(2)))}"
            taken.add(own)
        ids.append(own)
    return ids


def _name_of(step: dict[str, Json], command: str | None) -> str:
    if step is START:
        return "start"
    handler, nested = step.get(StepKind.HANDLER), step.get(StepKind.WORKFLOW)
    name = command or (nested.get("id") if isinstance(nested, dict) else handler)
    if not isinstance(name, str):
        name = next((kind for kind in StepKind if step.get(kind) is not None), "step")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    name = re.sub(r"\W+", "_", words, flags=re.ASCII).strip("_").lower()[:_LONGEST_NAME]
    return name if is_id(name) else "step"


def _with_previous(step: dict[str, Json], name: str | None) -> dict[str, Json]:
    """Return the step with `name` in place of `previous`."""
    if name is not None:
        for part in parts_of(step):
            value = _replaced(part, name)
            if value != part.value:
                step = replaced(step, part.path, value)
    return step


def _reads_previous(step: dict[str, Json]) -> bool:
    return any(_replaced(part, "x") != part.value for part in parts_of(step))


def _replaced(part: Part, name: str) -> Json:
    return _in_expression(part.value, name) if part.is_expression else _in_value(part.value, name)


def _in_value(value: Json, name: str) -> Json:
    """Return `value` with `name` in place of `previous` in its templates."""
    if isinstance(value, str):
        return _in_text(value, name) if PREVIOUS in value else value
    if isinstance(value, list):
        return [_in_value(item, name) for item in value]
    if not isinstance(value, dict):
        return value
    match value.get(PATH_KEY):
        case [str() as root, *keys] if root == PREVIOUS:
            return {**value, PATH_KEY: [name, *keys]}
    return {key: _in_value(item, name) for key, item in value.items()}


def _in_text(text: str, name: str) -> str:
    try:
        spans = list(expression_spans(text))
    except ExpressionError:
        return text  # reported with the references
    for start, end in reversed(spans):
        text = text[:start] + _in_expression(text[start:end], name) + text[end:]
    return text


def _in_expression(text: str, name: str) -> str:
    return _NAMES.sub(lambda match: name if match[0] == PREVIOUS else match[0], text)
