"""The list of documents: filters, order and pages."""

import datetime as dt
from typing import Any

import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.invoices.facts import DocumentType
from docrail.services.documents.models import DocumentDecision, DocumentFilter, DocumentStatus, ListedDocument
from docrail.services.documents.repository.documents import LIST_DOCUMENTS, list_documents, mark_run_started
from docrail.services.documents.service import claim_metrics, mark_decided
from tests.postgres import OTHER_TENANT, TENANT, upload
from tests.services.arrivals import arrive, correct, judged

ANY = DocumentFilter()
MONDAY = dt.datetime(2026, 11, 2, tzinfo=dt.UTC)


async def listed(db: PoolConnectionProxy, limit: int = 100, after: str | None = None, **filters: Any) -> list[str]:
    found = await list_documents(db, TENANT, DocumentFilter(**filters), limit=limit, after=after)
    return [document.document_id for document in found]


async def test_a_document_is_listed_with_the_values_of_its_invoice(db: PoolConnectionProxy) -> None:
    document_id = await arrive(db, vendor_name="Größe & Söhne GmbH")
    [unread] = await list_documents(db, TENANT, ANY, limit=1)
    assert (unread.document_id, unread.status, unread.vendor_name) == (document_id, DocumentStatus.WAITING, None)
    await judged(db, document_id)
    [read] = await list_documents(db, TENANT, ANY, limit=1)
    assert (read.document_type, read.vendor_name) == (DocumentType.INVOICE, "Größe & Söhne GmbH")
    assert (read.invoice_number, read.issued_on) == ("RE-2026-0017", dt.date(2026, 10, 1))
    assert (str(read.total), read.currency) == ("119.00", "EUR")


async def test_a_listed_value_follows_a_correction_that_changes_nothing_compared(db: PoolConnectionProxy) -> None:
    document_id = await arrive(db)
    await judged(db, document_id)
    await correct(db, document_id, "currency", "CHF")
    await judged(db, document_id)
    [document] = await list_documents(db, TENANT, ANY, limit=1)
    assert document.currency == "CHF"


async def test_documents_of_another_tenant_are_not_listed(db: PoolConnectionProxy) -> None:
    await arrive(db, OTHER_TENANT)
    assert await listed(db) == []


async def test_pages_hold_each_document_once_latest_upload_first(db: PoolConnectionProxy) -> None:
    uploaded = [await upload(db) for _ in range(7)]
    for number, document in enumerate(uploaded[:4]):  # the others were received at the same moment
        received_at = MONDAY + dt.timedelta(hours=number)
        await db.execute(
            "UPDATE documents SET received_at = $1 WHERE document_id = $2", received_at, document.document_id
        )
    pages: list[list[str]] = [await listed(db, limit=2)]
    while pages[-1]:
        pages.append(await listed(db, limit=2, after=pages[-1][-1]))
    simultaneous = sorted((document.document_id for document in uploaded[4:]), reverse=True)
    assert [each for page in pages for each in page] == [
        *simultaneous,
        *(document.document_id for document in reversed(uploaded[:4])),
    ]


async def test_documents_are_filtered_by_status(db: PoolConnectionProxy) -> None:
    waiting, started, success, failed = [(await upload(db)).document_id for _ in range(4)]
    for document_id in (started, success, failed):
        await mark_run_started(db, TENANT, document_id, f"invoice.{document_id}")
    await claim_metrics(db, TENANT, success, "success")
    await claim_metrics(db, TENANT, failed, "failed")
    expected = dict(zip(DocumentStatus, (waiting, started, success, failed), strict=True))
    assert {status: await listed(db, status=status) for status in DocumentStatus} == {
        status: [document_id] for status, document_id in expected.items()
    }


async def test_a_document_is_listed_with_its_decision_until_that_is_withdrawn(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    decisions = []
    for decision in (None, DocumentDecision.REJECTED, None):
        await mark_decided(db, TENANT, document_id, decision)
        decisions += [document.decision for document in await list_documents(db, TENANT, ANY, limit=1)]
    assert decisions == [None, DocumentDecision.REJECTED, None]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"document_type": DocumentType.CREDIT_NOTE}, "credit note"),
        ({"vendor": "DE 111 111 111"}, "credit note"),
        ({"vendor": "muster"}, "invoice"),
        ({"vendor": "MULLER & SO"}, "credit note"),
        ({"vendor": "gmbh"}, None),
        ({"text": "söhne"}, "credit note"),
        ({"text": "2026-0017"}, "invoice"),
        ({"text": "INVOICE.PDF", "document_type": DocumentType.INVOICE}, "invoice"),
        ({"text": "100%"}, None),
    ],
)
async def test_documents_are_filtered_by_their_invoice(
    db: PoolConnectionProxy, filters: dict[str, Any], found: str | None
) -> None:
    ids = {
        "invoice": await arrive(db),
        "credit note": await arrive(
            db, invoice_number="GS-1", vendor_name="Müller & SÖHNE", vendor_vat_id="DE111111111", iban=None
        ),
    }
    await correct(db, ids["credit note"], "document_type", "credit_note")
    for document_id in ids.values():
        await judged(db, document_id)
    assert await listed(db, **filters) == ([] if found is None else [ids[found]])


async def test_documents_are_filtered_by_the_time_of_their_upload(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    await db.execute("UPDATE documents SET received_at = $1 WHERE document_id = $2", MONDAY, document_id)
    second = dt.timedelta(seconds=1)
    assert await listed(db, since=MONDAY, until=MONDAY + second) == [document_id]
    assert await listed(db, since=MONDAY + second) == await listed(db, until=MONDAY) == []


async def test_a_page_is_found_by_an_index(db: PoolConnectionProxy) -> None:
    await db.execute(
        "INSERT INTO documents (tenant_id, document_id, sha256, size_bytes, media_type, file_name, sla_hours,"
        " received_at) SELECT 'acme', 'doc_' || number, repeat(md5(number::text), 2), 1, 'x/y', 'a', 24,"
        " now() - number * interval '1 minute' FROM generate_series(1, 20000) AS number"
    )
    await db.execute("ANALYZE documents, seen_invoices")
    rows = await db.fetch(f"EXPLAIN {LIST_DOCUMENTS}", TENANT, *[None] * 6, "doc_10000", 101)
    plan = "\n".join(row[0] for row in rows)
    assert "documents_newest" in plan
    assert "Seq Scan on documents" not in plan


def test_a_listed_document_names_no_tenant_and_no_uploader() -> None:
    assert {"tenant_id", "uploaded_by"} & set(ListedDocument.__dataclass_fields__) == set()
