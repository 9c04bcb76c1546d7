"""Fixtures that every room's tests may use."""

import pytest
from hypothesis import settings

from tests.stack import embedded

__all__ = ["embedded"]

settings.register_profile("fuzz", max_examples=500, deadline=None)  # make fuzz


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-histories", action="store_true", help="write each run's history to tests/histories")
