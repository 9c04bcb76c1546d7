"""Every recorded history replays: a change that decides differently must bump SEMANTICS and keep the old way.

Together they show every kind of step and every way to fail (tests/workflows/recorded.py).
"""

import re
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.workflow import NondeterminismError

from tests.workflows.conftest import HISTORIES, replayer
from tests.workflows.recorded import SHOWN, recorded, showing
from tests.workflows.recording import RECORDED_BY

RECORDED = sorted(HISTORIES.glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_a_recorded_history_replays(path: Path) -> None:
    await replayer(sandboxed=True).replay_workflow(WorkflowHistory.from_json(path.stem, path.read_text()))


async def test_the_replay_itself_notices_a_change() -> None:
    """A history whose steps were renamed must not pass: otherwise the tests above prove nothing."""
    text = (HISTORIES / "chain.json").read_text().replace('"activityId": "b"', '"activityId": "other"')
    with pytest.raises(NondeterminismError):
        await replayer(sandboxed=True).replay_workflow(WorkflowHistory.from_json("changed", text))


def test_each_history_is_of_a_feature() -> None:
    names = {path.stem.removesuffix("_inside").removesuffix("_first_chunk") for path in RECORDED}
    assert names == set(RECORDED_BY.values())


def test_each_history_has_a_test_that_records_it() -> None:
    """A parametrized test's name is followed by its parameters."""
    sources = (path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    tests = tuple(re.findall(r"^async def test_(\w+)", "".join(sources), re.MULTILINE))
    assert [name for name in RECORDED_BY if not name.startswith(tests)] == []


@pytest.mark.parametrize("mode", SHOWN)
def test_a_recorded_history_shows(mode: str) -> None:
    assert showing(mode), (
        f"no history in tests/histories shows '{mode}': expected one at least. Bring back the one that was removed, or "
        "write a test with such a run, name its feature in tests/workflows/recording.py and record it: "
        "pytest tests/workflows -k TEST --record-histories"
    )


def test_no_mode_is_shown_by_everything() -> None:
    """A claim that every history meets would say nothing."""
    assert [mode for mode in SHOWN if len(showing(mode)) == len(recorded())] == []
