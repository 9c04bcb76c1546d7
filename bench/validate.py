"""Times validation of definitions of 5 to 2,000 steps, right and wrong, one JSON line each.

Last numbers (2 cores, 2,000 steps): right 240 ms; with 2,000 different conditions 820 ms, of which compiling the
conditions takes 580; every dependency misspelt 420 ms; picture 17 ms; reading 1 MB of JSON with places 400 ms.
"""

import json
from collections.abc import Iterator
from time import perf_counter

from pydantic import BaseModel

from dag.picture import critical_path, mermaid
from operations.source import check_definition, read_source

SIZES = (5, 100, 500, 2_000)


class Config(BaseModel, extra="forbid"):
    """What the benchmark's handler takes."""

    value: int


class Output(BaseModel):
    """What it gives."""

    total: int


class Models:
    """The handler."""

    name = "add"
    aliases = ()
    config = Config
    output = Output


CATALOGUE = {"add": Models()}


def definition(steps: int, *, conditions: bool = False, parent: str = "step") -> str:
    """Return YAML of a band of steps: each waits for the three before it and reads the last of them."""
    return "id: wide\nsteps:\n" + "".join(_lines(steps, conditions=conditions, parent=parent))


def _lines(steps: int, *, conditions: bool, parent: str) -> Iterator[str]:
    yield "  - {id: step_0, handler: add, config: {value: 1}}\n"
    for number in range(1, steps):
        parents = ", ".join(f"{parent}_{above}" for above in range(max(0, number - 3), number))
        yield f"  - id: step_{number}\n    handler: add\n    depends_on: [{parents}]\n"
        yield f'    config: {{value: "{{{{ step_{number - 1}.total }}}}"}}\n'
        if conditions:
            yield f"    condition: step_{number - 1}.total > {number}\n"


def best_of(runs: int, text: str) -> tuple[float, int]:
    """Return the least seconds of some validations, and how many problems there are."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        _, problems = check_definition(text, CATALOGUE)
        times.append(perf_counter() - start)
    return min(times), len(problems)


def main() -> None:
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
