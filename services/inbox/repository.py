# ruff: noqa: S608  # only constants of this code are formatted into statements
"""List and count documents by status. The view `document_states` defines the status; this file pages through it."""

import re
from collections.abc import Sequence
from decimal import Decimal

import asyncpg

from docrail.adapters.postgres.pool import Database, planned_for_values
from docrail.invoices.facts import DocumentType
from docrail.invoices.values.folding import squeeze
from docrail.invoices.values.numbers import parse_number
from docrail.services.inbox.models import (
    DocumentFilter,
    DocumentSort,
    DocumentStatus,
    ListedDocument,
    Neighbours,
    certainty_of,
)

LONGEST_REASON = 500

_AMOUNT = re.compile(r"\d[\d., '\u2019\u00a0\u202f]{0,30}")

_LOOK_ALIKE = "coalesce(look_alike, duplicate_of)"
_ALIKE = f"coalesce({_LOOK_ALIKE}, document_id)"
"""Names the group of a document: the earliest one that looks like it."""

_COLUMNS = f"""
document_id, file_name, source, definition, run_id, received_at, status, duplicate_of,
{_LOOK_ALIKE} AS look_alike_of, document_type, vendor_name, invoice_number, issued_on, total,
currency, confidence, review_id, due_at,
CASE status WHEN 'failed' THEN left(coalesce(nullif(error_message, ''), error_type), {LONGEST_REASON})
            WHEN 'dismissed' THEN left(error_message, {LONGEST_REASON})
            WHEN 'reading' THEN NULL ELSE reasons -> 0 ->> 'message' END AS reason,
CASE WHEN status IN ('reading', 'failed', 'dismissed') THEN NULL ELSE reasons -> 0 ->> 'code' END AS reason_code,
CASE WHEN status IN ('reading', 'failed', 'dismissed') THEN 0
     ELSE greatest(coalesce(jsonb_array_length(reasons), 0) - 1, 0) END AS more_reasons,
claimed_by, claimed_until, assigned_to, first_approved_by, decided_by, postponed_until, exported_at"""


def _has(text: str) -> str:
    return f"""strpos(lower(concat_ws(' ', vendor_name, invoice_number, total)), lower({text})) > 0
        OR strpos(lower(file_name), lower({text})) > 0"""


_MATCHES = f"""
tenant_id = $1
   AND ($2::text IS NULL OR document_type = $2)
   AND ($3::text IS NULL OR vat_id = upper($3) OR starts_with(name_key COLLATE "C", $3))
   AND ($4::text[] IS NULL OR document_id = ANY ($4))
   AND ($5::text IS NULL OR total = $8::numeric OR {_has("$5")})
   AND ($6::timestamptz IS NULL OR received_at >= $6)
   AND ($7::timestamptz IS NULL OR received_at < $7)"""

_UNDECIDED = "decision IS NULL"

SCOPES = {
    **dict.fromkeys(DocumentStatus, _UNDECIDED),
    DocumentStatus.APPROVED: "decision = 'approved' AND exported_at IS NULL",
    DocumentStatus.REJECTED: "decision = 'rejected' AND exported_at IS NULL",
    DocumentStatus.EXPORTED: "exported_at IS NOT NULL",
}
"""What each status implies: with it PostgreSQL finds the partial index that has the status' documents in order."""

_KEYS = {
    DocumentSort.NEWEST: (("received_at", "document_id"), "DESC"),
    DocumentSort.OLDEST: (("received_at", "document_id"), "ASC"),
    DocumentSort.DUE: (("coalesce(due_at, 'infinity')", "document_id"), "ASC"),
    DocumentSort.TOTAL: (("coalesce(total, '-Infinity')", "document_id"), "DESC"),
    DocumentSort.VENDOR: (("name_key IS NULL", "coalesce(name_key, '')", "document_id"), "ASC"),
}
"""The keys of each sort, and their direction."""

IN_ORDER = (DocumentSort.NEWEST, DocumentSort.OLDEST)
"""Sorts in which an index has the documents: a page is read without the others."""


def _list(sort: DocumentSort, status: DocumentStatus | None) -> str:
    keys, direction = _KEYS[sort]
    place = ", ".join(keys)
    return f"""
SELECT {_COLUMNS} FROM document_states
 WHERE {_MATCHES} {_of_status(status)}
   AND ($9::text IS NULL OR ({place}) {">" if direction == "ASC" else "<"}
        (SELECT {place} FROM document_states WHERE tenant_id = $1 AND document_id = $9))
 ORDER BY {", ".join(f"{key} {direction}" for key in keys)}
 LIMIT $10"""


def _of_status(status: DocumentStatus | None) -> str:
    # As a CASE, half of the rows are expected to match, not one of 200: the index is read in order, not sorted.
    return "" if status is None else f"AND CASE status WHEN '{status}' THEN true ELSE false END AND {SCOPES[status]}"


