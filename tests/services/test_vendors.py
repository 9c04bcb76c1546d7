"""What a taken-back approval taught is forgotten: the vendor, its keys, and how the readers fared."""

from decimal import Decimal
from typing import Any

from asyncpg.pool import PoolConnectionProxy

from docrail.invoices.assessment.vendor_memory import VendorMemory
from docrail.services.documents.repository.vendors import forget, remember
from tests.postgres import TENANT
from tests.services.arrivals import IBAN, OTHER_IBAN, arrive, correct, judged
from tests.vendors import load_vendor

OTHER: dict[str, Any] = {"invoice_number": "A-9", "total": Decimal(7), "net": None}


async def taught(db: PoolConnectionProxy) -> tuple[list[Any], list[Any], int]:
    """Return all that is known of vendors, and how many values' fates."""
    vendors = await db.fetch(
        "SELECT vendor_key, memory FROM vendors WHERE tenant_id = $1 AND memory::text <> $2 ORDER BY 1",
        *(TENANT, VendorMemory().model_dump_json()),
    )
    keys = await db.fetch("SELECT key, vendor_key FROM vendor_keys WHERE tenant_id = $1 ORDER BY 1", TENANT)
    outcomes = await db.fetchval("SELECT count(*) FROM field_outcomes WHERE tenant_id = $1", TENANT)
    return list(map(tuple, vendors)), list(map(tuple, keys)), outcomes


async def learn_and_forget(db: PoolConnectionProxy, document_id: str) -> None:
    before, approved = await taught(db), await judged(db, document_id)
    vendor_key = await remember(db, TENANT, approved)
    assert await taught(db) != before
    await forget(db, TENANT, approved, vendor_key)
    assert await taught(db) == before


async def test_a_vendor_without_approvals_leaves_nothing(db: PoolConnectionProxy) -> None:
    await learn_and_forget(db, await arrive(db))


async def test_a_vendor_is_as_it_was_before(db: PoolConnectionProxy) -> None:
    await remember(db, TENANT, await judged(db, await arrive(db)))
    document_id = await arrive(db, **OTHER, iban=OTHER_IBAN, vendor_name="Rechnung")
    await correct(db, document_id, "vendor_name", "Muster AG")
    await learn_and_forget(db, document_id)


async def test_a_key_leads_again_to_whom_it_led_before(db: PoolConnectionProxy) -> None:
    await remember(db, TENANT, await judged(db, await arrive(db)))
    await learn_and_forget(db, await arrive(db, **OTHER, vendor_vat_id="DE111111111"))
    assert await load_vendor(db, TENANT, [f"iban:{IBAN}"])


async def test_a_key_that_two_others_share_still_leads_to_neither(db: PoolConnectionProxy) -> None:
    for number, vat_id in enumerate(("DE136695976", "DE111111111")):
        values = OTHER | {"invoice_number": f"B-{number}", "total": Decimal(number + 50), "vendor_vat_id": vat_id}
        await remember(db, TENANT, await judged(db, await arrive(db, **values)))
    await learn_and_forget(db, await arrive(db, **OTHER, vendor_vat_id="DE222222222"))


async def test_a_document_without_a_vendor_is_forgotten_too(db: PoolConnectionProxy) -> None:
    await learn_and_forget(db, await arrive(db, vendor_name=None, vendor_vat_id=None, iban=None))
