"""The invoice handlers with real tools: database, blobs, lake, reader and metrics."""

import asyncio
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from prometheus_client import generate_latest
from pydantic import BaseModel, ValidationError

from docrail.activities.handlers import (
    ask_gemini,
    create_review,
    extract_invoice,
    record_metrics,
    save_json,
    save_parquet,
)
from docrail.activities.registry import load_catalogue
from docrail.adapters.postgres.pool import NotStored
from docrail.adapters.store.blobs import blob_path
from docrail.adapters.store.folders import local_root
from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall
from docrail.invoices.model import InvoiceData
from docrail.invoices.problems import UnreadableDocument
from docrail.services.documents.models import CURRENT_READER, Document, reading_version
from docrail.services.documents.repository.readings import load_extraction, save_extraction
from docrail.services.lake.reference import InvoiceRef
from docrail.services.metrics import Metrics
from docrail.services.reviews.models import Decision, Review, ReviewFilter
from docrail.services.reviews.repository.decisions import record_decision
from docrail.services.reviews.repository.items import load_review
from docrail.services.reviews.repository.queue import list_reviews
from docrail.services.tools import Tools
from tests.activities.ubl import ubl_invoice
from tests.postgres import OTHER_TENANT, TENANT, new_document_id, upload

RUN_ID = "invoice.test"


@pytest.fixture
def tools(keyless: Tools) -> Tools:
    return keyless


async def call(handler: Handler, tools: Tools, *, tenant_id: str = TENANT, **config: Json) -> Json:
    """Run one attempt as the wrapper does: from JSON, to JSON."""
    made = handler.config.model_validate(config)
    output = await handler.run(StepCall(tenant_id, RUN_ID, handler.name, 1, made), tools)
    return json.loads(output.model_dump_json())


async def stored(tools: Tools, data: bytes, *, tenant_id: str = TENANT) -> Document:
    return await upload(tools.db, tenant_id=tenant_id, blob=await tools.blobs.put(data))


def fresh(**parts: str) -> bytes:
    return ubl_invoice(new_document_id(), **parts)


async def extracted(tools: Tools, data: bytes | None = None) -> tuple[Document, Json]:
    document = await stored(tools, data or fresh())
    return document, await call(extract_invoice.HANDLER, tools, document_id=document.document_id)


async def review_of(tools: Tools, document: Document, *, sla_hours: float = 24) -> Review:
    output = await call(create_review.HANDLER, tools, document_id=document.document_id, sla_hours=sla_hours)
    review = await load_review(tools.db, TENANT, output["review_id"])
    assert review
    assert (output["review_id"], output["status"], output["needs_person"]) == (review.review_id, "open", True)
    assert (output["priority"], output["parts"].keys()) == (
        pytest.approx(review.priority, abs=0.1),
        review.parts.keys(),
    )
    return review


def sample(metrics: Metrics, name: str, labels: dict[str, str] | None = None) -> float:
    return metrics.registry.get_sample_value(name, labels) or 0.0


async def test_extract_tells_what_conditions_need(tools: Tools) -> None:
    document, output = await extracted(tools, ubl_invoice("R-1"))
    assert output["document_id"] == document.document_id
    assert output["invoice_ref"] == {
        "document_id": document.document_id,
        "sha256": document.sha256,
        "reader_version": CURRENT_READER,
    }
    assert (output["vendor_name"], output["invoice_number"], output["date"]) == (
        "Example Screws Ltd",
        "R-1",
        "2026-11-02",
    )
    assert (output["currency"], output["total"], output["document_type"]) == ("EUR", 119.0, "invoice")
    assert output["cache_hit"] is False
    assert output["confidence"] > 0.9


@pytest.mark.parametrize("handler", [extract_invoice.HANDLER, ask_gemini.HANDLER])
async def test_a_decided_document_is_not_read_anew(tools: Tools, handler: Handler) -> None:
    document, _ = await extracted(tools)
    review = await review_of(tools, document)
    assert await call(handler, tools, document_id=document.document_id, fresh=True)
    await record_decision(tools.db, TENANT, review.review_id, Decision("rejected", {}, "ann", None))
    with pytest.raises(ValueError, match=f"was rejected by ann.*; reopen {review.review_id} to read"):
        await call(handler, tools, document_id=document.document_id, fresh=True)
    assert (await call(handler, tools, document_id=document.document_id))["cache_hit"]


