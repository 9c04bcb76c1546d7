"""Store what people's decisions taught about each vendor, indexed by the vendor's keys."""

from collections.abc import Sequence

import asyncpg

from docrail.adapters.postgres.pool import Database
from docrail.invoices.assessment.labelled import observe_decision
from docrail.invoices.assessment.vendor_memory import (
    VendorMemory,
    contradicts_vat_id,
    key_of,
    learn,
    misread_keys,
    unlearn,
    vendor_keys,
)
from docrail.invoices.model import InvoiceData
from docrail.invoices.values.folding import squeeze
from docrail.services.documents.repository.calibrations import forget_outcomes, save_outcomes
from docrail.services.documents.repository.documents import load_document
from docrail.services.documents.repository.readings import load_best_extraction

FIND_VENDORS = """
SELECT v.vendor_key, v.memory::text, bool_or(asked.key NOT LIKE 'iban:%') AS named, min(asked.place) AS place
  FROM unnest($2::text[]) WITH ORDINALITY AS asked (key, place)
  JOIN vendor_keys k ON k.tenant_id = $1 AND k.key = asked.key
  JOIN vendors v ON v.tenant_id = $1 AND v.vendor_key = k.vendor_key
 GROUP BY v.tenant_id, v.vendor_key
 ORDER BY named DESC, place"""
"""Every vendor that one of the keys leads to: first by name or VAT id, then by account."""
BEGIN_VENDOR = """
INSERT INTO vendors (tenant_id, vendor_key, memory) VALUES ($1, $2, $3::text::json) ON CONFLICT DO NOTHING"""
LOCK_VENDOR = "SELECT memory::text FROM vendors WHERE tenant_id = $1 AND vendor_key = $2 FOR UPDATE"
SAVE_VENDOR = "UPDATE vendors SET memory = $3::text::json, updated_at = now() WHERE tenant_id = $1 AND vendor_key = $2"
SAVE_KEYS = """
INSERT INTO vendor_keys AS k (tenant_id, key, vendor_key)
SELECT $1, key, $3 FROM (SELECT DISTINCT unnest($2::text[]) AS key ORDER BY key) AS keys
ON CONFLICT (tenant_id, key) DO UPDATE SET vendor_key = NULL WHERE k.vendor_key IS DISTINCT FROM EXCLUDED.vendor_key"""
LIST_KNOWN = """
SELECT vendor_key, kind, value FROM vendors,
LATERAL (SELECT 'vat' AS kind, json_object_keys(memory #> '{values,vendor_vat_id}') AS value
          UNION SELECT 'iban', json_object_keys(memory #> '{values,iban}')
          UNION SELECT 'name', json_object_keys(memory #> '{values,vendor_name}')
          UNION SELECT 'name', json_object_keys(memory -> 'corrections')) AS known
 WHERE tenant_id = $1"""
LOCK_KEYS = "SELECT FROM vendor_keys WHERE tenant_id = $1 AND key = ANY ($2::text[]) ORDER BY key FOR UPDATE"
DROP_KEY = "DELETE FROM vendor_keys WHERE tenant_id = $1 AND key = $2"
POINT_KEY = "UPDATE vendor_keys SET vendor_key = $3 WHERE tenant_id = $1 AND key = $2"


async def remember(db: Database, tenant_id: str, approved: InvoiceData) -> str | None:
    """Learn from a document that a person approved, as assessed then. Call it in the decision's transaction.

    Updates the memory of its vendor, if the document identifies one, and the outcomes for calibration. Return the
    vendor's key, which `forget` needs if the approval is withdrawn.
    """
    keys = vendor_keys(approved)
    vendor_key = await _vendor_of(db, tenant_id, keys, approved) if keys else None
    if vendor_key:
        await db.execute(BEGIN_VENDOR, tenant_id, vendor_key, VendorMemory().model_dump_json())
        memory = VendorMemory.model_validate_json(await db.fetchval(LOCK_VENDOR, tenant_id, vendor_key))
        await db.execute(SAVE_VENDOR, tenant_id, vendor_key, learn(memory, approved).model_dump_json())
        await db.execute(SAVE_KEYS, tenant_id, [*keys, *misread_keys(approved)], vendor_key)
    document = await load_document(db, tenant_id, approved.document_id)
    reading = await load_best_extraction(db, tenant_id, document.sha256) if document else None
    if reading is not None:
        family = vendor_key or approved.document_id
        await save_outcomes(db, tenant_id, approved.document_id, observe_decision(reading, approved, family))
    return vendor_key


async def forget(db: Database, tenant_id: str, approved: InvoiceData, vendor_key: str | None) -> None:
    """Undo what `remember` learned from a document, for the vendor key that it returned.

    Call it once, in the transaction that withdraws the approval. Keys lead to the previous vendors again, and to none
    of which nothing is left.
    """
    await forget_outcomes(db, tenant_id, approved.document_id)
    stored = await db.fetchval(LOCK_VENDOR, tenant_id, vendor_key) if vendor_key else None
    if stored is None:
        return
    left = unlearn(VendorMemory.model_validate_json(stored), approved)
    await db.execute(SAVE_VENDOR, tenant_id, vendor_key, left.model_dump_json())
    keys = sorted({*vendor_keys(approved), *misread_keys(approved)})
    await db.execute(LOCK_KEYS, tenant_id, keys)  # waits for concurrent decisions about these keys, to see their result
    known = await db.fetch(LIST_KNOWN, tenant_id)
    for key in keys:
        holders = {row["vendor_key"] for row in known if _is_key_of(key, row)}
        if holders:
            await db.execute(POINT_KEY, tenant_id, key, holders.pop() if len(holders) == 1 else None)
        else:
            await db.execute(DROP_KEY, tenant_id, key)


async def _vendor_of(db: Database, tenant_id: str, keys: Sequence[str], approved: InvoiceData) -> str:
    """Return the key of the vendor to update: the one found by the keys unless its VAT id differs, else a new one."""
    for row in await db.fetch(FIND_VENDORS, tenant_id, list(keys)):
        if not contradicts_vat_id(approved, VendorMemory.model_validate_json(row["memory"])):
            found: str = row["vendor_key"]
            return found
    return keys[0]


def _is_key_of(key: str, row: asyncpg.Record) -> bool:
    kind, value = row["kind"], row["value"]
    return key == key_of(kind, squeeze(value) if kind == "name" else value)
