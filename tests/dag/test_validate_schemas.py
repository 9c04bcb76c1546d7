"""Schemas of inputs and answers: what could not be checked, or not in bounded time, is refused before it is stored."""

import pytest

from docrail.dag.validation.validate import validate
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Problem
from docrail.dag.values.schema_formats import FORMATS
from tests.dag.catalogue import CATALOGUE


def problems(schema: dict[str, Json]) -> list[Problem]:
    """Return the problems of a definition with an input of that schema."""
    steps = [{"id": "a", "handler": next(iter(CATALOGUE)), "config": {}}]
    _, found = validate({"id": "d", "inputs": {"n": {"type": "object", **schema}}, "steps": steps}, None, CATALOGUE)
    return [problem for problem in found if problem.path.startswith("inputs")]


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"pattern": "(?=a)b"}, "inputs.n.pattern"),
        ({"patternProperties": {"(?=a)b": {}}}, "inputs.n.patternProperties['(?=a)b']"),
        ({"properties": {"a": {"pattern": "(?=a)b"}}}, "inputs.n.properties.a.pattern"),
    ],
)
def test_a_pattern_that_cannot_be_searched_in_bounded_time_is_refused(schema: dict[str, Json], path: str) -> None:
    [problem] = problems(schema)
    assert (problem.code, problem.path) == ("wrong-pattern", path)
    assert "look-ahead" in problem.message


@pytest.mark.parametrize("pattern", ["(", "(" * 5000, "[", "a{3,2}", "\\"])
def test_a_key_of_pattern_properties_must_be_a_pattern(pattern: str) -> None:
    [problem] = problems({"patternProperties": {pattern: {"type": "string"}}})
    assert problem.code == "wrong-pattern"


@pytest.mark.parametrize("name", ["regex", "iri", "datetime", "password"])
def test_a_format_that_would_not_be_checked_is_refused(name: str) -> None:
    [problem] = problems({"format": name})
    assert problem.message == f"'format' must be one of {', '.join(FORMATS)}, found the text '{name}'"


def test_a_misspelled_format_gets_the_right_one_suggested() -> None:
    [problem] = problems({"format": "datetime"})
    assert problem.suggestion == "date-time"


def test_every_format_that_is_checked_is_accepted() -> None:
    assert [problem for name in FORMATS for problem in problems({"format": name})] == []
