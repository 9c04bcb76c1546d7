"""Checks the cases of a switch. Several cases may lead to the same branch: it is an "or" that is easy to read."""

from dag.checks.findings import Findings
from dag.checks.outline import StepOutline
from dag.checks.wording import quote
from dag.kinds import StepKind
from dag.problems import Path
from dag.values import Json

FORM = "a case is {when: EXPRESSION, branch: NAME}; the last may be {else: NAME}"


def check_switch(step: StepOutline, findings: Findings) -> None:
    """Report cases that are not whole, that come behind `else`, or that repeat a condition."""
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
                message = "'else' takes whatever comes to it, so the cases behind it are never reached: put it last"
                findings.error("else-not-last", (*path, "else"), message, at_key=True)
        case ["when", "branch"]:
            pass
        case [*_, "else"]:
            message = f"'else' stands alone in its case: {FORM}"
            findings.error("wrong-case", (*path, "else"), message, at_key=True)
        case []:
            findings.error("wrong-case", path, FORM)
        case ["when"]:
            findings.error("wrong-case", path, f"the case needs 'branch', the name of its way out: {FORM}")
        case ["branch"]:
            findings.error("wrong-case", path, f"the case needs 'when', the condition of its branch: {FORM}")
