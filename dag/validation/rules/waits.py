"""Check waiting steps: timers, the form of answers, and what happens when no answer arrives in time.

Also checks durations that contradict each other: a longest delay below the first, a total timeout below one attempt's.
"""

from docrail.dag.language.definition import RetryConfig
from docrail.dag.language.expressions.templates import has_template, is_one_expression
from docrail.dag.language.step_kinds import DOCUMENT_QUEUE, LONGEST_WAIT_SECONDS, StepKind, WaitFor
from docrail.dag.validation.document.outline import Outline, StepOutline
from docrail.dag.validation.document.schemas import check_answer_schema
from docrail.dag.validation.document.suggestions import seconds_in
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_schema import TYPES
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path
from docrail.dag.values.wording import describe, quote

OUTCOMES = "abort, fail, continue or {branch: NAME}"
"""The allowed values of `on_timeout`."""

_NARROWS = {"enum", "const", "pattern", "format"}
"""Keywords that restrict a text to a few values or one form."""

_FOR_ANSWERS = ("accept", "timeout_seconds", "on_timeout")


def check_wait(step: StepOutline, findings: Findings) -> None:
    """Report problems of a wait other than the shape of its fields."""
    wait, path = step.part(StepKind.WAIT), (*step.path, "wait")
    check_answer_schema(wait.get("accept"), (*path, "accept"), findings)
    if wait.get("for") == WaitFor.TIMER:
        _check_timer(step, wait, path, findings)
        return
    if wait.get("for") in (WaitFor.SIGNAL, WaitFor.WEBHOOK) and wait.get("seconds") is not None:
        message = f"{step.name} waits for an answer, and only a timer takes 'seconds'"
        meant = "timeout_seconds" if wait.get("timeout_seconds") is None else None
        findings.error("misplaced-field", (*path, "seconds"), message, meant, at_key=True)
        return  # a timeout's other fields can be checked once it is one
    _check_timeout(step, wait, path, findings)
    rule = wait.get("on_timeout")
    if isinstance(rule, dict) and rule.get("escalate_to") is not None:
        message = "only a 'human' step takes 'escalate_to', which moves its question to another queue"
        findings.error("misplaced-field", (*path, "on_timeout", "escalate_to"), message, at_key=True)


def check_human(step: StepOutline, findings: Findings) -> None:
    """Report problems of a question other than the shape of its fields."""
    human, path = step.part(StepKind.HUMAN), (*step.path, "human")
    check_answer_schema(human.get("form"), (*path, "form"), findings)
    for name in ("prefill", "notes"):
        _check_filling(human, (*path, name), findings)
    _check_timeout(step, human, path, findings)
    rule, queue = human.get("on_timeout"), human.get("queue")
    if isinstance(rule, dict) and rule.get("escalate_to") == DOCUMENT_QUEUE != queue:
        message = f"'escalate_to' cannot be '{DOCUMENT_QUEUE}': its questions are decided with the run's document"
        text = f"{message}; escalate to another queue, or ask in '{DOCUMENT_QUEUE}' from the start"
        findings.error("wrong-value", (*path, "on_timeout", "escalate_to"), text)
    assignees = human.get("assignees")
    needed = assignees.get("approvals") if isinstance(assignees, dict) else None
    if isinstance(needed, int) and needed > 1:
        _check_agreement(human, path, findings)


def _check_filling(human: dict[str, Json], path: Path, findings: Findings) -> None:
    """Report a `prefill` or `notes` that is not an object, and names that the form does not have."""
    filling, form = human.get(str(path[-1])), human.get("form")
    fields = form.get("properties") if isinstance(form, dict) else None
    if isinstance(filling, dict) and isinstance(fields, dict):
        for name in (each for each in filling if each not in fields):
            meant = findings.suggestions.closest(name, fields)
            message = f"'{path[-1]}' names '{quote(name)}', and the form has no such field"
            findings.error("unknown-field", (*path, name), message, meant, at_key=True)
    elif filling is not None and not isinstance(filling, dict) and not has_template(filling):
        message = f"'{path[-1]}' must be an object by the names of the form's fields, found {describe(filling)}"
        findings.error("wrong-type", path, message)


def _check_agreement(human: dict[str, Json], path: Path, findings: Findings) -> None:
    """Report decisions that several people cannot share: on documents, which have their own rule, and free text."""
    approvals = (*path, "assignees", "approvals")
    if human.get("queue") == DOCUMENT_QUEUE:
        message = f"questions in the queue '{DOCUMENT_QUEUE}' are decided with the run's document, which needs two"
        text = f"{message} approvals according to DOCRAIL_FOUR_EYES_ABOVE: remove 'approvals', or ask in another queue"
        findings.error("misplaced-field", approvals, text, at_key=True)
    form = human.get("form")
    fields = form.get("properties") if isinstance(form, dict) else None
    for name, field in fields.items() if isinstance(fields, dict) else ():
        if isinstance(field, dict) and field.get("type") == "string" and not field.keys() & _NARROWS:
            message = (
                f"people must give exactly the same answer, and '{name}' is free text: give it an 'enum', or remove it"
            )
            findings.warning("hard-to-agree", (*path, "form", "properties", name), message)


