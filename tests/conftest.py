"""Fixtures that every room's tests may use."""

import pytest
from hypothesis import settings

from tests.stack import embedded

__all__ = ["embedded"]

DRAWN = 40
"""Definitions that each run of the suite draws: about half a minute on two cores."""

settings.register_profile("fuzz", max_examples=500, deadline=None)  # make fuzz


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-histories", action="store_true", help="keep new histories in tests/histories")
    parser.addoption("--drawn", type=int, default=DRAWN, help=f"definitions drawn for the real server ({DRAWN})")
    parser.addoption("--drawn-seed", type=int, default=1, help="what they are drawn by; a failure tells it")
