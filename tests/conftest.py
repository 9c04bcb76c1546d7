"""Fixtures that every room's tests may use."""

import pytest

from tests.stack import embedded

__all__ = ["embedded"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-histories", action="store_true", help="write each run's history to tests/histories")
