"""Has one attempt ask Gemini about bytes that several may want read, and keeps what comes of it."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from activities.gemini_reading import (
    BUDGET,
    PASSING,
    UNAVAILABLE,
    AskAgainError,
    Hints,
    NotReadError,
    ask_about,
)
from activities.local_reading import Reading, find_reading
from activities.model_costs import BudgetUsedError, check_budget
from activities.registry import Call
from activities.single_flight import BeingReadError, find_or_claim, renewing
from activities.tools import Tools
from invoices.confidence import assess, overall
from invoices.gemini import WireInvoice, quotes_of, read_answer
from invoices.gemini_check import check_on_pages
from invoices.model import InvoiceData
from invoices.problems import UnreadableDocument
from invoices.readers.geometry import Page
from invoices.readers.reconcile import reconcile
from storage.db import transaction
from storage.extractions import FALLBACK, reading_version, save_extraction
from storage.reading_leases import Claim, Lease, leave_lease, release_lease

REFUSED_SECONDS = 600.0
"""How long other documents of the same bytes take a refusal for theirs, without asking."""
SETTLED = frozenset({"needs_ocr", "no_text_layer", "pages_not_read"})
"""What the local readers could not do and Gemini has done."""
LEAST_PAUSE_SECONDS = 1.0
"""Between two attempts at the same bytes: who waited in a slot takes over without a new turn of the limit."""


@dataclass(frozen=True, slots=True)
class Work:
    """One attempt at one document. `version` is that under which the reading will be stored."""

    call: Call[Any]
    tools: Tools
    document_id: str
    sha256: str
    model: str
    version: str
    local: Reading
    timeout_seconds: float

    @property
    def lease(self) -> Lease:
        """The right to ask about these bytes; its holder is this attempt and no other."""
        call = self.call
        holder = f"{call.run_id}/{call.step_id}/{call.item_key or ''}/{call.attempt}"
        return Lease(call.tenant_id, f"{self.sha256}/{self.version}", holder)


async def read_with_gemini(work: Work) -> Reading:
    """Return what Gemini and the local readers say together: this attempt's, or another's that was at it.

    Where Gemini will not read it, the local reading with a problem that says why. Raises: the errors of `PASSING`.
    """
    try:
        claim = await _claim(work)
        if isinstance(claim, Reading):
            return claim
        async with renewing(work.tools.db, work.lease):
            return await _ask(work, Hints.of(claim.note))
    except NotReadError as error:
        work.tools.metrics.models.count_fallback(error.problem.code)
        return await _left_to_local_readers(work, error)


async def _claim(work: Work) -> Reading | Claim:
    call, tools = work.call, work.tools

    async def find() -> Reading | None:
        return await find_reading(tools, call.tenant_id, work.sha256, work.version)

    try:
        await check_budget(tools)
        claim = await find_or_claim(tools.db, work.lease, find, tools.metrics.models)
    except BudgetUsedError as error:
        raise NotReadError(BUDGET, str(error)) from None
    except BeingReadError as error:
        if call.may_retry_in(error.retry_after_seconds or 0):
            raise
        raise NotReadError(UNAVAILABLE, str(error)) from None
    if isinstance(claim, Claim) and not claim.mine:
        raise NotReadError(*claim.note["refused"])
    return claim


async def _ask(work: Work, hints: Hints) -> Reading:
    """Ask, and leave the lease as whoever comes next needs it."""
    call, db = work.call, work.tools.db
    try:
        return await _answered(work, hints)
    except PASSING as error:
        after = getattr(error, "retry_after_seconds", None) or 0.0
        if call.may_retry_in(after):
            left = error.hints if isinstance(error, AskAgainError) else hints
            await leave_lease(db, work.lease, max(after, LEAST_PAUSE_SECONDS), left.to_json())
            raise
        await release_lease(db, work.lease)
        raise NotReadError(UNAVAILABLE, f"{error}, and its retries are used up") from None
    except NotReadError as error:
        await leave_lease(db, work.lease, REFUSED_SECONDS, {"refused": [error.problem.code, str(error)]})
        raise
    except BaseException:  # cancelled, too: somebody else may begin at once
        await release_lease(db, work.lease)
        raise


async def _answered(work: Work, hints: Hints) -> Reading:
    call, tools = work.call, work.tools
    data = await tools.blobs.get(work.sha256)
    answer, model = await ask_about(
        *(tools, call, work.document_id, data), model=work.model, hints=hints, timeout_seconds=work.timeout_seconds
    )
    pages = await _pages(tools, work.sha256)
    invoice = await asyncio.to_thread(_together, answer, model, work.local.invoice, pages)
    async with transaction(tools.db) as connection:  # who waits finds the reading, or the lease
        saved = await save_extraction(connection, call.tenant_id, work.sha256, work.version, invoice)
        await release_lease(connection, work.lease)
    return Reading(work.version, saved, cached=False)


def _together(answer: WireInvoice, model: str, local: InvoiceData, pages: Sequence[Page]) -> InvoiceData:
    told = check_on_pages(read_answer(answer, model=model), quotes_of(answer), pages)
    kept = tuple(problem for problem in local.problems if problem.code not in SETTLED)
    readings = [told, local.model_copy(update={"problems": kept})]
    return assess(reconcile(readings), dt.datetime.now(dt.UTC).date())


async def _pages(tools: Tools, sha256: str) -> Sequence[Page]:
    """Return the words of the pages, as far as the local readers find any."""
    try:
        async with tools.blobs.at_hand(sha256) as path:
            return await tools.reader.pages(path)
    except UnreadableDocument:
        return ()


async def _left_to_local_readers(work: Work, error: NotReadError) -> Reading:
    """Store the local reading with the problem beside the one without: it is no answer of the cache."""
    local = work.local.invoice
    invoice = local.model_copy(update={"problems": (*local.problems, error.problem)})
    invoice = invoice.model_copy(update={"confidence": overall(invoice)})
    version = reading_version(FALLBACK, error.problem.code, fresh_run_id=work.call.run_id)
    saved = await save_extraction(work.tools.db, work.call.tenant_id, work.sha256, version, invoice)
    return Reading(version, saved, cached=False)