async def test_equal_bytes_are_read_once_for_a_tenant(tools: Tools) -> None:
    data = fresh()
    first, second = await extracted(tools, data), await extracted(tools, data)
    assert (first[1]["cache_hit"], second[1]["cache_hit"]) == (False, True)
    assert second[1]["invoice_ref"]["document_id"] == second[0].document_id
    theirs = await stored(tools, data, tenant_id=OTHER_TENANT)
    other = await call(extract_invoice.HANDLER, tools, tenant_id=OTHER_TENANT, document_id=theirs.document_id)
    assert other["cache_hit"] is False


async def test_a_cache_hit_needs_no_bytes(tools: Tools) -> None:
    document, first = await extracted(tools)
    (local_root(tools.blobs.folder) / blob_path(document.sha256)).unlink()
    again = await call(extract_invoice.HANDLER, tools, document_id=document.document_id)
    assert again == {**first, "cache_hit": True}


async def test_equal_bytes_read_at_once_give_equal_answers(tools: Tools) -> None:
    data = fresh()
    documents = [await stored(tools, data) for _ in range(4)]
    outputs = await asyncio.gather(
        *(call(extract_invoice.HANDLER, tools, document_id=document.document_id) for document in documents)
    )
    assert len({(output["confidence"], output["invoice_number"]) for output in outputs}) == 1


@pytest.mark.parametrize(
    ("handler", "config"),
    [
        (extract_invoice.HANDLER, {}),
        (create_review.HANDLER, {"sla_hours": 24}),
        (record_metrics.HANDLER, {"status": "completed"}),
    ],
)
async def test_a_document_of_another_tenant_is_as_missing_as_none(
    tools: Tools, handler: Handler, config: dict[str, Json]
) -> None:
    document, _ = await extracted(tools)
    for document_id in (document.document_id, "doc_of_nobody"):
        with pytest.raises(NotStored, match=document_id) as missing:
            await call(handler, tools, tenant_id=OTHER_TENANT, document_id=document_id, **config)
        assert isinstance(missing.value, ValueError)  # so the wrapper does not retry it


async def test_a_document_that_cannot_be_read_says_why_and_keeps_nothing(tools: Tools) -> None:
    document = await stored(tools, b"no document at all" + new_document_id().encode())
    with pytest.raises(UnreadableDocument) as unreadable:
        await call(extract_invoice.HANDLER, tools, document_id=document.document_id)
    assert unreadable.value.message
    assert await load_extraction(tools.db, TENANT, document.sha256, CURRENT_READER) is None


async def test_a_missing_blob_is_worth_a_retry(tools: Tools) -> None:
    document = await stored(tools, fresh())
    (local_root(tools.blobs.folder) / blob_path(document.sha256)).unlink()
    with pytest.raises(OSError, match=document.sha256):
        await call(extract_invoice.HANDLER, tools, document_id=document.document_id)


@pytest.mark.parametrize(("handler", "kind"), [(save_json.HANDLER, "json"), (save_parquet.HANDLER, "parquet")])
async def test_saving_twice_leaves_one_file_with_the_same_bytes(tools: Tools, handler: Handler, kind: str) -> None:
    document, output = await extracted(tools)
    saved = [await call(handler, tools, invoice=output["invoice_ref"]) for _ in range(2)]
    assert saved[0] == saved[1]
    name = f"{document.document_id}.v1.{kind}"
    assert saved[0]["path"] == f"{TENANT}/{kind}/{name}"
    assert [path.name for path in tools.lake.root.rglob("*") if path.is_file()] == [name]
    assert (tools.lake.root / saved[0]["path"]).stat().st_size == saved[0]["size_bytes"]


