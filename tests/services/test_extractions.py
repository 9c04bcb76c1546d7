"""Extractions: read once for a tenant and its bytes, exact, and the first one stays."""

import asyncio

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from docrail.services.documents.models import CURRENT_READER, FALLBACK, reading_version
from docrail.services.documents.repository.readings import load_best_extraction, load_extraction, save_extraction
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, blob_of, new_document_id
from tests.services.invoices import invoice

BYTES = blob_of("the bytes").sha256


async def test_an_extraction_is_loaded_as_it_was_saved_but_for_the_document_id(db: PoolConnectionProxy) -> None:
    saved = await save_extraction(db, TENANT, BYTES, CURRENT_READER, invoice("doc_1"))
    assert saved == invoice("")
    assert await load_extraction(db, TENANT, BYTES, CURRENT_READER) == invoice("")


async def test_the_first_extraction_wins_and_is_what_both_writers_get(db: PoolConnectionProxy) -> None:
    await save_extraction(db, TENANT, BYTES, CURRENT_READER, invoice(number="first"))
    second = await save_extraction(db, TENANT, BYTES, CURRENT_READER, invoice(number="second"))
    assert second.invoice_number.value == "first"


async def test_of_many_extractions_at_once_all_writers_get_the_same(pool: asyncpg.Pool) -> None:
    sha256 = blob_of(new_document_id()).sha256
    saves = (save_extraction(pool, COMMITTING, sha256, CURRENT_READER, invoice(number=str(n))) for n in range(10))
    assert len({saved.invoice_number.value for saved in await asyncio.gather(*saves)}) == 1


async def test_an_extraction_is_found_only_by_its_tenant_bytes_and_reader(db: PoolConnectionProxy) -> None:
    await save_extraction(db, TENANT, BYTES, CURRENT_READER, invoice())
    assert await load_extraction(db, OTHER_TENANT, BYTES, CURRENT_READER) is None
    assert await load_best_extraction(db, OTHER_TENANT, BYTES) is None
    assert await load_extraction(db, TENANT, blob_of("x").sha256, CURRENT_READER) is None
    assert await load_extraction(db, TENANT, BYTES, "0.9") is None


async def test_the_best_extraction_is_this_codes_own_and_else_the_newest(db: PoolConnectionProxy) -> None:
    for version, age in (("0.1", 3), ("0.2", 2)):
        await save_extraction(db, TENANT, BYTES, version, invoice(number=version))
        await db.execute(
            "UPDATE processed_documents SET created_at = now() - make_interval(secs => $1) WHERE reader_version = $2",
            age,
            version,
        )
    newest = await load_best_extraction(db, TENANT, BYTES)
    await save_extraction(db, TENANT, BYTES, CURRENT_READER, invoice(number="own"))
    await save_extraction(db, TENANT, BYTES, "99.9", invoice(number="later release"))
    own = await load_best_extraction(db, TENANT, BYTES)
    assert newest
    assert own
    assert (newest.invoice_number.value, own.invoice_number.value) == ("0.2", "own")


async def test_a_models_reading_wins_over_a_newer_local_one(db: PoolConnectionProxy) -> None:
    versions = (
        reading_version(fresh_run_id="r0"),
        reading_version("model-a", "1"),
        reading_version("model-b", "1"),
        reading_version("model-b", "1", fresh_run_id="r1"),
        reading_version(),
        reading_version(FALLBACK, fresh_run_id="r2"),
        reading_version(FALLBACK, "gemini_unavailable", fresh_run_id="r3"),
    )
    best = []
    for age, version in enumerate(reversed(versions)):  # from the newest to the oldest
        await save_extraction(db, TENANT, BYTES, version, invoice(number=version))
        await db.execute(
            "UPDATE processed_documents SET created_at = now() - make_interval(secs => $1) WHERE reader_version = $2",
            age,
            version,
        )
        found = await load_best_extraction(db, TENANT, BYTES)
        best.append(found and found.invoice_number.value)
    assert best == [versions[6]] * 3 + [versions[3]] * 4


async def test_nuls_in_a_documents_text_are_dropped_and_look_alikes_kept(db: PoolConnectionProxy) -> None:
    hostile = "a\x00b\x00\x00 \\u0000 \\\x00u0000 \\\\\x00 \u2028"
    saved = await save_extraction(db, TENANT, BYTES, CURRENT_READER, invoice(number=hostile))
    assert saved.invoice_number.value == hostile.replace("\x00", "")
    assert saved == await load_extraction(db, TENANT, BYTES, CURRENT_READER)
