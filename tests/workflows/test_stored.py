"""Outputs that are too large to travel: stored by reference, and read by templates as if they were at hand."""

import json

from docrail.dag.explain.report import RunReport
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import part_of
from tests.workflows.conftest import Bench, step

MANY = 2_000
"""Rows that together are above what a run carries."""

LOADED = step("load", "rows", config={"count": MANY})


def using(value: Json, **fields: Json) -> dict[str, Json]:
    return step("use", "echo", config={"value": value}, depends_on=["load"], **fields)


def value_of(report: RunReport) -> Json:
    assert report.status is RunStatus.COMPLETED, report.reason
    return report.steps["use"].output["value"]


async def test_a_large_output_stays_out_of_the_history(bench: Bench) -> None:
    handle = await bench.start([LOADED, using("{{ load.sum }}")])
    report = await bench.finish(handle)
    assert value_of(report) == sum(range(MANY))
    assert part_of(report.steps["load"].output) is not None
    assert len((await handle.fetch_history()).to_json()) < 30_000


async def test_templates_use_parts_of_a_large_output(bench: Bench) -> None:
    value = {
        "one": "{{ load.rows[7].n }}",
        "path": {"$path": ["load", "rows", "3", "n"]},
        "last": "{{ load.rows[-1].n + 1 }}",
        "many": "{{ load.rows | length }}",
        "text": "row {{ load.rows[5].n }} of {{ load.rows | length }}",
        "none": "{{ load.nothing | default('none') }}",
        "further": "{{ load.rows[5].nothing is defined }}",
        "steps": "{{ steps.load.output.sum + 0 }}",
    }
    report = await bench.run([LOADED, using(value)])
    assert value_of(report) == {
        "one": 7,
        "path": 3,
        "last": MANY,
        "many": MANY,
        "text": f"row 5 of {MANY}",
        "none": "none",
        "further": False,
        "steps": sum(range(MANY)),
    }


async def test_conditions_and_switches_read_a_large_output(bench: Bench) -> None:
    report = await bench.run(
        [
            LOADED,
            step(
                "skipped", depends_on=["load"], condition="load.sum < 0", config={"never": "{{ load.rows | length }}"}
            ),
            {
                "id": "way",
                "depends_on": ["load"],
                "switch": [{"when": "load.rows[1].n == 1", "branch": "one"}, {"else": "other"}],
            },
            step("after", depends_on=["way.one"]),
        ]
    )
    statuses = {name: reported.status for name, reported in report.steps.items()}
    assert statuses["skipped"] is StepStatus.SKIPPED
    assert statuses["after"] is StepStatus.COMPLETED


async def test_a_step_runs_for_each_element_of_a_stored_list(bench: Bench) -> None:
    each = {"items": "{{ load.rows }}", "key": "item.n", "max_concurrency": 20}
    report = await bench.run(
        [
            step("load", "rows", config={"count": 900}),
            step("more", "rows", config={"count": 700}),
            step(
                "use",
                "echo",
                depends_on=["load", "more"],
                for_each=each,
                config={"n": "{{ item.n }}", "other": "{{ more.rows[3].n }}", "half": "{{ item.n / 2 }}"},
            ),
            step(
                "sum", "echo", depends_on=["use"], config={"of": "{{ use['items'] | map(attribute='output.n') | sum }}"}
            ),
        ]
    )
    assert report.status is RunStatus.COMPLETED, report.reason
    assert part_of(report.steps["use"].output) is not None
    assert report.steps["sum"].output == {"of": sum(range(900))}


async def test_a_missing_value_fails_the_step_that_reads_it(bench: Bench) -> None:
    report = await bench.run([LOADED, using("{{ load.rows[5].nothing + 1 }}")])
    assert report.steps["use"].error
    assert "nothing" in report.steps["use"].error.message
    assert report.steps["use"].error.type == "TemplateError"


async def test_a_value_too_large_to_read_fails_the_step_with_the_reason(bench: Bench) -> None:
    report = await bench.run([step("load", "rows", config={"count": 20_000}), using("{{ load.rows | length }}")])
    assert report.steps["use"].error
    assert report.steps["use"].error.type == "ValueTooLarge"
    assert "more than 1500000" in report.steps["use"].error.message


async def test_a_nested_run_takes_and_gives_large_values(bench: Bench) -> None:
    inner = {
        "id": "inner",
        "inputs": {"rows": {"type": "array", "required": True}},
        "steps": [step("more", "rows", config={"count": MANY})],
        "outputs": {"given": "{{ inputs.rows }}", "rows": "{{ more.rows }}", "sum": "{{ more.sum + 1 }}"},
    }
    report = await bench.run(
        [
            step("load", "rows", config={"count": 1_000}),
            {"id": "nest", "depends_on": ["load"], "workflow": {"id": "inner", "inputs": {"rows": "{{ load.rows }}"}}},
            step(
                "use",
                "echo",
                depends_on=["nest"],
                config={"value": ["{{ nest.given | length }}", "{{ nest.rows | length }}", "{{ nest.sum }}"]},
            ),
        ],
        nested=[inner],
    )
    assert value_of(report) == [1_000, MANY, sum(range(MANY)) + 1]


async def test_a_compensation_reads_a_large_output(bench: Bench) -> None:
    undo = {"handler": "echo", "config": {"rows": "{{ load.rows | length }}", "sum": "{{ load.sum }}"}}
    report = await bench.run(
        [{**LOADED, "compensate": undo}, step("break", "bad", config={"message": "no"}, depends_on=["load"])]
    )
    assert report.steps["load"].compensation is StepStatus.COMPLETED


async def test_a_run_gives_parts_of_a_large_output(bench: Bench) -> None:
    report = await bench.run([LOADED], outputs={"rows": "{{ load.rows }}", "many": "{{ load.rows | length }}"})
    assert report.outputs["many"] == MANY
    assert part_of(report.outputs["rows"])
    assert len(json.dumps(report.outputs)) < 1_000