async def test_a_saved_invoice_carries_its_own_documents_id(tools: Tools) -> None:
    data = fresh()
    for document, output in (await extracted(tools, data), await extracted(tools, data)):
        saved = await call(save_json.HANDLER, tools, invoice=output["invoice_ref"])
        invoice = InvoiceData.model_validate_json((tools.lake.root / saved["path"]).read_bytes())
        assert invoice.document_id == document.document_id


@pytest.mark.parametrize("handler", [save_json.HANDLER, save_parquet.HANDLER])
async def test_the_reading_that_is_named_is_saved(tools: Tools, handler: Handler) -> None:
    """Not the best one: a model's reading of the same bytes, asked for elsewhere, is none that this run knows."""
    document, output = await extracted(tools)
    local = await load_extraction(tools.db, TENANT, document.sha256, CURRENT_READER)
    assert local
    models = local.model_copy(update={"currency": local.currency.model_copy(update={"value": "CHF"})})
    version = reading_version("a-model", "1")
    await save_extraction(tools.db, TENANT, document.sha256, version, models)
    saved = []
    for reference in (output["invoice_ref"], output["invoice_ref"] | {"reader_version": version}):
        file = await call(handler, tools, invoice=reference)
        saved.append(currency_in(tools.lake.root / file["path"]))
    assert saved == ["EUR", "CHF"]


@pytest.mark.parametrize("change", [{"reader_version": "0"}, {"sha256": 64 * "0"}])
async def test_a_reading_that_is_not_stored_cannot_be_saved(tools: Tools, change: Json) -> None:
    _, output = await extracted(tools)
    with pytest.raises(NotStored, match="no extraction of document"):
        await call(save_json.HANDLER, tools, invoice=output["invoice_ref"] | change)
    assert not tools.lake.root.exists()


def currency_in(file: Path) -> str:
    """Return the currency of a saved invoice, Parquet or JSON."""
    if file.suffix == ".json":
        return str(InvoiceData.model_validate_json(file.read_bytes()).currency.value)
    [currency] = pq.read_table(io.BytesIO(file.read_bytes()))["currency"].to_pylist()
    return str(currency)


@pytest.mark.parametrize("handler", [save_json.HANDLER, save_parquet.HANDLER])
async def test_an_extraction_of_another_tenant_cannot_be_saved(tools: Tools, handler: Handler) -> None:
    _, output = await extracted(tools)
    with pytest.raises(NotStored, match="no document"):
        await call(handler, tools, tenant_id=OTHER_TENANT, invoice=output["invoice_ref"])
    assert not tools.lake.root.exists()


async def test_a_reference_never_leads_out_of_the_tenants_folder(tools: Tools) -> None:
    document, _ = await extracted(tools)
    stray = InvoiceRef(document_id="../../x", sha256=document.sha256, reader_version=CURRENT_READER)
    with pytest.raises(ValueError, match="has no document"):
        await call(save_json.HANDLER, tools, invoice=stray.model_dump())


async def test_a_document_is_counted_once_however_often_it_is_tried(tools: Tools) -> None:
    document, output = await extracted(tools)
    await tools.db.execute(
        "UPDATE documents SET received_at = now() - interval '100 seconds' WHERE document_id = $1", document.document_id
    )
    config: dict[str, Json] = {"document_id": document.document_id, "status": "completed"}
    attempts = await asyncio.gather(*(call(record_metrics.HANDLER, tools, **config) for _ in range(5)))
    assert sorted(attempt["recorded"] for attempt in attempts) == [False, False, False, False, True]
    assert sample(tools.metrics, "docrail_documents_processed_total", {"status": "success"}) == 1
    assert sample(tools.metrics, "docrail_processing_duration_seconds_sum") == pytest.approx(100, abs=2)
    assert sample(tools.metrics, "docrail_extraction_confidence_sum") == pytest.approx(output["confidence"])


async def test_a_failed_document_counts_as_failed_without_a_confidence(tools: Tools) -> None:
    document = await stored(tools, b"unreadable" + new_document_id().encode())
    config: dict[str, Json] = {"document_id": document.document_id, "status": "failed"}
    assert await call(record_metrics.HANDLER, tools, **config) == {"recorded": True}
    assert sample(tools.metrics, "docrail_documents_processed_total", {"status": "failed"}) == 1
    assert sample(tools.metrics, "docrail_documents_processed_total", {"status": "success"}) == 0
    assert sample(tools.metrics, "docrail_processing_duration_seconds_count") == 1
    assert sample(tools.metrics, "docrail_extraction_confidence_count") == 0


