# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Load a document's current state: its best reading, people's corrections, and a comparison with other documents."""

import datetime as dt

import asyncpg
from pydantic import TypeAdapter

from docrail.adapters.postgres.pool import Database, NotStored
from docrail.invoices.assessment.assess import Known, judge
from docrail.invoices.assessment.corrections import merge
from docrail.invoices.assessment.duplicates import DAYS_APART, SHORTEST_NUMBER, Seen, seen_of
from docrail.invoices.assessment.vendor_memory import VendorMemory, vendor_keys
from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import CURRENT_READER, Arrived, ReadingKey, Standing
from docrail.services.documents.repository.calibrations import named
from docrail.services.documents.repository.corrections import load_corrections
from docrail.services.documents.repository.readings import BEST_FIRST
from docrail.services.documents.repository.vendors import FIND_VENDORS

MOST_ALIKE = 20
"""Maximum number of similar documents examined per kind of similarity: more would not change the result."""


COMPARED = "document_id, sha256, document_type, number_key, vat_id, iban, name_key, total::text, issued_on"


_LISTED = "vendor_name, invoice_number, currency"


LOAD = f"""
SELECT d.sha256, d.received_at, d.duplicate_of,
       (SELECT p.data::text FROM processed_documents p WHERE p.tenant_id = $1 AND p.sha256 = d.sha256
            AND ($4::text IS NULL OR (p.sha256, p.reader_version) = ($4, $5))
         ORDER BY {BEST_FIRST} LIMIT 1) AS reading,
       CASE WHEN r.status IN ('approved', 'rejected') THEN r.decided_invoice::text END AS decided,
       CASE WHEN r.status IN ('approved', 'rejected') THEN r.status ELSE 'open' END AS status,
       coalesce(r.revision, 0) AS revision,
       CASE WHEN s.seen_at IS NOT NULL THEN to_json(s)::text END AS seen, s.vendor_name, s.invoice_number, s.currency,
       EXISTS (SELECT FROM corrections c WHERE c.tenant_id = $1 AND c.document_id = $2) AS corrected
  FROM documents d
  LEFT JOIN reviews r ON r.tenant_id = $1 AND r.document_id = $2
  LEFT JOIN LATERAL (
      SELECT {COMPARED}, {_LISTED}, seen_at FROM seen_invoices WHERE tenant_id = $1 AND document_id = $2) s ON true
 WHERE d.tenant_id = $1 AND d.document_id = $2"""


NOTE = """
INSERT INTO seen_invoices (tenant_id, document_id, sha256, document_type, number_key, vat_id, iban, name_key, total,
                           issued_on, vendor_name, invoice_number, currency)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (tenant_id, document_id) DO UPDATE
   SET sha256 = EXCLUDED.sha256, document_type = EXCLUDED.document_type, number_key = EXCLUDED.number_key,
       vat_id = EXCLUDED.vat_id, iban = EXCLUDED.iban, name_key = EXCLUDED.name_key, total = EXCLUDED.total,
       issued_on = EXCLUDED.issued_on, vendor_name = EXCLUDED.vendor_name, invoice_number = EXCLUDED.invoice_number,
       currency = EXCLUDED.currency"""


_ALIVE = """s.tenant_id = $1 AND s.document_id <> $2 AND NOT EXISTS
    (SELECT FROM reviews r
      WHERE r.tenant_id = s.tenant_id AND r.document_id = s.document_id AND r.status = 'rejected')"""


_SAME_VENDOR = "(s.vat_id = $6 OR s.iban = $7 OR s.name_key = $8)"


_HALF = "length($5::text) / 2"


_LIKENESSES = (
    # the same number, of this vendor or with this total
    f"SELECT s.* FROM seen_invoices s WHERE {_ALIVE} AND s.number_key = $5 AND ({_SAME_VENDOR} OR s.total = $9)",
    # the same work under another number
    f"""SELECT s.* FROM seen_invoices s WHERE {_ALIVE} AND s.total = $9 AND {_SAME_VENDOR}
         AND s.issued_on BETWEEN $10::date - {DAYS_APART} AND $10::date + {DAYS_APART}""",
    # numbers one edit apart share their first or their last half
    f"""SELECT s.* FROM seen_invoices s WHERE {_ALIVE} AND s.total = $9 AND length($5::text) >= {SHORTEST_NUMBER}
         AND length(s.number_key) BETWEEN length($5::text) - 1 AND length($5::text) + 1
         AND (left(s.number_key, {_HALF}) = left($5, {_HALF}) OR right(s.number_key, {_HALF}) = right($5, {_HALF}))""",
)


