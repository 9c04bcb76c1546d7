"""How problems are written."""

import pytest

from docrail.dag.values.problems import Path, Places, Problem, path_text, render


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "$"),
        (("steps", 2, "depends_on", 0), "steps[2].depends_on[0]"),
        (("config", "a b", "c"), "config['a b'].c"),
        ((0, "x"), "[0].x"),
    ],
)
def test_a_path_is_written_as_a_json_path(path: Path, text: str) -> None:
    assert path_text(path) == text


def test_a_problem_is_rendered_as_a_compiler_does() -> None:
    problem = Problem("unknown-step", "no step 'savejson'", "steps[1]", 7, 3, "save_json")
    assert render(problem, "a.yaml") == "a.yaml:7:3: error unknown-step: no step 'savejson' (did you mean 'save_json'?)"


def test_a_problem_without_a_place_shows_its_path() -> None:
    problem = Problem("unused-default", "never used", "inputs.a", severity="warning")
    assert render(problem, "a.yaml") == "a.yaml: inputs.a: warning unused-default: never used"


def test_a_problem_of_a_missing_key_is_placed_where_the_key_belongs() -> None:
    places = Places({(): (1, 1), ("steps", 0): (3, 5)}, {("steps",): (2, 1)})
    assert places.find(("steps", 0, "handler")) == (3, 5)
    assert places.find(("steps",), at_key=True) == (2, 1)
    assert places.find(("outputs",)) == (1, 1)
    assert Places().find(("steps",)) is None
