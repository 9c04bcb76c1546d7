"""Judged documents: compared with others of the tenant, by indexes, whichever came first; and what people taught."""

import asyncio
import datetime as dt
import json
import random
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import NotStored
from docrail.invoices.assessment.assess import vendor_is_known
from docrail.invoices.assessment.duplicates import find_duplicates, seen_of
from docrail.invoices.facts import Evidence, Severity, Source
from docrail.invoices.model import FieldValue, InvoiceData
from docrail.services.documents.assessed import load_all_assessed
from docrail.services.documents.models import WantedReading
from docrail.services.documents.repository.seen import LOAD_KNOWN, asked_of
from docrail.services.documents.repository.vendors import remember
from docrail.services.documents.service import mark_decided
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, as_owner, new_document_id, upload
from tests.services.arrivals import IBAN, OTHER_IBAN, TODAY, approve, arrive, codes, correct, judged, reading
from tests.vendors import load_vendor


async def test_a_document_alone_has_no_history(db: PoolConnectionProxy) -> None:
    document_id = await arrive(db)
    invoice = await judged(db, document_id)
    assert (invoice.document_id, invoice.problems) == (document_id, ())
    assert invoice.confidence > 0.5


async def test_the_same_number_of_the_same_vendor_is_an_error_on_the_later_one_only(db: PoolConnectionProxy) -> None:
    first, second = await arrive(db), await arrive(db, invoice_number="re 2026/0017", total=Decimal(5), net=None)
    assert await codes(db, first) == []
    [problem] = (await judged(db, second)).problems
    assert (problem.code, problem.severity, first in problem.message) == ("duplicate", Severity.ERROR, True)
    assert await codes(db, first) == ["near_duplicate"]


async def test_of_two_alike_that_are_assessed_together_one_is_the_later(db: PoolConnectionProxy) -> None:
    both = [
        WantedReading(await arrive(db)),
        WantedReading(await arrive(db, invoice_number="re 2026/0017", total=Decimal(5), net=None)),
    ]
    found = await load_all_assessed(db, TENANT, both, today=TODAY)
    assert sorted(problem.code for each in found.values() for problem in each.invoice.problems) == [
        "duplicate",
        "near_duplicate",
    ]


async def test_the_same_bytes_are_an_error_before_the_first_upload_was_judged(db: PoolConnectionProxy) -> None:
    first, second = await arrive(db, text="bytes"), await arrive(db, text="bytes")
    assert await codes(db, second) == ["duplicate"]
    assert await codes(db, first) == ["near_duplicate"]


@pytest.mark.parametrize(
    "values",
    [
        {"vendor_vat_id": "DE111111111"},
        {"invoice_number": "X-1", "date": dt.date(2026, 10, 6)},
        {"invoice_number": "RE-2026-0018", "vendor_vat_id": "DE111111111", "date": dt.date(2026, 1, 1)},
        {"invoice_number": "RE-2026-017", "vendor_vat_id": "DE111111111", "date": dt.date(2026, 1, 1)},
        {"invoice_number": "RR-2026-0017", "vendor_vat_id": "DE111111111", "date": dt.date(2026, 1, 1)},
    ],
    ids=["number and total", "vendor, total and date", "last digit", "a zero less", "first letter"],
)
async def test_one_like_it_is_a_warning(db: PoolConnectionProxy, values: dict[str, Any]) -> None:
    await codes(db, await arrive(db))
    assert await codes(db, await arrive(db, **values)) == ["near_duplicate"]


@pytest.mark.parametrize(
    "values",
    [
        {"invoice_number": "X-1", "date": dt.date(2026, 10, 7)},
        {"invoice_number": "RE-2026-0018", "total": Decimal("119.01")},
        {"invoice_number": "RE-2025-0018", "date": dt.date(2026, 1, 1)},
    ],
    ids=["six days apart", "another total", "two edits apart"],
)
async def test_another_invoice_is_none_of_it(db: PoolConnectionProxy, values: dict[str, Any]) -> None:
    await codes(db, await arrive(db))
    assert await codes(db, await arrive(db, **values)) == []


async def test_the_search_finds_what_comparing_with_every_document_finds(db: PoolConnectionProxy) -> None:
    chance = random.Random(7)
    documents = {}
    for _ in range(60):
        values: dict[str, Any] = {
            "invoice_number": chance.choice(["1000", "1001", "10001", "2000", "2001x", "a1000", "7", None]),
            "date": dt.date(2026, 10, chance.randint(1, 14)),
            "vendor_name": chance.choice(["Muster", "Other", None]),
            "vendor_vat_id": chance.choice(["DE136695976", "DE111111111", None, None]),
            "iban": chance.choice([IBAN, OTHER_IBAN, None]),
            "total": Decimal(chance.randint(1, 12)),
        }
        documents[await arrive(db, net=None, **values)] = reading(net=None, **values)
    for document_id in documents:
        await judged(db, document_id)
    everything = [seen_of(invoice.for_document(document_id)) for document_id, invoice in documents.items()]
    place = {document_id: number for number, document_id in enumerate(documents)}
    found = set()
    for document_id, invoice in documents.items():
        others = [replace(other, came_later=place[other.document_id] > place[document_id]) for other in everything]
        expected = {p.code for p in find_duplicates(seen_of(invoice.for_document(document_id)), others)}
        assert {code for code in await codes(db, document_id) if "duplicate" in code} == expected
        found.add(frozenset(expected))
    assert len(found) == 4, "none, either, both"