LOAD_KNOWN = f"""
WITH found AS (
    SELECT document_id, $3::text AS sha256, $4::text AS document_type, NULL AS number_key, NULL AS vat_id,
           NULL AS iban, NULL AS name_key, NULL AS total, NULL AS issued_on,
           $13::text IS NULL OR duplicate_of IS NOT NULL AND received_at > $12 AS came_later
      FROM (SELECT s.* FROM documents s WHERE {_ALIVE} AND s.sha256 = $3 LIMIT {MOST_ALIKE}) AS equal
    UNION ALL
    SELECT {COMPARED}, seen_at > (SELECT seen_at FROM seen_invoices WHERE tenant_id = $1 AND document_id = $2)
      FROM ({" UNION ALL ".join(f"({each} LIMIT {MOST_ALIKE})" for each in _LIKENESSES)}) AS alike
     WHERE sha256 <> $3)
SELECT (SELECT json_agg(found ORDER BY document_id)::text FROM found) AS others,
       (SELECT json_agg(memory::json ORDER BY named DESC, place)::text
          FROM ({FIND_VENDORS.replace("$2", "$11")}) AS found) AS vendors,
       c.version, c.body::text AS calibration
  FROM (SELECT 1) AS always LEFT JOIN calibrations c ON c.tenant_id = $1 AND c.active"""


_SEEN, _OTHERS = TypeAdapter(Seen), TypeAdapter(tuple[Seen, ...])


_VENDORS = TypeAdapter(tuple[VendorMemory, ...])


async def load_assessed(db: Database, tenant_id: str, document_id: str, *, today: dt.date) -> InvoiceData:
    """Return the document as `load_arrived` does, without its arrival. Raises: as `load_arrived`."""
    return (await load_arrived(db, tenant_id, document_id, today=today)).invoice


async def load_arrived(
    db: Database, tenant_id: str, document_id: str, *, today: dt.date, reading: ReadingKey | None = None
) -> Arrived:
    """Return the document in its current state: read, corrected, compared, checked, with confidences.

    Uses the best reading, or the one that `reading` names.
    A decided document stays as decided until it is reopened, whatever has been read, taught or fitted since.
    Its values are recorded before similar documents are looked up, so that of two concurrent ones at least one sees the
    other. Raises: NotStored if the tenant has no such document or reading.
    """
    named_by = (reading.sha256, reading.reader_version) if reading else (None, None)
    row = await db.fetchrow(LOAD, tenant_id, document_id, CURRENT_READER, *named_by)
    if row is None:
        raise NotStored("document", document_id, tenant_id)
    standing = Standing(row["status"], row["revision"])
    if row["decided"] is not None:
        return Arrived(InvoiceData.model_validate_json(row["decided"]), row["received_at"], standing)
    if row["reading"] is None:
        raise NotStored("extraction of document", document_id, tenant_id)
    invoice = InvoiceData.model_validate_json(row["reading"]).for_document(document_id)
    if row["corrected"]:
        invoice = merge(invoice, await load_corrections(db, tenant_id, document_id))
    own = seen_of(invoice, row["sha256"])
    listed = (invoice.vendor_name.value, invoice.invoice_number.value, invoice.currency.value)
    noted = (row["vendor_name"], row["invoice_number"], row["currency"])
    if row["seen"] is None or (_SEEN.validate_json(row["seen"]), noted) != (own, listed):
        await db.execute(NOTE, tenant_id, *_values(own), *listed)
    arrival = (row["received_at"], row["duplicate_of"])
    known = await db.fetchrow(LOAD_KNOWN, tenant_id, *_values(own), list(vendor_keys(invoice)), *arrival)
    assert known is not None, "one row, whatever is known"
    return Arrived(judge(invoice, _known(own, known), today), row["received_at"], standing)


def _known(own: Seen, row: asyncpg.Record) -> Known:
    vendors = _VENDORS.validate_json(row["vendors"]) if row["vendors"] else ()
    return Known(
        sha256=own.sha256,
        vendor=next(iter(vendors), None),
        namesakes=vendors[1:],
        others=_OTHERS.validate_json(row["others"]) if row["others"] else (),
        calibration=named(row["version"], row["calibration"]) if row["version"] else None,
    )


def _values(own: Seen) -> tuple[object, ...]:
    """Return the columns from document_id to issued_on."""
    which = (own.document_id, own.sha256, own.document_type.value)
    return (*which, own.number_key, own.vat_id, own.iban, own.name_key, own.total, own.issued_on)
