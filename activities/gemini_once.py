"""Has one attempt ask Gemini about bytes that several may want read, and keeps what comes of it."""

import asyncio
import datetime as dt
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from activities.gemini_reading import (
    BUDGET,
    PASSING,
    UNAVAILABLE,
    AskAgainError,
    Hints,
    NotReadError,
    ask_about,
    document_to_send,
)
from activities.local_reading import Reading, find_reading
from activities.model_costs import BudgetUsedError, check_budget
from activities.single_flight import BeingReadError, find_or_claim, renewing
from activities.tools import Tools
from docrail.handlers import StepCall
from invoices.confidence import assess, overall
from invoices.gemini import WireInvoice, quotes_of, read_answer
from invoices.gemini_check import claims_of, not_examined, with_findings
from invoices.model import InvoiceData
from invoices.problems import UnreadableDocument
from invoices.readers.reconcile import reconcile
from storage.db import DATABASE_ERRORS, StorageError, transaction
from storage.extractions import FALLBACK, reading_version, save_extraction
from storage.reading_leases import Claim, Lease, leave_lease, release_lease

REFUSED_SECONDS = 600.0
"""How long other documents of the same bytes take a refusal for theirs, without asking."""
SETTLED = frozenset({"needs_ocr", "no_text_layer", "pages_not_read"})
"""What the local readers could not do and Gemini has done."""
SAVE_PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0)
"""Between the tries to store an answer that is paid for. Then it is given up, and another attempt pays for it again."""
LONGEST_PAUSE_SECONDS = 900.0
"""Most that a `Retry-After` puts a document off. A quota of a day asks for hours: people can have the local reading."""
LEAST_PAUSE_SECONDS = 1.0
"""Between two attempts at the same bytes: who waited in a slot takes over without a new turn of the limit."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """One attempt at one document. `version` is that under which the reading will be stored."""

    call: StepCall[Any]
    tools: Tools
    document_id: str
    sha256: str
    model: str
    version: str
    local: Reading
    timeout_seconds: float
    may_wait_for_budget: bool

    @property
    def lease(self) -> Lease:
        """The right to ask about these bytes; its holder is this attempt and no other."""
        call = self.call
        holder = f"{call.run_id}/{call.step_id}/{call.item_key or ''}/{call.attempt}"
        return Lease(call.tenant_id, f"{self.sha256}/{self.version}", holder)


async def read_with_gemini(work: Work) -> Reading:
    """Return what Gemini and the local readers say together: this attempt's, or another's that was at it.

    Where Gemini will not read it, the local reading with a problem that says why.
    Raises: the errors of `PASSING`; BudgetUsedError is one of them.
    """
    try:
        claim = await _claim(work)
        if isinstance(claim, Reading):
            return claim
        async with renewing(work.tools.db, work.lease):
            return await _ask(work, Hints.of(claim))
    except NotReadError as error:
        work.tools.metrics.models.count_fallback(error.problem.code)
        return await _left_to_local_readers(work, error)


async def _claim(work: Work) -> Reading | Claim:
    call, tools = work.call, work.tools

    async def find() -> Reading | None:
        return await find_reading(tools, call.tenant_id, work.sha256, work.version)

    try:
        claim = await find_or_claim(tools.db, work.lease, find, tools.metrics.models)
        if isinstance(claim, Claim) and claim.mine:
            await _check_budget(work)
    except BudgetUsedError as error:
        if work.may_wait_for_budget and call.may_retry_in(error.retry_after_seconds or 0):
            raise
        raise NotReadError(BUDGET, str(error)) from None
    except BeingReadError as error:
        if _may_wait(call, error.retry_after_seconds or 0):
            raise
        raise NotReadError(UNAVAILABLE, str(error)) from None
    if isinstance(claim, Claim) and not claim.mine:
        raise NotReadError(*claim.note["refused"])
    return claim


def _may_wait(call: StepCall[Any], seconds: float) -> bool:
    return seconds <= LONGEST_PAUSE_SECONDS and call.may_retry_in(seconds)


async def _check_budget(work: Work) -> None:
    """Look when it is our turn to ask: those before us were paid while we waited."""
    try:
        await check_budget(work.tools, work.call.tenant_id)
    except BaseException:
        await release_lease(work.tools.db, work.lease)
        raise


async def _ask(work: Work, hints: Hints) -> Reading:
    """Ask, and leave the lease as whoever comes next needs it."""
    call, db = work.call, work.tools.db
    try:
        return await _answered(work, hints)
    except PASSING as error:
        after = getattr(error, "retry_after_seconds", None) or 0.0
        if _may_wait(call, after):
            left = error.hints if isinstance(error, AskAgainError) else hints
            await leave_lease(db, work.lease, max(after, LEAST_PAUSE_SECONDS), left.to_json())
            raise
        await release_lease(db, work.lease)
        late = after > LONGEST_PAUSE_SECONDS
        why = f"it asks to be left alone for {after:.0f} s" if late else "its retries are used up"
        raise NotReadError(UNAVAILABLE, f"{error}, and {why}") from None
    except NotReadError as error:
        await leave_lease(db, work.lease, REFUSED_SECONDS, {"refused": [error.problem.code, str(error)]})
        raise
    except BaseException:  # cancelled, too: somebody else may begin at once
        await release_lease(db, work.lease)
        raise


async def _answered(work: Work, hints: Hints) -> Reading:
    call, tools = work.call, work.tools
    data = await tools.blobs.get(work.sha256)
    async with tools.blobs.at_hand(work.sha256) as path:  # before the call: what fails after it was paid for in vain
        document = await document_to_send(tools, data, path)
        answer, model = await ask_about(
            *(tools, call, work.document_id, document, work.local.invoice.page_count),
            model=work.model,
            hints=hints,
            timeout_seconds=work.timeout_seconds,
        )
        told = await _looked_up(tools, path, answer, model)
    return await _save(work, await asyncio.to_thread(_together, told, work.local.invoice))


async def _looked_up(tools: Tools, path: Path, answer: WireInvoice, model: str) -> InvoiceData:
    """Return what the answer says, with what the pages' text says of it as far as that can be opened."""
    told = await asyncio.to_thread(read_answer, answer, model=model)
    try:
        checked = await tools.reader.check(path, claims_of(told, quotes_of(answer)))
    except (UnreadableDocument, OSError) as error:
        return not_examined(told, error)
    return with_findings(told, checked)


