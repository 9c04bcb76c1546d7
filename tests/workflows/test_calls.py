"""The function calls of a run: the bound is a little above today's, so that no loss of speed lands unnoticed."""

import sys
import threading
from pathlib import Path
from types import FrameType

import pytest
from temporalio.client import WorkflowHistory

from tests.workflows.conftest import HISTORIES, replayer

ROOT = Path(__file__).parent.parent.parent
OURS = (str(ROOT / "docrail"), *(str(ROOT / room) for room in ("dag", "workflows")))

MOST_CALLS = {"chain": 610, "fan_out_and_join": 650, "long_list_first_chunk": 1700, "trigger_rules": 1510}
"""Calls of our own functions in the replay of a recorded history. A tenth more than today."""


@pytest.mark.parametrize("name", MOST_CALLS)
async def test_a_run_makes_no_more_calls_than_it_did(name: str) -> None:
    history = WorkflowHistory.from_json(name, (HISTORIES / f"{name}.json").read_text())
    await replayer(sandboxed=False).replay_workflow(history)  # compiles the plan, which is kept
    calls = await counted_calls(history)
    assert MOST_CALLS[name] * 0.7 < calls <= MOST_CALLS[name], "fewer are welcome: lower the bound"


async def counted_calls(history: WorkflowHistory) -> int:
    """Replay the history and return how many calls our functions had: the threads of a new replayer are counted."""
    calls = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.startswith(OURS)

    before = sys.getprofile()
    threading.setprofile(count)
    try:
        await replayer(sandboxed=False).replay_workflow(history)
    finally:
        threading.setprofile(before)
    return calls
