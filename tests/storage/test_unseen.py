"""Documents that were read before anything was compared are compared with new ones all the same."""

import pytest
from asyncpg.pool import PoolConnectionProxy

from storage import unseen
from storage.unseen import note_unseen
from tests.postgres import OTHER_TENANT, TENANT
from tests.storage.arrivals import arrive, codes, correct, judged

COUNT = "SELECT count(*) FROM seen_invoices WHERE tenant_id = $1 AND document_id = ANY($2)"
EARLIER = "UPDATE documents SET received_at = received_at - interval '1 hour' WHERE document_id = $1"


async def note_all(db: PoolConnectionProxy) -> None:
    after: str | None = ""
    while after is not None:
        after = await note_unseen(db, after)


async def test_an_old_document_that_nobody_opened_is_found_as_the_first_of_two(db: PoolConnectionProxy) -> None:
    old = await arrive(db)
    await db.execute(EARLIER, old)
    new = await arrive(db, net=None)
    assert await codes(db, new) == []  # this is what it was like
    await note_all(db)
    [problem] = (await judged(db, new)).problems
    assert (problem.code, old in problem.message) == ("duplicate", True)
    assert await codes(db, old) == ["near_duplicate"]  # the other one came later, although it was noted first


async def test_what_a_person_corrected_is_what_is_noted(db: PoolConnectionProxy) -> None:
    old = await arrive(db, invoice_number="misread")
    await correct(db, old, "invoice_number", "RE-2026-0017")
    await db.execute(EARLIER, old)
    await note_all(db)
    assert await codes(db, await arrive(db, net=None)) == ["duplicate"]


async def test_batches_reach_every_document_of_every_tenant_and_a_second_time_changes_nothing(
    db: PoolConnectionProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen, "BATCH", 2)
    ours = [await arrive(db, invoice_number=f"A-{number}") for number in range(5)]
    theirs = [await arrive(db, OTHER_TENANT)]
    for _ in range(2):
        await note_all(db)
        assert await db.fetchval(COUNT, TENANT, ours) == 5
        assert await db.fetchval(COUNT, OTHER_TENANT, theirs) == 1


async def test_a_reading_that_cannot_be_understood_holds_up_none_of_the_others(
    db: PoolConnectionProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen, "BATCH", 1)
    documents = sorted([await arrive(db, invoice_number=f"B-{number}") for number in range(3)])
    for document_id in documents[:2]:
        await db.execute(
            """UPDATE processed_documents SET data = '{"flags": 1}'
                WHERE sha256 = (SELECT sha256 FROM documents WHERE document_id = $1)""",
            document_id,
        )
    await note_all(db)
    assert await db.fetchval(COUNT, TENANT, documents) == 1
