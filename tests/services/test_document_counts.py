"""Documents are counted once, by their own tenant, and the totals show how they ended."""

import asyncio
import secrets

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import Database
from docrail.services.document_outcomes import CONFIDENCE_BUCKETS, SECONDS_BUCKETS, Outcome
from docrail.services.documents.models import DocumentCount, MetricsClaim
from docrail.services.documents.repository.counts import LOAD_COUNTS, load_counts
from docrail.services.documents.repository.counts import claim_metrics as claim_all
from docrail.services.documents.repository.readings import save_extraction
from tests.postgres import OTHER_TENANT, TENANT, blob_of, upload
from tests.services.invoices import invoice

INFINITY = float("inf")


async def claim_metrics(db: Database, tenant_id: str, document_id: str, outcome: Outcome) -> MetricsClaim | None:
    """Count one document."""
    return (await claim_all(db, tenant_id, {document_id: outcome})).get(document_id)


@pytest.fixture
async def empty(db: PoolConnectionProxy) -> PoolConnectionProxy:
    """A connection that sees no totals: other tests of this database commit some."""
    await db.execute("DELETE FROM document_counts")
    return db


async def counted(
    db: Database, seconds: float, confidence: float | None, *, outcome: Outcome = "success", tenant_id: str = TENANT
) -> None:
    """Store a document that came so long ago (no time passes in a transaction) and was read so well; count it."""
    document = await upload(db, tenant_id=tenant_id)
    if confidence is not None:
        await save_extraction(db, tenant_id, document.sha256, "1.1", invoice(confidence=confidence))
    received = "UPDATE documents SET received_at = now() - make_interval(secs => $2) WHERE document_id = $1"
    await db.execute(received, document.document_id, seconds)
    assert await claim_metrics(db, tenant_id, document.document_id, outcome)


def unique_tenant() -> str:
    """Return the tenant of one test that commits."""
    return f"tenant_{secrets.token_hex(4)}"


async def documents_of(db: Database, tenant_id: str) -> int:
    counted = "SELECT coalesce(sum(documents), 0)::bigint FROM document_counts WHERE tenant_id = $1"
    return int(await db.fetchval(counted, tenant_id))


async def test_documents_that_are_counted_together_are_all_in_the_totals(empty: PoolConnectionProxy) -> None:
    outcomes: dict[str, Outcome] = {"doc_a": "success", "doc_b": "success", "doc_c": "success", "doc_d": "failed"}
    for document_id in outcomes:
        await upload(empty, document_id=document_id)
    await claim_metrics(empty, TENANT, "doc_a", "success")
    assert sorted(await claim_all(empty, TENANT, outcomes | {"doc_e": "failed"})) == ["doc_b", "doc_c", "doc_d"]
    assert {each.outcome: each.documents for each in await load_counts(empty)} == {"success": 3, "failed": 1}


