# ruff: noqa: S608  # only constants of this code are formatted into statements
"""Store what each document is compared by, and find what is known about it: similar documents, vendors, calibration."""

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg
from pydantic import TypeAdapter

from docrail.adapters.postgres.pool import COMMITS_LATER, Database, is_alone
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.assess import Known
from docrail.invoices.assessment.duplicates import DAYS_APART, SHORTEST_NUMBER, Seen
from docrail.invoices.assessment.vendor_memory import VendorMemory, vendor_keys
from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import CURRENT_READER, WantedReading
from docrail.services.documents.repository.calibrations import named
from docrail.services.documents.repository.readings import BEST_FIRST
from docrail.services.documents.repository.vendors import FIND_VENDORS

MOST_ALIKE = 20
"""Maximum number of similar documents examined per kind of similarity: more would not change the result."""

COMPARED = "document_id, sha256, document_type, number_key, vat_id, iban, name_key, total::text, issued_on"

_LISTED = "vendor_name, invoice_number, currency"

LOAD_READ = f"""
SELECT w.place, d.sha256, d.received_at, d.duplicate_of,
       (SELECT p.data::text FROM processed_documents p WHERE p.tenant_id = $1 AND p.sha256 = d.sha256
            AND (w.sha256 IS NULL OR (p.sha256, p.reader_version) = (w.sha256, w.reader_version))
         ORDER BY {BEST_FIRST} LIMIT 1) AS reading,
       CASE WHEN s.seen_at IS NOT NULL THEN to_json(s)::text END AS seen, s.vendor_name, s.invoice_number, s.currency,
       EXISTS (SELECT FROM corrections c WHERE c.tenant_id = $1 AND c.document_id = d.document_id) AS corrected
  FROM unnest($2::text[], $4::text[], $5::text[]) WITH ORDINALITY AS w (document_id, sha256, reader_version, place)
  JOIN documents d ON d.tenant_id = $1 AND d.document_id = w.document_id
  LEFT JOIN LATERAL (
      SELECT {COMPARED}, {_LISTED}, seen_at FROM seen_invoices
       WHERE tenant_id = $1 AND document_id = w.document_id) s ON true"""

# In the order of their ids, so that concurrent statements lock them in the same order. If it is lost, so is what
# follows from it, and the documents are assessed again.
NOTE_SEEN = f"""
INSERT INTO seen_invoices (tenant_id, document_id, sha256, document_type, number_key, vat_id, iban, name_key, total,
                           issued_on, vendor_name, invoice_number, currency)
SELECT $1, own.*
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::numeric[],
              $10::date[], $11::text[], $12::text[], $13::text[]) AS own (document_id)
 WHERE {COMMITS_LATER.format(is_alone="$14")}
 ORDER BY document_id
ON CONFLICT (tenant_id, document_id) DO UPDATE
   SET sha256 = EXCLUDED.sha256, document_type = EXCLUDED.document_type, number_key = EXCLUDED.number_key,
       vat_id = EXCLUDED.vat_id, iban = EXCLUDED.iban, name_key = EXCLUDED.name_key, total = EXCLUDED.total,
       issued_on = EXCLUDED.issued_on, vendor_name = EXCLUDED.vendor_name, invoice_number = EXCLUDED.invoice_number,
       currency = EXCLUDED.currency"""

# Neither what was rejected nor a file whose invoices are documents of their own. A decision is looked up by id: as
# NOT EXISTS it became a join, which read all documents of the tenant for each row until the table was analysed.
_COMPARABLE = """s.tenant_id = $1 AND s.document_id <> own.document_id AND
    (SELECT d.decision FROM documents d
      WHERE d.tenant_id = s.tenant_id AND d.document_id = s.document_id) IS DISTINCT FROM 'rejected' AND NOT EXISTS
    (SELECT FROM documents p WHERE p.tenant_id = s.tenant_id AND p.part_of = s.document_id)"""

_SAME_VENDOR = "(s.vat_id = own.vat_id OR s.iban = own.iban OR s.name_key = own.name_key)"

_SAME_TOTAL = "s.total_key = trim_scale(own.total)::text"

_HALF = "length(own.number_key) / 2"

_LIKENESSES = (
    # the same number, of this vendor or with this total
    f"""SELECT s.* FROM seen_invoices s WHERE {_COMPARABLE} AND s.number_key = own.number_key
         AND ({_SAME_VENDOR} OR {_SAME_TOTAL})""",
    # the same work under another number
    f"""SELECT s.* FROM seen_invoices s WHERE {_COMPARABLE} AND {_SAME_TOTAL} AND {_SAME_VENDOR}
         AND s.issued_on BETWEEN own.issued_on - {DAYS_APART} AND own.issued_on + {DAYS_APART}""",
    # numbers one edit apart share their first or their last half
    f"""SELECT s.* FROM seen_invoices s WHERE {_COMPARABLE} AND {_SAME_TOTAL}
         AND length(own.number_key) >= {SHORTEST_NUMBER}
         AND length(s.number_key) BETWEEN length(own.number_key) - 1 AND length(own.number_key) + 1
         AND (left(s.number_key, {_HALF}) = left(own.number_key, {_HALF})
              OR right(s.number_key, {_HALF}) = right(own.number_key, {_HALF}))""",
)

