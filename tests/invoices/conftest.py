"""Let the workers of pytest-xdist share the readings of labelled documents."""

import os

import pytest

from tests.invoices.scored import Scored


@pytest.fixture(scope="session", autouse=True)
def shared_readings(tmp_path_factory: pytest.TempPathFactory) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        Scored.shared = tmp_path_factory.getbasetemp().parent / "readings"
        Scored.shared.mkdir(exist_ok=True)
