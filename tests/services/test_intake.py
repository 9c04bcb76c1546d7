import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.services.intake.service import LONGEST_NAME, clean_name


@given(st.text())
def test_a_clean_name_is_plain_short_text_without_folders(name: str) -> None:
    cleaned = clean_name(name)
    assert 0 < len(cleaned) <= LONGEST_NAME
    assert "/" not in cleaned
    assert "\\" not in cleaned
    assert "\0" not in cleaned
    assert cleaned.encode()
    assert clean_name(cleaned) == cleaned


@pytest.mark.parametrize("name", ["", "/", "\\", "\0", " ", "\u202e"])
def test_a_name_with_nothing_in_it_is_given_one(name: str) -> None:
    assert clean_name(name) == "document"


@pytest.mark.parametrize("name", ["invoice 4711.pdf", "Rechnung Größe.xml", "請求書.pdf", ".hidden"])
def test_an_ordinary_name_stays(name: str) -> None:
    assert clean_name(name) == name
