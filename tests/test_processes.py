"""Supervision of child processes, shown on small shell programs."""

import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from docrail.embedded.processes import NotStartedError, Program, Supervised
from tests.stack import eventually, survivors

Make = Callable[..., Supervised]


@pytest.fixture
def reports() -> list[str]:
    return []


@pytest.fixture
async def make(tmp_path: Path, reports: list[str]) -> AsyncIterator[Make]:
    """Make a program from shell code. It is ready when it has made the file $SIGN; it is stopped after the test."""
    made = []

    def supervise(code: str, *, stop_seconds: float = 5) -> Supervised:
        sign = tmp_path / "sign"
        environment = {**os.environ, "SIGN": str(sign)}
        program = Program("shell", ("/bin/sh", "-c", code), tmp_path / "log", environment, stop_seconds=stop_seconds)

        async def ready() -> bool:
            return sign.exists()

        made.append(Supervised(program, ready, reports.append))
        return made[-1]

    yield supervise
    for process in made:
        await process.kill()


async def test_a_program_that_ends_while_starting_is_reported_with_the_end_of_its_log(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docrail.embedded.processes.START_DELAYS", (0.01, 0.01))
    with pytest.raises(NotStartedError, match=r"(?s)shell did not start: it ended with code 3.*\n +no such luck"):
        await make("echo no such luck; exit 3").start()


async def test_a_program_that_never_answers_is_killed(make: Make) -> None:
    process = make("sleep 60")
    with pytest.raises(NotStartedError, match=r"no answer after 0\.2 s"):
        await process.start(timeout_seconds=0.2)
    assert process.pid is None


async def test_a_program_that_fails_at_first_gets_another_try(make: Make) -> None:
    """A killed server's successor finds its port or its shared memory still held for a moment."""
    process = make('[ -e "$SIGN.first" ] || { touch "$SIGN.first"; exit 1; }; touch "$SIGN"; sleep 60')
    await process.start()
    assert process.pid is not None


async def test_a_crashed_program_is_started_again_and_reported(make: Make, reports: list[str]) -> None:
    process = make('touch "$SIGN"; sleep 60')
    await process.start()
    first = process.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await eventually(lambda: process.pid not in {None, first}, "another process")
    assert any("shell ended with code -9" in report for report in reports)


async def test_a_stopped_program_stays_stopped(make: Make, reports: list[str]) -> None:
    process = make('touch "$SIGN"; sleep 60')
    await process.start()
    await process.stop()
    assert process.pid is None
    assert reports == []


async def test_a_program_that_does_not_stop_is_killed_after_its_deadline(make: Make, reports: list[str]) -> None:
    process = make('trap "" TERM; touch "$SIGN"; while :; do sleep 1; done', stop_seconds=0.2)
    await process.start()
    await process.stop()
    assert process.pid is None
    assert reports == ["shell did not end within 0.2 s and is killed"]


async def test_a_stopped_program_leaves_no_child(make: Make, tmp_path: Path) -> None:
    process = make('sleep 60 & echo $! > "$SIGN"; wait')
    await process.start()
    child = {int((tmp_path / "sign").read_text())}
    assert survivors(child) == child
    await process.kill()
    await eventually(lambda: not survivors(child), "the child ends")


async def test_a_long_log_is_set_aside(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docrail.embedded.processes.LOG_LIMIT", 3)
    (tmp_path / "log").write_text("old lines")
    process = make('echo new; touch "$SIGN"; sleep 60')
    await process.start()
    assert (tmp_path / "log").read_text() == "new\n"
    assert (tmp_path / "log.1").read_text() == "old lines"