async def test_other_tenants_are_never_compared(db: PoolConnectionProxy) -> None:
    await codes(db, await arrive(db, OTHER_TENANT, text="theirs"), OTHER_TENANT)
    assert await codes(db, await arrive(db, text="theirs")) == []


async def test_a_rejected_document_is_no_reason_not_to_pay(db: PoolConnectionProxy) -> None:
    first = await arrive(db)
    await codes(db, first)
    await mark_decided(db, TENANT, first, "rejected")
    assert await codes(db, await arrive(db)) == []


async def test_corrected_values_are_compared(db: PoolConnectionProxy) -> None:
    first, second = await arrive(db), await arrive(db, invoice_number="misread", total=Decimal(5), net=None)
    assert await codes(db, second) == []
    await correct(db, second, "invoice_number", "RE-2026-0017")
    await codes(db, first)
    assert "near_duplicate" in await codes(db, second)


async def test_a_document_that_says_the_same_is_not_noted_again(pool: asyncpg.Pool) -> None:
    document_id = await arrive(pool, COMMITTING)
    rows = []
    for _ in range(2):
        await judged(pool, document_id, COMMITTING)
        rows.append(await pool.fetchval("SELECT xmin::text FROM seen_invoices WHERE document_id = $1", document_id))
    assert rows[0] == rows[1]


async def test_of_two_at_the_same_moment_at_least_one_sees_the_other(pool: asyncpg.Pool) -> None:
    number = new_document_id()
    pair = [await arrive(pool, COMMITTING, invoice_number=number) for _ in range(2)]
    found = await asyncio.gather(*(codes(pool, document_id, COMMITTING) for document_id in pair))
    assert any("duplicate" in code for problems in found for code in problems)


async def test_documents_that_cannot_be_assessed_are_named(db: PoolConnectionProxy) -> None:
    with pytest.raises(NotStored, match="has no document"):
        await judged(db, "doc_none")
    unread = await upload(db)
    with pytest.raises(NotStored, match="has no extraction of document"):
        await judged(db, unread.document_id)


async def test_a_hostile_document_can_be_noted(db: PoolConnectionProxy) -> None:
    long = "x" * 10_000
    document_id = await arrive(db, invoice_number=long, vendor_name=long, vendor_vat_id=long, iban=long)
    assert "duplicate" not in await codes(db, document_id)
    assert "duplicate" in await codes(db, await arrive(db, invoice_number=long, vendor_vat_id=long))
    await approve(db, document_id)


async def test_documents_are_compared_by_indexes(db: PoolConnectionProxy) -> None:
    """Looking through all documents would make each one cost more than the one before.

    Under row-level security PostgreSQL uses an index only for operators that leak nothing.
    """
    await db.execute(
        "WITH d AS (INSERT INTO documents"
        "   (document_id, tenant_id, sha256, size_bytes, media_type, file_name, sla_hours)"
        " SELECT 'bulk' || n, $1, repeat('0', 56) || to_char(n, 'FM00000000'), 1, '', '', 1"
        "   FROM generate_series(1, 5000) n RETURNING document_id, tenant_id, sha256)"
        "INSERT INTO seen_invoices (tenant_id, document_id, sha256, document_type, number_key, total, issued_on)"
        " SELECT tenant_id, document_id, sha256, 'invoice', document_id, random() * 1000, $2 FROM d",
        TENANT,
        TODAY,
    )
    await as_owner(db)  # only the owner may analyze
    await db.execute("ANALYZE documents, seen_invoices, reviews, vendors, vendor_keys")
    await db.execute("SELECT set_config('role', 'docrail_app', true), set_config('docrail.tenant', $1, true)", TENANT)
    own = seen_of(reading(total=Decimal(1)), "0" * 64)
    asked = json.dumps([asked_of(own, ["vat:DE1"], dt.datetime.now(dt.UTC), None)])
    plan = "\n".join(row[0] for row in await db.fetch(f"EXPLAIN {LOAD_KNOWN}", TENANT, asked))
    assert {"documents_by_sha256", "seen_invoices_by_number", "seen_invoices_by_total"} <= set(plan.split())
    assert not re.search("Seq Scan on (documents|seen_invoices)", plan)


