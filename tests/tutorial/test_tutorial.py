"""A guided tour: each test shows one concept, on the happy path. Read it from top to bottom."""

from pathlib import Path

from tests.api.service import Service
from tests.stack import eventually
from tests.tutorial.conftest import Start

SAMPLES = Path(__file__).parents[2] / "samples"


async def test_a_step_runs_a_handler_and_has_an_output(service: Service, start: Start) -> None:
    run = await service.ended(
        await start(
            """
            id: greet
            inputs: {name: {type: string}}
            steps:
              - {id: hello, handler: echo, config: {value: "Hello, {{ inputs.name }}!"}}
            outputs: {text: "{{ hello.value }}"}
        """,
            name="Ada",
        )
    )
    assert run["status"] == "completed"
    assert run["outputs"] == {"text": "Hello, Ada!"}


async def test_a_step_waits_for_those_it_depends_on_and_reads_their_outputs(service: Service, start: Start) -> None:
    run = await service.ended(
        await start("""
            id: diamond
            steps:
              - {id: top, handler: echo, config: {value: 2}}
              - {id: left, handler: echo, depends_on: [top], config: {value: "{{ top.value + 1 }}"}}
              - {id: right, handler: echo, depends_on: [top], config: {value: "{{ top.value * 5 }}"}}
              - {id: sum, handler: echo, depends_on: [left, right], config: {value: "{{ left.value + right.value }}"}}
            outputs: {sum: "{{ sum.value }}"}
        """)
    )
    assert run["outputs"] == {"sum": 13}


async def test_a_condition_skips_a_step(service: Service, start: Start) -> None:
    run = await service.ended(
        await start(
            """
            id: expensive
            inputs: {total: {type: number}}
            steps:
              - {id: ask_the_boss, handler: noop, condition: inputs.total > 1000}
        """,
            total=200,
        )
    )
    assert run["steps"]["ask_the_boss"]["status"] == "skipped"


async def test_a_list_runs_a_step_for_each_item(service: Service, start: Start) -> None:
    run = await service.ended(
        await start(
            """
            id: shout
            inputs: {words: {type: array}}
            steps:
              - id: each
                handler: echo
                for_each: {items: "{{ inputs.words }}"}
                config: {value: "{{ item | upper }}"}
            outputs: {done: "{{ each.completed }} of {{ each.total }}", last: "{{ each.items[1].output.value }}"}
        """,
            words=["a", "b"],
        )
    )
    assert run["outputs"] == {"done": "2 of 2", "last": "B"}


async def test_a_switch_takes_one_branch(service: Service, start: Start) -> None:
    run = await service.ended(
        await start(
            """
            id: kinds
            inputs: {kind: {type: string}}
            steps:
              - {id: choose, switch: [{when: inputs.kind == 'invoice', branch: invoice}, {else: other}]}
              - {id: pay, handler: noop, depends_on: [choose.invoice]}
              - {id: file, handler: noop, depends_on: [choose.other]}
        """,
            kind="invoice",
        )
    )
    assert (run["steps"]["pay"]["status"], run["steps"]["file"]["status"]) == ("completed", "skipped")


async def test_a_run_waits_for_an_answer(service: Service, start: Start) -> None:
    run_id = await start("""
        id: patient
        steps:
          - {id: reply, wait: {for: signal}}
        outputs: {said: "{{ reply.said }}"}
    """)

    async def is_waiting() -> bool:
        return bool((await service.http.get(f"/v1/runs/{run_id}")).json()["status"] == "waiting")

    await eventually(is_waiting, "the run to wait")
    await service.http.post(f"/v1/runs/{run_id}/waits/reply", json={"answer": {"said": "yes"}})
    assert (await service.ended(run_id))["outputs"] == {"said": "yes"}


async def test_a_failed_step_leaves_other_branches_alone(service: Service, start: Start) -> None:
    run = await service.ended(
        await start("""
            id: branches
            steps:
              - {id: breaks, handler: fail, config: {times: 1}, max_retries: 0}
              - {id: after, handler: noop, depends_on: [breaks]}
              - {id: other, handler: noop}
        """)
    )
    assert run["status"] == "failed"
    assert {name: step["status"] for name, step in run["steps"].items()} == {
        "breaks": "failed",
        "after": "skipped",
        "other": "completed",
    }


async def test_an_uploaded_invoice_is_read_and_queued_for_review(service: Service) -> None:
    sample = SAMPLES / "xr_01.01a_ubl.xml"
    uploaded = await service.http.post("/v1/documents", files={"file": (sample.name, sample.read_bytes())})
    assert (await service.ended(uploaded.json()["run_id"]))["status"] == "completed"
    reviews = (await service.http.get("/v1/reviews")).json()["reviews"]
    [item] = [item for item in reviews if item["document_id"] == uploaded.json()["document_id"]]
    assert item["summary"]["number"] == "123456XX"
