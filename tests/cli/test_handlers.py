"""`docrail handler list`."""

import json
from pathlib import Path

import pytest

from docrail.activities.registry import load_catalogue
from tests.activities.test_discovery import GOOD
from tests.cli.process import docrail


async def test_it_lists_every_handler_with_what_it_does() -> None:
    ended = await docrail("handler", "list")
    assert ended.code == 0, ended.err
    for name, handler in load_catalogue().items():
        [line] = [line for line in ended.out.splitlines() if line.startswith(f"{name} ")]
        assert handler.summary[:60] in line


async def test_it_shows_the_fields_of_one() -> None:
    ended = await docrail("handler", "show", "data_processor")
    lines = ended.out.splitlines()
    assert lines[0].startswith("transform: ")
    assert lines[1] == "Other names: data_processor"
    assert any(line.startswith("operation") and "one of uppercase" in line for line in lines)
    ended = await docrail("handler", "show", "send_webhook")
    assert any(line.startswith("url ") and "required" in line for line in ended.out.splitlines())
    assert any(line.startswith("webhook_id ") for line in ended.out.splitlines())


async def test_json_is_what_the_api_gives() -> None:
    listed = json.loads((await docrail("handler", "list", "--json")).out)
    shown = json.loads((await docrail("handler", "show", "echo", "--json")).out)
    assert [handler["name"] for handler in listed] == list(load_catalogue())
    assert shown in listed
    assert shown["config_schema"]["properties"]["value"]["description"] == "any JSON value"


async def test_an_unknown_one_is_refused_with_the_name_that_is_meant() -> None:
    ended = await docrail("handler", "show", "send_webhok")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        "docrail: there is no handler 'send_webhok': did you mean 'send_webhook'? "
        "(`docrail handler list` lists them all)\n"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder in which `handlers` has a handler that works and one that does not."""
    (tmp_path / "handlers").mkdir()
    (tmp_path / "handlers" / "count_words.py").write_text(
        GOOD.replace("{name}", "count_words").replace("{aliases}", "")
    )
    (tmp_path / "handlers" / "bad.py").write_text("x = 1\nimport nothing_of_that_name\n")
    return tmp_path


BROKEN = (
    "the handler 'bad' cannot be used: handlers/bad.py:2: ModuleNotFoundError: No module named 'nothing_of_that_name'"
)


async def test_handlers_of_the_setting_are_listed_and_broken_ones_reported(folder: Path) -> None:
    ended = await docrail("handler", "list", cwd=folder, DOCRAIL_HANDLERS="./handlers")
    assert ended.code == 0
    [line] = [line for line in ended.out.splitlines() if line.startswith("count_words ")]
    assert "Count words." in line
    assert ended.err == f"docrail: {BROKEN}\n"


async def test_one_of_the_setting_is_shown_and_a_broken_one_refused(folder: Path) -> None:
    shown = await docrail("handler", "show", "count_words", cwd=folder, DOCRAIL_HANDLERS="./handlers")
    assert (shown.code, shown.out.splitlines()[0], shown.err) == (0, "count_words: Count words.", "")
    refused = await docrail("handler", "show", "bad", cwd=folder, DOCRAIL_HANDLERS="./handlers")
    assert (refused.code, refused.out) == (1, "")
    assert "handlers/bad.py:2: ModuleNotFoundError" in refused.err


@pytest.mark.parametrize(
    ("handler", "code", "said"),
    [
        ("count_words", 0, "valid, 1 step"),
        ("noop", 0, "valid, 1 step"),
        ("bad", 1, f"error broken-handler: step 'a': {BROKEN}"),
    ],
)
async def test_definitions_are_checked_with_them(folder: Path, handler: str, code: int, said: str) -> None:
    config = "{text: a}" if handler == "count_words" else "{}"
    steps = f"steps:\n  - id: a\n    handler: {handler}\n    config: {config}\n"
    (folder / "one.yaml").write_text(f"dsl: 1\nid: one\n{steps}")
    ended = await docrail("validate", "one.yaml", cwd=folder, DOCRAIL_HANDLERS="./handlers")
    assert (ended.code, said in ended.out) == (code, True), ended.out


async def test_the_schema_for_editors_has_them(folder: Path) -> None:
    ended = await docrail("definition", "schema", cwd=folder, DOCRAIL_HANDLERS="./handlers")
    assert '"count_words"' in ended.out
