"""Document rows: stored once, distinguished from duplicates, seen by their tenant alone."""

import asyncio
import datetime as dt
from dataclasses import replace
from unittest.mock import ANY

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import COMMITS_LATER, is_alone
from docrail.services.documents.assessed import load_assessed
from docrail.services.documents.models import DocumentConflict
from docrail.services.documents.repository.documents import load_document, load_unstarted, mark_run_started
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, blob_of, new_document_id, upload
from tests.services.arrivals import TODAY, arrive


async def test_a_stored_document_is_loaded_as_it_was_given(db: PoolConnectionProxy) -> None:
    stored = await upload(db, document_id="doc_a", blob=blob_of("abc"), run_id="invoice.doc_a")
    assert (stored.tenant_id, stored.document_id, stored.sha256) == (TENANT, "doc_a", blob_of("abc").sha256)
    assert (stored.size_bytes, stored.file_name, stored.sla_hours, stored.run_id) == (
        3,
        "invoice.pdf",
        24,
        "invoice.doc_a",
    )
    assert (stored.run_started_at, stored.metrics_recorded_at, stored.duplicate_of) == (None, None, None)
    loaded = await load_document(db, TENANT, "doc_a")
    assert loaded
    assert loaded.received_at == stored.received_at
    assert loaded.received_at.tzinfo is dt.UTC
    assert 0 <= loaded.age_seconds < 60


async def test_storing_the_same_upload_again_changes_nothing(db: PoolConnectionProxy) -> None:
    first = await upload(db, document_id="doc_a", blob=blob_of("abc"))
    again = await upload(db, document_id="doc_a", blob=blob_of("abc"))
    assert again.received_at == first.received_at
    assert again.duplicate_of is None


async def test_a_document_whose_original_was_removed_has_it_again_when_it_is_sent_again(
    db: PoolConnectionProxy,
) -> None:
    await upload(db, document_id="doc_a", blob=blob_of("abc"))
    await db.execute("UPDATE documents SET original_removed_at = now() WHERE document_id = 'doc_a'")
    await upload(db, document_id="doc_b", blob=blob_of("abc"))
    removed = await load_document(db, TENANT, "doc_a")
    assert removed
    assert removed.original_removed_at
    again = await upload(db, document_id="doc_a", blob=blob_of("abc"))
    assert (again.document_id, again.original_removed_at) == ("doc_a", None)
    assert (await load_document(db, TENANT, "doc_a")) == replace(again, age_seconds=ANY)


async def test_an_id_with_other_bytes_is_refused(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a", blob=blob_of("abc"))
    with pytest.raises(DocumentConflict, match="doc_a"):
        await upload(db, document_id="doc_a", blob=blob_of("other"))


async def test_an_id_of_another_tenant_is_refused_and_its_row_stays(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a", blob=blob_of("abc"))
    with pytest.raises(DocumentConflict):
        await upload(db, tenant_id=OTHER_TENANT, document_id="doc_a", blob=blob_of("abc"))
    assert await load_document(db, OTHER_TENANT, "doc_a") is None
    assert await load_document(db, TENANT, "doc_a")


async def test_a_duplicate_names_the_first_document_of_its_tenant(db: PoolConnectionProxy) -> None:
    same = blob_of("same bytes")
    await upload(db, document_id="doc_1", blob=same)
    second, third = await upload(db, document_id="doc_2", blob=same), await upload(db, document_id="doc_3", blob=same)
    foreign = await upload(db, tenant_id=OTHER_TENANT, blob=same)
    assert (second.duplicate_of, third.duplicate_of, foreign.duplicate_of) == ("doc_1", "doc_1", None)


async def test_of_many_uploads_of_the_same_bytes_at_once_one_is_the_first(pool: asyncpg.Pool) -> None:
    same = blob_of(new_document_id())
    stored = await asyncio.gather(*(upload(pool, tenant_id=COMMITTING, blob=same) for _ in range(10)))
    firsts = [document.document_id for document in stored if document.duplicate_of is None]
    assert len(firsts) == 1
    assert {document.duplicate_of for document in stored} == {None, firsts[0]}


async def test_a_run_is_marked_as_started_once(db: PoolConnectionProxy) -> None:
    await upload(db, document_id="doc_a")
    assert not await mark_run_started(db, OTHER_TENANT, "doc_a", "invoice.theirs")
    assert await mark_run_started(db, TENANT, "doc_a", "invoice.doc_a")
    assert not await mark_run_started(db, TENANT, "doc_a", "invoice.later")
    document = await load_document(db, TENANT, "doc_a")
    assert document
    assert document.run_id == "invoice.doc_a"
    assert document.run_started_at


async def test_what_may_be_lost_alone_makes_nothing_else_in_its_transaction_so(db: PoolConnectionProxy) -> None:
    """A decision that comes with it must not be undone by a crash of the server after it was answered."""
    await db.execute("SET LOCAL synchronous_commit TO on")
    document_id = await arrive(db)
    assert await mark_run_started(db, TENANT, document_id, f"invoice.{document_id}")
    await load_assessed(db, TENANT, document_id, today=TODAY)
    assert await db.fetchval("SHOW synchronous_commit") == "on"


async def test_a_statement_of_its_own_may_commit_later(pool: asyncpg.Pool) -> None:
    assert is_alone(pool)
    async with pool.acquire() as connection, connection.transaction():
        assert not is_alone(connection)
        await connection.execute("SET LOCAL synchronous_commit TO on")
        later = f"SELECT current_setting('synchronous_commit') WHERE {COMMITS_LATER.format(is_alone='$1')}"
        assert [await connection.fetchval(later, alone) for alone in (False, True)] == ["on", "off"]


async def test_only_old_documents_without_a_run_are_left_to_start(db: PoolConnectionProxy) -> None:
    old, started, new = ["doc_old", "doc_started", "doc_new"]
    for document_id in (old, started, new):
        await upload(db, document_id=document_id, tenant_id=OTHER_TENANT if document_id == old else TENANT)
    await mark_run_started(db, TENANT, started, "invoice.x")
    await db.execute("UPDATE documents SET received_at = now() - interval '1 minute' WHERE document_id <> $1", new)
    left = await load_unstarted(db, older_than_seconds=30)
    assert [(row.tenant_id, row.document_id) for row in left if row.document_id in {old, started, new}] == [
        (OTHER_TENANT, old)
    ]
