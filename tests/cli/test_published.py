"""`docrail definition` and `docrail routing`: the commands of a process owner."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.services.access.models import local_name
from tests.cli.process import Ended, docrail

pytestmark = pytest.mark.server

TEXT = """\
id: {id}
title: {title}
steps:
  - {{id: greet, handler: echo, config: {{value: hi}}}}
"""
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    options = StackOptions(tmp_path_factory.mktemp("registry"), api_port=0, temporal_port=0, ui_port=0)
    async with run_stack(options, report=print) as started:
        yield started


@dataclass(frozen=True)
class Owner:
    """A process owner in a folder, with a definition of their own."""

    stack: Stack
    folder: Path
    id: str

    def write(self, title: str, text: str = TEXT) -> str:
        (self.folder / "process.yaml").write_text(text.format(id=self.id, title=title))
        return "process.yaml"

    async def types(self, *arguments: str) -> Ended:
        return await docrail(*arguments, cwd=self.folder, DOCRAIL_API_URL=self.stack.api_url)

    async def says(self, *arguments: str) -> list[str]:
        """Return the lines that a command prints, with the id as ID and one space between columns."""
        ended = await self.types(*arguments)
        assert (ended.code, ended.err) == (0, ""), ended
        return [" ".join(line.split()) for line in ended.out.replace(self.id, "ID").splitlines() if line.strip()]

    async def publish(self, title: str, *options: str) -> list[str]:
        return await self.says("definition", "publish", self.write(title), *options)


@pytest.fixture
def owner(stack: Stack, tmp_path: Path) -> Owner:
    return Owner(stack, tmp_path, f"p_{uuid.uuid4().hex}")


async def test_a_definition_that_fails_its_tests_is_not_published(owner: Owner) -> None:
    test = "tests:\n  - {{name: it greets, steps: {{greet: {{output: {{value: hi}}}}}}, expect: {{status: STATUS}}}}\n"
    refused = await owner.types(
        "definition", "publish", owner.write("a", TEXT + test.replace("STATUS", "failed")), "--run-tests"
    )
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        "docrail: Tests of the definition failed: tests[0].expect.status: "
        "it greets: expected the run to be failed, found completed\n"
    )
    owner.write("a", TEXT + test.replace("STATUS", "completed"))
    assert await owner.says("definition", "publish", "process.yaml", "--run-tests") == ["ID version 1: new runs get it"]


async def test_publishing_says_what_new_runs_get(owner: Owner) -> None:
    assert await owner.publish("one", "--no-promote") == ["ID version 1: new runs get it"]
    assert await owner.publish("two") == ["ID version 2: new runs get it"]
    assert await owner.publish("three", "--no-promote") == ["ID version 3: new runs still get version 2"]
    await owner.types("definition", "alias", owner.id, "canary", "3", "--percent", "10")
    assert await owner.publish("three", "--no-promote") == [
        "ID version 3: 10 % of new runs get it, the others version 2"
    ]
    assert await owner.publish("one") == ["ID version 1: new runs get it"]


async def test_publishing_prints_warnings_to_stderr(owner: Owner) -> None:
    nested = TEXT + "  - {{id: pay, workflow: {{id: {id}_pay}}}}\n"
    published = await owner.types("definition", "publish", owner.write("one", nested))
    assert (published.code, published.out) == (0, f"{owner.id} version 1: new runs get it\n")
    assert published.err == (
        f"process.yaml:5:30: warning unknown-definition: step 'pay' runs '{owner.id}_pay', which is not "
        "published: publish it before a run is started\n"
    )
    [printed] = json.loads((await owner.types("definition", "publish", "process.yaml", "--json")).out)
    assert [warning["code"] for warning in printed["warnings"]] == ["unknown-definition"]


async def test_of_several_files_what_others_run_is_published_first_and_not_warned_of(owner: Owner) -> None:
    runs = TEXT + "  - {{id: more, workflow: {{id: {inner}}}}}\n"
    for name, inner in (("outer", "middle"), ("middle", "inner")):
        text = runs.format(id=f"{owner.id}_{name}", title=name, inner=f"{owner.id}_{inner}")
        (owner.folder / f"{name}.yaml").write_text(text)
    (owner.folder / "inner.yaml").write_text(TEXT.format(id=f"{owner.id}_inner", title="inner"))
    assert await owner.says("definition", "publish", "outer.yaml", "middle.yaml", "inner.yaml") == [
        f"ID_{name} version 1: new runs get it" for name in ("inner", "middle", "outer")
    ]


async def test_a_misspelt_definition_is_reported_with_the_one_that_is_meant(owner: Owner) -> None:
    nested = TEXT + "  - {{id: pay, workflow: {{id: customer_aproval}}}}\n"
    published = await owner.types("definition", "publish", owner.write("one", nested))
    assert published.err.endswith("publish it before a run is started (did you mean 'customer_approval'?)\n")


async def test_of_several_files_none_is_published_if_one_is_not_valid(owner: Owner) -> None:
    (owner.folder / "broken.yaml").write_text("id: broken\nsteps: [{id: a, handler: nop}]\n")
    refused = await owner.types("definition", "publish", owner.write("one"), "broken.yaml")
    assert (refused.code, refused.out) == (1, "")
    assert "broken.yaml:2:26: error unknown-handler" in refused.err
    assert (await owner.types("definition", "show", owner.id)).code == 1


async def test_a_canary_is_set_looked_at_and_promoted(owner: Owner) -> None:
    await owner.publish("one")
    await owner.publish("two", "--no-promote")
    assert await owner.says("definition", "alias", owner.id, "canary", "v2", "--percent", "10") == [
        "ID: stable 1, canary 2 (10 %)"
    ]
    shown = await owner.says("definition", "show", owner.id)
    assert shown[0] == "ID version 1: one"
    assert [line.split()[:2] for line in shown[-2:]] == [["2", "canary"], ["1", "stable"]]
    [line] = [line for line in await owner.says("definition", "list") if line.startswith("ID ")]
    assert line.startswith("ID 2 stable 1, canary 2 (10 %)")
    assert await owner.says("definition", "alias", owner.id, "stable", "canary") == ["ID: stable 2"]


async def test_the_text_of_a_version_is_printed_as_it_was_written(owner: Owner) -> None:
    await owner.publish("one")
    text = (owner.folder / "process.yaml").read_text()
    await owner.publish("two")
    assert (await owner.types("definition", "show", f"{owner.id}@1", "--source")).out == text


async def test_a_rollback_says_what_it_moved_and_history_who_and_why(owner: Owner) -> None:
    command = ["definition", "rollback"]
    for title in ("one", "two"):
        await owner.publish(title)
    assert await owner.says(*command, owner.id, "--reason", "wrong totals") == ["stable: 2 → 1", "ID: stable 1"]
    history = await owner.says("definition", "history", owner.id)
    assert history[2].endswith(f"stable 2 1 {local_name()} rollback: wrong totals")
    refused = await owner.types(*command, owner.id)
    assert refused.code == 1
    assert "Nothing to undo" in refused.err


async def test_an_alias_of_ones_own_is_set_and_removed(owner: Owner) -> None:
    await owner.publish("one")
    assert await owner.says("definition", "alias", owner.id, "pilot", "1") == ["ID: stable 1, pilot 1"]
    assert await owner.says("definition", "alias", owner.id, "pilot", "--remove") == ["ID: stable 1"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("pilot",), 2, "expected a version, or --remove"),
        (("pilot", "1", "--remove"), 2, "expected a version, or --remove"),
        (("pilot", "missing"), 2, "'missing' is neither a version nor an alias of"),
        (("pilot", "7"), 1, "Not found"),
        (("canary", "1"), 1, "percent: is required"),
        (("stable", "--remove"), 1, "alias: cannot be removed"),
    ],
)
async def test_an_alias_that_cannot_be_is_refused_in_words(
    owner: Owner, arguments: tuple[str, ...], code: int, said: str
) -> None:
    await owner.publish("one")
    refused = await owner.types("definition", "alias", owner.id, *arguments)
    assert (refused.code, refused.out) == (code, "")
    assert said in " ".join(refused.err.replace("│", " ").split())


async def test_a_file_alone_is_compared_with_what_new_runs_get(owner: Owner) -> None:
    await owner.publish("one")
    file = owner.write("two", TEXT.replace("hi}}", "hello}}, max_retries: 5") + "  - {{id: after, handler: noop}}\n")
    assert await owner.says("definition", "diff", file) == [
        "ID@stable → process.yaml",
        "+ step after",
        "~ step greet",
        '~ config.value: "hi" → "hello"',
        "~ max_retries: 3 → 5",
        '~ title: "one" → "two"',
    ]


async def test_versions_and_files_are_compared_in_any_combination(owner: Owner) -> None:
    for title in ("one", "two"):
        await owner.publish(title)
    old, new, file = f"{owner.id}@1", f"{owner.id}@stable", "process.yaml"
    changed = '~ title: "one" → "two"'
    assert await owner.says("definition", "diff", old, new) == ["ID@1 → ID@stable", changed]
    assert await owner.says("definition", "diff", old, file) == ["ID@1 → process.yaml", changed]
    assert await owner.says("definition", "diff", file, new) == ["process.yaml → ID@stable", "no difference"]
    codes = [await owner.types("definition", "diff", one, file, "--exit-code") for one in (old, new)]
    assert [ended.code for ended in codes] == [3, 0]
    printed = json.loads((await owner.types("definition", "diff", old, new, "--json")).out)
    assert printed["fields"] == [{"kind": "changed", "path": "title", "old": "one", "new": "two"}]


async def test_two_files_need_no_server(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.yaml").write_text(TEXT.format(id="x", title=name))
    shown = await docrail("definition", "diff", "old.yaml", "new.yaml", cwd=tmp_path, DOCRAIL_API_URL=NOWHERE)
    assert shown == Ended(0, 'old.yaml → new.yaml\n~ title: "old" → "new"\n', "")


async def test_a_name_that_is_neither_a_file_nor_published_is_reported(owner: Owner) -> None:
    missing, unknown = await asyncio.gather(
        owner.types("definition", "diff", "no.yaml", "no@1"),
        owner.types("definition", "diff", f"{owner.id}@1", f"{owner.id}@2"),
    )
    assert (missing.code, unknown.code) == (1, 1)
    assert "there is no file no.yaml" in missing.err
    assert "there is no definition" in unknown.err


async def test_without_an_api_every_command_says_so(owner: Owner) -> None:
    for command in (["definition", "list"], ["definition", "rollback", "x"], ["routing", "show"], ["run", "x"]):
        refused = await docrail(*command, DOCRAIL_API_URL=NOWHERE)
        assert (refused.code, refused.out) == (1, "")
        assert "no answer from the API" in refused.err


async def test_routing_rules_are_checked_set_shown_and_tried(owner: Owner) -> None:
    await owner.publish("one")
    rules = f"rules:\n  - {{when: source == 'email', definition: {owner.id}@1, title: Mail}}\n"
    (owner.folder / "routing.yaml").write_text(rules.replace("source", "sorce"))
    refused = await owner.types("routing", "set", "routing.yaml")
    assert refused.code == 1
    assert "routing.yaml:2:12: error unknown-name" in refused.err
    assert "(did you mean 'source'?)" in refused.err
    assert (await owner.types("routing", "validate", "routing.yaml")).code == 1
    (owner.folder / "routing.yaml").write_text(rules)
    assert await owner.says("routing", "validate", "routing.yaml") == ["routing.yaml: valid"]
    placed = await owner.says("routing", "set", "routing.yaml")
    assert "0 source == 'email' ID@1 Mail" in placed
    assert placed[-1] == "else invoice"
    assert await owner.says("routing", "show") == placed[1:]
    assert (await owner.types("routing", "show", "--source")).out == rules
    assert await owner.says("routing", "try", "--source", "email") == ["ID@1 (rule 0)"]
    assert await owner.says("routing", "try", "--type", "text/plain") == ["invoice (no rule holds)"]


async def test_the_schema_checks_a_definition_without_a_server() -> None:
    shown = await docrail("definition", "schema", DOCRAIL_API_URL=NOWHERE)
    validator = Draft202012Validator(json.loads(shown.out))
    assert validator.is_valid({"id": "x", "steps": [{"id": "a", "handler": "noop"}]})
    assert not validator.is_valid({"id": "x", "steps": [{"id": "a", "handler": "nop"}]})
