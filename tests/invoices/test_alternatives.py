"""Patterns that are rewritten to be faster match the same texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.invoices.languages.all import LABELS
from docrail.invoices.readers.layout.alternatives import spread


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("due date|(?:payment )?due", "d(?:ue date|ue)|payment due"),
        ("(?:a|b)?c", "ac|bc|c"),
        ("(?:a|(?:b|c)d)e", "ae|bde|cde"),
        ("total|tax|net", "t(?:otal|ax)|net"),
        (r"tax|\w*sum|total", r"tax|\w*sum|total"),
        ("(?:a|b)+c|(?:d|e)??f|(?:g){2}h", "(?:a|b)+c|(?:d|e)??f|(?:g){2}h"),
        (r"(?:[)|]|\|)x|a?b", r"[)|]x|\|x|a?b"),
    ],
)
def test_groups_are_multiplied_out_and_joined_by_their_first_letter(pattern: str, written: str) -> None:
    assert spread(pattern) == written


PARTS = st.recursive(
    st.sampled_from(["a", "b", "ab", "ba", "[ab]", r"\w", "a?", "b*", " "]),
    lambda parts: (
        st.tuples(st.lists(parts, min_size=1, max_size=3), st.sampled_from(["", "?", "*", "??"])).map(
            lambda made: f"(?:{'|'.join(made[0])}){made[1]}"
        )
        | st.lists(parts, min_size=1, max_size=3).map("".join)
    ),
    max_leaves=8,
)


@given(st.lists(PARTS, min_size=1, max_size=4), st.text("ab ", max_size=10))
def test_the_same_is_found(patterns: list[str], text: str) -> None:
    one, other = (re.compile(f"(?:{made})(?! )") for made in ("|".join(patterns), spread(*patterns)))
    assert [found.span() for found in one.finditer(text)] == [found.span() for found in other.finditer(text)]


def test_no_label_captures() -> None:
    """Groups are repeated where they are multiplied out."""
    assert not any(re.compile(pattern).groups for pattern in LABELS.values())
