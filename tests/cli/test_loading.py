"""A short command loads little: what it loads is most of the time that it takes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docrail import settings
from docrail.cli.main import NO_SETTINGS, NOUNS, SHORTCUTS, assemble

ROOT = Path(__file__).parents[2]
SERVERS = {"docrail.embedded", "duckdb", "fastapi", "httpx", "prometheus_client", "rich", "temporalio", "uvicorn"}
OPENED = {"docrail.adapters.sandbox", "docrail.services.app", "limits"}
"""What opens resources, and counts requests."""
DATABASE = {"asyncpg", "docrail.adapters.postgres"}
READERS = {"cv2", "lxml", "onnxruntime", "pikepdf", "pyarrow", "pypdfium2", "rapidocr"}


def loaded_by(*arguments: str) -> set[str]:
    """Return the packages, and the names of our modules, that a command loads; it must succeed."""
    code = (
        "import sys\nfrom docrail.cli.main import assemble\n"
        f"try: assemble().main({list(arguments)!r}, prog_name='docrail')\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    names = run.stderr.split()
    return {name.partition(".")[0] for name in names} | {name for name in names if name.startswith("docrail.")}


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("lake", "--help"), ("--version",)], ids=str)
def test_help_loads_no_command_and_nothing_that_a_command_needs(arguments: tuple[str, ...]) -> None:
    loaded = loaded_by(*arguments)
    assert {"asyncio", *DATABASE, *SERVERS, *READERS} & loaded == set()
    assert {name for name in loaded if name.startswith("docrail.cli.")} == {"docrail.cli.main"}


def test_help_loads_no_settings_for_the_variables_of_options() -> None:
    code = "import sys; sys.argv[1:] = ['--version']; from docrail.cli.main import _run; _run(); print(*sys.modules)"
    environment = {**os.environ, "DOCRAIL_API_URL": "http://127.0.0.1:1", "DOCRAIL_API_KEY": "k"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "docrail.cli.main" in run.stdout.split()
    assert "docrail.settings" not in run.stdout.split()
    assert frozenset(NO_SETTINGS) == settings.NO_SETTINGS


def test_validating_loads_no_server_client_and_no_reader() -> None:
    loaded = loaded_by("validate", "definitions/invoice.yaml")
    assert {*SERVERS, *READERS, *OPENED} & loaded == set()
    assert "pydantic" in loaded


def test_validating_loads_no_database_for_handlers_that_need_none(tmp_path: Path) -> None:
    file = tmp_path / "echo.yaml"
    file.write_text("id: x\nsteps: [{id: a, handler: echo}]\n")
    assert DATABASE & loaded_by("validate", str(file)) == set()


def test_every_place_of_the_tree_is_a_command_with_that_first_line() -> None:
    places = [*SHORTCUTS.items(), *(verb for _, verbs in NOUNS.values() for verb in verbs.items())]
    commands = {**assemble().commands}
    assert len(places) > 60
    for name in NOUNS:
        for verb, command in commands[name].commands.items():  # type: ignore[attr-defined]
            assert (command.load().help or "").partition("\n")[0] == command.help, f"{name} {verb}"
    for name in SHORTCUTS:
        assert (commands[name].load().help or "").partition("\n")[0] == commands[name].help  # type: ignore[attr-defined]
