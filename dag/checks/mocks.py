"""Checks what a test gives in place of the outside: what a step of that kind can be given, in its handler's shape."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dag.checks.fields import report_validation_error
from dag.checks.findings import Findings
from dag.checks.handlers import Catalogue
from dag.checks.inputs import check_answer_schema
from dag.checks.kinds import NOUNS
from dag.checks.outline import StepOutline
from dag.checks.shapes import find_unknown_field
from dag.checks.wording import describe, known_names, quote
from dag.json_schema import TooMuchWorkError, misfits
from dag.kinds import StepKind, WaitFor
from dag.problems import Path
from dag.values import MAX_VALUE_BYTES, Json, size_of

_WORDS = ("output", "failure", "items", "answer", "times_out")
_MOCKS: Mapping[StepKind, tuple[str, ...]] = {
    StepKind.HANDLER: ("output", "failure"),
    StepKind.WORKFLOW: ("output", "failure"),
    StepKind.WAIT: ("answer", "times_out"),
    StepKind.HUMAN: ("answer", "times_out"),
    StepKind.ABORT: (),
    StepKind.SWITCH: (),
}
"""What may stand for the outside of a step of each kind: exactly one of these."""


def check_mock(step: StepOutline, mock: dict[str, Json], path: Path, catalogue: Catalogue, findings: Findings) -> None:
    """Report what cannot stand for the outside of `step`; a step of no clear kind is reported elsewhere."""
    if step.kind is None:
        return
    is_timer = step.kind is StepKind.WAIT and step.part("wait").get("for") == WaitFor.TIMER
    allowed = () if is_timer else _MOCKS[step.kind]
    if not allowed:
        what = "a timer, which is due by itself" if is_timer else f"{NOUNS[step.kind]}, which asks nothing of anybody"
        message = f"{step.name} is {what}: a test says nothing of it"
        findings.error("misplaced-field", path, message, at_key=True)
        return
    _check_words(step, mock, allowed, path, findings)
    if mock.get("undo_failure") is not None and step.fields.get("compensate") is None:
        message = f"{step.name} has no 'compensate', so it is never undone"
        findings.error("never-undone", (*path, "undo_failure"), message, at_key=True)
    if step.kind in (StepKind.WAIT, StepKind.HUMAN):
        _check_answer(step, step.kind, mock, path, findings)
        return
    outputs = _Outputs(step, catalogue, findings)
    outputs.check(mock, path)
    items = mock.get("items") if step.fields.get("for_each") is not None else None
    for key, item in items.items() if isinstance(items, dict) else ():
        if isinstance(item, dict):
            outputs.check_item(item, (*path, "items", key))


def check_fit(schema: Json, value: Json, path: Path, findings: Findings) -> None:
    """Report what in `value`, which stands at `path`, does not fit a schema; one that is wrong is told elsewhere."""
    scratch = Findings()
    check_answer_schema(schema, path, scratch)
    if not isinstance(schema, dict) or scratch.has_errors:
        return
    try:
        for misfit in misfits(schema, value):
            field = ".".join(map(str, (path[-1], *misfit.path)))
            findings.error("misfit", (*path, *misfit.path), f"'{quote(field)}' {misfit.message}")
    except TooMuchWorkError:
        findings.error("misfit", path, f"'{path[-1]}' is too much work to check against its schema: give less")


def _check_words(
    step: StepOutline, mock: dict[str, Json], allowed: tuple[str, ...], path: Path, findings: Findings
) -> None:
    """Report a mock that says what its step's kind cannot be given, several things, or nothing."""
    assert step.kind is not None, "only steps of a clear kind come here"
    repeats = step.fields.get("for_each") is not None
    known = (*allowed, "items") if repeats else allowed
    misplaced = [name for name in mock if name in _WORDS and name not in known]
    for name in misplaced:
        message = f"{step.name} is {NOUNS[step.kind]}, so a test gives it {' or '.join(known)}, not '{name}'"
        if name == "items" and "output" in known:
            message = f"{step.name} has no 'for_each', so it has no items"
        findings.error("misplaced-field", (*path, name), message, at_key=True)
    said = [name for name in allowed if name in mock and mock[name] is not False]
    if len(said) > 1:
        message = f"a test gives {step.name} both '{said[0]}' and '{said[1]}': only one of them can happen"
        findings.error("wrong-value", path, message, at_key=True)
    elif not said and mock.keys() <= {*_WORDS} and not misplaced and not (repeats and mock.get("items")):
        message = f"a test names {step.name} and does not say what happens: give it {' or '.join(known)}"
        findings.error("missing-field", path, message, at_key=True)


