"""`docrail test`: a line for each test, its differences, an exit code; no server."""

import json
from pathlib import Path

import pytest

from tests.cli.process import docrail

pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[2]
TWO = """\
id: two
steps:
  - {id: ask, human: {title: "Pay {{ inputs.amount }}?", timeout_seconds: 259200, on_timeout: abort}}
inputs: {amount: {type: number, default: 5}}
tests:
  - {name: a person answers, steps: {ask: {answer: {}}}, expect: {status: completed}}
  - {name: no answer comes, steps: {ask: {times_out: true}}, expect: {status: completed, steps: {ask: completed}}}
"""
PRINTED = """\
ok      a person answers
failed  no answer comes
        expect.status: expected the run to be completed, found aborted: ask: no one answered within 259200 s
        expect.steps.ask: expected completed, found cancelled (Timeout: no one answered within 259200 s)
two.yaml: 1 of 2 tests passed
"""


async def test_each_test_is_reported_with_what_differs(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TWO)
    ended = await docrail("test", "two.yaml", cwd=tmp_path, TMPDIR=str(tmp_path))
    assert (ended.code, ended.out, ended.err) == (1, PRINTED, "")
    assert [path.name for path in tmp_path.iterdir()] == ["two.yaml"]


async def test_a_shipped_definition_passes() -> None:
    ended = await docrail("test", "definitions/customer_approval.yaml", cwd=ROOT)
    assert ended.code == 0, ended
    assert ended.out.splitlines()[-1] == "definitions/customer_approval.yaml: 6 of 6 tests passed"


async def test_one_test_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TWO)
    one = await docrail("test", "two.yaml", "--name", "a person answers", cwd=tmp_path)
    assert (one.code, one.out) == (0, "ok      a person answers\ntwo.yaml: 1 of 1 test passed\n")
    unknown = await docrail("test", "two.yaml", "--name", "unknown", cwd=tmp_path)
    assert unknown.code == 2
    assert "has no test 'unknown': expected one of 'a person answers', 'no answer comes'" in " ".join(
        unknown.err.split()
    )


async def test_json_for_programs(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TWO)
    ended = await docrail("test", "two.yaml", "--json", cwd=tmp_path)
    assert ended.code == 1
    printed = json.loads(ended.out)
    assert (printed["definition_id"], printed["passed"]) == ("two", False)
    assert [(test["name"], test["passed"]) for test in printed["tests"]] == [
        ("a person answers", True),
        ("no answer comes", False),
    ]
    assert printed["tests"][1]["differences"][1] == {
        "path": "expect.steps.ask",
        "message": "expected completed, found cancelled (Timeout: no one answered within 259200 s)",
        "expected": "completed",
        "found": "cancelled",
    }


async def test_a_file_without_tests_and_one_that_is_not_valid(tmp_path: Path) -> None:
    (tmp_path / "none.yaml").write_text(TWO.partition("tests:")[0])
    none = await docrail("test", "none.yaml", cwd=tmp_path)
    assert (none.code, none.err) == (1, "docrail: none.yaml has no tests: expected a list under `tests`\n")
    (tmp_path / "wrong.yaml").write_text(TWO.replace("ask: {answer", "aks: {answer"))
    wrong = await docrail("test", "wrong.yaml", cwd=tmp_path)
    assert wrong.code == 1
    assert "wrong.yaml:6:38: error unknown-step: there is no step 'aks' to test (did you mean 'ask'?)" in wrong.err
