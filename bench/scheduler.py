"""Time the scheduler on chains, fans and random graphs of 10 to 20,000 steps, and a naive one that visits all steps.

Prints one JSON line for each (shape, size) and a summary for each shape: microseconds per event, and the growth
exponent of that over the number of steps (0 is constant, 1 is a scheduler that visits all steps for each event).

At most 500 steps run at once, as in any definition: a run that may need more events than Temporal allows is stopped,
and a fan of 5,000 at once is such a run.

Last results (2 cores, CPU time): 12 to 17 us per event, 15 to 27 with templates; growth exponents 0.00 to 0.06. The
naive scheduler takes 30 times as long for a chain of 1,000 steps, and grows with an exponent of 0.6 to 1.0.
"""

import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time

from bench.graphs import MOST_AT_ONCE
from docrail.dag.engine.eligibility import RULES, Outcomes
from docrail.dag.engine.events import RunStarted, Start, StepCompleted
from docrail.dag.engine.plan import Plan, compile_plan
from docrail.dag.engine.saved_state import begin
from docrail.dag.engine.transitions import advance
from docrail.dag.language.definition import Definition, Limits, Step
from docrail.dag.language.statuses import RunStatus

SIZES = (10, 100, 1_000, 5_000, 20_000)
NAIVE_SIZES = frozenset({10, 100, 1_000})
"""The naive scheduler takes minutes for more."""
LEAST_EVENTS = 20_000
"""Small runs are repeated until this many events were timed."""
REPEATS = 3

Shape = Callable[[int], list[list[int]]]
"""The parents of each step, by number."""


def chain(steps: int) -> list[list[int]]:
    return [[number - 1] if number else [] for number in range(steps)]


def fan(steps: int) -> list[list[int]]:
    return [[], *([0] for _ in range(steps - 2)), list(range(1, steps - 1))]


def graph(steps: int) -> list[list[int]]:
    draw = random.Random(7)
    return [draw.sample(range(number), min(number, draw.randint(0, 3))) for number in range(steps)]


SHAPES: dict[str, Shape] = {"chain": chain, "fan": fan, "random": graph}


def plan_for(shape: Shape, steps: int, *, templates: bool) -> Plan:
    """Compile a plan of that shape. With templates, each step reads an output of its first parent."""
    document = Definition(
        id="bench",
        steps=tuple(
            Step(
                id=f"s{number}",
                handler="work",
                depends_on=tuple(f"s{parent}" for parent in parents),
                config={"value": f"{{{{ s{parents[0]}.total }}}}"} if templates and parents else {},
            )
            for number, parents in enumerate(shape(steps))
        ),
        limits=Limits(max_concurrency=MOST_AT_ONCE),
    )
    return compile_plan(document)


def play(plan: Plan) -> int:
    """Run a plan to its end, completing steps in random order; return the number of events."""
    run = begin(plan, {}, {})
    draw = random.Random(11)
    commands = advance(plan, run, RunStarted(0.0))
    running, events = [], 1
    output = {"total": 12.5}
    while run.outcome is None:
        running += [command.step for command in commands if isinstance(command, Start)]
        chosen = draw.randrange(len(running))
        running[chosen], running[-1] = running[-1], running[chosen]
        commands = advance(plan, run, StepCompleted(running.pop(), output, 1, 1.0))
        events += 1
    assert run.outcome is RunStatus.COMPLETED, run.stop_reason
    return events


def play_naive(plan: Plan) -> int:
    """Run the same plan with a scheduler that visits all steps for each event."""
    states = ["pending"] * len(plan.steps)
    draw = random.Random(11)
    running: list[int] = []
    events = 0
    while True:
        events += 1
        for step in plan.steps:
            if states[step.index] == "pending":
                states[step.index] = _decide(plan, states, step.index)
        free = plan.max_concurrency - sum(states[step.index] == "running" for step in plan.steps)
        for step in plan.steps:
            if states[step.index] == "queued" and free > 0:
                states[step.index], free = "running", free - 1
                running.append(step.index)
        if all(states[step.index] == "completed" for step in plan.steps):
            return events
        chosen = draw.randrange(len(running))
        running[chosen], running[-1] = running[-1], running[chosen]
        states[running.pop()] = "completed"


def _decide(plan: Plan, states: list[str], index: int) -> str:
    step = plan.steps[index]
    parents = [states[parent] for parent in step.parents]
    if not all(parent == "completed" for parent in parents):
        return "pending"
    outcomes = Outcomes(completed=len(parents), bad=0, skipped=0)
    return "queued" if RULES[step.definition.trigger_rule](outcomes) is None else "skipped"


def microseconds_per_event(player: Callable[[Plan], int], plan: Plan, *, least_events: int, repeats: int) -> float:
    """Return the CPU time per event of the best repeat; the others were disturbed."""
    best = math.inf
    for _ in range(repeats):
        events = 0
        start = process_time()
        while not events or events < least_events:
            events += player(plan)
        best = min(best, (process_time() - start) / events * 1e6)
    return best


def growth(points: list[tuple[int, float]]) -> float:
    """Return the exponent of the best-fitting power law of the size (least squares on logarithms)."""
    xs = [math.log(size) for size, _ in points]
    ys = [math.log(cost) for _, cost in points]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - x_mean) ** 2 for x in xs)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / spread


@dataclass(frozen=True)
class Row:
    """Result of one shape and size."""

    shape: str
    steps: int
    us_per_event: float
    naive_us_per_event: float | None
    naive_over_ours: float | None


def measure(name: str, *, templates: bool) -> Iterator[Row]:
    """Yield a row for each size."""
    for steps in SIZES:
        plan = plan_for(SHAPES[name], steps, templates=templates)
        ours = microseconds_per_event(play, plan, least_events=LEAST_EVENTS, repeats=REPEATS)
        naive = None
        if steps in NAIVE_SIZES and not templates:
            naive = microseconds_per_event(play_naive, plan, least_events=0, repeats=1)
        yield Row(
            name + (" with templates" if templates else ""),
            steps,
            round(ours, 2),
            None if naive is None else round(naive, 1),
            None if naive is None else round(naive / ours, 1),
        )


def main() -> None:
    for templates in (False, True):
        for name in SHAPES:
            rows = []
            for row in measure(name, templates=templates):
                rows.append(row)
                print(json.dumps(vars(row)), flush=True)
            naive = [(row.steps, row.naive_us_per_event) for row in rows if row.naive_us_per_event is not None]
            summary = {
                "shape": rows[0].shape,
                "most_us_per_event": max(row.us_per_event for row in rows),
                "growth_exponent": round(growth([(row.steps, row.us_per_event) for row in rows]), 3),
                "naive_growth_exponent": round(growth(naive), 3) if naive else None,
            }
            print(json.dumps({"summary": summary}), flush=True)


if __name__ == "__main__":
    main()
