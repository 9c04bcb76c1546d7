# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Store what each document is compared by, and find what is known about it: similar documents, vendors, calibration."""

import datetime as dt
from dataclasses import dataclass

from pydantic import TypeAdapter

from docrail.adapters.postgres.pool import Database
from docrail.invoices.assessment.assess import Known
from docrail.invoices.assessment.duplicates import DAYS_APART, SHORTEST_NUMBER, Seen
from docrail.invoices.assessment.vendor_memory import VendorMemory, vendor_keys
from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import CURRENT_READER, ReadingKey
from docrail.services.documents.repository.calibrations import named
from docrail.services.documents.repository.readings import BEST_FIRST
from docrail.services.documents.repository.vendors import FIND_VENDORS

MOST_ALIKE = 20
"""Maximum number of similar documents examined per kind of similarity: more would not change the result."""

COMPARED = "document_id, sha256, document_type, number_key, vat_id, iban, name_key, total::text, issued_on"

_LISTED = "vendor_name, invoice_number, currency"

LOAD_READ = f"""
SELECT d.sha256, d.received_at, d.duplicate_of,
       (SELECT p.data::text FROM processed_documents p WHERE p.tenant_id = $1 AND p.sha256 = d.sha256
            AND ($4::text IS NULL OR (p.sha256, p.reader_version) = ($4, $5))
         ORDER BY {BEST_FIRST} LIMIT 1) AS reading,
       CASE WHEN s.seen_at IS NOT NULL THEN to_json(s)::text END AS seen, s.vendor_name, s.invoice_number, s.currency,
       EXISTS (SELECT FROM corrections c WHERE c.tenant_id = $1 AND c.document_id = $2) AS corrected
  FROM documents d
  LEFT JOIN LATERAL (
      SELECT {COMPARED}, {_LISTED}, seen_at FROM seen_invoices WHERE tenant_id = $1 AND document_id = $2) s ON true
 WHERE d.tenant_id = $1 AND d.document_id = $2"""

NOTE_SEEN = """
INSERT INTO seen_invoices (tenant_id, document_id, sha256, document_type, number_key, vat_id, iban, name_key, total,
                           issued_on, vendor_name, invoice_number, currency)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (tenant_id, document_id) DO UPDATE
   SET sha256 = EXCLUDED.sha256, document_type = EXCLUDED.document_type, number_key = EXCLUDED.number_key,
       vat_id = EXCLUDED.vat_id, iban = EXCLUDED.iban, name_key = EXCLUDED.name_key, total = EXCLUDED.total,
       issued_on = EXCLUDED.issued_on, vendor_name = EXCLUDED.vendor_name, invoice_number = EXCLUDED.invoice_number,
       currency = EXCLUDED.currency"""

# Neither what was rejected nor a file whose invoices are documents of their own. A decision is looked up by id: as
# NOT EXISTS it became a join, which read all documents of the tenant for each row until the table was analysed.
_COMPARABLE = """s.tenant_id = $1 AND s.document_id <> $2 AND
    (SELECT d.decision FROM documents d
      WHERE d.tenant_id = s.tenant_id AND d.document_id = s.document_id) IS DISTINCT FROM 'rejected' AND NOT EXISTS
    (SELECT FROM documents p WHERE p.tenant_id = s.tenant_id AND p.part_of = s.document_id)"""

_SAME_VENDOR = "(s.vat_id = $6 OR s.iban = $7 OR s.name_key = $8)"

_SAME_TOTAL = "s.total_key = trim_scale($9::numeric)::text"

_HALF = "length($5::text) / 2"

