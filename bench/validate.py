"""Time the validation of definitions of 5 to 2,000 steps, valid and invalid, and of `docrail validate`.

Prints one JSON line each. The command's lines have the seconds of `docrail validate FILE` with 2,000 steps as seen from
the shell, the minimum and the median of seven, and the ratio to a minimal Python that loads the same four libraries and
reads the same file with libyaml. Both run in turn, so that a busy machine slows both.

Last results (2 cores, 2,000 steps): valid 300 ms; with 2,000 different conditions 400 ms; every dependency misspelt
400 ms; picture 13 ms; reading 1.5 MB of JSON with places 460 ms. The command, minimum and median: in flow style 0.54 s
and 0.57 (2.5 times the minimal Python), in block style, twice as many bytes, 0.73 s and 0.75 (2.3 times).
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from pydantic import BaseModel

from docrail.dag.language.picture import critical_path, mermaid
from docrail.dag.language.source.source import read_source
from docrail.dag.validation.validate import check_definition

SIZES = (5, 100, 500, 2_000)
TURNS = 7
BARE = "import sys, jinja2, pydantic, typer, yaml; yaml.load(open(sys.argv[1]), yaml.CSafeLoader)"


class Config(BaseModel, extra="forbid"):
    """Config of the benchmark's handler."""

    value: int


class Output(BaseModel):
    """Output of the benchmark's handler."""

    total: int


class Models:
    """The benchmark's handler."""

    name = "add"
    aliases = ()
    config = Config
    output = Output


CATALOGUE = {"add": Models()}


def definition(steps: int, *, conditions: bool = False, parent: str = "step") -> str:
    """Return YAML of a band of steps: each depends on the three before it and reads the last of them."""
    return "id: wide\nsteps:\n" + "".join(_lines(steps, conditions=conditions, parent=parent))


def _lines(steps: int, *, conditions: bool, parent: str) -> Iterator[str]:
    yield "  - {id: step_0, handler: add, config: {value: 1}}\n"
    for number in range(1, steps):
        parents = ", ".join(f"{parent}_{above}" for above in range(max(0, number - 3), number))
        yield f"  - id: step_{number}\n    handler: add\n    depends_on: [{parents}]\n"
        yield f'    config: {{value: "{{{{ step_{number - 1}.total }}}}"}}\n'
        if conditions:
            yield f"    condition: step_{number - 1}.total > {number}\n"


def long_definition(steps: int) -> str:
    """Return YAML of a chain in block style, 300 bytes per step: each has its own retries, title and condition."""
    head = "dsl: 1\nid: long\ninputs:\n  a: {type: string, required: true}\nsteps:\n"
    return head + "".join(_long_step(number) for number in range(steps))


def _long_step(number: int) -> str:
    before = f"step_{number - 1}"
    chained = f"    depends_on:\n      - {before}\n    condition: {before}.value != 'x{number}'\n" if number else ""
    return (
        f"  - id: step_{number}\n    title: Step number {number}\n    handler: echo\n{chained}"
        "    max_retries: 2\n    retry_config:\n      initial_delay: 5\n      jitter: 0.2\n"
        f'    config:\n      value: "{{{{ {before if number else "inputs"}.{"value" if number else "a"} }}}}"\n'
    )


def best_of(runs: int, text: str) -> tuple[float, int]:
    """Return the shortest time of some validations in seconds, and the number of problems."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        _, problems = check_definition(text, CATALOGUE)
        times.append(perf_counter() - start)
    return min(times), len(problems)


def seconds_of(*command: str) -> float:
    """Return the seconds that a command takes; it must succeed."""
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start


def time_command(name: str, text: str) -> None:
    """Print the command's line."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "definition.yaml")
        file.write_text(text)
        bare = (sys.executable, "-c", BARE, str(file))
        own = (sys.executable, "-m", "docrail", "validate", str(file))
        times = [(seconds_of(*bare), seconds_of(*own)) for _ in range(TURNS)]
    least, base = min(whole for _, whole in times), min(least for least, _ in times)
    line = {
        "what": f"docrail validate FILE, {name}",
        "steps": text.count(" id: step_") + text.count("{id: step_"),
        "bytes": len(text),
        "seconds": round(least, 2),
        "median_seconds": round(statistics.median(whole for _, whole in times), 2),
        "bare_seconds": round(base, 2),
        "ratio": round(least / base, 2),
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(line))


def main() -> None:
    time_command("flow style", definition(SIZES[-1]).replace("add", "echo").replace(".total", ".value"))
    time_command("block style", long_definition(SIZES[-1]))
    for steps in SIZES:
        texts = {
            "right": definition(steps),
            "right, each step with its own condition": definition(steps, conditions=True),
            "every dependency misspelt": definition(steps, parent="stap"),
        }
        for name, text in texts.items():
            seconds, problems = best_of(3, text)
            print(json.dumps({"what": name, "steps": steps, "ms": round(seconds * 1000, 1), "problems": problems}))
    accepted, _ = check_definition(definition(2_000), CATALOGUE)
    assert accepted is not None
    start = perf_counter()
    critical_path(accepted)
    mermaid(accepted)
    print(json.dumps({"what": "picture", "steps": 2_000, "ms": round((perf_counter() - start) * 1000, 1)}))
    text = accepted.model_dump_json(indent=1)
    start = perf_counter()
    read_source(text)
    print(json.dumps({"what": "reading JSON", "bytes": len(text), "ms": round((perf_counter() - start) * 1000, 1)}))


if __name__ == "__main__":
    main()
