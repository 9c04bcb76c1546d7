"""Check a run's inputs against its definition, before the run exists."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry

from dag.checks.findings import Findings
from dag.checks.values import check_json
from dag.definition import Definition, Input
from dag.values import Json
from operations.errors import InputProblem, InvalidInput

LONGEST_MESSAGE = 300
"""Of what a JSON Schema validator says: it repeats the whole value."""

_NO_REMOTE_SCHEMAS: Registry[Json] = Registry()
"""Fetches nothing. The validator refuses `$ref`; should one get past it, it must not open a connection either."""


def complete_inputs(definition: Definition, given: Mapping[str, Json]) -> dict[str, Json]:
    """Return a run's inputs: what was given, else the default, else null. Raises: InvalidInput."""
    problems = [*_not_json(given)] or [*_unknown(definition, given), *_missing(definition, given)]
    problems = problems or [*_misfits(definition, given)]
    if problems:
        raise InvalidInput(problems)
    return {
        name: declared.default if given.get(name) is None else given[name]
        for name, declared in definition.inputs.items()
    }


def _not_json(given: Mapping[str, Json]) -> Iterator[InputProblem]:
    """Yield the parts that JSON text can say but nothing behind us can carry: NaN, NUL, half a surrogate pair."""
    findings = Findings()
    check_json(dict(given), findings)
    for problem in findings.problems():
        yield InputProblem(f"inputs.{problem.path}".removesuffix(".$"), problem.message)


def _unknown(definition: Definition, given: Mapping[str, Json]) -> Iterator[InputProblem]:
    for name in given:
        if name not in definition.inputs:
            near = get_close_matches(name[:64], definition.inputs, n=1)
            message = f"the definition {definition.id!r} has no such input"
            yield InputProblem(f"inputs.{name}", message, near[0] if near else None)


def _missing(definition: Definition, given: Mapping[str, Json]) -> Iterator[InputProblem]:
    for name, declared in definition.inputs.items():
        if declared.required and name not in given:
            yield InputProblem(f"inputs.{name}", "is required")


def _misfits(definition: Definition, given: Mapping[str, Json]) -> Iterator[InputProblem]:
    for name, value in given.items():
        declared = definition.inputs[name]
        if value is not None or declared.required:  # null for an optional input is the same as not giving it
            yield from _check(f"inputs.{name}", declared, value)


def _check(path: str, declared: Input, value: Json) -> Iterator[InputProblem]:
    validator = Draft202012Validator(
        declared.schema_document(),
        registry=_NO_REMOTE_SCHEMAS,
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    )
    for error in validator.iter_errors(value):
        yield InputProblem(_place(path, error), error.message[:LONGEST_MESSAGE])


def _place(path: str, error: ValidationError) -> str:
    return ".".join([path, *(str(part) for part in error.absolute_path)])
