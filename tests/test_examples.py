"""The client's examples as written, on real servers: JSON workflow, scenarios, submit + trigger, states, templates."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr
from temporalio.api.enums.v1 import EventType

from docrail.activities.registry import load_catalogue
from docrail.dag.engine.plan import compile_plan
from docrail.dag.validation.validate import check_definition, validate
from docrail.dag.values.json_values import Json
from docrail.workflows.contract.names import workflow_id
from tests.api.customer import upload
from tests.api.service import Service, serve_with_worker, settings_for
from tests.gemini import KEY, gemini
from tests.loopback import loopback, reply_json
from tests.postgres import migrated_database
from tests.stack import Servers, eventually


@pytest.fixture(scope="module")
async def served(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """An API and a worker that may call this machine, and a model that always writes the same."""
    async with migrated_database(embedded.dsn) as dsn, gemini(says="a summary") as model:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("examples"))
        outside = {"allowed_hosts": ("127.0.0.1",), "gemini_base_url": model.url}
        settings = settings.model_copy(update={**outside, "gemini_api_key": SecretStr(KEY)})
        async with serve_with_worker(settings) as service:
            yield service


async def run(served: Service, definition: Json, **inputs: Json) -> Json:
    """Run a definition to its end."""
    order = {"definition": definition, "inputs": inputs}
    started = await served.http.post("/v1/runs", json=order)
    assert started.status_code == 202, started.text
    return await served.ended(started.json()["run_id"])


async def scheduled(served: Service, run_id: str) -> list[tuple[str, int]]:
    """Return the steps in the order in which they were dispatched, each with the workflow task that did it."""
    handle = served.app.temporal.get_workflow_handle(workflow_id("default", run_id))
    kind = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    found = [event async for event in handle.fetch_history_events() if event.event_type == kind]
    attributes = [event.activity_task_scheduled_event_attributes for event in found]
    return [(each.activity_id, each.workflow_task_completed_event_id) for each in attributes]


def node(node_id: str, *dependencies: str, handler: str = "data_processor", **config: Json) -> dict[str, Json]:
    """A node in the examples' words."""
    return {"node_id": node_id, "handler": handler, "config": config, "dependencies": list(dependencies)}


# -- the event-driven engine: JSON with node_id, handler, config, dependencies --


async def test_the_json_workflow(served: Service) -> None:
    """fetch_data calls a service, its result is the prompt of a model, whose completion is processed."""
    async with loopback(reply_json("API response")) as service:
        nodes = [
            node("fetch_data", handler="external_service", url=service.url),
            node("summarise", "fetch_data", handler="llm_service", prompt="{{ fetch_data.result }}"),
            node("process", "summarise", operation="uppercase", data="{{ summarise.result }}"),
        ]
        ended = await run(served, {"id": "json_workflow", "steps": nodes, "outputs": {"said": "{{ process.result }}"}})
        assert len(service.asked) == 1
    assert (ended["status"], ended["outputs"]) == ("completed", {"said": "A SUMMARY"})
    assert ended["steps"]["fetch_data"]["output"]["result"] == "API response"
    assert [step["handler"] for step in ended["steps"].values()] == [
        "call_external_service",
        "llm_service",
        "transform",
    ]


async def test_templates_are_resolved_in_objects_lists_and_texts(served: Service) -> None:
    nested = {"texts": ["{{ a.result }}", {"deep": "it is {{ a.result }}!"}], "spaced": "{{   a.result   }}"}
    ended = await run(served, {"id": "templates", "steps": [node("a", data=[1, 2]), node("b", "a", data=nested)]})
    expected = {"texts": [[1, 2], {"deep": "it is [1,2]!"}], "spaced": [1, 2]}
    assert ended["steps"]["b"]["output"]["result"] == expected


# -- scenarios A to C of both engines --


def remote(node_id: str, url: str, *dependencies: str, **body: Json) -> dict[str, Json]:
    return node(node_id, *dependencies, handler="external_service", url=url, body=body)


async def test_scenario_a_linear_chain(served: Service) -> None:
    """A, B, C in strict order; each has the data of those before it, not only of the one right before."""
    async with loopback(*(reply_json(name) for name in ("from A", "from B", "from C"))) as service:
        nodes = [
            remote("A", service.url),
            remote("B", service.url, "A", a="{{ A.result }}"),
            remote("C", service.url, "B", a="{{ A.result }}", b="{{ B.result }}"),
        ]
        ended = await run(served, {"id": "linear_chain", "steps": nodes})
        assert [asked.json() for asked in service.asked] == [{}, {"a": "from A"}, {"a": "from A", "b": "from B"}]
    assert ended["status"] == "completed"
    assert [step for step, _ in await scheduled(served, ended["run_id"])] == ["A", "B", "C"]


