"""A turn of a run that takes longer than Temporal's SDK waits for one is made again, and the run goes on."""

import logging
import threading
from typing import Any

import pytest

from docrail.dag.engine.transitions import advance
from docrail.workflows import driver
from tests.stack import eventually
from tests.workflows.conftest import Bench, step

EVICTING = "Evicting workflow with run ID"
"""What the SDK logs when it has given up waiting for a turn, and removes the run from the worker's memory."""


async def test_a_run_goes_on_after_the_sdk_has_given_up_waiting_for_a_turn(
    fast: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The run is evicted from the worker's memory only after the turn has ended."""
    caplog.set_level(logging.DEBUG, "temporalio.worker")
    released = threading.Event()

    def slow(*args: Any) -> Any:
        released.wait()
        return advance(*args)

    monkeypatch.setattr(driver, "advance", slow)
    handle = await fast.start([step("a"), step("b", depends_on=["a"])])
    try:
        await eventually(lambda: EVICTING in caplog.text, "the SDK to give up")
    finally:
        released.set()
    report = await fast.finish(handle)
    assert (report.status, report.completed) == ("completed", 2)