async def test_metrics_are_claimed_once_by_the_documents_own_tenant(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    await db.execute("UPDATE documents SET received_at = now() - interval '90 seconds' WHERE document_id = 'doc_a'")
    assert await claim_metrics(db, OTHER_TENANT, "doc_a", "success") is None
    claim = await claim_metrics(db, TENANT, "doc_a", "success")
    assert claim
    assert claim.seconds == pytest.approx(90, abs=1)
    assert claim.confidence is None
    assert await claim_metrics(db, TENANT, "doc_a", "success") is None


async def test_metrics_have_the_confidence_of_the_tenants_own_extraction(db: PoolConnectionProxy) -> None:
    same = blob_of("same bytes")
    for tenant_id, document_id in ((TENANT, "doc_a"), (OTHER_TENANT, "doc_b")):
        await upload(db, tenant_id=tenant_id, document_id=document_id, blob=same)
    await save_extraction(db, TENANT, same.sha256, "1.1", invoice(confidence=0.875))
    ours = await claim_metrics(db, TENANT, "doc_a", "success")
    theirs = await claim_metrics(db, OTHER_TENANT, "doc_b", "success")
    assert ours
    assert theirs
    assert (ours.confidence, theirs.confidence) == (0.875, None)


async def test_a_failed_document_has_no_confidence_though_equal_bytes_were_read(db: PoolConnectionProxy) -> None:
    document = await upload(db)
    await save_extraction(db, TENANT, document.sha256, "1.1", invoice(confidence=0.875))
    claim = await claim_metrics(db, TENANT, document.document_id, "failed")
    assert claim
    assert claim.confidence is None


async def test_a_document_counts_in_the_bucket_whose_bound_it_does_not_exceed(empty: PoolConnectionProxy) -> None:
    await counted(empty, 10, 0.95)
    await counted(empty, 7, 0.925)
    await counted(empty, 10.5, 0.951)
    await counted(empty, 1e6, 1)
    await counted(empty, 1e6, None, outcome="failed")
    found = {(count.outcome, count.seconds_le, count.confidence_le): count for count in await load_counts(empty)}
    assert found == {
        ("success", 10, 0.95): DocumentCount("success", 10, 0.95, 2, 17, 1.875),
        ("success", 30, 0.99): DocumentCount("success", 30, 0.99, 1, 10.5, 0.951),
        ("success", INFINITY, 1): DocumentCount("success", INFINITY, 1, 1, 1e6, 1),
        ("failed", INFINITY, None): DocumentCount("failed", INFINITY, None, 1, 1e6, 0),
    }


async def test_the_totals_are_of_all_tenants(empty: PoolConnectionProxy) -> None:
    for tenant_id in (TENANT, OTHER_TENANT):
        await counted(empty, 10, None, tenant_id=tenant_id)
    assert await load_counts(empty) == [DocumentCount("success", 10, None, 2, 20, 0)]


async def test_the_totals_can_be_made_anew_from_the_documents(empty: PoolConnectionProxy) -> None:
    await counted(empty, 10, 0.95)
    await counted(empty, 20, None, outcome="failed")
    rows = await empty.fetch(
        "SELECT outcome, processing_seconds, confidence FROM documents WHERE tenant_id = $1", TENANT
    )
    assert {tuple(row) for row in rows} == {("success", 10, 0.95), ("failed", 20, None)}


async def test_a_claim_that_is_undone_is_not_counted(pool: asyncpg.Pool) -> None:
    tenant_id = unique_tenant()
    document = await upload(pool, tenant_id=tenant_id)
    async with pool.acquire() as connection:
        undone = connection.transaction()
        await undone.start()
        assert await claim_metrics(connection, tenant_id, document.document_id, "success")
        await undone.rollback()
    assert await documents_of(pool, tenant_id) == 0
    assert await claim_metrics(pool, tenant_id, document.document_id, "success")
    assert await documents_of(pool, tenant_id) == 1


async def test_of_many_claims_at_once_each_document_gives_and_counts_one(pool: asyncpg.Pool) -> None:
    tenant_id = unique_tenant()
    ids = [(await upload(pool, tenant_id=tenant_id)).document_id for _ in range(10)]
    claims = await asyncio.gather(*(claim_metrics(pool, tenant_id, name, "success") for name in ids * 5))
    assert sum(claim is not None for claim in claims) == len(ids)
    assert await documents_of(pool, tenant_id) == len(ids)


async def test_reading_the_totals_never_touches_the_documents(db: PoolConnectionProxy) -> None:
    """A scrape every few seconds must cost the same with a million documents."""
    plan = "\n".join(row[0] for row in await db.fetch(f"EXPLAIN {LOAD_COUNTS}"))
    assert "on document_counts" in plan
    assert "on documents" not in plan


def test_the_buckets_are_in_order() -> None:
    for bounds in (SECONDS_BUCKETS, CONFIDENCE_BUCKETS):
        assert list(bounds) == sorted(set(bounds))
