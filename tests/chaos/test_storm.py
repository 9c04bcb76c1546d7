"""A short storm; `make chaos` runs one of 2,000 documents."""

from pathlib import Path

import pytest

from tests.chaos.storm import weather


@pytest.fixture(autouse=True)
def ready() -> None:
    """Start no stack of the other tests: a storm has its own."""


async def test_a_short_storm_loses_and_doubles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_GEMINI_API_KEY", "")  # the storm sets its own, and this removes them again
    monkeypatch.setenv("DOCRAIL_GEMINI_BASE_URL", "")
    figures = await weather(80, 1, (0.5, 2.0), tmp_path)
    assert figures["approved"] > 0
