"""At least fifty definitions, broken as a newcomer would break them, each with all its problems.

The cases are in `broken/*.txt`: a line `=== what is wrong`, the text, a line `---`, and one line for each problem.
"""

import re
from pathlib import Path

import pytest

from docrail.dag.validation.validate import check_definition
from docrail.dag.values.problems import Problem
from tests.dag.catalogue import CATALOGUE

BROKEN = Path(__file__).parent / "broken"


def cases() -> dict[str, tuple[str, str]]:
    """Return each case's text and expected problems, by its title."""
    found: dict[str, tuple[str, str]] = {}
    for file in sorted(BROKEN.glob("*.txt")):
        _, *parts = re.split("^=== ", file.read_text("utf-8"), flags=re.MULTILINE)
        for part in parts:
            title, _, rest = part.partition("\n")
            text, _, expected = rest.partition("---\n")
            assert title not in found, f"two cases are called {title!r}"
            found[title] = (text, expected)
    return found


CASES = cases()


def problems_of(text: str) -> str:
    _, problems = check_definition(text, CATALOGUE)
    return "".join(f"{line_of(problem)}\n" for problem in problems)


def line_of(problem: Problem) -> str:
    place = "" if problem.line is None else f"{problem.line}:{problem.column} "
    hint = f" (did you mean '{problem.suggestion}'?)" if problem.suggestion else ""
    return f"{place}{problem.path} {problem.severity} {problem.code}: {problem.message}{hint}"


def test_there_are_fifty() -> None:
    assert len(CASES) >= 50


@pytest.mark.parametrize("title", CASES)
def test_a_broken_definition_is_reported_in_full(title: str) -> None:
    text, expected = CASES[title]
    assert problems_of(text) == expected


def test_a_case_that_is_nested_too_deep_is_refused_like_any_expression() -> None:
    when = f"{'not (' * 2000}inputs.x{')' * 2000}"
    lines = ("id: t", "inputs: {x: {type: boolean}}", f"steps: [{{id: s, switch: [{{when: {when}, branch: a}}]}}]")
    assert "error bad-expression" in problems_of("\n".join(lines))
