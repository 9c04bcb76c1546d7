"""Store readings by content, so that equal bytes are read once per tenant."""

import re

from docrail.adapters.postgres.pool import Database
from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import CURRENT_READER, FALLBACK, StoredReading

LOAD_EXTRACTION = """
SELECT data::text FROM processed_documents WHERE tenant_id = $1 AND sha256 = $2 AND reader_version = $3"""

_PART = "split_part(split_part(reader_version, '@', 1), '/', {})"

BEST_FIRST = f"{_PART.format(1)} = $3 DESC, {_PART.format(2)} NOT IN ('', '{FALLBACK}') DESC, created_at DESC"
"""The order of readings, where $3 is CURRENT_READER: by this code's readers first, a model's before local ones, then
newest.

Documents share the reading of equal bytes: if no model was available for one, the others keep the model's reading.
"""

LOAD_BEST_EXTRACTION = f"""
SELECT data::text FROM processed_documents WHERE tenant_id = $1 AND sha256 = $2
 ORDER BY {BEST_FIRST}
 LIMIT 1"""  # noqa: S608  # a constant

LIST_READINGS = f"""
SELECT reader_version, created_at, data::text FROM processed_documents WHERE tenant_id = $1 AND sha256 = $2
 ORDER BY {BEST_FIRST}
 LIMIT $4"""  # noqa: S608  # a constant

MOST_READINGS = 100
"""Readings that are shown: each run that reads a document again adds one."""

SAVE_EXTRACTION = """
INSERT INTO processed_documents (tenant_id, sha256, reader_version, data)
VALUES ($1, $2, $3, $4::text::jsonb)
ON CONFLICT DO NOTHING
RETURNING true"""

_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
r"""A NUL inside JSON text: `\u0000` after an even number of backslashes."""


async def load_extraction(db: Database, tenant_id: str, sha256: str, reader_version: str) -> InvoiceData | None:
    """Return the reading of these bytes (without a document id); None if there is none."""
    data = await db.fetchval(LOAD_EXTRACTION, tenant_id, sha256, reader_version)
    return InvoiceData.model_validate_json(data) if data else None


async def load_best_extraction(db: Database, tenant_id: str, sha256: str) -> InvoiceData | None:
    """Return the best reading of these bytes: this code's own first, a model's before local ones, then the newest.

    During a release, a worker of another version may have done the reading.
    """
    data = await db.fetchval(LOAD_BEST_EXTRACTION, tenant_id, sha256, CURRENT_READER)
    return InvoiceData.model_validate_json(data) if data else None


async def list_readings(db: Database, tenant_id: str, sha256: str) -> list[StoredReading]:
    """Return the readings of these bytes, the best one first."""
    rows = await db.fetch(LIST_READINGS, tenant_id, sha256, CURRENT_READER, MOST_READINGS)
    return [
        StoredReading(row["reader_version"], row["created_at"], InvoiceData.model_validate_json(row["data"]))
        for row in rows
    ]


async def save_extraction(
    db: Database, tenant_id: str, sha256: str, reader_version: str, invoice: InvoiceData
) -> InvoiceData:
    """Store a reading and return the stored one: the first to be saved wins, so every later step sees the same."""
    own = invoice.for_document("")
    text = own.model_dump_json()
    if r"\u0000" in text:  # which jsonb does not take, and broken fonts put into a PDF's text
        text = _ESCAPED_NUL.sub(r"\1", text)
        own = InvoiceData.model_validate_json(text)
    if await db.fetchval(SAVE_EXTRACTION, tenant_id, sha256, reader_version, text):
        return own
    return await load_extraction(db, tenant_id, sha256, reader_version) or own
