"""`create_review` lets documents pass where its config says so, and counts them where it does not."""

import json
import uuid
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import asyncpg
import pytest

from docrail.activities.handlers.create_review import DRAWN, HANDLER, MOST_REASONS
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.dag.values.json_values import Json
from docrail.handlers import StepCall
from docrail.invoices.model import InvoiceData
from docrail.services.access.models import PASSED_BY
from docrail.services.audit.repository import list_events
from docrail.services.documents.models import CURRENT_READER, Change, CorrectionAct
from docrail.services.documents.repository.corrections import insert_change
from docrail.services.documents.repository.readings import save_extraction
from docrail.services.documents.repository.vendors import remember
from docrail.services.lake.files import Lake
from docrail.services.metrics import Metrics
from docrail.services.reviews.models import Decision, Review
from docrail.services.reviews.repository.decisions import record_decision
from docrail.services.reviews.repository.items import load_review, load_review_counts
from docrail.services.tools import Tools
from tests.api.reviewing import OTHER_IBAN, reading, said
from tests.postgres import upload

ON = {"mode": "on", "audit_share": 0, "min_confidence": 0.9}


@pytest.fixture
def tools(pool: asyncpg.Pool, tmp_path: Path) -> Tools:
    return Tools(pool, BlobStore(tmp_path), ValueStore(tmp_path), Lake(tmp_path), DocumentReader(), Metrics())


@pytest.fixture
def tenant() -> str:
    return f"passes_{uuid.uuid4().hex[:12]}"


async def put(tools: Tools, tenant: str, invoice: InvoiceData | None = None, **config: Json) -> tuple[Json, Review]:
    """Keep a document with its reading, and run the handler."""
    document = await upload(tools.db, tenant_id=tenant)
    await save_extraction(tools.db, tenant, document.sha256, CURRENT_READER, invoice or reading())
    return await again(tools, tenant, document.document_id, **config)


async def again(tools: Tools, tenant: str, document_id: str, **config: Json) -> tuple[Json, Review]:
    made = HANDLER.config.model_validate({"document_id": document_id, "sla_hours": 24, **config})
    output = json.loads(
        (await HANDLER.run(StepCall(tenant, "invoice.test", "review", 1, made), tools)).model_dump_json()
    )
    review = await load_review(tools.db, tenant, output["review_id"])
    assert review
    return output, review


async def known_vendor(tools: Tools, tenant: str) -> None:
    await remember(tools.db, tenant, reading())


async def passing(tools: Tools) -> dict[str, float]:
    counts = await load_review_counts(tools.db)
    return {count.label: count.total for count in counts if count.name == "straight_through"}


async def test_in_shadow_mode_a_person_decides_all_the_same(tools: Tools, tenant: str) -> None:
    await known_vendor(tools, tenant)
    before = await passing(tools)
    output, review = await put(tools, tenant, straight_through=ON | {"mode": "shadow"})
    assert (output["straight_through"], output["needs_person"], review.status) == (True, True, "open")
    assert review.straight_through is True
    await again(tools, tenant, str(review.document_id), straight_through=ON | {"mode": "shadow"})
    assert (await passing(tools))["passes"] == before.get("passes", 0) + 1  # counted once


async def test_a_passing_document_is_approved_without_a_person(tools: Tools, tenant: str) -> None:
    await known_vendor(tools, tenant)
    output, review = await put(tools, tenant, straight_through=ON)
    assert (output["needs_person"], output["status"]) == (False, "approved")
    assert (review.status, review.decided_by) == ("approved", PASSED_BY)
    [event] = await list_events(tools.db, tenant, review_id=review.review_id)
    assert (event.actor, event.act) == (PASSED_BY, "approved")


@pytest.mark.parametrize("case", ["unknown vendor", "above the limit", "sampled", "other account", "default"])
async def test_a_document_that_may_not_pass_waits_for_a_person(tools: Tools, tenant: str, case: str) -> None:
    if case != "unknown vendor":
        await known_vendor(tools, tenant)
    config = ON | {"above the limit": {"max_total": 10}, "sampled": {"audit_share": 1}}.get(case, {})
    invoice = reading(iban=said(OTHER_IBAN)) if case == "other account" else None
    output, review = await put(tools, tenant, invoice, **({} if case == "default" else {"straight_through": config}))
    assert (output["needs_person"], review.status) == (True, "open")
    assert review.audit_sample is (case == "sampled") or case == "default"


