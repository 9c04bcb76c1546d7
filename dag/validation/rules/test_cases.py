"""Check the tests in a definition: mocks that fit the kind and the handler of their step, and possible expectations.

Also checks that the steps, inputs and outputs named in a test exist.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from docrail.dag.language.step_kinds import StepKind, WaitFor
from docrail.dag.validation.document.fields import report_validation_error
from docrail.dag.validation.document.outline import Outline, StepOutline, schema_of
from docrail.dag.validation.document.schemas import check_fit
from docrail.dag.validation.rules.handlers import Catalogue
from docrail.dag.validation.rules.kinds import NOUNS
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_parts import walk
from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json, size_of
from docrail.dag.values.model_fields import find_unknown_field
from docrail.dag.values.problems import Path
from docrail.dag.values.wording import describe, quote

_WORDS = ("output", "failure", "items", "answer", "times_out")

_MOCKS: Mapping[StepKind, tuple[str, ...]] = {
    StepKind.HANDLER: ("output", "failure"),
    StepKind.WORKFLOW: ("output", "failure"),
    StepKind.WAIT: ("answer", "times_out"),
    StepKind.HUMAN: ("answer", "times_out"),
    StepKind.ABORT: (),
    StepKind.SWITCH: (),
}
"""The fields that may mock a step of each kind: exactly one of these."""


def check_mock(step: StepOutline, mock: dict[str, Json], path: Path, catalogue: Catalogue, findings: Findings) -> None:
    """Report what cannot mock `step`; a step without a clear kind is reported elsewhere."""
    if step.kind is None:
        return
    is_timer = step.kind is StepKind.WAIT and step.part("wait").get("for") == WaitFor.TIMER
    allowed = () if is_timer else _MOCKS[step.kind]
    if not allowed:
        what = "a timer, which fires by itself" if is_timer else f"{NOUNS[step.kind]}, which needs no answer"
        message = f"{step.name} is {what}: leave it out of the test"
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


def _check_words(
    step: StepOutline, mock: dict[str, Json], allowed: tuple[str, ...], path: Path, findings: Findings
) -> None:
    """Report a mock with fields that do not apply to its step's kind, with several of them, or with none."""
    assert step.kind is not None, "only steps of a clear kind come here"
    repeats = step.fields.get("for_each") is not None
    known = (*allowed, "items") if repeats else allowed
    misplaced = [name for name in mock if name in _WORDS and name not in known]
    for name in misplaced:
        message = f"{step.name} is {NOUNS[step.kind]}, so a test gives it {' or '.join(known)}, not '{name}'"
        if name == "items" and "output" in known:
            message = f"{step.name} has no 'for_each', so it has no items"
        findings.error("misplaced-field", (*path, name), message, at_key=True)
    given = [name for name in allowed if name in mock and mock[name] is not False]
    if len(given) > 1:
        message = f"the test gives {step.name} both '{given[0]}' and '{given[1]}': keep one of them"
        findings.error("wrong-value", path, message, at_key=True)
    elif not given and mock.keys() <= {*_WORDS} and not misplaced and not (repeats and mock.get("items")):
        message = f"the test names {step.name} without a result: give it {' or '.join(known)}"
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
    """Checks the mocked output of a step's handler or nested run."""

    step: StepOutline
    catalogue: Catalogue
    findings: Findings

    def check_item(self, item: dict[str, Json], path: Path) -> None:
        has_both = "output" in item and item.get("failure") is not None
        if has_both or not item:
            message = f"an item of {self.step.name} has both 'output' and 'failure', or neither: give one of them"
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
            message = f"expected an object, the nested run's outputs by name, found {describe(output)}"
            self.findings.error("wrong-type", path, message)
        elif isinstance(handler, str) and handler in self.catalogue:
            self._check_model(self.catalogue[handler].output, output, path, f"the output of handler '{handler}'")

    def _check_model(self, model: type[BaseModel], output: Json, path: Path, owner: str) -> None:
        try:
            model.model_validate(output)
        except ValidationError as error:
            # A mock may be partial: a field that it omits is missing, and reading it fails the step.
            report_validation_error(
                error,
                model,
                output,
                self.findings,
                base=path,
                owner=owner,
                ignore=lambda fault: fault["type"] == "missing",
            )
        for keys, _ in walk(output):
            unknown = find_unknown_field(model, tuple(map(str, keys)))
            if unknown is not None and unknown.depth == len(keys) - 1:
                name = str(keys[-1])
                message = f"{owner} has no field '{quote(name)}'"
                self.findings.unknown("unknown-field", (*path, *keys), message, name, unknown.known, at_key=True)