async def test_scenarios_b_and_c_fan_out_fan_in_without_a_race(served: Service) -> None:
    """B and C are dispatched together, D exactly once, with the results of both."""
    async with loopback(reply_json("API response")) as service:
        nodes = [
            remote("A", service.url),
            remote("B", service.url, "A", of="B {{ A.result }}"),
            remote("C", service.url, "A", of="C {{ A.result }}"),
            remote("D", service.url, "B", "C", b="{{ B.result }}", c="{{ C.result }}"),
        ]
        for _ in range(5):  # B and C end within a millisecond of each other, in either order
            service.asked.clear()
            ended = await run(served, {"id": "fan_in", "steps": nodes})
            assert ended["status"] == "completed"
            shown = await scheduled(served, ended["run_id"])
            assert sorted(step for step, _ in shown) == ["A", "B", "C", "D"]
            tasks = dict(shown)
            assert tasks["B"] == tasks["C"]
            assert service.asked[-1].json() == {"b": "API response", "c": "API response"}


# -- submit, then trigger --


async def test_submit_and_trigger_with_input_params(served: Service) -> None:
    definition = {
        "id": "parameterised",
        "inputs": {"customer": {"type": "string", "required": True}},
        "steps": [node("begin", handler="input"), node("out", "begin", handler="output", hello="{{ begin.customer }}")],
    }
    executions = []
    for _ in range(2):  # the same workflow may be submitted several times
        submitted = await served.http.post("/v1/workflow", json={"definition": definition})
        assert (submitted.status_code, submitted.json()["status"]) == (201, "pending")
        executions.append(submitted.json())
    assert len({execution["execution_id"] for execution in executions}) == 2
    assert {execution["workflow_definition_id"] for execution in executions} == {"parameterised"}
    for execution, customer in zip(executions, ("Ada", "Bob"), strict=True):
        path = f"/v1/workflow/trigger/{execution['execution_id']}"
        triggered = await served.http.post(path, json={"input_params": {"customer": customer}})
        assert triggered.json()["status"] == "running"
        ended = await served.ended(triggered.json()["run_id"])
        assert ended["steps"]["out"]["output"] == {"hello": customer}


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "at least 1 entry"),
        ([node("a", "b"), node("b", "a")], "cycle"),
        ([node("a", "missing")], "missing"),
        ([node("a", "a")], "itself"),
        ([node("a", handler="missing")], "there is no handler 'missing'"),
    ],
)
async def test_an_invalid_dag_is_refused_before_any_execution(served: Service, nodes: list[Json], message: str) -> None:
    refused = await served.http.post("/v1/workflow", json={"definition": {"id": "no_dag", "steps": nodes}})
    assert refused.status_code == 422
    assert message in refused.text


# -- states, and how a workflow's is derived from its nodes' --


def fails(node_id: str, *dependencies: str) -> dict[str, Json]:
    return node(node_id, *dependencies, handler="fail", times=9, error="ValueError")


@pytest.mark.parametrize(
    ("nodes", "workflow", "states"),
    [
        ([node("a"), node("b", "a")], "completed", ["completed", "completed"]),
        (
            [node("a"), fails("b", "a"), node("c", "b"), node("d", "c")],
            "failed",
            ["completed", "failed", "skipped", "skipped"],
        ),
        ([fails("a"), node("b")], "failed", ["failed", "completed"]),
    ],
)
async def test_a_workflows_state_is_derived_from_its_nodes(
    served: Service, nodes: list[Json], workflow: str, states: list[str]
) -> None:
    ended = await run(served, {"id": "derived", "steps": nodes})
    found = {name: step["status"] for name, step in ended["steps"].items()}
    assert (ended["status"], [found[node["node_id"]] for node in nodes]) == (workflow, states)
    for step in ended["steps"].values():
        if step["status"] == "skipped":
            assert (step["reason"], step["error"]["message"]) == ("upstream_failed", "Dependency failed")


async def test_a_node_is_pending_then_running_then_cancelled(served: Service) -> None:
    nodes = [node("long", handler="sleep", seconds=3600), node("after", "long")]
    started = await served.http.post("/v1/runs", json={"definition": {"id": "cancelled", "steps": nodes}})
    run_id = started.json()["run_id"]
    seen: list[Json] = []

    async def is_running() -> bool:
        seen[:] = [(await served.http.get(f"/v1/runs/{run_id}")).json()]
        return bool(seen[0]["steps"]["long"]["status"] == "running")

    await eventually(is_running, "the node to run")
    assert (seen[0]["status"], seen[0]["steps"]["after"]["status"]) == ("running", "pending")
    await served.app.temporal.get_workflow_handle(workflow_id("default", run_id)).cancel()
    ended = await served.ended(run_id)
    assert (ended["status"], ended["steps"]["long"]["status"]) == ("cancelled", "cancelled")


