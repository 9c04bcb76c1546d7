"""Handlers outside the tree: where they are found, and how a broken one is reported."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.activity import _Definition as ActivityDefinition

from docrail.activities.discovery import INTERNAL
from docrail.activities.registry import NamedHandlers, load_catalogue, parse_sources
from docrail.handlers import Catalogue
from docrail.services.tools import Tools
from docrail.settings import Settings
from docrail.testing import run_handler
from docrail.worker import handler_activities, internal_activities

GOOD = '''"""Handler `{name}`: count words."""

from pydantic import BaseModel

from docrail import Handler, StepCall, Tools


class Config(BaseModel):
    text: str


class Output(BaseModel):
    words: int


async def run(call: StepCall[Config], tools: Tools) -> Output:
    return Output(words=len(call.config.text.split()))


HANDLER = Handler("{name}", Config, Output, run, aliases=({aliases}))
'''
MADE_AT = 20
"""The line on which GOOD makes its handler."""


def write(file: Path, name: str | None = None, text: str = GOOD, aliases: str = "") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.replace("{name}", name or file.stem).replace("{aliases}", aliases))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


@pytest.fixture
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder of importable modules; they are forgotten at the end."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - known:
        if name.partition(".")[0] in ("acme_steps", "acme_one"):
            del sys.modules[name]


def outside(*sources: Path | str) -> Catalogue:
    return load_catalogue(tuple(map(str, sources)))


def broken(catalogue: Catalogue) -> list[tuple[str, str, int, str]]:
    return [(each.name, Path(each.file).name, each.line, each.error) for each in catalogue.broken_handlers]


def test_a_file_in_a_folder_is_a_handler_like_the_shipped_ones(folder: Path) -> None:
    write(folder / "count_words.py", aliases='"word_count",')
    catalogue = outside(folder)
    handler = catalogue["word_count"]
    assert (handler.name, handler.summary) == ("count_words", "Count words.")
    assert run_handler(handler, {"text": "a b"}) == {"words": 2}
    assert catalogue.outside == {"count_words"}
    assert set(catalogue) == {*load_catalogue(), "count_words"}
    assert catalogue.broken_handlers == ()


def test_a_handler_loaded_by_name_is_the_same(folder: Path) -> None:
    write(folder / "count_words.py")
    write(folder / "bad.py", text="import nothing_of_that_name")
    named = NamedHandlers((str(folder),))
    assert named["count_words"] is outside(folder)["count_words"]
    assert named["echo"] is load_catalogue()["echo"]
    assert len(named) == len(list(named)) == len(load_catalogue()) + 1
    assert set(named.broken) == {"bad"}


def test_files_of_a_folder_share_code_and_have_tests(folder: Path) -> None:
    write(folder / "count_words.py", text=f"from ._shared import name\n{GOOD}".replace('"{name}"', "name"))
    write(folder / "_shared.py", text='name = "count_words"')
    write(folder / "test_count_words.py", text="import nothing_of_that_name")
    write(folder / "conftest.py", text="import nothing_of_that_name")
    catalogue = outside(folder)
    assert catalogue.outside == {"count_words"}
    assert catalogue.broken_handlers == ()


def test_the_names_of_files_shadow_no_module(folder: Path) -> None:
    write(folder / "json.py")
    assert run_handler(outside(folder)["json"], {"text": "a"}) == {"words": 1}
    assert "dumps" in dir(__import__("json"))


def test_packages_and_modules_are_sources_too(importable: Path) -> None:
    write(importable / "acme_steps" / "__init__.py", text='"""Ours."""')
    write(importable / "acme_steps" / "first.py")
    write(importable / "acme_steps" / "second.py")
    write(importable / "acme_one.py")
    catalogue = outside("acme_steps", "acme_one")
    assert catalogue.outside == {"first", "second", "acme_one"}
    assert catalogue.broken_handlers == ()


def test_installed_packages_announce_handlers(importable: Path) -> None:
    write(importable / "acme_steps" / "__init__.py", text="")
    write(importable / "acme_steps" / "first.py")
    write(importable / "acme_one.py", text=GOOD.replace("HANDLER", "COUNT"), name="counting")
    info = importable / "acme-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[docrail.handlers]\nall = acme_steps\ncounting = acme_one:COUNT\n")
    catalogue = load_catalogue.__wrapped__(())  # not the one in the cache
    assert catalogue.outside == {"first", "counting"}
    assert catalogue.broken_handlers == ()


BROKEN = [
    ("import nothing_of_that_name", 1, "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
    ("x = 1\n\ndef run(:\n", 3, "SyntaxError: invalid syntax"),
    ("x = 1\ny = x / 0\n", 2, "ZeroDivisionError: division by zero"),
    ("import sys\nsys.exit('stop')\n", 2, "SystemExit: stop"),
    ("x = 1\n", 1, "expected HANDLER = Handler(name, Config, Output, run)"),
    ("\nHANDLER = 5\n", 2, "expected HANDLER = Handler(name, Config, Output, run)"),
    (
        GOOD.replace('"{name}"', '"other"'),
        MADE_AT,
        "the handler is named 'other': expected the name of its file, 'bad'",
    ),
    (GOOD.replace("async def", "def"), MADE_AT, "expected an `async def` as the handler's function"),
    (
        GOOD.replace("Config, Output, run", "dict, Output, run"),
        MADE_AT,
        "expected pydantic models as Config and",
    ),
    (GOOD.replace("text: str", "text: 'Nothing'"), MADE_AT, "`Config` is not fully defined"),
]


@pytest.mark.parametrize(("text", "line", "error"), BROKEN, ids=[error.split(":")[0] for _, _, error in BROKEN])
def test_a_broken_file_is_reported_with_its_line_and_the_others_stay(
    folder: Path, text: str, line: int, error: str
) -> None:
    write(folder / "bad.py", text=text)
    write(folder / "good.py")
    catalogue = outside(folder)
    [(name, file, found, reported)] = broken(catalogue)
    assert (name, file, found) == ("bad", "bad.py", line)
    assert error in reported
    assert catalogue.outside == {"good"}
    assert catalogue.broken["bad"].startswith(f"{folder}/bad.py:{line}: ")


def test_an_error_in_shared_code_is_reported_for_the_file_that_needs_it(folder: Path) -> None:
    write(folder / "_shared.py", text="\n\n\nx = 1 / 0")
    write(folder / "bad.py", text=f"x = 1\nfrom ._shared import x\n{GOOD}")
    assert broken(outside(folder)) == [("bad", "bad.py", 2, "ZeroDivisionError: division by zero")]


@pytest.mark.parametrize(
    ("file", "aliases", "owner"),
    [
        ("echo", "", "the name 'echo' is taken by the shipped handler echo"),
        ("data_processor", "", "the name 'data_processor' is taken by the shipped handler transform"),
        ("mine", '"extract",', "the name 'extract' is taken by the shipped handler extract_invoice"),
        ("open_review", "", "the name 'open_review' is taken by Docrail itself"),
    ],
)
def test_a_name_that_is_taken_is_reported_and_means_what_it_meant(
    folder: Path, file: str, aliases: str, owner: str
) -> None:
    write(folder / f"{file}.py", aliases=aliases)
    catalogue = outside(folder)
    assert broken(catalogue) == [(file, f"{file}.py", MADE_AT, owner)]
    assert list(catalogue) == list(load_catalogue())


def test_the_first_of_two_files_keeps_their_name(folder: Path) -> None:
    write(folder / "first" / "count_words.py")
    write(folder / "second" / "count_words.py")
    catalogue = outside(folder / "first", folder / "second")
    assert catalogue.outside == {"count_words"}
    [(name, _, line, reported)] = broken(catalogue)
    assert (name, line) == ("count_words", MADE_AT)
    assert reported == f"the name 'count_words' is taken by {folder}/first/count_words.py"


def test_a_source_that_is_not_there_is_reported(folder: Path) -> None:
    reported = broken(outside(folder / "missing", "acme_nowhere"))
    assert [(name, error) for name, _, _, error in reported] == [
        ("missing", "there is no such folder: DOCRAIL_HANDLERS names it"),
        ("acme_nowhere", "ModuleNotFoundError: No module named 'acme_nowhere'"),
    ]


def test_the_setting_and_the_commands_read_the_same_list() -> None:
    assert Settings.model_validate({"handlers": "./a, acme.steps,"}).handlers == ("./a", "acme.steps")
    assert parse_sources("./a, acme.steps,") == ("./a", "acme.steps")


def test_a_worker_logs_what_is_broken_and_has_the_rest(
    folder: Path, keyless: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    write(folder / "bad.py", text="import nothing_of_that_name")
    write(folder / "good.py")
    activities = handler_activities(outside(folder), keyless)
    assert len(activities) == len(load_catalogue()) + 3  # the good one, groups of calls, missing handlers
    assert f"this worker has no handler 'bad': {folder}/bad.py:1: ModuleNotFoundError" in caplog.text


def test_the_names_of_the_workers_own_activities_are_taken(keyless: Tools) -> None:
    names = {ActivityDefinition.must_from_callable(each).name for each in internal_activities(keyless)}
    assert names <= INTERNAL
