"""Every recorded history replays: a change that decides differently must bump Plan.semantics and keep the old way."""

from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.workflow import NondeterminismError

from tests.workflows.conftest import HISTORIES, replayer

RECORDED = sorted(HISTORIES.glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_a_recorded_history_replays(path: Path) -> None:
    await replayer(sandboxed=True).replay_workflow(WorkflowHistory.from_json(path.stem, path.read_text()))


async def test_the_replay_itself_notices_a_change() -> None:
    """A history whose steps were renamed must not pass: otherwise the tests above prove nothing."""
    text = (HISTORIES / "linear_chain.json").read_text().replace('"activityId": "b"', '"activityId": "other"')
    with pytest.raises(NondeterminismError):
        await replayer(sandboxed=True).replay_workflow(WorkflowHistory.from_json("changed", text))


def test_there_is_a_history_for_each_scenario() -> None:
    assert len(RECORDED) >= 20