_VENDORS_OF = FIND_VENDORS.replace("unnest($2::text[])", "json_array_elements_text(own.vendor_keys)")

# Of JSON PostgreSQL expects the same number of rows for all values, so it keeps its plan: making one takes 2 ms.
LOAD_KNOWN = f"""
SELECT own.document_id, others.found AS others, vendors.found AS vendors, c.version, c.body::text AS calibration
  FROM json_to_recordset($2::text::json)
       AS own (document_id text, sha256 text, document_type text, number_key text, vat_id text, iban text,
               name_key text, total numeric, issued_on date, vendor_keys json, received_at timestamptz,
               duplicate_of text)
  CROSS JOIN LATERAL (
      SELECT json_agg(found ORDER BY document_id)::text AS found FROM (
          SELECT document_id, own.sha256, own.document_type, NULL AS number_key, NULL AS vat_id, NULL AS iban,
                 NULL AS name_key, NULL AS total, NULL AS issued_on,
                 own.duplicate_of IS NULL OR duplicate_of IS NOT NULL AND received_at > own.received_at AS came_later
            FROM (SELECT s.* FROM documents s WHERE {_COMPARABLE} AND s.sha256 = own.sha256 LIMIT {MOST_ALIKE}) AS equal
          UNION ALL
          -- Those that are stored together may have the same time.
          SELECT {COMPARED}, (seen_at, document_id) > (
                     SELECT s.seen_at, s.document_id FROM seen_invoices s
                      WHERE s.tenant_id = $1 AND s.document_id = own.document_id)
            FROM ({" UNION ALL ".join(f"({each} LIMIT {MOST_ALIKE})" for each in _LIKENESSES)}) AS alike
           WHERE alike.sha256 <> own.sha256) AS found) AS others
  CROSS JOIN LATERAL (
      SELECT json_agg(memory::json ORDER BY named DESC, place)::text AS found FROM ({_VENDORS_OF}) AS found) AS vendors
  LEFT JOIN calibrations c ON c.tenant_id = $1 AND c.active"""

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


async def load_read(db: Database, tenant_id: str, wanted: Sequence[WantedReading]) -> dict[WantedReading, ReadDocument]:
    """Return the tenant's documents, each with the reading that is wanted. Those that it does not have are left out."""
    keys = [(each.reading.sha256, each.reading.reader_version) if each.reading else (None, None) for each in wanted]
    columns = ([each.document_id for each in wanted], CURRENT_READER, *_columns(keys))
    return {wanted[row["place"] - 1]: _read(row) for row in await db.fetch(LOAD_READ, tenant_id, *columns)}


async def note_seen(db: Database, tenant_id: str, seen: Sequence[tuple[Seen, Listed]]) -> None:
    """Store what each document is compared by, and what lists show of it."""
    columns = _columns([(*_values(own), *listed) for own, listed in seen])
    await db.execute(NOTE_SEEN, tenant_id, *columns, is_alone(db))


async def load_known(
    db: Database, tenant_id: str, read: Sequence[tuple[Seen, InvoiceData, ReadDocument]]
) -> list[Known]:
    """Return what the tenant's other documents, approvals and calibration are known to say about each document."""
    asked = json.dumps(
        [
            asked_of(own, vendor_keys(invoice), document.received_at, document.duplicate_of)
            for own, invoice, document in read
        ]
    )
    found = {row["document_id"]: row for row in await db.fetch(LOAD_KNOWN, tenant_id, asked)}
    return [_known(own, found[own.document_id]) for own, _, _ in read]


def asked_of(own: Seen, keys: Sequence[str], received_at: dt.datetime, duplicate_of: str | None) -> dict[str, Json]:
    """Return a row of LOAD_KNOWN's parameter."""
    arrival: dict[str, Json] = {"received_at": received_at.isoformat(), "duplicate_of": duplicate_of}
    return {**_SEEN.dump_python(own, mode="json"), "vendor_keys": list(keys), **arrival}


def _read(row: asyncpg.Record) -> ReadDocument:
    return ReadDocument(
        sha256=row["sha256"],
        received_at=row["received_at"],
        duplicate_of=row["duplicate_of"],
        reading=InvoiceData.model_validate_json(row["reading"]) if row["reading"] else None,
        is_corrected=row["corrected"],
        seen=_SEEN.validate_json(row["seen"]) if row["seen"] else None,
        listed=(row["vendor_name"], row["invoice_number"], row["currency"]),
    )


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


def _columns(rows: Sequence[tuple[object, ...]]) -> list[list[object]]:
    """Return the rows, of which there is at least one, as arrays for `unnest`."""
    return [list(column) for column in zip(*rows, strict=True)]