_LIKENESSES = (
    # the same number, of this vendor or with this total
    f"""SELECT s.* FROM seen_invoices s WHERE {_COMPARABLE} AND s.number_key = $5
         AND ({_SAME_VENDOR} OR {_SAME_TOTAL})""",
    # the same work under another number
    f"""SELECT s.* FROM seen_invoices s WHERE {_COMPARABLE} AND {_SAME_TOTAL} AND {_SAME_VENDOR}
         AND s.issued_on BETWEEN $10::date - {DAYS_APART} AND $10::date + {DAYS_APART}""",
    # numbers one edit apart share their first or their last half
    f"""SELECT s.* FROM seen_invoices s WHERE {_COMPARABLE} AND {_SAME_TOTAL}
         AND length($5::text) >= {SHORTEST_NUMBER}
         AND length(s.number_key) BETWEEN length($5::text) - 1 AND length($5::text) + 1
         AND (left(s.number_key, {_HALF}) = left($5, {_HALF}) OR right(s.number_key, {_HALF}) = right($5, {_HALF}))""",
)

LOAD_KNOWN = f"""
WITH found AS (
    SELECT document_id, $3::text AS sha256, $4::text AS document_type, NULL AS number_key, NULL AS vat_id,
           NULL AS iban, NULL AS name_key, NULL AS total, NULL AS issued_on,
           $13::text IS NULL OR duplicate_of IS NOT NULL AND received_at > $12 AS came_later
      FROM (SELECT s.* FROM documents s WHERE {_COMPARABLE} AND s.sha256 = $3 LIMIT {MOST_ALIKE}) AS equal
    UNION ALL
    SELECT {COMPARED}, seen_at > (SELECT seen_at FROM seen_invoices WHERE tenant_id = $1 AND document_id = $2)
      FROM ({" UNION ALL ".join(f"({each} LIMIT {MOST_ALIKE})" for each in _LIKENESSES)}) AS alike
     WHERE sha256 <> $3)
SELECT (SELECT json_agg(found ORDER BY document_id)::text FROM found) AS others,
       (SELECT json_agg(memory::json ORDER BY named DESC, place)::text
          FROM ({FIND_VENDORS.replace("$2", "$11")}) AS found) AS vendors,
       c.version, c.body::text AS calibration
  FROM (SELECT 1) AS always LEFT JOIN calibrations c ON c.tenant_id = $1 AND c.active"""

Listed = tuple[str | None, str | None, str | None]
"""Name of the vendor, invoice number and currency."""

_SEEN, _OTHERS, _VENDORS = TypeAdapter(Seen), TypeAdapter(tuple[Seen, ...]), TypeAdapter(tuple[VendorMemory, ...])


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document with its reading, and what was stored of it when it was last assessed."""

    sha256: str
    received_at: dt.datetime
    duplicate_of: str | None
    reading: InvoiceData | None
    is_corrected: bool
    seen: Seen | None
    listed: Listed


async def load_read(
    db: Database, tenant_id: str, document_id: str, reading: ReadingKey | None = None
) -> ReadDocument | None:
    """Return the tenant's document with its best reading, or with the one that `reading` names; None: no document."""
    key = (reading.sha256, reading.reader_version) if reading else (None, None)
    row = await db.fetchrow(LOAD_READ, tenant_id, document_id, CURRENT_READER, *key)
    if row is None:
        return None
    return ReadDocument(
        sha256=row["sha256"],
        received_at=row["received_at"],
        duplicate_of=row["duplicate_of"],
        reading=InvoiceData.model_validate_json(row["reading"]) if row["reading"] else None,
        is_corrected=row["corrected"],
        seen=_SEEN.validate_json(row["seen"]) if row["seen"] else None,
        listed=(row["vendor_name"], row["invoice_number"], row["currency"]),
    )


async def note_seen(db: Database, tenant_id: str, own: Seen, listed: Listed) -> None:
    """Store what the document is compared by, and what lists show of it."""
    await db.execute(NOTE_SEEN, tenant_id, *_values(own), *listed)


async def load_known(db: Database, tenant_id: str, own: Seen, invoice: InvoiceData, document: ReadDocument) -> Known:
    """Return what the tenant's other documents, approvals and calibration are known to say about the document."""
    arrival = (document.received_at, document.duplicate_of)
    row = await db.fetchrow(LOAD_KNOWN, tenant_id, *_values(own), list(vendor_keys(invoice)), *arrival)
    assert row is not None, "one row, whatever is known"
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
