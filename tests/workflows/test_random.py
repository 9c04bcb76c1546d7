"""Drawn definitions on the real server: each ends as the specification says, and its history replays."""

import asyncio
from typing import Any

from hypothesis import given, settings

from dag.definition import Definition, to_json
from dag.report import RunReport
from tests.dag.definitions import LAW, Case, cases
from tests.dag.specification import Fate, Specified, specify
from tests.workflows.conftest import FAST, Bench

DEFINITIONS = 30
OTHER = {
    "id": "other",
    "inputs": {"value": {"type": "integer"}},
    "steps": [{"id": "inner", "handler": "work", "max_retries": 0}],
}
"""What drawn definitions nest."""


def draw(count: int) -> list[Case]:
    """Return cases that hypothesis draws, the same on every machine."""
    drawn: list[Case] = []

    @settings(LAW, max_examples=count)
    @given(cases(surprises=False))
    def collect(case: Case) -> None:
        drawn.append(case)

    collect()
    return drawn


def without_waits(definition: Definition) -> dict[str, Any]:
    """Return the definition with handlers in the place of waits, which would take a minute of real time."""
    document = to_json(definition)
    for step in document["steps"]:
        if step.pop("wait", None) or step.pop("human", None):
            step["handler"] = "work"
        step["retry_config"] = FAST
        if "handler" in step:
            step["max_retries"] = 0
    return document


def outcome(report: RunReport) -> Specified:
    return Specified({name: Fate(told.status, told.reason) for name, told in report.steps.items()}, report.status)


async def test_drawn_definitions_end_as_specified_and_replay(bench: Bench) -> None:
    for case in draw(DEFINITIONS):
        document = without_waits(case.definition)
        bench.gates.failing[:] = sorted(case.failing)
        steps, more = document.pop("steps"), {key: document[key] for key in ("limits", "on_failure")}
        async with asyncio.timeout(30):
            report = await bench.run(steps, nested=[OTHER], **more)
        expected = specify(Definition.model_validate({**document, "steps": steps}), case.failing)
        assert outcome(report) == expected, steps