async def test_max_concurrency_holds_ready_nodes_queued(served: Service) -> None:
    nodes = [node(name, handler="sleep", seconds=3600) for name in ("a", "b")]
    definition = {"id": "gate", "limits": {"max_concurrency": 1}, "steps": nodes}
    run_id = (await served.http.post("/v1/runs", json={"definition": definition})).json()["run_id"]

    async def is_held() -> bool:
        steps = (await served.http.get(f"/v1/runs/{run_id}")).json()["steps"]
        return [steps[name]["status"] for name in ("a", "b")] == ["running", "queued"]

    await eventually(is_held, "one to run and one to be queued")
    await served.http.post(f"/v1/runs/{run_id}/abort", json={"reason": "seen enough"})
    assert (await served.ended(run_id))["status"] == "aborted"


# -- invalid templates --


async def test_an_invalid_template_fails_its_node(served: Service) -> None:
    """Known only when it runs: what a data_processor gives depends on its config."""
    nodes = [
        node("fetch_data", data={"a": 1}),
        node("use", "fetch_data", data="{{ fetch_data.result.missing }}"),
        node("other"),
    ]
    ended = await run(served, {"id": "invalid_template", "steps": nodes})
    failed = ended["steps"]["use"]
    assert (ended["status"], failed["status"], ended["steps"]["other"]["status"]) == ("failed", "failed", "completed")
    assert failed["error"]["type"] == "TemplateError"
    assert "missing" in failed["error"]["message"]


@pytest.mark.parametrize("template", ["{{ missing.result }}", "{{ use.result }}", "{{ fetch_data. }}"])
async def test_a_template_that_can_never_be_resolved_is_refused_at_submit(served: Service, template: str) -> None:
    nodes = [node("fetch_data", data=1), node("use", "fetch_data", data=template)]
    refused = await served.http.post("/v1/workflow", json={"definition": {"id": "refused", "steps": nodes}})
    assert refused.status_code == 422


# -- the document pipeline with DAG executor --

PIPELINE = """
id: document_processing
inputs: {document_id: {type: string, required: true}}
limits: {max_concurrency: 4}
steps:
  - id: extract
    handler: extract
    resource_tag: gemini_api
    max_retries: 3
    timeout_seconds: 300
    config: {document_id: "{{ inputs.document_id }}"}
  - {id: save_parquet, handler: save_parquet, depends_on: [extract], config: {invoice: "{{ extract.invoice_ref }}"}}
  - {id: save_json, handler: save_json, depends_on: [extract], config: {invoice: "{{ extract.invoice_ref }}"}}
  - id: record_metrics
    handler: record_metrics
    depends_on: [extract]
    condition: extract is defined
    config: {document_id: "{{ inputs.document_id }}", status: "{{ steps.extract.status }}"}
  - id: create_review
    handler: create_review
    depends_on: [save_parquet, save_json]
    config: {document_id: "{{ inputs.document_id }}", sla_hours: 24}
"""


async def test_the_document_processing_dag_runs_layer_by_layer(served: Service) -> None:
    definition, problems = check_definition(PIPELINE, load_catalogue())
    assert definition is not None, problems
    plan = compile_plan(definition)
    assert [[plan.steps[index].id for index in layer] for layer in plan.layers] == [
        ["extract"],
        ["save_parquet", "save_json", "record_metrics"],
        ["create_review"],
    ]
    document_id = await upload(served, "zf1_comfort_rabatte.pdf")
    ended = await run(served, definition.model_dump(mode="json"), document_id=document_id)
    assert {step["status"] for step in ended["steps"].values()} == {"completed"}


# -- names --

REGISTERED: dict[str, dict[str, Any]] = {
    "extract": {"config": {"document_id": "doc_1"}},
    "save_parquet": {},
    "save_json": {},
    "record_metrics": {},
    "create_review": {},
    "external_service": {},
    "llm_service": {},
    "data_processor": {},
    "input": {},
    "output": {},
    "call_external_service": {},
    "SendWebhookEvent": {},
    "WaitForResponse": {},
    "ParseHTTPRequest": {},
    "EvaluateIfThenElse": {"config": {"if": "previous.decision == 1", "else": "abort"}},
    "ParseDocument": {},
    "Elixir.Demo.Commands.SendWebhookEvent": {},
}
"""The names that the examples use for handlers, each with its required config."""


@pytest.mark.parametrize("name", REGISTERED)
def test_a_name_of_the_examples_resolves(name: str) -> None:
    steps = [{"handler": "transform", "config": {"decision": 1}}, {"handler": name, **REGISTERED[name]}]
    _, problems = validate(steps, None, load_catalogue())
    assert [problem for problem in problems if problem.code == "unknown-handler"] == []


def test_the_table_notices_an_unregistered_name() -> None:
    _, problems = validate([{"handler": "missing"}], None, load_catalogue())
    assert "unknown-handler" in [problem.code for problem in problems]
