"""The units of deploy/systemd: systemd accepts them, their commands exist, and a stop leaves time to drain."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from configparser import RawConfigParser
from pathlib import Path

import pytest
from typer.core import TyperGroup

from docrail.cli.main import assemble
from docrail.embedded.stack import API_STOP_SECONDS, GRACE_MARGIN_SECONDS
from docrail.settings import Settings
from tests.test_backup import Small, small

__all__ = ["small"]

ROOT = Path(__file__).parent.parent
UNITS = sorted((ROOT / "deploy" / "systemd").iterdir())
PROGRAMS = "/opt/docrail/.venv/bin"
TEMPORAL_SECONDS, POSTGRES_SECONDS = 5, 20
"""How long `docrail up` lets its servers stop (embedded/temporal.py, embedded/postgres.py)."""


def read(name: str) -> RawConfigParser:
    unit = RawConfigParser(strict=False)  # a unit may have a name several times
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names are case-sensitive
    unit.read(ROOT / "deploy" / "systemd" / name)
    return unit


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_the_unit(unit: Path, tmp_path: Path) -> None:
    for each in UNITS:
        here = each.read_text().replace(PROGRAMS, str(Path(sys.executable).parent))
        (tmp_path / each.name).write_text(here)
    name = unit.name.replace("@.", "@1.")
    if name != unit.name:
        (tmp_path / unit.name).rename(tmp_path / name)
    command = ("systemd-analyze", "verify", "--man=no", str(tmp_path / name))
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, [line for line in ended.stderr.splitlines() if name in line]) == (0, []), ended.stderr


@pytest.mark.parametrize("unit", [each for each in UNITS if each.suffix == ".service"], ids=lambda unit: unit.name)
def test_the_command_of_a_unit_is_one_of_docrail(unit: Path) -> None:
    words = shlex.split(read(unit.name)["Service"]["ExecStart"].replace("/bin/sh -c ", "").strip("'"))
    program, *arguments = words[words.index(f"{PROGRAMS}/docrail") :]
    assert Path(program).name == "docrail"
    command = assemble().commands[arguments.pop(0)]
    if isinstance(command, TyperGroup):
        command = command.commands[arguments.pop(0)]
    command.make_context("it", arguments)  # refuses an option that it does not have


def test_a_stop_leaves_time_to_drain_before_systemd_kills() -> None:
    drain = Settings.model_fields["graceful_shutdown_seconds"].default
    servers = TEMPORAL_SECONDS + POSTGRES_SECONDS
    needed = {
        "docrail.service": drain + GRACE_MARGIN_SECONDS + servers,
        "docrail-worker@.service": drain + GRACE_MARGIN_SECONDS,
        "docrail-api.service": API_STOP_SECONDS,
    }
    for name, seconds in needed.items():
        service = read(name)["Service"]
        assert float(service["TimeoutStopSec"]) >= seconds, name
        assert service["KillMode"] == "mixed", name  # else PostgreSQL is stopped while workers still use it


@pytest.mark.server
def test_the_nightly_backup_writes_a_file_and_deletes_those_of_last_month(small: Small, tmp_path: Path) -> None:
    service = read("docrail-backup.service")["Service"]
    old, recent = tmp_path / "docrail-20200101T023000.tar", tmp_path / "docrail-20200102T023000.tar"
    for archive in (old, recent):
        archive.touch()
    month_ago = time.time() - 30 * 86400
    os.utime(old, (month_ago, month_ago))
    for key in ("ExecStart", "ExecStartPost"):
        line = service[key].replace("$$", "$").replace("%%", "%").replace(PROGRAMS, str(Path(sys.executable).parent))
        line = line.replace("/var/lib/docrail-backup", str(tmp_path)).replace(
            "/var/lib/docrail/data", str(small.data_dir)
        )
        subprocess.run(shlex.split(line), check=True, capture_output=True)
    assert not old.exists()
    assert recent.exists()
    [new] = set(tmp_path.glob("docrail-2*.tar")) - {recent}
    assert new.stat().st_size > 0
