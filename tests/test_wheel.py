"""The wheel: one name in site-packages, everything it needs in it, and the demo runs from it."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOT_SOURCE = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "var", "tests", "node_modules")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run `make dist` with the tools of the tests, in a copy: the build writes next to its sources."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "source", symlinks=True, ignore=NOT_SOURCE)
    command = ["make", "dist", f"RUN={Path(sys.executable).parent}/"]
    for up_to_date in (".venv/.developer", "api/built/index.html"):
        command += ["--old-file", up_to_date]
    built = subprocess.run(command, cwd=folder / "source", capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    (found,) = (folder / "source" / "dist").glob("*.whl")
    return found


def test_the_wheel_puts_only_docrail_into_site_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"docrail"}


def test_the_wheel_holds_every_file_of_the_rooms(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    rooms = {link.name for link in (ROOT / "docrail").iterdir() if link.is_symlink()}
    wanted = {f"docrail/{name}" for name in listed if name.partition("/")[0] in rooms}
    assert wanted - packed == set()


def test_the_wheel_holds_the_built_console(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        page = archive.read("docrail/api/built/index.html").decode()
        packed = set(archive.namelist())
    loaded = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', page)
    assert len(loaded) > 3
    assert {f"docrail/api/built/{name}" for name in loaded} <= packed
    assert [name for name in packed if "node_modules" in name or name.endswith(".tsx")] == []


@pytest.fixture(scope="module")
def environment(wheel: Path) -> Path:
    """Make a virtual environment with the wheel in it, and with the dependencies of the tests, but not this checkout.

    A folder that a .pth file names is searched for modules; the .pth files in it, which name the checkout, are not.
    """
    folder = wheel.parents[2] / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    install = [sys.executable, "-m", "pip", "--python", f"{folder}/bin/python", "install", "--quiet"]
    install += ["--disable-pip-version-check", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (folder / "bin" / "temporal").symlink_to(Path(sys.executable).parent / "temporal")
    return folder


def test_the_demo_runs_from_the_installed_wheel(environment: Path, tmp_path: Path) -> None:
    command = [f"{environment}/bin/docrail", "demo"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("DOCRAIL_", "PYTHON"))}
    ran = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True, timeout=500, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    assert "coolblue" in ran.stdout.lower()
    where = [f"{environment}/bin/python", "-c", "import docrail.dag; print(docrail.dag.__file__)"]
    assert str(environment) in subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout


def test_a_module_of_the_users_is_not_shadowed(environment: Path, tmp_path: Path) -> None:
    for name in ("api", "dag", "settings", "worker", "cli"):
        (tmp_path / f"{name}.py").write_text("MINE = True\n")
    code = "import docrail.settings, docrail.dag, api, dag, settings, worker, cli; print(api.MINE, settings.MINE)"
    command = [f"{environment}/bin/python", "-c", code]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "True True\n", ran.stderr
