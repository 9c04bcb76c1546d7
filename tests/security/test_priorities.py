"""No way of starting work puts a tenant's before that of all others: what Temporal is given, for each way."""

from collections.abc import AsyncIterator
from typing import Any

from temporalio.client import WorkflowHandle

from docrail.dag.values.json_values import Json
from docrail.services.access.models import DEFAULT_TENANT
from docrail.workflows.contract.names import workflow_id
from tests.api.invoices import e_invoice
from tests.api.service import Service
from tests.stack import eventually

URGENT: Json = {"key": 1}
INNER: Json = {
    "id": "urgent_inner",
    "priority": URGENT,
    "steps": [{"id": "inside", "handler": "noop", "priority": 1}],
}
OUTER: Json = {
    "id": "urgent_outer",
    "priority": URGENT,
    "on_failure": "continue",
    "steps": [
        {"id": "step", "handler": "noop", "priority": 1},
        {"id": "plain", "handler": "noop"},
        {"id": "each", "handler": "noop", "priority": 1, "for_each": {"items": [1, 2]}},
        {"id": "nested", "workflow": {"id": "urgent_inner"}},
        {"id": "every", "workflow": {"id": "urgent_inner"}, "for_each": {"items": [1, 2]}},
        {"id": "broken", "handler": "fail", "config": {"times": 9}, "max_retries": 0, "priority": 1},
    ],
}


async def publish(service: Service, tenant: str, *definitions: Json) -> None:
    for definition in definitions:
        answer = await ask(service, tenant, "POST", "/v1/definitions", json={"definition": definition})
        assert answer.status_code == 201, answer.text


async def ask(service: Service, tenant: str, method: str, path: str, **request: Any) -> Any:
    return await service.http.request(method, path, headers={"X-Test-Tenant": tenant}, **request)


async def run_to_its_end(service: Service, tenant: str, **order: Json) -> str:
    started = await ask(service, tenant, "POST", "/v1/runs", json=order)
    assert started.status_code == 202, started.text
    run_id: str = started.json()["run_id"]
    await has_closed(service, tenant, run_id)
    return run_id


def handle_of(service: Service, tenant: str, run_id: str) -> WorkflowHandle[Any, Any]:
    return service.app.temporal.get_workflow_handle(workflow_id(tenant, run_id))


async def has_closed(service: Service, tenant: str, run_id: str) -> None:
    async def is_closed() -> bool:
        return (await handle_of(service, tenant, run_id).describe()).close_time is not None

    await eventually(is_closed, f"the end of {run_id}")


async def priorities(service: Service, handle: WorkflowHandle[Any, Any]) -> AsyncIterator[int]:
    """Yield the priorities of a workflow and of everything that it starts; 0 is inherited."""
    async for event in handle.fetch_history_events():
        match event.WhichOneof("attributes"):
            case "workflow_execution_started_event_attributes":
                yield event.workflow_execution_started_event_attributes.priority.priority_key
            case "activity_task_scheduled_event_attributes":
                yield event.activity_task_scheduled_event_attributes.priority.priority_key
            case "child_workflow_execution_started_event_attributes":
                inner = event.child_workflow_execution_started_event_attributes.workflow_execution
                inside = service.app.temporal.get_workflow_handle(inner.workflow_id, run_id=inner.run_id)
                async for key in priorities(service, inside):
                    yield key


async def most_urgent(service: Service, tenant: str, run_id: str) -> int:
    found = [key async for key in priorities(service, handle_of(service, tenant, run_id)) if key]
    return min(found)


async def test_runs_steps_lists_nested_runs_and_retries_are_at_most_as_urgent_as_the_tenant_may_be(
    service: Service,
) -> None:
    for tenant, most in (("acme", 3), (DEFAULT_TENANT, 1)):
        await publish(service, tenant, INNER, OUTER)
        run_id = await run_to_its_end(service, tenant, definition="urgent_outer", priority=1)
        assert await most_urgent(service, tenant, run_id) == most
        retried = await ask(service, tenant, "POST", f"/v1/runs/{run_id}/retry", json={})
        assert retried.status_code == 200, retried.text
        await has_closed(service, tenant, run_id)
        assert await most_urgent(service, tenant, run_id) == most


async def test_an_uploaded_document_is_at_most_as_urgent_as_the_tenant_may_be(service: Service) -> None:
    await publish(service, "acme", {**INNER, "id": "invoice"})
    sent = await ask(service, "acme", "POST", "/v1/documents", files={"file": ("a.xml", e_invoice("URGENT-1"))})
    assert sent.status_code == 202, sent.text
    run_id = sent.json()["run_id"]
    await has_closed(service, "acme", run_id)
    assert await most_urgent(service, "acme", run_id) == 3


async def test_a_quota_of_the_operator_lets_a_tenant_go_first_until_it_is_reset(service: Service) -> None:
    await publish(service, "trusted", INNER)
    path = "/v1/quotas/highest_priority"
    allowed = await ask(service, DEFAULT_TENANT, "PUT", path, json={"tenant": "trusted", "value": 2})
    assert allowed.status_code == 200, allowed.text
    run_id = await run_to_its_end(service, "trusted", definition="urgent_inner")
    assert await most_urgent(service, "trusted", run_id) == 2
    await ask(service, DEFAULT_TENANT, "DELETE", path, params={"tenant": "trusted"})
    run_id = await run_to_its_end(service, "trusted", definition="urgent_inner")
    assert await most_urgent(service, "trusted", run_id) == 3