def _check_answer(step: StepOutline, kind: StepKind, mock: dict[str, Json], path: Path, findings: Findings) -> None:
    waiting = step.part(kind)
    if mock.get("times_out") is True and waiting.get("timeout_seconds") is None:
        message = f"{step.name} has no 'timeout_seconds', so it never times out"
        findings.error("wrong-value", (*path, "times_out"), message)
    if "answer" in mock:
        check_fit(
            waiting.get("form" if kind is StepKind.HUMAN else "accept"), mock["answer"], (*path, "answer"), findings
        )


@dataclass(frozen=True, slots=True)
class _Outputs:
    """The check of what a step's handler or nested run gives."""

    step: StepOutline
    catalogue: Catalogue
    findings: Findings

    def check_item(self, item: dict[str, Json], path: Path) -> None:
        has_both = "output" in item and item.get("failure") is not None
        if has_both or not item:
            message = f"an item of {self.step.name} gives an 'output' or a 'failure': say one of them"
            self.findings.error("wrong-value", path, message, at_key=True)
        self.check(item, path)

    def check(self, mock: dict[str, Json], path: Path) -> None:
        if "output" not in mock:
            return
        output, path = mock["output"], (*path, "output")
        handler = self.step.fields.get("handler")
        if (size := size_of(output)) > MAX_VALUE_BYTES:
            message = f"the output takes {size} bytes as JSON, more than {MAX_VALUE_BYTES}"
            self.findings.error("too-large", path, message)
        elif self.step.kind is StepKind.WORKFLOW and not isinstance(output, dict):
            message = f"a nested run gives an object, its outputs by name, found {describe(output)}"
            self.findings.error("wrong-type", path, message)
        elif isinstance(handler, str) and handler in self.catalogue:
            self._check_model(self.catalogue[handler].output, output, path, f"the output of handler '{handler}'")

    def _check_model(self, model: type[BaseModel], output: Json, path: Path, owner: str) -> None:
        try:
            model.model_validate(output)
        except ValidationError as error:
            # A mock says what its test needs: a field that it leaves out is not there, and reading it fails the step.
            report_validation_error(error, model, output, self.findings, base=path, owner=owner, ignore=_is_missing)
        for keys in _paths(output):
            unknown = find_unknown_field(model, keys)
            if unknown is not None and unknown.depth == len(keys) - 1:
                meant = self.findings.suggestions.closest(keys[-1], unknown.known)
                message = f"{owner} has no field '{quote(keys[-1])}'" + ("" if meant else known_names(unknown.known))
                where = tuple(int(key) if key.isdecimal() else key for key in keys)
                self.findings.error("unknown-field", (*path, *where), message, meant, at_key=True)


def _is_missing(fault: ErrorDetails) -> bool:
    return fault["type"] == "missing"


def _paths(value: Json) -> Iterator[tuple[str, ...]]:
    """Yield the path of each field in a value, as `find_unknown_field` follows them: places in lists as digits."""
    pending: list[tuple[tuple[str, ...], Json]] = [((), value)]
    while pending:
        path, part = pending.pop()
        if isinstance(part, dict):
            yield from ((*path, key) for key in part)
            pending.extend(((*path, key), item) for key, item in part.items())
        elif isinstance(part, list):
            pending.extend(((*path, str(place)), item) for place, item in enumerate(part))
