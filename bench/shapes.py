"""Compare definitions of 2,000 steps and 6,000 edges with the same graphs as hand-written workflows.

`layered` has 20 layers of 100 steps; `wide` has a layer of 1,900 steps and a join of 1,100 of them. Prints a JSON line
for each graph: seconds to validate its definition, steps/s of a run that has the machine to itself, the hand-written
one's, and the rounds' ratios with their geometric mean. A round runs one right after the other, because a shared
machine may be half again as fast in one minute as in another. The steps do nothing, and at most 500 run at once.

Last results (2 cores) as steps/s, ratio to the hand-written one, CPU ratio, in three rounds each: layered 589, 0.79,
1.24; wide 561, 0.87, 1.15, and 572, 0.85, 1.16. With so few rounds the ratio varies by 0.1. The start and end of a run
take 0.1 s; the rest is under 0.1 ms per step, with no dominant part.
"""

import argparse
import asyncio
import json
import os
import statistics
import time
import uuid

from temporalio.client import Client

from bench.graphs import MOST_AT_ONCE, Graph, parents_of
from bench.interpreter import cpu_seconds, servers
from docrail.activities.registry import load_catalogue
from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.explain.report import RunReport
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.statuses import RunStatus
from docrail.dag.validation.validate import check_definition
from docrail.dag.values.json_values import Json, digest
from docrail.workflows.contract.names import WORKFLOW_TYPE, RunRequest, workflow_id

GRAPHS = (Graph("layered"), Graph("wide"))


def source_of(name: str) -> str:
    """Return the definition of a graph as its author would send it."""
    steps = [
        {"id": f"s{number}", "handler": "noop", "depends_on": [f"s{parent}" for parent in parents]}
        for number, parents in enumerate(parents_of(name))
    ]
    return json.dumps({"id": f"bench_{name}", "steps": steps, "limits": {"max_concurrency": MOST_AT_ONCE}})


def read(name: str) -> tuple[Definition, float]:
    """Return a graph's definition, and the seconds to validate it."""
    text, begun = source_of(name), time.perf_counter()
    definition, problems = check_definition(text, load_catalogue())
    seconds = time.perf_counter() - begun
    assert definition is not None, problems
    return definition, seconds


async def interpreted(client: Client, task_queue: str, document: dict[str, Json]) -> float:
    """Run a definition once; return the seconds it took."""
    request = RunRequest(
        tenant_id="default",
        run_id=f"bench.{uuid.uuid4().hex}",
        definition=document,
        version=1,
        digest=digest(document),
        inputs={},
        semantics=SEMANTICS,
    )
    begun = time.perf_counter()
    report: RunReport = await client.execute_workflow(
        WORKFLOW_TYPE,
        request,
        id=workflow_id("default", request.run_id),
        task_queue=task_queue,
        result_type=RunReport,
    )
    seconds = time.perf_counter() - begun
    assert (report.status, report.completed) == (RunStatus.COMPLETED, len(document["steps"])), report.reason
    return seconds


async def handwritten(client: Client, task_queue: str, graph: Graph) -> float:
    """Run the same graph once as a hand-written workflow; return the seconds it took."""
    begun = time.perf_counter()
    id_ = f"default/hand/{uuid.uuid4().hex}"
    names: list[str] = await client.execute_workflow("HandwrittenGraph", graph, id=id_, task_queue=task_queue)
    assert len(names) == len(parents_of(graph.name))
    return time.perf_counter() - begun


async def compare(client: Client, task_queue: str, pids: tuple[int, ...], graph: Graph, rounds: int) -> None:
    """Run both in turn and print the graph's line."""
    definition, validated = read(graph.name)
    document, parents = to_json(definition), parents_of(graph.name)
    ours: list[float] = []
    theirs: list[float] = []
    cpu: list[tuple[float, float]] = []
    for turn in range(rounds + 1):  # the first one warms caches and connections, and compiles the plan
        marks = [cpu_seconds(*pids)]
        if turn % 2:
            theirs.append(await handwritten(client, task_queue, graph))
            marks.append(cpu_seconds(*pids))
            ours.append(await interpreted(client, task_queue, document))
            marks.append(cpu_seconds(*pids))
            cpu.append((marks[2] - marks[1], marks[1] - marks[0]))
        else:
            ours.append(await interpreted(client, task_queue, document))
            marks.append(cpu_seconds(*pids))
            theirs.append(await handwritten(client, task_queue, graph))
            marks.append(cpu_seconds(*pids))
            cpu.append((marks[1] - marks[0], marks[2] - marks[1]))
    ratios = [hand / own for own, hand in zip(ours[1:], theirs[1:], strict=True)]
    cpu_ratios = [own / hand for own, hand in cpu[1:]]
    line = {
        "bench": "shapes",
        "graph": graph.name,
        "steps": len(parents),
        "edges": sum(map(len, parents)),
        "fan_in": max(map(len, parents)),
        "definition_bytes": len(json.dumps(document)),
        "validate_seconds": round(validated, 2),
        "steps_per_second": round(len(parents) / statistics.median(ours[1:])),
        "handwritten_steps_per_second": round(len(parents) / statistics.median(theirs[1:])),
        "ratio": round(statistics.geometric_mean(ratios), 3),
        "ratios": [round(ratio, 2) for ratio in sorted(ratios)],
        "cpu_ratio": round(statistics.geometric_mean(cpu_ratios), 3),
    }
    print(json.dumps(line), flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="turns of each contender and graph")
    parser.add_argument("--graph", choices=["layered", "wide"], help="only this one")
    options = parser.parse_args()
    async with servers() as (client, task_queue, pids):
        for graph in GRAPHS:
            if options.graph in (None, graph.name):
                await compare(client, task_queue, pids, graph, options.rounds)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
