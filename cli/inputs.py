"""Turns NAME=VALUE arguments into a run's inputs, by the types that the definition declares."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated
from urllib.parse import quote

import typer

from docrail.cli.client import ask_api
from docrail.cli.published import DEFINITIONS
from docrail.cli.terminal import shortened
from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import InputProblem, InvalidValueError, check_some_inputs, complete_inputs
from docrail.dag.values.json_values import Json, strict_json

Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", "-i", help="An input, as NAME=VALUE; may be repeated.", metavar="NAME=VALUE"),
]

EXPECTED: Mapping[str, str] = {
    "integer": "an integer such as 5",
    "number": "a number such as 2.5",
    "boolean": "true or false",
    "object": "a JSON object such as '{\"a\": 1}'",
    "array": "a JSON array such as '[1, 2]'",
}


def parse_inputs(definition: Definition, given: Sequence[str]) -> dict[str, Json]:
    """Return the inputs in `given`: those declared a string as they are, any other as JSON.

    Raises: SystemExit with everything that does not fit the definition.
    """
    inputs = _values(definition, given)
    return _checked(definition, inputs, complete_inputs)


def some_inputs(api: str, ref: str | None, given: Sequence[str]) -> dict[str, Json]:
    """Return the inputs in `given` of the published definition `ref`; required ones may be missing.

    A document provides some, each file of a batch may have its own, and a run that is retried has had them. Raises:
    SystemExit, ApiError (there is no such definition).
    """
    if not given:
        return {}
    if ref is None:
        raise SystemExit("--input needs --definition: the declared type of an input says how its value is read")
    found = ask_api(api, "GET", f"{DEFINITIONS}/{quote(ref, safe='@')}")
    return parse_some_inputs(Definition.model_validate(found["body"]), given)


def parse_some_inputs(definition: Definition, given: Sequence[str]) -> dict[str, Json]:
    """Return inputs as `parse_inputs` does; required ones may be missing: a document provides them."""
    inputs = _values(definition, given)
    return _checked(definition, inputs, check_some_inputs)


def _values(definition: Definition, given: Sequence[str]) -> dict[str, Json]:
    inputs: dict[str, Json] = {}
    for argument in given:
        name, separator, text = argument.partition("=")
        if not separator or not name:
            raise SystemExit(f"--input {shortened(argument)}: expected NAME=VALUE")
        if name in inputs:
            raise SystemExit(f"--input {name} is given twice: expected one value for each input")
        inputs[name] = _value(definition, name, text)
    return inputs


def _checked(
    definition: Definition, inputs: dict[str, Json], check: Callable[[Definition, Mapping[str, Json]], object]
) -> dict[str, Json]:
    try:
        check(definition, inputs)  # as the API will; here the message can name the option
    except InvalidValueError as error:
        raise SystemExit("\n  ".join(_lines(definition, error))) from None
    return inputs


def _value(definition: Definition, name: str, text: str) -> Json:
    declared = definition.inputs.get(name)
    if declared is None or declared.type == "string":
        return text
    try:
        return strict_json(text)
    except (ValueError, RecursionError):
        raise SystemExit(f"--input {name}: expected {EXPECTED[declared.type]}, found {shortened(text)}") from None


def _lines(definition: Definition, error: InvalidValueError) -> list[str]:
    lines = [_line(problem) for problem in error.problems]
    return lines if len(lines) == 1 else [f"the inputs do not fit the definition {definition.id!r}:", *lines]


def _line(problem: InputProblem) -> str:
    hint = f" (did you mean '{problem.suggestion}'?)" if problem.suggestion else ""
    name = problem.path.removeprefix("inputs").lstrip(".")
    return f"{' '.join(filter(None, ('--input', name)))}: {problem.message}{hint}"