def _neighbours(sort: DocumentSort, status: DocumentStatus | None) -> str:
    keys, direction = _KEYS[sort]
    columns = f"document_id, review_id, claimed_by, received_at, due_at, total, name_key, {_ALIKE} AS alike"
    # The documents $9 and $11 have a place also when they have left the list.
    return f"""
WITH listed AS (
    SELECT {columns}, true AS is_listed FROM document_states WHERE {_MATCHES} {_of_status(status)}
), known AS (
    SELECT * FROM listed
     UNION ALL
    SELECT {columns}, false FROM document_states
     WHERE tenant_id = $1 AND document_id IN ($9, $11) AND document_id NOT IN (SELECT document_id FROM listed)
), sorted AS (
    SELECT *, row_number() OVER (ORDER BY {", ".join(f"{key} {direction}" for key in keys)}) AS own FROM known
), headed AS (
    SELECT *, min(own) OVER (PARTITION BY alike) AS head,
           first_value(document_id) OVER (PARTITION BY alike ORDER BY own) AS first
      FROM sorted
), placed AS (
    SELECT document_id, review_id, nullif(first, document_id) AS below, row_number() OVER (ORDER BY head, own) AS place,
           is_listed AND review_id IS NOT NULL AND (claimed_by IS NULL OR claimed_by = $10) AS is_free
      FROM headed
)
SELECT n.review_id AS next, n.below AS next_below, p.review_id AS previous, p.below AS previous_below,
       (SELECT count(*) FROM placed WHERE is_free AND place < here.place) + 1 AS place,
       (SELECT count(*) FROM placed WHERE is_free) AS total
  FROM placed AS here
  LEFT JOIN LATERAL (SELECT review_id, below FROM placed WHERE is_free AND place > here.place
                      ORDER BY place LIMIT 1) AS n ON true
  LEFT JOIN LATERAL (SELECT review_id, below FROM placed WHERE is_free AND place < here.place
                      ORDER BY place DESC LIMIT 1) AS p ON true
 WHERE here.document_id = $9"""


LIST_DOCUMENTS = {(sort, status): _list(sort, status) for sort in DocumentSort for status in (None, *DocumentStatus)}

FIND_NEIGHBOURS = {
    (sort, status): _neighbours(sort, status) for sort in DocumentSort for status in (None, *DocumentStatus)
}

DECIDED = (DocumentStatus.APPROVED, DocumentStatus.REJECTED, DocumentStatus.EXPORTED)

MOST_COUNTED = 10_000
"""Decided documents of one status that are counted: there may be millions, and no one waits for them."""

MOST_SORTED = 100_000
"""Documents that a request reads and sorts: more take longer than it may."""


def _some(scope: str) -> str:
    # Without a column of the joined tables, PostgreSQL leaves out the joins of the view.
    return f"(SELECT 1 FROM document_states WHERE {_MATCHES} AND {scope} LIMIT $9 + 1) AS found"


COUNT_DOCUMENTS = " UNION ALL ".join(
    (
        f"SELECT status, count(*) AS documents FROM document_states WHERE {_MATCHES} AND {_UNDECIDED} GROUP BY status",
        *(f"SELECT '{status}', count(*) FROM {_some(SCOPES[status])}" for status in DECIDED),
    )
)

COUNT_SORTED = {
    status: f"SELECT count(*) FROM {_some('true' if status is None else SCOPES[status])}"
    for status in (None, *DocumentStatus)
}

MOST_FOUND = 10_000
"""More documents with a text are not looked up, but met while the list is read in its order: there are many of them."""

INDEXED = 3
"""Characters of a part of a text in the index, which the SQL function `trigrams` makes."""

FIND_TEXT = f"""
SELECT document_id FROM document_texts
 WHERE tenant_id = $1 AND trigrams(words) @> covering_trigrams(lower($2)) AND strpos(words, lower($2)) > 0
 UNION ALL
SELECT document_id FROM document_texts WHERE tenant_id = $1 AND total_key = trim_scale($3::numeric)::text
 LIMIT {MOST_FOUND + 1}"""

FIND_SHORT_TEXT = f"""
SELECT document_id
  FROM (SELECT document_id, file_name, vendor_name, invoice_number, total FROM document_states
         WHERE tenant_id = $1 ORDER BY received_at DESC, document_id DESC LIMIT {MOST_FOUND}) AS newest
 WHERE {_has("$2")}"""

EXPECT_TEXT = f"EXPLAIN (FORMAT JSON) {FIND_TEXT}"

LOAD_LISTED = f"SELECT {_COLUMNS} FROM document_states WHERE tenant_id = $1 AND document_id = $2"


LIST_NAMED = f"SELECT {_COLUMNS} FROM document_states WHERE tenant_id = $1 AND document_id = ANY ($2::text[])"

SUM_TOTALS = """
SELECT currency, count(*) AS documents, sum(total) AS total FROM document_states
 WHERE tenant_id = $1 AND document_id = ANY ($2::text[]) AND total IS NOT NULL
 GROUP BY currency"""


