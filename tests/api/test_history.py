"""The history of a document and its readings, through the API."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from docrail.dag.values.json_values import Json
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue
from docrail.services.access.models import DEFAULT_TENANT
from docrail.services.documents.models import reading_version
from docrail.services.documents.repository.readings import save_extraction
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.reviewing import Reviewer, reading, reviewer, said, waiting
from tests.api.service import Service
from tests.api.test_corrections import correct
from tests.api.test_exports import CSV, ended, ordered
from tests.stack import eventually


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service)


async def test_the_history_tells_who_did_what(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, reading(vendor_name=said("Mustr GmbH", Source.OCR_LABEL)))
    await correct(ann, item, "vendor_name", "Muster GmbH", why="a typo")
    bob = ann.named("bob")
    await ann.post(f"/reviews/{item['review_id']}/release")
    await bob.post(f"/reviews/{item['review_id']}/approve", await bob.verdict(item, why="right"))
    export_id = await ordered(ann, CSV)
    await ended(ann, export_id)
    events = (await ann.get(f"/documents/{item['document_id']}/history"))["events"]
    assert [event["what"] for event in events] == ["received", "read", "corrected", "approved", "exported"]
    _, _, corrected, decided, passed_on = events
    assert (corrected["by"], corrected["field"], corrected["was"], corrected["value"], corrected["why"]) == (
        *("ann", "vendor_name", "Mustr GmbH", "Muster GmbH"),
        "a typo",
    )
    assert (decided["by"], decided["why"]) == ("bob", "right")
    assert (passed_on["by"], passed_on["value"], passed_on["export_id"]) == ("ann", "csv", export_id)


async def test_a_copy_is_received_before_anything_happened_to_it(service: Service) -> None:
    data = e_invoice(unique("C"))
    of_first, of_copy = [await read_events(Reviewer(service.http, DEFAULT_TENANT), data) for _ in range(2)]
    assert [event["what"] for event in of_first] == ["received", "read"]
    assert [event["what"] for event in of_copy] == ["received", "read_before"]
    assert of_copy[1]["at"] == of_copy[0]["at"] > of_first[1]["at"]


async def read_events(who: Reviewer, data: bytes) -> Json:
    """Upload a document, wait until it is read, and return what happened to it."""
    uploaded = await who.http.post("/v1/documents", files={"file": ("invoice.xml", data)})
    assert uploaded.status_code == 202, uploaded.text
    found: list[Json] = []

    async def is_read() -> bool:
        found[:] = (await who.get(f"/documents/{uploaded.json()['document_id']}/history"))["events"]
        return len(found) > 1

    await eventually(is_read, "the document to be read")
    return found


async def readings_of(service: Service, who: Reviewer, **fields: FieldValue[Any]) -> Json:
    """Store two readings of a document, the second by a model, and return them."""
    item = await waiting(service, who)
    document_id = item["document_id"]
    sha256 = await service.pool.fetchval("SELECT sha256 FROM documents WHERE document_id = $1", document_id)
    version = reading_version("gemini-9", "p1")
    invoice = reading(**fields).model_copy(update={"reader": "gemini", "model": "gemini-9"})
    await save_extraction(service.pool, who.tenant, sha256, version, invoice)
    return await who.get(f"/documents/{document_id}/readings")


async def test_readings_are_shown_with_their_differences(service: Service, ann: Reviewer) -> None:
    found = await readings_of(
        *(service, ann), vendor_name=said("MUSTER GmbH"), total=said(Decimal("191.00")), iban=FieldValue()
    )
    assert [(each["reader"], each["model"], each["is_used"]) for each in found["readings"]] == [
        ("gemini", "gemini-9", True),
        ("xml", "", False),
    ]
    fields = {field["name"]: field for field in found["fields"]}
    assert fields["total"]["values"] == ["191.00", "119.00"]
    assert fields["total"]["differs"]
    assert fields["iban"]["differs"]
    assert not fields["vendor_name"]["differs"]
    assert "buyer_name" not in fields


async def test_another_tenant_sees_no_history(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    eve = reviewer(service)
    for part in ("history", "readings"):
        answers = await asyncio.gather(
            *(eve.ask("GET", f"/documents/{each}/{part}") for each in (item["document_id"], f"doc_{'0' * 26}"))
        )
        assert [answer.status_code for answer in answers] == [404, 404]
