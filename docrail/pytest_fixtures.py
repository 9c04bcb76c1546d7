"""Fixtures for pytest: `pytest_plugins = ["docrail.pytest_fixtures"]` in a conftest.py brings them."""

import pytest

from docrail.testing import FakeTools


@pytest.fixture
def tools() -> FakeTools:
    """Give tools without documents, answers and secrets; a test adds those that its handler needs."""
    return FakeTools()