def _check_timer(step: StepOutline, wait: dict[str, Json], path: Path, findings: Findings) -> None:
    seconds = wait.get("seconds")
    for name in _FOR_ANSWERS:
        if wait.get(name) is not None:
            message = f"{step.name} is a timer, which takes no answer: remove '{name}'"
            meant = "seconds" if name == "timeout_seconds" and seconds is None else None
            findings.error("misplaced-field", (*path, name), message, meant, at_key=True)
    if seconds is None:
        if wait.get("timeout_seconds") is None:
            message = f"{step.name} is a timer, so it needs the field 'seconds': how long it waits"
            findings.error("missing-field", (*path, "seconds"), message)
    elif fault := _fault_of(seconds):
        message = f"'seconds' must be {fault}, found {describe(seconds)}"
        meant = seconds_in(seconds) if isinstance(seconds, str) else None
        findings.error("wrong-value", (*path, "seconds"), message, meant)


def _fault_of(seconds: Json) -> str | None:
    """Return what `seconds` should be, None if it may be valid."""
    if has_template(seconds):
        return None if is_one_expression(seconds) else "one {{ expression }} with nothing around it, or a number"
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return "a number, or an {{ expression }} that gives one"
    return None if 0 < seconds <= LONGEST_WAIT_SECONDS else f"more than 0 and at most {LONGEST_WAIT_SECONDS}, a year"


def _check_timeout(step: StepOutline, waiting: dict[str, Json], path: Path, findings: Findings) -> None:
    """Report `timeout_seconds` without `on_timeout`, the reverse, and an `on_timeout` without exactly one action."""
    seconds, rule = waiting.get("timeout_seconds"), waiting.get("on_timeout")
    if seconds is not None and rule is None:
        message = f"{step.name} has a timeout, so it needs 'on_timeout': one of {OUTCOMES}"
        findings.error("missing-field", (*path, "on_timeout"), message)
    if rule is None:
        return
    if seconds is None:
        message = f"{step.name} has no 'timeout_seconds', so 'on_timeout' is never used: give it both"
        findings.error("missing-field", (*path, "on_timeout"), message, at_key=True)
    if isinstance(rule, dict):
        _check_action(rule, (*path, "on_timeout"), "abort, fail or continue", findings)


def _check_action(rule: dict[str, Json], path: Path, words: str, findings: Findings) -> None:
    """Report a rule at `path` without exactly one of `then`, which is one of the `words`, and `branch`."""
    given = [name for name in ("then", "branch") if rule.get(name) is not None]
    if len(given) > 1:
        findings.error("wrong-value", path, f"'{path[-1]}' has both 'then' and 'branch': keep one of them")
    elif not given:
        findings.error("missing-field", path, f"'{path[-1]}' needs 'then' ({words}) or 'branch'")


def check_deadline(document: dict[str, Json], findings: Findings) -> None:
    """Report an `on_deadline` without a deadline, or without exactly one action."""
    rule = document.get("on_deadline")
    if rule is None:
        return
    if document.get("deadline_seconds") is None:
        message = "the definition has no 'deadline_seconds', so 'on_deadline' is never used: give it both"
        findings.error("missing-field", ("on_deadline",), message, at_key=True)
    if isinstance(rule, dict):
        _check_action(rule, ("on_deadline",), "notify or abort", findings)


FIRST_DELAY: float = RetryConfig().initial_delay
"""Default of the first delay."""


def check_delays(defaults: Json, outline: Outline, findings: Findings) -> None:
    """Report each step whose `max_delay` is below its `initial_delay`, and total timeouts below one attempt's.

    Defaults are included. Temporal would refuse such delays only when a run reaches the step.
    """
    common = defaults.get("retry_config") if isinstance(defaults, dict) else None
    for step in outline.steps:
        _check_total(step, findings)
        retry = step.part("retry_config")
        first, most = retry.get("initial_delay", FIRST_DELAY), retry.get("max_delay")
        if not TYPES["number"](first) or not TYPES["number"](most) or most >= first:
            continue  # values that are not numbers are reported with the fields
        is_common = isinstance(common, dict) and retry == common
        path: Path = ("defaults", "retry_config") if is_common else (*step.path, "retry_config")
        message = (
            f"'max_delay' is {most:g} s, less than 'initial_delay', {first:g} s: the first delay would be the longest"
        )
        findings.error("wrong-value", (*path, "max_delay"), message)


def _check_total(step: StepOutline, findings: Findings) -> None:
    one, total = step.fields.get("timeout_seconds"), step.fields.get("total_timeout_seconds")
    if isinstance(one, int | float) and isinstance(total, int | float) and total < one:
        message = (
            f"'total_timeout_seconds' is {total:g} s, less than 'timeout_seconds', {one:g} s: "
            f"no attempt has its full {one:g} s"
        )
        findings.warning("never-used", (*step.path, "total_timeout_seconds"), message)
