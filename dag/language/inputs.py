"""Check the inputs of a run and the answers to waiting steps against the definition."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from docrail.dag.language.definition import Definition
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_rules import check_json
from docrail.dag.values.json_schema import TooMuchWorkError, violations
from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json, size_of
from docrail.dag.values.stored import has_parts, parts_in
from docrail.dag.values.suggestions import closest

STANDS_FOR = "is a reference to a stored value, which only outputs of steps may contain"


@dataclass(frozen=True, slots=True)
class InputProblem:
    """A problem with one part of the given values."""

    path: str
    message: str
    suggestion: str | None = None
    code: str | None = None
    """What is wrong, for programs; None where only the message says it."""


class InvalidValueError(ValueError):
    """The given values do not fit the definition; `problems` lists everything that is wrong."""

    def __init__(self, problems: list[InputProblem]) -> None:
        super().__init__("; ".join(f"{problem.path}: {problem.message}" for problem in problems))
        self.problems = problems


def complete_inputs(definition: Definition, given: Mapping[str, Json]) -> dict[str, Json]:
    """Return a run's inputs: the given value, else the default, else null. Raises: InvalidValueError."""
    problems = [*_not_json("inputs", dict(given))]
    problems = problems or [*_unknown_names(definition, given), *_missing_names(definition, given)]
    if problems := problems or [*_too_large(given)] or [*_violations(definition, given)]:
        raise InvalidValueError(problems)
    return _with_defaults(definition, given)


def check_some_inputs(definition: Definition, given: Mapping[str, Json]) -> None:
    """Check some of a run's inputs; the required ones may come later. Raises: InvalidValueError."""
    problems = [*_not_json("inputs", dict(given))] or [*_unknown_names(definition, given)]
    if problems := problems or [*_too_large(given)] or [*_violations(definition, given)]:
        raise InvalidValueError(problems)


def _with_defaults(definition: Definition, given: Mapping[str, Json]) -> dict[str, Json]:
    return {
        name: declared.default if given.get(name) is None else given[name]
        for name, declared in definition.inputs.items()
    }


def check_answer(schema: Mapping[str, Json], answer: Json) -> None:
    """Check an answer against the JSON Schema that its step accepts. Raises: InvalidValueError."""
    problems = [*_not_json("answer", answer)]
    if not problems and (size := size_of(answer)) > MAX_VALUE_BYTES:
        problems = [InputProblem("answer", f"takes {size} bytes as JSON, more than {MAX_VALUE_BYTES}")]
    problems = problems or [*_check("answer", schema, answer)]
    if problems:
        raise InvalidValueError(problems)


def _not_json(name: str, given: Json) -> Iterator[InputProblem]:
    """Yield the parts that JSON allows but other components cannot store: NaN, NUL, lone surrogates.

    Values that look like a placeholder of a stored value are refused too, because they would be replaced by it.
    """
    findings = Findings()
    check_json(given, findings)
    for problem in findings.problems():
        yield InputProblem(f"{name}.{problem.path}".removesuffix(".$"), problem.message)
    if not findings.problems() and has_parts(given):
        for path, _ in parts_in(given):
            yield InputProblem(".".join([name, *map(str, path)]), STANDS_FOR)


def _unknown_names(definition: Definition, given: Mapping[str, Json]) -> Iterator[InputProblem]:
    for name in given:
        if name not in definition.inputs:
            message = f"the definition {definition.id!r} has no such input"
            yield InputProblem(f"inputs.{name}", message, closest(name, definition.inputs))


def _missing_names(definition: Definition, given: Mapping[str, Json]) -> Iterator[InputProblem]:
    for name, declared in definition.inputs.items():
        if declared.required and name not in given:
            yield InputProblem(f"inputs.{name}", "is required")


def _too_large(given: Mapping[str, Json]) -> Iterator[InputProblem]:
    """Yield the largest input if all inputs together exceed what a step can receive."""
    sizes = {name: size_of(value) for name, value in given.items()}
    total = sum(sizes.values())
    if total > MAX_VALUE_BYTES:
        name = max(sizes, key=sizes.__getitem__)
        limit = f"all inputs together take {total} bytes, more than {MAX_VALUE_BYTES}: pass a reference instead"
        yield InputProblem(f"inputs.{name}", f"takes {sizes[name]} bytes as JSON; {limit}")


def _violations(definition: Definition, given: Mapping[str, Json]) -> Iterator[InputProblem]:
    for name, value in given.items():
        declared = definition.inputs[name]
        if value is not None or declared.required:  # null for an optional input is the same as omitting it
            yield from _check(f"inputs.{name}", declared.schema_document(), value)


def _check(path: str, schema: Mapping[str, Json], value: Json) -> Iterator[InputProblem]:
    try:
        for violation in violations(dict(schema), value):
            yield InputProblem(".".join([path, *map(str, violation.path)]), violation.message)
    except TooMuchWorkError:
        yield InputProblem(path, "takes too much work to check against its schema: shorten it, or simplify the schema")