def test_the_metrics_page_shows_every_metric_before_the_first_document() -> None:
    page = generate_latest(Metrics().registry).decode()
    for line in (
        'docrail_documents_processed_total{status="success"} 0.0',
        'docrail_documents_processed_total{status="failed"} 0.0',
        "docrail_processing_duration_seconds_count 0.0",
        "docrail_extraction_confidence_count 0.0",
    ):
        assert line in page


async def test_a_review_shows_what_was_read_and_why_a_person_should_look(tools: Tools) -> None:
    document, output = await extracted(tools, fresh(total="999.00"))
    review = await review_of(tools, document)
    assert (review.document_id, review.run_id, review.status) == (document.document_id, RUN_ID, "open")
    assert review.summary == {
        "vendor": "Example Screws Ltd",
        "number": output["invoice_number"],
        "date": "2026-11-02",
        "total": "999.00",
        "currency": "EUR",
        "confidence": output["confidence"],
    }
    assert {reason["code"] for reason in review.reasons} >= set(output["problems"]) != set()
    assert set(review.parts) == {"uncertainty", "sla", "complexity", "value"}
    assert review.due_at
    assert (review.due_at - document.received_at).total_seconds() == 24 * 3600


async def test_a_review_of_a_cache_hit_is_an_item_of_its_own(tools: Tools) -> None:
    data = fresh()
    first, second = await extracted(tools, data), await extracted(tools, data)
    reviews = [await review_of(tools, document) for document, _ in (first, second)]
    assert reviews[0].review_id != reviews[1].review_id
    assert "duplicate" not in {reason["code"] for reason in reviews[0].reasons}
    [duplicate] = [reason for reason in reviews[1].reasons if reason["code"] == "duplicate"]
    assert first[0].document_id in duplicate["message"]
    assert reviews[1].priority > reviews[0].priority


async def test_creating_a_review_again_leaves_one_item(tools: Tools) -> None:
    document, _ = await extracted(tools)
    reviews = await asyncio.gather(*(review_of(tools, document) for _ in range(5)))
    assert len({review.review_id for review in reviews}) == 1
    listed = await list_reviews(tools.db, TENANT, ReviewFilter(status=None), limit=1000)
    assert [review.document_id for review in listed].count(document.document_id) == 1


async def test_the_time_used_raises_the_priority(tools: Tools) -> None:
    document, _ = await extracted(tools)
    early = await review_of(tools, document)
    await tools.db.execute(
        "UPDATE documents SET received_at = now() - interval '30 hours' WHERE document_id = $1", document.document_id
    )
    late = await review_of(tools, document)
    assert early.parts["sla"] == pytest.approx(0, abs=0.01)
    assert late.parts["sla"] == 1
    assert late.priority > early.priority
    assert late.band > early.band


async def test_a_document_that_was_never_read_gets_no_review(tools: Tools) -> None:
    document = await stored(tools, fresh())
    with pytest.raises(NotStored, match="extraction of document"):
        await call(create_review.HANDLER, tools, document_id=document.document_id, sla_hours=24)


BAD_CONFIGS: Sequence[tuple[str, dict[str, Json]]] = [
    ("extract_invoice", {}),
    ("extract_invoice", {"document_id": "d", "extra": 1}),
    ("save_json", {"invoice": {"document_id": "d"}}),
    ("record_metrics", {"document_id": "d", "status": "skipped"}),
    ("create_review", {"document_id": "d", "sla_hours": 0}),
    ("create_review", {"document_id": "d", "sla_hours": "inf"}),
]


@pytest.mark.parametrize(("name", "config"), BAD_CONFIGS)
def test_a_config_that_does_not_fit_is_refused(name: str, config: dict[str, Json]) -> None:
    model: type[BaseModel] = load_catalogue()[name].config
    with pytest.raises(ValidationError):
        model.model_validate(config)
