"""The vendors tables: what people's decisions taught about each vendor, found by any of its keys."""

from collections.abc import Sequence

from invoices.labelled import observe_decision
from invoices.model import InvoiceData
from invoices.vendors import VendorMemory, contradicts_vat_id, learn, misread_keys, vendor_keys
from storage.calibrations import save_outcomes
from storage.db import Database
from storage.documents import load_document
from storage.extractions import load_best_extraction

FIND_VENDOR = """
SELECT v.vendor_key, v.memory::text
  FROM unnest($2::text[]) WITH ORDINALITY AS asked (key, place)
  JOIN vendor_keys k ON k.tenant_id = $1 AND k.key = asked.key
  JOIN vendors v ON v.tenant_id = $1 AND v.vendor_key = k.vendor_key
 ORDER BY place
 LIMIT 1"""
"""Its first key that leads to one vendor only, surest first."""
BEGIN_VENDOR = """
INSERT INTO vendors (tenant_id, vendor_key, memory) VALUES ($1, $2, $3::text::json) ON CONFLICT DO NOTHING"""
LOCK_VENDOR = "SELECT memory::text FROM vendors WHERE tenant_id = $1 AND vendor_key = $2 FOR UPDATE"
SAVE_VENDOR = "UPDATE vendors SET memory = $3::text::json, updated_at = now() WHERE tenant_id = $1 AND vendor_key = $2"
SAVE_KEYS = """
INSERT INTO vendor_keys AS k (tenant_id, key, vendor_key)
SELECT $1, key, $3 FROM (SELECT DISTINCT unnest($2::text[]) AS key ORDER BY key) AS keys
ON CONFLICT (tenant_id, key) DO UPDATE SET vendor_key = NULL WHERE k.vendor_key IS DISTINCT FROM EXCLUDED.vendor_key"""


async def remember(db: Database, tenant_id: str, approved: InvoiceData) -> None:
    """Learn from a document that a person approved, as judged then. To be called in the decision's transaction.

    It teaches about its vendor, unless it shows nothing to know one by, and about how sure the readers may be.
    """
    keys = vendor_keys(approved)
    vendor_key = await _vendor_of(db, tenant_id, keys, approved) if keys else ""
    if keys:
        await db.execute(BEGIN_VENDOR, tenant_id, vendor_key, VendorMemory().model_dump_json())
        memory = VendorMemory.model_validate_json(await db.fetchval(LOCK_VENDOR, tenant_id, vendor_key))
        await db.execute(SAVE_VENDOR, tenant_id, vendor_key, learn(memory, approved).model_dump_json())
        await db.execute(SAVE_KEYS, tenant_id, [*keys, *misread_keys(approved)], vendor_key)
    document = await load_document(db, tenant_id, approved.document_id)
    reading = await load_best_extraction(db, tenant_id, document.sha256) if document else None
    if reading is not None:
        family = vendor_key or approved.document_id
        await save_outcomes(db, tenant_id, approved.document_id, observe_decision(reading, approved, family))


async def load_vendor(db: Database, tenant_id: str, keys: Sequence[str]) -> VendorMemory | None:
    """Return what is known of the vendor that one of `keys` leads to, the first that leads to one."""
    row = await db.fetchrow(FIND_VENDOR, tenant_id, list(keys))
    return VendorMemory.model_validate_json(row["memory"]) if row else None


async def _vendor_of(db: Database, tenant_id: str, keys: Sequence[str], approved: InvoiceData) -> str:
    """Return the vendor to learn about: the one that the keys lead to unless its VAT id is another, else a new one."""
    row = await db.fetchrow(FIND_VENDOR, tenant_id, list(keys))
    if row is None or contradicts_vat_id(approved, VendorMemory.model_validate_json(row["memory"])):
        return keys[0]
    found: str = row["vendor_key"]
    return found
