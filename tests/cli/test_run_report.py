"""What is printed of a run: what it waits for while it is followed, and what was undone in the end."""

from typing import Any

import pytest

from docrail.cli.printout import print_parts
from docrail.cli.run_report import progress_lines, report_parts

STEP: dict[str, Any] = {
    "status": "completed",
    "kind": "handler",
    "items": None,
    "reason": None,
    "error": None,
    "cached": False,
    "attempts": 1,
    "duration_seconds": 0.5,
    "compensation": None,
    "compensation_error": None,
}
WAIT = {"waits_for": "human", "queue": "finance", "asks": "Pay 12?", "until": 1_800_000_000.0, "approvals_needed": 1}


def report(status: str, **steps: dict[str, Any]) -> dict[str, Any]:
    counts = dict.fromkeys(("completed", "failed", "skipped", "cancelled"), 0)
    complete = {name: {**STEP, **step} for name, step in steps.items()}
    for step in complete.values():
        if step["status"] in counts:
            counts[step["status"]] += 1
    return {
        "run_id": "pay.1",
        "status": status,
        "reason": "",
        "steps": complete,
        "outputs": {},
        "history_url": "u",
        **counts,
    }


def wait(**more: Any) -> dict[str, Any]:
    return {"run_id": "pay.1", "step_id": "ask", "title": "Ask", "waiting": WAIT, "review": None, **more}


def test_progress_names_running_steps_and_counts_the_items_of_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    items = {"total": 10, "completed": 3, "failed": 1}
    found = report("running", load={}, each={"status": "running", "items": items}, nap={"status": "running"})
    assert list(progress_lines(found, [])) == [
        "pay.1 running: 1 of 3 steps done, running: each (3 of 10 items, 1 failed), nap"
    ]


def test_a_question_is_shown_with_its_people_its_time_and_the_command_that_decides_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    review = {"review_id": "rev_1", "group": "cfo", "may_not_decide": ["ann"]}
    waiting = {**WAIT, "approvals_needed": 2, "approvals_missing": 1}
    lines = list(progress_lines(report("waiting", ask={"status": "waiting"}), [wait(waiting=waiting, review=review)]))
    assert lines[1:] == [
        "  ask waits for a person in queue finance, group cfo, until 2027-01-15 08:00:00Z: Pay 12?",
        "    not to be decided by ann",
        "    1 of 2 people must still decide alike",
        "    docrail review decide rev_1 NAME=VALUE...",
    ]


@pytest.mark.parametrize(
    ("waiting", "line", "command"),
    [
        ({"waits_for": "signal", "queue": None}, "an answer: Ask", "docrail run answer pay.1 ask NAME=VALUE..."),
        ({"waits_for": "webhook", "queue": None}, "its callback: Ask", None),
        ({"waits_for": "timer", "queue": None}, "time: Ask", None),
        (None, "a decision on its failure: Ask", "docrail failure show pay.1 ask"),
    ],
)
def test_other_waits_name_who_ends_them(waiting: dict[str, Any] | None, line: str, command: str | None) -> None:
    lines = list(progress_lines(report("waiting"), [wait(waiting=waiting)]))[1:]
    assert lines == [f"  ask waits for {line}", *([f"    {command}"] if command else [])]


def test_no_line_of_progress_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    steps = {f"step_number_{number}": {"status": "running"} for number in range(30)}
    lines = list(progress_lines(report("running", **steps), [wait(title="x" * 100, waiting={**WAIT, "asks": None})]))
    assert max(map(len, lines)) <= 40


def test_undone_steps_do_not_look_completed(capsys: pytest.CaptureFixture[str]) -> None:
    failed = {"compensation": "failed", "compensation_error": {"type": "ValueError", "message": "closed"}}
    print_parts(report_parts(report("failed", pay={"compensation": "completed"}, book=failed, load={})))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["pay", "completed,", "undone", "1", "0.50"] in lines
    assert ["book", "completed,", "not", "undone", "1", "0.50"] in lines
    assert ["load", "completed", "1", "0.50"] in lines
    hint = "their effects stand; once the cause is fixed: docrail run retry pay.1 --undo"
    assert hint.split() in lines
