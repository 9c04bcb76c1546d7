"""Measure the pipeline by turns with an earlier version of itself, since a machine's speed changes within minutes.

Each round runs `bench.pipeline` of this tree and that of the earlier one three times: documents sent as a batch, sent
singly, and one after the other. A version without batches sends them singly. Prints a JSON line for each, with the
medians of the rounds, their ratio, and the ratio that is demanded. Takes three minutes a round.
"""

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
UNSHARED = "41da137d"
"""The last version in which each document had a workflow of its own."""
SCRIPT = Path("bench/pipeline.py")


@dataclass(frozen=True, slots=True)
class Way:
    """A way to send documents, and what is demanded of it."""

    name: str
    arguments: tuple[str, ...]
    earlier_arguments: tuple[str, ...]
    figure: str
    """Key of the line that the pipeline prints."""
    bar: float
    """Demanded ratio to UNSHARED: at least, or at most where less is better."""
    less_is_better: bool = False


WAYS = (
    Way("batch", ("--batch", "--max-concurrency", "40"), (), "documents_per_hour", 120_000 / 60_000),
    Way("single", (), (), "documents_per_hour", 75_000 / 60_000),
    Way("alone", ("--alone",), ("--alone",), "p50_ms", 120 / 179, less_is_better=True),
)
"""The bars are figures of a machine on which UNSHARED made 60,000 documents an hour, and one in 179 ms."""


def measure(tree: Path, way: Way, arguments: Sequence[str]) -> float:
    """Return the figure that the benchmark of a tree prints."""
    command = [sys.executable, "-m", "bench.pipeline", *arguments]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    ran = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    line: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return float(line[way.figure])


def earlier_tree(revision: str, folder: Path) -> None:
    """Write the files of `revision` into a folder, with the benchmark of this tree."""
    packed = subprocess.run(["git", "-C", ROOT, "archive", revision], stdout=subprocess.PIPE, check=False)
    if packed.returncode:
        raise SystemExit(f"{revision} is not in this clone: fetch its history (`git fetch --unshallow`)")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    shutil.copy(ROOT / SCRIPT, folder / SCRIPT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revision", default=UNSHARED, help="the earlier version (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of all three ways (default: %(default)s)")
    parser.add_argument("--documents", type=int, default=300, help="counted each time; a third alone")
    options = parser.parse_args()
    figures: dict[str, tuple[list[float], list[float]]] = {way.name: ([], []) for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        earlier_tree(options.revision, Path(folder))
        for way in WAYS * options.rounds:
            count = options.documents // 3 if way.name == "alone" else options.documents
            counted = ("--documents", str(count))
            nows, befores = figures[way.name]
            befores.append(measure(Path(folder), way, (*way.earlier_arguments, *counted)))
            nows.append(measure(ROOT, way, (*way.arguments, *counted)))
            print(f"{way.name}: {befores[-1]:,.0f} before, {nows[-1]:,.0f} now", file=sys.stderr, flush=True)
    for way in WAYS:
        now, before = map(median, figures[way.name])
        line = {
            "bench": "against",
            "revision": options.revision,
            "way": way.name,
            "figure": way.figure,
            "before": round(before),
            "now": round(now),
            "ratio": round(now / before, 2),
            "bar": round(way.bar, 2),
            "met": now <= way.bar * before if way.less_is_better else now >= way.bar * before,
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
