"""Ask the customer by webhook, wait, then abort, or parse and pay; large amounts ask a person."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from docrail.dag.values.json_values import Json
from tests.api.customer import asked, open_item, outgoing, post, start, unique, until_waiting, upload
from tests.api.service import Service
from tests.loopback import Loopback, loopback
from tests.stack import Servers, eventually

DEFINITIONS = Path(__file__).parent.parent.parent / "definitions"


@pytest.fixture(scope="module")
async def served(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with outgoing(embedded.temporal_address, dsn, tmp_path_factory.mktemp("customer")) as service:
        yield service


@pytest.fixture
async def customer() -> AsyncIterator[Loopback]:
    async with loopback() as server:
        yield server


async def ask_about(served: Service, customer: Loopback, sample: str) -> tuple[str, Json]:
    """Start the run for a sample, and return its id and the request sent to the customer."""
    document_id = await upload(served, sample)
    run_id = await start(
        served,
        "customer_approval",
        document_id=document_id,
        review_url=f"{customer.url}/review",
        pay_url=f"{customer.url}/pay",
    )
    return run_id, await asked(customer)


async def test_customer_approval(served: Service, customer: Loopback) -> None:
    run_id, question = await ask_about(served, customer, "zf1_comfort_rabatte.pdf")
    assert question["workflow_id"] == run_id
    assert question["reply_to"].startswith(str(served.http.base_url.join("/v1/callbacks/")))
    assert (await post(question["reply_to"], {"decision": "process"})).json() == {"status": "answered"}
    ended = await served.ended(run_id)
    assert (ended["status"], ended["outputs"]) == ("completed", {"paid": True})
    assert ended["steps"]["customer_reply"]["answered_by"] == "callback"
    assert ended["steps"]["large_amount"]["status"] == "skipped"
    assert [request.target for request in customer.asked] == ["/review", "/pay"]
    assert customer.asked[1].json() == {"amount": 215.14, "iban": "DE08700901001234567890"}


async def test_customer_approval_is_aborted_by_a_no(served: Service, customer: Loopback) -> None:
    run_id, question = await ask_about(served, customer, "zf1_comfort_rabatte.pdf")
    await post(question["reply_to"], {"decision": "reject"})
    ended = await served.ended(run_id)
    assert (ended["status"], ended["reason"]) == ("aborted", "customer said reject")
    assert ended["steps"]["parse"]["status"] == "skipped"
    assert [request.target for request in customer.asked] == ["/review"]


async def test_customer_approval_is_aborted_when_the_customer_says_nothing(served: Service, customer: Loopback) -> None:
    """Return the shipped definition with a shorter timeout."""
    hasty = yaml.safe_load((DEFINITIONS / "customer_approval.yaml").read_text())
    [reply] = [step for step in hasty["steps"] if step["id"] == "customer_reply"]
    reply["wait"]["timeout_seconds"] = 0.2
    run_id = await start(
        served,
        hasty | {"id": unique("hasty")},
        document_id=await upload(served, "zf1_comfort_rabatte.pdf"),
        review_url=customer.url,
        pay_url=customer.url,
    )
    ended = await served.ended(run_id)
    assert (ended["status"], ended["steps"]["customer_reply"]["decided_by"]) == ("aborted", "timeout")
    late = await post((await asked(customer))["reply_to"], {"decision": "process"})
    assert (late.status_code, late.json()["type"]) == (410, "/problems/callback-over")
    assert len(customer.asked) == 1


@pytest.mark.parametrize(("approved", "targets"), [(True, ["/review", "/pay"]), (False, ["/review"])])
async def test_customer_approval_of_a_large_amount_asks_a_person_in_a_nested_run(
    served: Service, customer: Loopback, approved: bool, targets: list[str]
) -> None:
    run_id, question = await ask_about(served, customer, "smartap_clean_01.pdf")
    await post(question["reply_to"], {"decision": "process"})
    item = await open_item(served, run_id=f"{run_id}~large_amount")
    assert (item["queue"], item["step_id"], item["title"]) == ("payments", "approval", "Pay 5748.82?")
    assert item["show"] == {"amount": 5748.82, "iban": None}
    assert list(item["form"]["properties"]) == ["approved", "comment"]
    await until_waiting(served, item["run_id"])
    decided = await served.http.post(
        f"/v1/reviews/{item['review_id']}/decision", json={"decision": {"approved": approved}}
    )
    assert (decided.status_code, decided.json()["run_id"]) == (200, item["run_id"])
    ended = await served.ended(run_id)
    assert (ended["status"], ended["outputs"]) == ("completed", {"paid": approved})
    assert [request.target for request in customer.asked] == targets

    async def is_closed() -> bool:
        now = (await served.http.get(f"/v1/reviews/{item['review_id']}")).json()
        return (now["status"], now["decision"], now["decided_by"]) == ("decided", {"approved": approved}, "tester")

    await eventually(is_closed, "the item to be closed")
