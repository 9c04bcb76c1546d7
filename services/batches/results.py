"""Show the result of a batch: a summary, and one row for each document, as JSON in pages or as one CSV file."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal

from docrail.dag.values.csv_cells import text_cell
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.batches import repository
from docrail.services.batches.models import (
    BatchDocument,
    BatchResult,
    DuplicatePlace,
    ResultDocument,
)
from docrail.services.batches.service import find_batch, position_after, show_batch
from docrail.services.documents.models import SumOfCurrency
from docrail.services.inbox import service as inbox
from docrail.services.inbox.models import ListedDocument
from docrail.services.paging import after_of, token_of

MOST_DUPLICATES = 1_000
"""Duplicates that a result lists."""
PAGE, SUM_PAGE = 500, 5_000
"""Documents that are read together."""

COLUMNS = (
    *("place", "document_id", "file_name", "state", "status", "run_id", "error_type", "error_message"),
    *("vendor_name", "invoice_number", "issued_on", "total", "currency", "confidence", "review_id"),
)
"""Of the CSV file."""


async def load_result(
    app: App, principal: Principal, batch_id: str, *, limit: int = 100, after: str | None = None
) -> BatchResult:
    """Return the summary of a batch, and a page of its documents. Raises: NotFound, InvalidInput."""
    query = f"{principal.tenant_id} {batch_id} result"
    last = await position_after(app.db, principal, batch_id, token_of(after, query))
    batch = await show_batch(app, principal, batch_id)
    found = await repository.list_documents(app.db, principal.tenant_id, batch_id, None, limit=limit + 1, after=last)
    documents = await _results(app, principal, found[:limit])
    more = found[limit - 1].document_id.encode() if len(found) > limit else None
    duplicates, sums = list[DuplicatePlace](), list[SumOfCurrency]()
    if after is None:
        duplicates = await repository.list_duplicates(app.db, principal.tenant_id, batch_id, limit=MOST_DUPLICATES)
        sums = await _sums(app, principal, batch_id)
    return BatchResult(batch, sums, documents, duplicates, after_of(more, query))


async def check_result(app: App, principal: Principal, batch_id: str) -> None:
    """Check that there is such a batch, before its result is sent. Raises: NotFound."""
    await find_batch(app.db, principal, batch_id)


async def csv_result(app: App, principal: Principal, batch_id: str) -> AsyncIterator[str]:
    """Yield the documents of a batch as CSV, with a heading. Rows end with CR LF (RFC 4180)."""
    yield _line(COLUMNS)
    last = 0
    while page := await repository.list_documents(app.db, principal.tenant_id, batch_id, None, limit=PAGE, after=last):
        for row in await _results(app, principal, page):
            yield _line([getattr(row, name) for name in COLUMNS])
        last = page[-1].position


async def _results(app: App, principal: Principal, page: Sequence[BatchDocument]) -> list[ResultDocument]:
    listed = await inbox.list_named(app, principal, [each.document_id for each in page])
    return [_result(each, listed[each.document_id]) for each in page]


def _result(document: BatchDocument, listed: ListedDocument) -> ResultDocument:
    return ResultDocument(
        document_id=document.document_id,
        file_name=listed.file_name,
        place=document.place,
        state=document.state,
        status=listed.status,
        run_id=document.run_id,
        error_type=document.error_type,
        error_message=document.error_message,
        vendor_name=listed.vendor_name,
        invoice_number=listed.invoice_number,
        issued_on=listed.issued_on,
        total=listed.total,
        currency=listed.currency,
        confidence=listed.confidence,
        review_id=listed.review_id,
        outputs=document.outputs,
    )


async def _sums(app: App, principal: Principal, batch_id: str) -> list[SumOfCurrency]:
    """Return the sums of the batch's totals, largest number of documents first."""
    found: dict[str | None, tuple[int, Decimal]] = {}
    last = 0
    while page := await repository.list_documents(
        app.db, principal.tenant_id, batch_id, None, limit=SUM_PAGE, after=last
    ):
        for currency, documents, total in await inbox.sum_totals(app, principal, [each.document_id for each in page]):
            before = found.get(currency, (0, Decimal(0)))
            found[currency] = before[0] + documents, before[1] + total
        last = page[-1].position
    ordered = sorted(found.items(), key=lambda each: (-each[1][0], each[0] or ""))
    return [SumOfCurrency(currency, documents, f"{total:f}") for currency, (documents, total) in ordered]


def _line(cells: Sequence[object]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\r\n").writerow(_cell(cell) for cell in cells)
    return written.getvalue()


def _cell(cell: object) -> str:
    match cell:
        case None:
            return ""
        case str():
            return text_cell(cell)
        case Decimal():
            return f"{cell:f}"
        case _:
            return str(cell)
