"""Check that each step has exactly one kind, and only fields that apply to it.

Also checks the cases of a switch. Several cases may lead to the same branch, which is a readable "or".
"""

from collections.abc import Mapping

from docrail.dag.language.definition import HANDLER_FIELDS
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.validation.document.outline import Outline, StepOutline
from docrail.dag.validation.document.suggestions import EXAMPLES
from docrail.dag.validation.rules.keys import check_cache, check_for_each
from docrail.dag.validation.rules.waits import check_human, check_wait
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path
from docrail.dag.values.wording import quote

NOUNS: Mapping[StepKind, str] = {
    StepKind.HANDLER: "a handler",
    StepKind.WAIT: "a wait",
    StepKind.HUMAN: "a human step",
    StepKind.WORKFLOW: "a nested workflow",
    StepKind.ABORT: "an abort",
    StepKind.SWITCH: "a switch",
}
"""The name of each kind of step in messages."""

REPEATABLE = (StepKind.HANDLER, StepKind.WORKFLOW)
"""The kinds that may run once for each element of a list."""

_INSTEAD: Mapping[tuple[StepKind, str], str] = {
    (StepKind.WAIT, "timeout_seconds"): "write how long it waits in 'wait.timeout_seconds'",
    (StepKind.HUMAN, "timeout_seconds"): "write how long it waits in 'human.timeout_seconds'",
    (StepKind.HUMAN, "config"): "write what the person sees in 'human.show'",
    (StepKind.HUMAN, "priority"): "write how urgent the question is in 'human.priority'",
    (StepKind.WORKFLOW, "config"): "write the other definition's inputs in 'workflow.inputs'",
}
"""Where to write what was probably meant, for some kinds and fields."""


def check_kinds(outline: Outline, findings: Findings) -> None:
    """Report steps without a kind, with several kinds or with fields of another kind, and problems within a kind."""
    for step in outline.steps:
        if step.is_object:
            _check_kind(step, findings)
            _check_fields(step, findings)
            _check_within(step, outline, findings)


def _check_kind(step: StepOutline, findings: Findings) -> None:
    empty = [kind for kind in StepKind if kind in step.fields and kind not in step.kinds]
    if len(step.kinds) > 1:
        first, second, *_ = (name for name in step.fields if name in step.kinds)
        message = f"{step.name} has both '{first}' and '{second}': a step has one of them, so write two steps"
        findings.error("several-kinds", (*step.path, second), message, at_key=True)
    elif not step.kinds and empty:
        message = f"{step.name} has an empty '{empty[0]}'; write `{EXAMPLES[empty[0]]}`"
        findings.error("no-kind", (*step.path, empty[0]), message)
    elif not step.kinds:
        *most, last = StepKind
        message = f"{step.name} has no kind: give it one of {', '.join(most)} or {last}"
        findings.error("no-kind", step.path, message)


def _check_fields(step: StepOutline, findings: Findings) -> None:
    """Report the fields of a step that apply to other kinds only."""
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
            why = _INSTEAD.get((kind, name), "only steps that run a handler have it")
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
            nested = step.part(StepKind.WORKFLOW).get("id")
            if isinstance(nested, str) and nested == outline.id:
                message = f"{step.name} runs '{quote(nested)}', the definition it is part of, which would never end"
                findings.error("recursion", (*step.path, "workflow", "id"), message)


FORM = "a case is {when: EXPRESSION, branch: NAME}; the last may be {else: NAME}"


def check_switch(step: StepOutline, findings: Findings) -> None:
    """Report incomplete cases, cases after `else`, and repeated conditions."""
    cases = step.fields[StepKind.SWITCH]
    if not isinstance(cases, list):
        return  # reported with the fields
    first_of: dict[str, int] = {}
    for number, case in enumerate(cases):
        if not isinstance(case, dict):
            continue
        path = (*step.path, "switch", number)
        _check_case(case, path, findings, is_last=number == len(cases) - 1)
        when = case.get("when")
        if isinstance(when, str) and first_of.setdefault(when.strip(), number) != number:
            message = (
                f"switch[{first_of[when.strip()]}] has the condition `{quote(when)}` too, so this case is never taken"
            )
            findings.warning("repeated-case", (*path, "when"), message)


def _check_case(case: dict[str, Json], path: Path, findings: Findings, *, is_last: bool) -> None:
    given = [name for name in ("when", "branch", "else") if case.get(name) is not None]
    match given:
        case ["else"]:
            if not is_last:
                message = "'else' is always taken, so the cases after it are never reached: put it last"
                findings.error("else-not-last", (*path, "else"), message, at_key=True)
        case ["when", "branch"]:
            pass
        case [*_, "else"]:
            message = f"a case with 'else' has no other field: {FORM}"
            findings.error("wrong-case", (*path, "else"), message, at_key=True)
        case []:
            findings.error("wrong-case", path, FORM)
        case ["when"]:
            findings.error("wrong-case", path, f"the case needs 'branch', the name of the branch it leads to: {FORM}")
        case ["branch"]:
            findings.error("wrong-case", path, f"the case needs 'when', the condition of its branch: {FORM}")
