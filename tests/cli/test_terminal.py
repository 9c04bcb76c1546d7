"""Tables and lines fit the terminal, ids stay whole, and colours are for terminals only."""

import io
import re

import pytest

from docrail.cli.listing import ID, NUMBER, STATUS, TEXT
from docrail.cli.tables import print_table
from docrail.cli.terminal import coloured, folded, say, visible

HEADINGS = {"run": ID, "status": STATUS, "empty": ID, "message": TEXT, "attempts": NUMBER}
RUN = "invoice.doc_0f9c6c4b3a2d4e5f8a7b6c5d4e3f2a1b"
MESSAGE = "the bank does not know this account, and says so in a sentence that is longer than a line"


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def eighty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("eighty")
def test_a_long_text_is_folded_and_an_empty_column_left_out_before_an_id_is_broken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(HEADINGS, [[RUN, "failed", "", MESSAGE, "1"]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["run", "status", "message", "attempts"]
    assert lines[2].startswith(f"{RUN}  failed  the bank")
    assert len(lines) > 4


@pytest.mark.usefixtures("eighty")
def test_a_table_that_stays_too_wide_is_a_block_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_table({**HEADINGS, "document": ID}, [[RUN, "failed", "", MESSAGE, "1", RUN]] * 2)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:3] == [RUN, "  status    failed", lines[2]]
    assert lines[2].startswith("  message   the bank does not know")
    assert [line for line in lines if RUN in line] == [RUN, f"  document  {RUN}"] * 2
    assert not any("empty" in line for line in lines)


@pytest.mark.usefixtures("eighty")
def test_an_id_within_a_text_is_never_broken(capsys: pytest.CaptureFixture[str]) -> None:
    print_table({"run": ID, "why": TEXT, "title": TEXT}, [[RUN, f"waits for {RUN}", MESSAGE]])
    out = capsys.readouterr().out
    assert out.count(RUN) == 2
    assert max(map(len, out.splitlines())) <= 80


def test_a_long_line_is_folded_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        say(f"{RUN} is aborted: {MESSAGE}\nshort", stream)
    assert max(map(len, terminal.getvalue().splitlines())) <= 60
    assert terminal.getvalue().splitlines()[-1] == "short"
    assert pipe.getvalue() == f"{RUN} is aborted: {MESSAGE}\nshort\n"


@pytest.mark.usefixtures("eighty")
def test_no_rows_are_headings_or_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(HEADINGS, [])
    assert capsys.readouterr().out.split("\n")[0].split() == [*HEADINGS]
    print_table({f"heading number {number}": ID for number in range(9)}, [])
    assert capsys.readouterr().out == ""


def test_a_status_is_coloured_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    assert painted("failed") == "\x1b[31mfailed\x1b[0m\n"
    assert painted("waiting, overdue") == "\x1b[33mwaiting, overdue\x1b[0m\n"
    assert painted("completed, undone") == "\x1b[33mcompleted, undone\x1b[0m\n"
    assert painted("completed, not undone") == "\x1b[31mcompleted, not undone\x1b[0m\n"
    assert painted("invoice") == "invoice\n"
    assert coloured("failed", io.StringIO()) == "failed"
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured("failed", Terminal()) == "failed"


def painted(status: str) -> str:
    terminal = Terminal()
    say(coloured(status, terminal), terminal)
    return terminal.getvalue()


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_folded_line_is_wider_than_the_terminal(width: int) -> None:
    lines = list(folded(f"    waits for {RUN}: {MESSAGE}", width))
    assert max(map(len, lines)) <= width
    assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", f"waits for {RUN}: {MESSAGE}")
    assert all(line.startswith("    ") for line in lines)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b]0;title\x07", "a\\x1b]0;title\\x07"),
        ("a\x9b31m", "a\\x9b31m"),  # the same command in one 8-bit character
        ("\x1b[31mfailed\x1b[0m", "\\x1b[31mfailed\\x1b[0m"),
        ("two\tcolumns\nand lines", "two\tcolumns\nand lines"),
    ],
)
def test_characters_that_command_a_terminal_are_shown_also_colours_of_strangers(text: str, shown: str) -> None:
    assert visible(text) == shown
