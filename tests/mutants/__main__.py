"""Plant each mutant, or those that are named, in a copy of the tree, and print which tests notice it.

`python -m tests.mutants [--jobs N] [NAME…]`; exit code 1 if one survives or its tests cannot run.
"""

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.mutants.mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 900
MOMENTS = count(int(time.time()) + 1)
"""A time of change for each file that is written: bytecode of the same second and size would be used again."""
KILLED, SURVIVED, NO_TESTS = 1, 0, 5
"""pytest's exit codes: a test failed, all passed, none is selected. Any other means that the tests did not run."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a mutant: `killed`, `SURVIVED` or why it could not be tried; and the first test that failed."""

    mutant: Mutant
    word: str
    seconds: float
    detail: str

    def __str__(self) -> str:
        return f"{self.word:<9} {self.seconds:6.1f} s  {self.mutant.name:<42} {self.detail}"


def main() -> int:
    """Try the mutants; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants to try (all)")
    parser.add_argument("--jobs", type=int, default=2, help="copies that are tried at the same time (2)")
    options = parser.parse_args()
    wanted = [mutant for mutant in MUTANTS if not options.names or mutant.name in options.names]
    if unknown := set(options.names) - {mutant.name for mutant in wanted}:
        parser.error(f"no such mutant: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="docrail-mutants-") as folder:
        fates = try_all(wanted, Path(folder), options.jobs)
    bad = [fate for fate in fates if fate.word != "killed"]
    sys.stdout.write(f"{len(fates) - len(bad)} of {len(fates)} killed\n")
    return 1 if bad else 0


def try_all(mutants: Sequence[Mutant], folder: Path, jobs: int) -> list[Fate]:
    """Try the mutants in as many copies of the tree as there are jobs, printing each as it ends."""
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for number in range(jobs):
        copies.put(copy_tree(folder / f"copy{number}"))

    def one(mutant: Mutant) -> Fate:
        tree = copies.get()
        try:
            fate = attempt(tree, mutant)
        finally:
            copies.put(tree)
        sys.stdout.write(f"{fate}\n")
        sys.stdout.flush()
        return fate

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, mutants))


def copy_tree(to: Path) -> Path:
    """Copy the files of the working tree that git does not ignore, links as links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, target = ROOT / name, to / name
        if source.is_symlink() or source.is_file():  # else it was deleted
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return to


def attempt(tree: Path, mutant: Mutant) -> Fate:
    """Plant the mutant in `tree`, run its tests, and restore the file."""
    file = tree / mutant.file
    before = file.read_text("utf-8")
    if before.count(mutant.old) != 1:
        return Fate(
            mutant, "MISSING", 0.0, f"{mutant.file} has its text {before.count(mutant.old)} times, expected once"
        )
    write(file, before.replace(mutant.old, mutant.new))
    began = time.monotonic()
    try:
        code, detail = run_tests(tree, mutant.tests, "not slow")
        if code in (SURVIVED, NO_TESTS):
            passed, (code, detail) = code == SURVIVED, run_tests(tree, mutant.tests, "slow")
            code = SURVIVED if code == NO_TESTS and passed else code
    finally:
        write(file, before)
    word = {KILLED: "killed", SURVIVED: "SURVIVED"}.get(code, f"ERROR {code}")
    return Fate(mutant, word, time.monotonic() - began, mutant.breaks if word == "SURVIVED" else detail)


def write(file: Path, text: str) -> None:
    """Write a source file whose bytecode is stale from now on."""
    file.write_text(text, "utf-8")
    moment = next(MOMENTS)
    os.utime(file, (moment, moment))


def run_tests(tree: Path, tests: Sequence[str], marked: str) -> tuple[int, str]:
    """Run the tests `marked` so until one fails; return pytest's exit code, and the first failure or its last line."""
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", marked]
    command.append("--hypothesis-profile=mutants")
    # PYTHONPATH goes before the installed checkout, also for the processes that tests start.
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    basetemp = ["--basetemp", str(tree.with_name(f"{tree.name}-tmp"))]
    ran = subprocess.run(
        [*command, *basetemp, *tests],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    lines = ran.stdout.strip().splitlines() or ["pytest printed nothing"]
    failed = [line.split(" - ")[0] for line in lines if line.startswith(("FAILED tests", "ERROR tests"))]
    return ran.returncode, failed[0] if failed else lines[-1]


if __name__ == "__main__":
    sys.exit(main())