_GIVEN = (StepKind.HANDLER, StepKind.WORKFLOW, StepKind.HUMAN)
"""The kinds whose resolved config a test can check."""


def check_trials(tests: Json, outline: Outline, catalogue: Catalogue, findings: Findings) -> None:
    """Report problems in a document's `tests` other than the shape of their fields."""
    names: dict[str, int] = {}
    for place, test in enumerate(tests if isinstance(tests, list) else ()):
        if isinstance(test, dict):
            path = ("tests", place)
            name = test.get("name")
            if isinstance(name, str) and (first := names.setdefault(name, place)) != place:
                message = f"tests[{first}] is also called '{quote(name)}': give each test its own name"
                findings.error("duplicate-test", (*path, "name"), message)
            check = _Check(outline, findings, path)
            check.inputs(_object(test.get("inputs")))
            for step_id, mock in _object(test.get("steps")).items():
                where = (*path, "steps", step_id)
                step = check.step(where, step_id)
                if step is not None and isinstance(mock, dict):
                    check_mock(step, mock, where, catalogue, findings)
            check.expectation(_object(test.get("expect")))


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class _Check:
    """Checks one test, at `path`."""

    outline: Outline
    findings: Findings
    path: Path

    def inputs(self, given: dict[str, Json]) -> None:
        declared = self.outline.inputs
        if declared is None:
            return
        if (size := size_of(given)) > MAX_VALUE_BYTES:
            message = f"the inputs take {size} bytes as JSON together, more than {MAX_VALUE_BYTES}"
            self.findings.error("too-large", (*self.path, "inputs"), message)
        meant = set()
        for name, value in given.items():
            path = (*self.path, "inputs", name)
            if name not in declared:
                message = f"there is no input '{quote(name)}'"
                meant.add(self.findings.unknown("unknown-input", path, message, name, declared, at_key=True))
            elif value is not None or _is_required(declared[name]):
                check_fit(schema_of(declared[name]), value, path, self.findings)
        for name, field in declared.items():
            if _is_required(field) and name not in given and name not in meant:
                message = f"the input '{name}' is required, and the test has no value for it"
                self.findings.error("missing-input", (*self.path, "inputs", name), message)

    def step(self, path: Path, step_id: str, *, at_key: bool = True) -> StepOutline | None:
        """Return the step that a test names, None if it does not exist, which is reported."""
        step = self.outline.step(step_id)
        if step is None:
            message = f"there is no step '{quote(step_id)}' to test"
            self.findings.unknown("unknown-step", path, message, step_id, self.outline.ids, at_key=at_key)
        return step

    def expectation(self, expect: dict[str, Json]) -> None:
        path = (*self.path, "expect")
        for step_id, expected in _object(expect.get("steps")).items():
            step = self.step((*path, "steps", step_id), step_id)
            if step is not None and isinstance(expected, dict):
                self._expected((*path, "steps", step_id), step, expected)
        outputs = _object(self.outline.outputs)
        for name in _object(expect.get("outputs")):
            if name not in outputs:
                message = f"the definition has no output '{quote(name)}'"
                where = (*path, "outputs", name)
                self.findings.unknown("unknown-output", where, message, name, outputs, at_key=True)
        undone = expect.get("undone")
        for place, step_id in enumerate(undone if isinstance(undone, list) else ()):
            where = (*path, "undone", place)
            step = self.step(where, step_id, at_key=False) if isinstance(step_id, str) else None
            if step is not None and step.fields.get("compensate") is None:
                message = f"{step.name} has no 'compensate', so it is never undone"
                self.findings.error("never-undone", where, message)

    def _expected(self, path: Path, step: StepOutline, expected: dict[str, Json]) -> None:
        branch = expected.get("branch")
        if isinstance(branch, str) and step.branches is not None and branch not in step.branches:
            message = f"{step.name} has no branch '{quote(branch)}'"
            self.findings.unknown("unknown-branch", (*path, "branch"), message, branch, step.branches)
        if expected.get("config") is None or step.kind is None:
            return
        repeats = step.fields.get("for_each") is not None
        if repeats or step.kind not in _GIVEN:
            why = "each item has its own" if repeats else f"{NOUNS[step.kind]} has none"
            message = f"a test cannot expect a config of {step.name}: {why}"
            self.findings.error("misplaced-field", (*path, "config"), message, at_key=True)


def _is_required(declared: Json) -> bool:
    return isinstance(declared, Mapping) and declared.get("required") is True
