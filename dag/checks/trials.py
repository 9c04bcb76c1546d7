"""Checks the tests in a definition: they name steps, inputs and outputs that there are, and expect what can be."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from dag.checks.findings import Findings
from dag.checks.handlers import Catalogue
from dag.checks.kinds import NOUNS
from dag.checks.mocks import check_fit, check_mock
from dag.checks.outline import Outline, StepOutline
from dag.checks.wording import known_names, quote
from dag.definition import Input
from dag.kinds import StepKind
from dag.problems import Path
from dag.values import MAX_VALUE_BYTES, Json, size_of

_GIVEN = (StepKind.HANDLER, StepKind.WORKFLOW, StepKind.HUMAN)
"""The kinds that are given something a test can look at."""


def check_trials(tests: Json, outline: Outline, catalogue: Catalogue, findings: Findings) -> None:
    """Report what is wrong with a document's `tests` beside the shape of their fields."""
    names: dict[str, int] = {}
    for place, test in enumerate(tests if isinstance(tests, list) else ()):
        if isinstance(test, dict):
            path = ("tests", place)
            _check_name(test.get("name"), place, names, findings)
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


def _check_name(name: Json, place: int, names: dict[str, int], findings: Findings) -> None:
    if isinstance(name, str) and (first := names.setdefault(name, place)) != place:
        message = f"tests[{first}] is called '{quote(name)}' too: give each test a name of its own"
        findings.error("duplicate-test", ("tests", place, "name"), message)


@dataclass(frozen=True, slots=True)
class _Check:
    """The check of one test, which stands at `path`."""

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
                meant.add(self._unknown("unknown-input", path, f"there is no input '{quote(name)}'", name, declared))
            elif value is not None or _is_required(declared[name]):
                check_fit(schema_of(declared[name]), value, path, self.findings)
        for name, field in declared.items():
            if _is_required(field) and name not in given and name not in meant:
                message = f"the input '{name}' is required, and the test does not give it"
                self.findings.error("missing-input", (*self.path, "inputs", name), message)

    def step(self, path: Path, step_id: str, *, at_key: bool = True) -> StepOutline | None:
        """Return the step that a test names, None if there is none, which is reported."""
        step = self.outline.step(step_id)
        if step is None:
            message = f"there is no step '{quote(step_id)}' to test"
            self._unknown("unknown-step", path, message, step_id, self.outline.ids, at_key=at_key)
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
                self._unknown("unknown-output", (*path, "outputs", name), message, name, outputs)
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
            self._unknown("unknown-branch", (*path, "branch"), message, branch, step.branches, at_key=False)
        if expected.get("config") is None or step.kind is None:
            return
        repeats = step.fields.get("for_each") is not None
        if repeats or step.kind not in _GIVEN:
            why = "each item is given its own" if repeats else f"{NOUNS[step.kind]} is given none"
            message = f"a test cannot tell the config of {step.name}: {why}"
            self.findings.error("misplaced-field", (*path, "config"), message, at_key=True)

    def _unknown(
        self, code: str, path: Path, message: str, name: str, known: Iterable[str], *, at_key: bool = True
    ) -> str | None:
        """Report a name that means nothing here; return the one that is probably meant."""
        names = frozenset(known)
        meant = self.findings.suggestions.closest(name, names)
        self.findings.error(code, path, message + ("" if meant else known_names(names)), meant, at_key=at_key)
        return meant


def _is_required(declared: Json) -> bool:
    return isinstance(declared, Mapping) and declared.get("required") is True


def schema_of(declared: Json) -> dict[str, Json] | None:
    """Return the JSON Schema of an input, None if it cannot be read."""
    try:
        return Input.model_validate(declared).schema_document()
    except ValidationError:
        return None