async def test_a_new_account_of_a_known_vendor_is_an_error(db: PoolConnectionProxy) -> None:
    await approve(db, await arrive(db))
    changed = await judged(db, await arrive(db, invoice_number="A-9", total=Decimal(7), net=None, iban=OTHER_IBAN))
    assert [problem.code for problem in changed.problems] == ["iban_changed"]
    assert Evidence.IBAN_CHANGED in changed.iban.evidence
    assert changed.iban.value == OTHER_IBAN


async def test_a_vendor_is_known_by_its_name_where_the_page_shows_no_more(db: PoolConnectionProxy) -> None:
    await approve(db, await arrive(db))
    page: dict[str, Any] = {"invoice_number": "A-9", "total": Decimal(7), "net": None, "vendor_vat_id": None}
    assert await codes(db, await arrive(db, **page, iban=OTHER_IBAN)) == ["iban_changed"]
    assert (await judged(db, await arrive(db, **page, iban=IBAN))).vendor_vat_id.source is Source.VENDOR


async def test_a_corrected_name_is_right_next_time(db: PoolConnectionProxy) -> None:
    first = await arrive(db, vendor_name="Rechnung", vendor_vat_id=None, iban=None)
    await correct(db, first, "vendor_name", "Muster GmbH")
    await approve(db, first)
    again = await judged(db, await arrive(db, vendor_name="RECHNUNG", vendor_vat_id=None, iban=None, total=Decimal(7)))
    assert (again.vendor_name.value, again.vendor_name.source) == ("Muster GmbH", Source.VENDOR)
    assert [candidate.value for candidate in again.vendor_name.candidates] == ["Muster GmbH", "RECHNUNG"]


async def test_a_key_shared_by_two_vendors_leads_to_neither(db: PoolConnectionProxy) -> None:
    for number, vat_id in enumerate(("DE136695976", "DE111111111")):
        values: dict[str, Any] = {
            "invoice_number": f"A-{number}",
            "total": Decimal(number + 7),
            "net": None,
            "vendor_vat_id": vat_id,
        }
        await approve(db, await arrive(db, **values))
    assert await load_vendor(db, TENANT, [f"iban:{IBAN}", "name:mustergmbh"]) is None
    memory = await load_vendor(db, TENANT, ["name:mustergmbh", "vat:DE111111111"])
    assert memory
    assert memory.values["vendor_vat_id"] == {"DE111111111": 1}


@pytest.mark.parametrize("source", [Source.XML, Source.TEXT_LABEL])
async def test_an_account_that_leads_to_another_vendor_than_the_name_is_an_error(
    db: PoolConnectionProxy, source: Source
) -> None:
    await approve(db, await arrive(db))
    mule: dict[str, Any] = {"vendor_name": "Mule Ltd", "vendor_vat_id": None, "iban": OTHER_IBAN, "net": None}
    await approve(db, await arrive(db, **mule, invoice_number="M-1", total=Decimal(7)))
    named = mule | {"vendor_name": FieldValue[str](value="Muster GmbH", source=source)}
    document_id = await arrive(db, **named, invoice_number="A-9", total=Decimal(8))
    changed = await judged(db, document_id)
    assert [problem.code for problem in changed.problems] == ["iban_changed"]
    assert f"Muster GmbH was paid to {IBAN} so far" in changed.problems[0].message
    assert Evidence.IBAN_CHANGED in changed.iban.evidence
    assert (changed.vendor_name.value, changed.vendor_vat_id.value) == ("Muster GmbH", None)
    assert not vendor_is_known(changed)
    await approve(db, document_id)
    memory = await load_vendor(db, TENANT, ["name:mustergmbh"])
    assert memory
    assert memory.knows("iban", OTHER_IBAN), "it taught about whom it names"


async def test_a_vendors_memory_stays_with_its_tenant(db: PoolConnectionProxy) -> None:
    await approve(db, await arrive(db))
    assert await load_vendor(db, OTHER_TENANT, ["vat:DE136695976"]) is None


async def test_approvals_of_one_vendor_at_once_are_all_remembered(pool: asyncpg.Pool) -> None:
    vat_id = new_document_id()
    documents = [await arrive(pool, COMMITTING, vendor_vat_id=vat_id, invoice_number=f"C-{n}") for n in range(5)]
    readings = [await judged(pool, document_id, COMMITTING) for document_id in documents]

    async def decide(invoice: InvoiceData) -> None:
        async with pool.acquire() as connection, connection.transaction():
            await remember(connection, COMMITTING, invoice)

    await asyncio.gather(*map(decide, readings))
    memory = await load_vendor(pool, COMMITTING, [f"vat:{vat_id}"])
    assert memory
    assert memory.approvals == 5


async def test_a_document_without_a_vendor_teaches_nothing_about_vendors(db: PoolConnectionProxy) -> None:
    document_id = await arrive(db, vendor_name=None, vendor_vat_id=None, iban=None)
    await approve(db, document_id)
    assert await db.fetchval("SELECT count(*) FROM field_outcomes WHERE document_id = $1", document_id) == 6