@pytest.mark.parametrize(
    ("case", "reasons"),
    [
        ("passes", []),
        ("unknown vendor", ["No document of this vendor has been approved yet."]),
        ("above the limit", ["The total 119.00 is above the limit of 10."]),
        ("sampled", [DRAWN]),
    ],
)
async def test_a_document_that_does_not_pass_says_why(tools: Tools, tenant: str, case: str, reasons: list[str]) -> None:
    if case != "unknown vendor":
        await known_vendor(tools, tenant)
    config = ON | {"above the limit": {"max_total": 10}, "sampled": {"audit_share": 1}}.get(case, {})
    output, _ = await put(tools, tenant, straight_through=config)
    assert output["held_because"] == reasons


async def test_an_unsure_field_is_named_with_what_it_has_and_what_it_needs(tools: Tools, tenant: str) -> None:
    await known_vendor(tools, tenant)
    output, _ = await put(tools, tenant, straight_through=ON | {"min_confidence": 1})
    assert "The total has confidence" in " ".join(output["held_because"])
    assert "1.00 is needed" in output["held_because"][0]
    assert len(output["held_because"]) <= MOST_REASONS


async def test_a_document_that_passed_stays_decided(tools: Tools, tenant: str) -> None:
    await known_vendor(tools, tenant)
    _, review = await put(tools, tenant, straight_through=ON)
    output, after = await again(tools, tenant, str(review.document_id))
    assert (output["needs_person"], after.status) == (False, "approved")


async def test_its_priority_is_that_of_the_judged_document(tools: Tools, tenant: str) -> None:
    await known_vendor(tools, tenant)
    _, plain = await put(tools, tenant)
    _, suspicious = await put(tools, tenant, reading(iban=said(OTHER_IBAN)))
    assert "iban_changed" in {reason["code"] for reason in suspicious.reasons}
    assert (plain.band, suspicious.band) == (0, 1)
    assert suspicious.parts["uncertainty"] == 0.9


async def test_a_rejected_document_is_not_approved(tools: Tools, tenant: str) -> None:
    _, review = await put(tools, tenant)
    rejected = Decision("rejected", {"approved": False, "reason": "not ours"}, "ann", None)
    await record_decision(tools.db, tenant, review.review_id, rejected)
    output, after = await again(tools, tenant, str(review.document_id))
    assert (output["status"], output["needs_person"], after.status) == ("rejected", True, "rejected")


async def test_an_item_that_people_have_seen_does_not_pass_behind_their_back(tools: Tools, tenant: str) -> None:
    await known_vendor(tools, tenant)
    _, review = await put(tools, tenant)  # in shadow mode; a person may have claimed or reopened it
    output, after = await again(tools, tenant, str(review.document_id), straight_through=ON)
    assert (output["straight_through"], output["needs_person"], after.status) == (True, True, "open")


async def test_a_corrected_document_does_not_pass(tools: Tools, tenant: str) -> None:
    await known_vendor(tools, tenant)
    document = await upload(tools.db, tenant_id=tenant)
    await save_extraction(tools.db, tenant, document.sha256, CURRENT_READER, reading())
    change = Change("vendor_name", CorrectionAct.LOCK, "Muster GmbH", "ann")
    await insert_change(tools.db, tenant, document.document_id, change)
    output, review = await again(tools, tenant, document.document_id, straight_through=ON)
    assert (output["straight_through"], review.status) == (True, "open")


async def test_a_document_that_takes_two_people_does_not_pass(tools: Tools, tenant: str) -> None:
    await known_vendor(tools, tenant)
    limited = replace(tools, four_eyes_above=Decimal(100))
    output, review = await put(limited, tenant, straight_through=ON)
    assert (output["straight_through"], output["needs_person"], review.status) == (True, True, "open")