def _together(told: InvoiceData, local: InvoiceData) -> InvoiceData:
    kept = tuple(problem for problem in local.problems if problem.code not in SETTLED)
    readings = [told, local.model_copy(update={"problems": kept})]
    return assess(reconcile(readings), dt.datetime.now(dt.UTC).date())


async def _save(work: Work, invoice: InvoiceData) -> Reading:
    """Store what was paid for and give the work back: who waits finds the reading, or the lease."""
    for pause in SAVE_PAUSES_SECONDS:
        try:
            return await _save_once(work, invoice)
        except (OSError, StorageError, *DATABASE_ERRORS) as error:
            log.warning("what a model read of %s could not be stored, next try in %g s: %s", work.sha256, pause, error)
        await asyncio.sleep(pause)
    return await _save_once(work, invoice)


async def _save_once(work: Work, invoice: InvoiceData) -> Reading:
    async with transaction(work.tools.db) as connection:
        saved = await save_extraction(connection, work.call.tenant_id, work.sha256, work.version, invoice)
        await release_lease(connection, work.lease)
    return Reading(work.version, saved, cached=False)


async def _left_to_local_readers(work: Work, error: NotReadError) -> Reading:
    """Store the local reading with the problem beside the one without: it is no answer of the cache."""
    local = work.local.invoice
    invoice = local.model_copy(update={"problems": (*local.problems, error.problem)})
    invoice = invoice.model_copy(update={"confidence": overall(invoice)})
    version = reading_version(FALLBACK, error.problem.code, fresh_run_id=work.call.run_id)
    saved = await save_extraction(work.tools.db, work.call.tenant_id, work.sha256, version, invoice)
    return Reading(version, saved, cached=False)
