"""`docrail validate`: every problem with its place, in words; an exit code for scripts."""

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.process import Ended, docrail

DEFINITION = Path(__file__).parents[2] / "definitions" / "invoice.yaml"
BROKEN = """\
id: broken one
steps:
  - id: a
    handler: extrat_invoice
  - id: b
    handler: record_metrics
    config: {document_id: d, status: completed}
    depends_on: [c]
    trigger_rule: never
  - {id: b, handler: record_metrics, config: {document_id: d, status: completed}}
"""
CYCLE = """\
id: cycle
steps:
  - {id: a, handler: record_metrics, config: {document_id: d, status: completed}, depends_on: [b]}
  - {id: b, handler: record_metrics, config: {document_id: d, status: completed}, depends_on: [a]}
"""
ONE_STEP = "id: one\nsteps: [{id: a, handler: record_metrics, config: {document_id: d, status: completed}}]\n"
FILES: Mapping[str, bytes] = {
    "good.yaml": DEFINITION.read_bytes(),
    "one.yaml": ONE_STEP.encode(),
    "broken.yaml": BROKEN.encode(),
    "cycle.yaml": CYCLE.encode(),
    "empty.yaml": b"",
    "binary.yaml": b"id: \xff\xfe\x00",
    "text.yaml": b"hello\n",
    "list.json": b"[]",
}
WANTED = "expected a file with a definition, as YAML or JSON"
EXPECTED = {
    "good.yaml": Ended(0, "good.yaml: valid, 7 steps\n", ""),
    "one.yaml": Ended(0, "one.yaml: valid, 1 step\n", ""),
    "cycle.yaml": Ended(
        1,
        "cycle.yaml:3:96: error cycle: these steps wait for each other: a → b → a\ncycle.yaml: 1 error\n",
        "",
    ),
    "empty.yaml": Ended(
        1, "empty.yaml:1:1: error empty: there is no definition in this text\nempty.yaml: 1 error\n", ""
    ),
    "binary.yaml": Ended(1, "binary.yaml:1:5: error not-utf-8: the text is not UTF-8\nbinary.yaml: 1 error\n", ""),
    "text.yaml": Ended(
        1,
        "text.yaml:1:1: error wrong-type: expected an object with 'id' and 'steps', found the text 'hello'\n"
        "text.yaml: 1 error\n",
        "",
    ),
    "list.json": Ended(
        1,
        "list.json:1:1: error wrong-type: expected an object with 'id' and 'steps', found an empty list\n"
        "list.json: 1 error\n",
        "",
    ),
    "missing.yaml": Ended(1, "", f"docrail: there is no file missing.yaml: {WANTED}\n"),
    "folder": Ended(1, "", "docrail: the folder folder has no definition: looked for .yaml, .yml, .json\n"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("validate")
    (folder / "folder").mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture(scope="module")
async def outcomes(folder: Path) -> dict[str, Ended]:
    """All at once: most of what a command takes is its start."""
    names = [*EXPECTED, "broken.yaml"]
    return dict(
        zip(names, await asyncio.gather(*(docrail("validate", name, cwd=folder) for name in names)), strict=True)
    )


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_gets_its_verdict(outcomes: Mapping[str, Ended], name: str) -> None:
    assert outcomes[name] == EXPECTED[name]


def test_all_problems_come_at_once_each_with_its_place(outcomes: Mapping[str, Ended]) -> None:
    *problems, verdict = outcomes["broken.yaml"].out.splitlines()
    assert outcomes["broken.yaml"].code == 1
    assert verdict == "broken.yaml: 5 errors"
    found = [re.fullmatch(r"broken\.yaml:(\d+):\d+: error ([a-z-]+): .+", problem) for problem in problems]
    assert [match and match.groups() for match in found] == [
        ("1", "bad-id"),
        ("4", "unknown-handler"),
        ("8", "unknown-step"),
        ("9", "wrong-value"),
        ("10", "duplicate-id"),
    ]
    assert "(did you mean 'extract_invoice'?)" in outcomes["broken.yaml"].out


async def test_as_json_the_problems_are_a_list(folder: Path) -> None:
    broken, good = await asyncio.gather(
        docrail("validate", "broken.yaml", "--json", cwd=folder), docrail("validate", "good.yaml", "--json", cwd=folder)
    )
    [report] = json.loads(broken.out)
    problems = report.pop("problems")
    assert report == {"file": "broken.yaml", "valid": False}
    assert broken.code == 1
    assert problems[0] == {
        "code": "bad-id",
        "message": "'broken one' cannot be an id: it must begin with a letter and contain only letters, digits and _",
        "path": "id",
        "line": 1,
        "column": 5,
        "suggestion": "broken_one",
        "severity": "error",
    }
    assert (good.code, json.loads(good.out)) == (0, [{"file": "good.yaml", "valid": True, "problems": []}])


async def test_folders_and_many_files_are_checked_in_one_go(folder: Path) -> None:
    inner = folder / "many" / "inner"
    inner.mkdir(parents=True)
    (inner / "b.yml").write_text(ONE_STEP)
    (inner / "c.json").write_text("[]")
    (folder / "many" / "a.yaml").write_text(ONE_STEP)
    (folder / "many" / ".hidden.yaml").write_text("hello")
    ended = await docrail("validate", "one.yaml", "many", cwd=folder)
    assert (ended.code, ended.err) == (1, "")
    assert [line for line in ended.out.splitlines() if " error " not in line] == [
        *("one.yaml: valid, 1 step", "many/a.yaml: valid, 1 step", "many/inner/b.yml: valid, 1 step"),
        *("many/inner/c.json: 1 error", "4 files, 3 valid"),
    ]
    assert (await docrail("validate", "one.yaml", "many/inner/b.yml", cwd=folder)).code == 0


async def test_characters_the_terminal_cannot_show_do_not_end_the_command(folder: Path) -> None:
    shown = await docrail("validate", "cycle.yaml", cwd=folder, PYTHONIOENCODING="ascii")
    assert shown.code == 1
    assert shown.err == ""
    assert "wait for each other: a ? b ? a" in shown.out