async def list_documents(
    db: Database,
    tenant_id: str,
    wanted: DocumentFilter,
    sort: DocumentSort = DocumentSort.NEWEST,
    *,
    limit: int,
    after: str | None = None,
) -> list[ListedDocument]:
    """Return documents in the order of `sort`; `after` is the id of the last one of the previous page."""
    async with planned_for_values(db) as connection:
        given = await _given(connection, tenant_id, wanted)
        rows = await connection.fetch(LIST_DOCUMENTS[sort, wanted.status], *given, after, limit)
    return [_listed(row) for row in rows]


async def find_neighbours(
    db: Database,
    tenant_id: str,
    wanted: DocumentFilter,
    sort: DocumentSort,
    document_id: str,
    *,
    me: str,
    below: str | None = None,
) -> Neighbours:
    """Return the place of a stored document in a list, without what others than `me` work on.

    Look-alikes follow the first of them. `below` is the one that the document followed, if that has left the list.
    """
    async with planned_for_values(db) as connection:
        given = await _given(connection, tenant_id, wanted)
        row = await connection.fetchrow(FIND_NEIGHBOURS[sort, wanted.status], *given, document_id, me, below)
    assert row, "every stored document has a place"
    return Neighbours(**row)


async def has_more_than_sorted(db: Database, tenant_id: str, wanted: DocumentFilter) -> bool:
    """Return whether more documents may match than MOST_SORTED, which are too many to sort."""
    async with planned_for_values(db) as connection:
        given = await _given(connection, tenant_id, wanted)
        count = await connection.fetchval(COUNT_SORTED[wanted.status], *given, MOST_SORTED)
    return bool(count > MOST_SORTED)


async def count_documents(db: Database, tenant_id: str, wanted: DocumentFilter) -> dict[DocumentStatus, int]:
    """Return the number of documents of each status; the status in the filter does not count.

    It is MOST_COUNTED + 1 if more are decided.
    """
    async with planned_for_values(db) as connection:
        rows = await connection.fetch(COUNT_DOCUMENTS, *await _given(connection, tenant_id, wanted), MOST_COUNTED)
    found = {row["status"]: row["documents"] for row in rows}
    return {status: found.get(status, 0) for status in DocumentStatus}


async def load_listed(db: Database, tenant_id: str, document_id: str) -> ListedDocument | None:
    """Return one document as it is listed, or None."""
    row = await db.fetchrow(LOAD_LISTED, tenant_id, document_id)
    return _listed(row) if row else None


async def _given(db: Database, tenant_id: str, wanted: DocumentFilter) -> tuple[object, ...]:
    """Return the values of $1 to $8. A text that few documents have is given as their ids."""
    vendor = None if wanted.vendor is None else squeeze(wanted.vendor)
    text, amount = wanted.text, None if wanted.text is None else _amount(wanted.text)
    found = None if text is None else await _documents_with(db, tenant_id, text, amount)
    if found is not None:
        text = None
    return (tenant_id, wanted.document_type, vendor, found, text, wanted.since, wanted.until, amount)


async def _documents_with(db: Database, tenant_id: str, text: str, amount: Decimal | None) -> list[str] | None:
    """Return the ids of the documents with a text or total; None if there are more than MOST_FOUND of them.

    PostgreSQL's estimate goes first: to find out that there are millions takes as long as to find them. A text that
    has no part in the index is looked for in the newest documents.
    """
    if len(text) < INDEXED:
        return [row["document_id"] for row in await db.fetch(FIND_SHORT_TEXT, tenant_id, text)]
    values = (tenant_id, text, amount)
    plan = (await db.fetchval(EXPECT_TEXT, *values))[0]["Plan"]["Plans"][0]
    if plan["Plan Rows"] > MOST_FOUND:
        return None
    found = await db.fetch(FIND_TEXT, *values)
    return None if len(found) > MOST_FOUND else [row["document_id"] for row in found]


def _amount(text: str) -> Decimal | None:
    """Return the amount that a search for a total means, as people write it: `4.904,95`."""
    return parse_number(text.strip()) if _AMOUNT.fullmatch(text.strip()) else None


def _listed(row: asyncpg.Record) -> ListedDocument:
    values = dict(row)
    return ListedDocument(
        **values
        | {
            "status": DocumentStatus(values["status"]),
            "document_type": values["document_type"] and DocumentType(values["document_type"]),
            "certainty": certainty_of(values["confidence"]),
        }
    )


async def list_named(db: Database, tenant_id: str, document_ids: Sequence[str]) -> dict[str, ListedDocument]:
    """Return the documents with these ids, as they are listed, by id."""
    rows = await db.fetch(LIST_NAMED, tenant_id, document_ids)
    return {row["document_id"]: _listed(row) for row in rows}


async def sum_totals(
    db: Database, tenant_id: str, document_ids: Sequence[str]
) -> list[tuple[str | None, int, Decimal]]:
    """Return for each currency how many of these documents have a total, and the sum of these."""
    rows = await db.fetch(SUM_TOTALS, tenant_id, document_ids)
    return [(row["currency"], row["documents"], row["total"]) for row in rows]
