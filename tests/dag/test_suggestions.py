"""Which name is probably meant."""

import pytest

from docrail.dag.values.suggestions import Suggestions

NAMES = frozenset({"extract", "save_json", "save_parquet"})


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("extrat", "extract"),
        ("Extract", "extract"),
        ("save-json", "save_json"),
        ("SaveParquet", "save_parquet"),
        ("payment", None),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_the_closest_name_is_meant(word: str, meant: str | None) -> None:
    assert Suggestions().closest(word, NAMES) == meant


def test_dashes_and_capitals_make_no_name_less_like_another() -> None:
    assert Suggestions().closest("A-B-C-D", {"a_b_c_d"}) == "a_b_c_d"


def test_once_the_allowance_is_spent_only_known_answers_are_given() -> None:
    suggestions = Suggestions(comparisons=5)
    assert suggestions.closest("extrat", NAMES) == "extract"
    assert suggestions.closest("save_jsn", NAMES) is None
    assert suggestions.closest("extrat", NAMES) == "extract"
