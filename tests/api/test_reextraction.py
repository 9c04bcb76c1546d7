import pytest

from docrail.invoices.model import FieldValue
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.reviewing import Reviewer, reading, reviewer, said, waiting
from tests.api.service import HELLO, Service
from tests.api.test_corrections import correct, field_of


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service, "default")


async def uploaded(service: Service) -> str:
    """Upload an invoice, and return its document's id once it was read."""
    sent = await service.http.post("/v1/documents", files={"file": ("a.xml", e_invoice(unique("E")))})
    document_id: str = sent.json()["document_id"]
    await service.ended(f"invoice.{document_id}")
    return document_id


async def test_a_new_reading_leaves_what_people_locked_and_proposes_what_differs(
    service: Service, ann: Reviewer
) -> None:
    document_id = await uploaded(service)
    item = {"document_id": document_id, **(await ann.get(f"/documents/{document_id}/fields"))}
    await correct(ann, item, "vendor_name", "Muster AG", why="renamed")
    run_id = (await ann.ask("POST", f"/documents/{document_id}/extract")).json()["run_id"]
    ended = await service.ended(run_id)
    assert (ended["status"], ended["steps"]["extract"]["output"]["cache_hit"]) == ("completed", False)
    vendor = field_of(await ann.get(f"/documents/{document_id}/fields"), "vendor_name")
    assert (vendor["value"], vendor["lock"]["by"]) == ("Muster AG", "ann")
    assert [each["value"] for each in vendor["proposals"]] == ["Muster GmbH"]
    shown = await ann.get(f"/reviews/{item['review_id']}")
    assert (shown["summary"]["vendor"], shown["status"], shown["run_id"]) == ("Muster AG", "open", run_id)


async def test_line_items_that_a_person_corrected_stay_against_a_newer_reading_until_they_are_unlocked(
    service: Service, ann: Reviewer
) -> None:
    document_id = await uploaded(service)
    read = await ann.get(f"/documents/{document_id}/fields")
    item = {"document_id": document_id, **read}
    assert read["locks"] == {}
    await correct(ann, item, "line_items", '[{"description": "Rosen", "amount": "100.00"}]', why="one line, not two")
    run_id = (await ann.ask("POST", f"/documents/{document_id}/extract")).json()["run_id"]
    assert (await service.ended(run_id))["status"] == "completed"
    shown = await ann.get(f"/documents/{document_id}/fields")
    assert [line["description"] for line in shown["line_items"]] == ["Rosen"]
    assert list(shown["locks"]) == ["line_items"]
    assert (shown["locks"]["line_items"]["by"], shown["locks"]["line_items"]["why"]) == ("ann", "one line, not two")
    token = (await ann.post(f"/reviews/{item['review_id']}/claim"))["token"]
    unlocked = await ann.ask("DELETE", f"/documents/{document_id}/fields/line_items?token={token}")
    assert (unlocked.json()["line_items"], unlocked.json()["locks"]) == (read["line_items"], {})


async def test_the_same_key_is_the_same_reading(service: Service, ann: Reviewer) -> None:
    document_id = await uploaded(service)
    path, headers = f"/v1/documents/{document_id}/extract", ann.headers | {"Idempotency-Key": "once"}
    answers = [(await service.http.post(path, headers=headers)).json() for _ in range(2)]
    assert answers[0]["run_id"] == answers[1]["run_id"]
    assert [answer["created"] for answer in answers] == [True, False]
    await service.ended(answers[0]["run_id"])


async def test_a_decided_document_is_read_again_once_it_was_reopened(service: Service, ann: Reviewer) -> None:
    unknown = reading(vendor_name=said(unique("Vendor")), iban=FieldValue())  # of a known one, a new account needs two
    item = await waiting(service, ann, unknown)
    await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    refused = await ann.refused("POST", f"/documents/{item['document_id']}/extract", 409)
    assert (refused["type"], refused["state"]) == ("/problems/wrong-state", "approved")
    await ann.post(f"/reviews/{item['review_id']}/reopen", {"why": "a better reader"})
    assert (await ann.ask("POST", f"/documents/{item['document_id']}/extract")).status_code == 202


async def test_another_tenants_document_is_not_read(service: Service, ann: Reviewer) -> None:
    document_id = await uploaded(service)
    await reviewer(service).refused("POST", f"/documents/{document_id}/extract", 404)
    await ann.refused("POST", "/documents/doc_1/extract", 404)


async def test_a_definition_that_cannot_read_anew_is_refused(service: Service) -> None:
    who = reviewer(service)
    await service.http.post(
        "/v1/definitions", headers={"X-Test-Tenant": who.tenant}, json={"definition": {**HELLO, "id": "invoice"}}
    )
    sent = await service.http.post(
        "/v1/documents", headers={"X-Test-Tenant": who.tenant}, files={"file": ("a", unique("x").encode())}
    )
    refused = await who.refused("POST", f"/documents/{sent.json()['document_id']}/extract", 422)
    assert "fresh" in refused["problems"][0]["message"]
