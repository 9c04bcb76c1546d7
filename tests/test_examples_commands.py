"""The client's demo as written, commands in order: the customer is asked, then the run aborts, or reads and pays.

The commands are written with the demo's own names and access paths; only the customer's address is filled in.
"""

from collections.abc import AsyncIterator

import pytest

from docrail.dag.values.json_values import Json
from docrail.settings import Settings
from tests.api.customer import SAMPLES, asked, unique, until_waiting
from tests.api.service import Service, serve, settings_for, work
from tests.loopback import Loopback, Reply, loopback
from tests.postgres import migrated_database
from tests.stack import Servers, eventually

SAMPLE = "zf1_comfort_rabatte.pdf"
OK, REFUSED = Reply(), Reply(422)


def example_workflow(customer: Loopback) -> list[dict[str, Json]]:
    """Return the demo's commands."""
    review = {"workflow_id": ["workflow", "id"], "filename": ["document", "filename"]}
    payment = {"amount": ["document", "parsed_content", "amount"], "iban": ["document", "parsed_content", "iban"]}
    decision = {"if": [["previous", "decision"], "equals", "process"], "then": "continue", "else": "abort"}
    return [
        {"module": "SendWebhookEvent", "params": {"url": f"{customer.url}/review", "payload": review}},
        {"module": "WaitForResponse", "params": {}},
        {"module": "ParseHTTPRequest", "params": {"take_params": ["decision"]}},
        {"module": "EvaluateIfThenElse", "params": decision},
        {"module": "ParseDocument", "params": {}},
        {"module": "SendWebhookEvent", "params": {"url": f"{customer.url}/pay-invoice", "payload": payment}},
    ]


@pytest.fixture(scope="module")
async def settings(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Settings]:
    async with migrated_database(embedded.dsn) as dsn:
        made = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("demo"))
        yield made.model_copy(update={"allowed_hosts": ("127.0.0.1",)})


@pytest.fixture(scope="module")
async def served(settings: Settings) -> AsyncIterator[Service]:
    async with serve(settings) as service:
        yield service


async def new_document(served: Service, customer: Loopback) -> str:
    """Let a document come in that takes the demo's workflow; return the run's id."""
    definition = {"id": unique("example"), "steps": example_workflow(customer)}
    published = await served.http.post("/v1/definitions", json={"definition": definition})
    assert published.status_code == 201, published.text
    file = (SAMPLE, (SAMPLES / SAMPLE).read_bytes())
    sent = await served.http.post("/v1/documents", files={"file": file}, data={"definition": definition["id"]})
    assert sent.status_code == 202, sent.text
    return str(sent.json()["run_id"])


async def respond(served: Service, review_request: Json, decision: str) -> None:
    """Do what the customer's server does with a review request: post its decision about that workflow."""
    path = f"/v1/runs/{review_request['workflow_id']}/waits/wait_for_response"
    answered = await served.http.post(path, json={"answer": {"decision": decision}})
    assert answered.status_code == 200, answered.text


def statuses(run: Json) -> list[str]:
    return [step["status"] for step in run["steps"].values()]


async def test_the_customer_review_example(served: Service, settings: Settings) -> None:
    async with loopback() as customer, work(settings):
        run_id = await new_document(served, customer)
        review_request = await asked(customer)
        assert review_request == {"workflow_id": run_id, "filename": SAMPLE}
        await until_waiting(served, run_id)
        waiting = (await served.http.get(f"/v1/runs/{run_id}")).json()
        assert statuses(waiting) == ["completed", "waiting", *["pending"] * 4]
        await respond(served, review_request, "process")
        ended = await served.ended(run_id)
        assert [request.target for request in customer.asked] == ["/review", "/pay-invoice"]
        assert customer.asked[1].json() == {"amount": 215.14, "iban": "DE08700901001234567890"}
    assert ended["status"] == "completed"
    assert list(ended["steps"]) == [
        "send_webhook_event",
        "wait_for_response",
        "parse_http_request",
        "evaluate_if_then_else",
        "parse_document",
        "send_webhook_event_2",
    ]
    assert statuses(ended) == ["completed", "completed", "completed", "skipped", "completed", "completed"]
    assert ended["steps"]["parse_http_request"]["output"] == {"decision": "process"}


async def test_the_abort_branch_of_the_customer_review_example(served: Service, settings: Settings) -> None:
    async with loopback() as customer, work(settings):
        run_id = await new_document(served, customer)
        review_request = await asked(customer)
        await until_waiting(served, run_id)
        await respond(served, review_request, "reject")
        ended = await served.ended(run_id)
        assert [request.target for request in customer.asked] == ["/review"]
    assert (ended["status"], ended["reason"]) == ("aborted", 'previous.decision == "process" does not hold')
    assert statuses(ended) == ["completed", "completed", "completed", "completed", "skipped", "skipped"]
    assert {ended["steps"][name]["reason"] for name in ("parse_document", "send_webhook_event_2")} == {"aborted"}


async def test_a_suspended_workflow_is_requeued_and_skips_its_completed_commands(
    served: Service, settings: Settings
) -> None:
    """While it waits nothing of it is anywhere but in Temporal: another worker goes on with it."""
    async with loopback() as customer:
        async with work(settings):
            run_id = await new_document(served, customer)
            review_request = await asked(customer)
            await until_waiting(served, run_id)
        async with work(settings):
            await respond(served, review_request, "process")
            ended = await served.ended(run_id)
        assert [request.target for request in customer.asked] == ["/review", "/pay-invoice"]
    assert ended["status"] == "completed"
    assert ended["steps"]["send_webhook_event"]["attempts"] == 1


async def test_a_workflow_that_is_run_again_skips_its_completed_commands(served: Service, settings: Settings) -> None:
    """The customer refuses the payment at first; run again, only the command that failed is executed."""
    async with loopback(OK, REFUSED, OK) as customer, work(settings):
        run_id = await new_document(served, customer)
        await asked(customer)
        await until_waiting(served, run_id)
        await respond(served, {"workflow_id": run_id}, "process")
        failed = await served.ended(run_id)
        assert (failed["status"], statuses(failed)[-1]) == ("failed", "failed")
        again = await served.http.post(f"/v1/runs/{run_id}/retry", json={})
        assert again.status_code == 200, again.text
        await eventually(lambda: len(customer.asked) == 3, "the payment to be asked for again")
        ended = await served.ended(run_id)
        assert [request.target for request in customer.asked] == ["/review", "/pay-invoice", "/pay-invoice"]
    assert ended["status"] == "completed"
    before, after = ({name: step["ended_at"] for name, step in run["steps"].items()} for run in (failed, ended))
    assert [name for name in before if before[name] != after[name]] == ["send_webhook_event_2"]


async def test_workflows_run_in_parallel(served: Service, settings: Settings) -> None:
    async with loopback() as customer, work(settings):
        run_ids = [await new_document(served, customer) for _ in range(3)]
        for run_id in run_ids:
            await until_waiting(served, run_id)  # all at once: none holds up another
        for run_id in reversed(run_ids):
            await respond(served, {"workflow_id": run_id}, "process")
        assert [(await served.ended(run_id))["status"] for run_id in run_ids] == ["completed"] * 3
