"""Read one document with Gemini and store the reading and its cost.

Of several attempts at the same bytes only one asks Gemini. An answer is used, requested again, or given up; then the
local reading serves. If an answer is lost, a conservative estimate of its cost is stored.

In one file because the lease, the decision about the answer and its cost belong to the same attempt.
"""

import asyncio
import datetime as dt
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from google.genai.types import ThinkingLevel
from pydantic import BaseModel

from docrail.adapters.gemini.ask import Answer, Document, Question, ask, is_lost
from docrail.adapters.http.errors import OutgoingTimeoutError, RequestRefusedError, TryAgainLaterError, UnreachableError
from docrail.adapters.postgres.pool import DATABASE_ERRORS, StorageError, transaction
from docrail.dag.values.json_values import Json
from docrail.handlers import StepCall
from docrail.invoices.assessment.confidence import assess, overall
from docrail.invoices.assessment.reconcile import reconcile
from docrail.invoices.facts import Severity
from docrail.invoices.llm.page_check import claims_of, not_examined, with_findings
from docrail.invoices.llm.prices import Tokens
from docrail.invoices.llm.prompt import PROMPT, PROMPT_VERSION, REPAIR_PROMPT
from docrail.invoices.llm.wire import WireInvoice, quotes_of, read_answer
from docrail.invoices.model import InvoiceData, InvoiceProblem
from docrail.invoices.problems import UnreadableDocument
from docrail.services.documents.models import FALLBACK, reading_version
from docrail.services.documents.service import save_extraction
from docrail.services.extraction.local import Reading, find_reading
from docrail.services.extraction.repository import Claim, Lease, leave_lease, release_lease
from docrail.services.extraction.single_flight import BeingReadError, find_or_claim, renewing
from docrail.services.tools import Tools
from docrail.services.usage.models import Use
from docrail.services.usage.service import BudgetUsedError, check_budget, keep_use

REFUSED_SECONDS = 600.0
"""How long a refusal also applies to other documents with the same bytes."""

SETTLED = frozenset({"needs_ocr", "no_text_layer", "pages_not_read"})
"""Problems of the local readers that Gemini's reading resolves."""

SAVE_PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0)
"""Pauses between attempts to store an answer that is already paid for. After the last one fails, another attempt pays
again."""

LONGEST_PAUSE_SECONDS = 900.0
"""Longest `Retry-After` that a document waits for. Daily quotas ask for hours: people can have the local reading
instead."""

LEAST_PAUSE_SECONDS = 1.0
"""Shortest pause between two attempts at the same bytes: an attempt waiting in a slot takes over without using the rate
limit again."""

T = TypeVar("T", bound=BaseModel)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """One attempt at one document. `version`: the version under which the reading will be stored."""

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
        """Return the lease for reading these bytes, held by this attempt only."""
        call = self.call
        holder = f"{call.run_id}/{call.step_id}/{call.item_key or ''}/{call.attempt}"
        return Lease(call.tenant_id, f"{self.sha256}/{self.version}", holder)


async def read_with_gemini(work: Work) -> Reading:
    """Return the combined reading of Gemini and the local readers, made by this attempt or a concurrent one.

    If Gemini does not read the document, return the local reading with a problem that gives the reason.
    Raises: the errors of `PASSING`, which include BudgetUsedError.
    """
    try:
        claim = await _claim(work)
        if isinstance(claim, Reading):
            return claim
        async with renewing(work.tools.db, work.lease):
            return await _ask(work, Hints.of(claim))
    except NotReadError as error:
        work.tools.metrics.fallbacks.labels(error.problem.code).inc()
        return await _left_to_local_readers(work, error)


async def _claim(work: Work) -> Reading | Claim:
    call, tools = work.call, work.tools

    async def find() -> Reading | None:
        return await find_reading(tools, call.tenant_id, work.sha256, work.version)

    try:
        claim = await find_or_claim(tools.db, work.lease, find, tools.metrics)
        if isinstance(claim, Claim) and claim.mine:
            await _check_budget(work)
    except BudgetUsedError as error:
        if work.may_wait_for_budget and call.may_retry_in(error.retry_after_seconds or 0):
            raise
        raise NotReadError(BUDGET, str(error)) from None
    except BeingReadError as error:
        if may_wait(call, error.retry_after_seconds or 0):
            raise
        raise NotReadError(UNAVAILABLE, str(error)) from None
    if isinstance(claim, Claim) and not claim.mine:
        raise NotReadError(*claim.note["refused"])
    return claim


def may_wait(call: StepCall[Any], seconds: float) -> bool:
    """Return whether another attempt after so many seconds is made, and is worth waiting for."""
    return seconds <= LONGEST_PAUSE_SECONDS and call.may_retry_in(seconds)


async def _check_budget(work: Work) -> None:
    """Check the budget once this attempt holds the lease: earlier attempts were paid for while it waited."""
    try:
        await check_budget(work.tools, work.call.tenant_id, work.call.key_id)
    except BaseException:
        await release_lease(work.tools.db, work.lease)
        raise


@dataclass(frozen=True, slots=True)
class Hints:
    """How to ask, given the previous answer. Attempts pass them on in the lease's note."""

    repair: bool = False
    larger: bool = False
    after_death: bool = False
    """The previous holder died during its call, so the possible cost was not recorded."""

    @classmethod
    def of(cls, claim: Claim) -> "Hints":
        """Return the hints that the previous holder left."""
        return cls(bool(claim.note.get("repair")), bool(claim.note.get("larger")), claim.died)

    def to_json(self) -> dict[str, Json]:
        """Return the note that passes the hints on."""
        return {"repair": self.repair, "larger": self.larger}


async def _ask(work: Work, hints: Hints) -> Reading:
    """Ask Gemini, and leave the lease in the state that the next attempt needs."""
    call, db = work.call, work.tools.db
    try:
        return await _answered(work, hints)
    except PASSING as error:
        after = getattr(error, "retry_after_seconds", None) or 0.0
        if may_wait(call, after):
            left = error.hints if isinstance(error, AskAgainError) else hints
            await leave_lease(db, work.lease, max(after, LEAST_PAUSE_SECONDS), left.to_json())
            raise
        await release_lease(db, work.lease)
        late = after > LONGEST_PAUSE_SECONDS
        why = f"it refuses requests for {after:.0f} s" if late else "the step has no retries left"
        raise NotReadError(UNAVAILABLE, f"{error}, and {why}") from None
    except NotReadError as error:
        await leave_lease(db, work.lease, REFUSED_SECONDS, {"refused": [error.problem.code, str(error)]})
        raise
    except BaseException:  # includes cancellation: another attempt may start at once
        await release_lease(db, work.lease)
        raise


async def _answered(work: Work, hints: Hints) -> Reading:
    call, tools = work.call, work.tools
    data = await tools.blobs.get(work.sha256)
    # open the file before the call: a failure afterwards would waste a paid answer
    async with tools.blobs.at_hand(work.sha256) as path:
        document = await document_to_send(tools, data, path)
        answer, model = await ask_about(
            *(tools, call, work.document_id, document, work.local.invoice.page_count, INVOICE),
            model=work.model,
            hints=hints,
            timeout_seconds=work.timeout_seconds,
        )
        answered = await _looked_up(tools, path, answer, model)
    return await _save(work, await asyncio.to_thread(_together, answered, work.local.invoice))


async def _looked_up(tools: Tools, path: Path, answer: WireInvoice, model: str) -> InvoiceData:
    """Return the answer's values, checked against the text of the pages as far as it can be read."""
    answered = await asyncio.to_thread(read_answer, answer, model=model)
    try:
        checked = await tools.reader.check(path, claims_of(answered, quotes_of(answer)))
    except (UnreadableDocument, OSError) as error:
        return not_examined(answered, error)
    return with_findings(answered, checked)


def _together(answered: InvoiceData, local: InvoiceData) -> InvoiceData:
    kept = tuple(problem for problem in local.problems if problem.code not in SETTLED)
    readings = [answered, local.model_copy(update={"problems": kept})]
    return assess(reconcile(readings), dt.datetime.now(dt.UTC).date())


async def _save(work: Work, invoice: InvoiceData) -> Reading:
    """Store the paid answer and release the lease: waiting attempts find the reading, or can take the lease."""
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


class NotReadError(Exception):
    """Gemini does not read this document; the local readers serve, and a problem states the reason."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.problem = InvoiceProblem(
            code=code,
            severity=Severity.WARNING if code == BUDGET else Severity.ERROR,
            message=f"Gemini did not read this document: {why}. The values are the local readers': please check them.",
        )


async def _left_to_local_readers(work: Work, error: NotReadError) -> Reading:
    """Store the local reading with the problem, separately from the one without it, so that it is never cached."""
    local = work.local.invoice
    invoice = local.model_copy(update={"problems": (*local.problems, error.problem)})
    invoice = invoice.model_copy(update={"confidence": overall(invoice)})
    version = reading_version(FALLBACK, error.problem.code, fresh_run_id=work.call.run_id)
    saved = await save_extraction(work.tools.db, work.call.tenant_id, work.sha256, version, invoice)
    return Reading(version, saved, cached=False)


OUTPUT_TOKENS = 16_384
"""Token limit of the answer and the thinking before it: an invoice of a hundred lines takes about 8,000."""

PAGE_TOKENS = 560
"""Tokens that the API counts for a page of a PDF at its default resolution."""

AGAIN_AFTER_SECONDS = 1.0

REFUSED, GARBLED, UNAVAILABLE, BUDGET = "gemini_refused", "gemini_garbled", "gemini_unavailable", "gemini_budget"

PASSING = (TryAgainLaterError, UnreachableError, OutgoingTimeoutError)
"""Errors after which another attempt may succeed."""

PDF = "application/pdf"

MEDIA_TYPES = (
    (b"%PDF-", PDF),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "image/webp"),
)
"""File types that the API accepts, by their first bytes. A wrong media type makes the request invalid."""

PDF_WINDOW = 1024


class AskAgainError(TryAgainLaterError):
    """The answer is unusable, and a different question may get a better one.

    One call per attempt: each uses the rate limit once.
    """

    def __init__(self, message: str, hints: Hints) -> None:
        Exception.__init__(self, message)
        self.status = 0
        self.retry_after_seconds = AGAIN_AFTER_SECONDS
        self.hints = hints


async def document_to_send(tools: Tools, data: bytes, path: Path) -> Document:
    """Return the bytes unchanged, or converted to PDF (TIFF, GIF, BMP) if the API does not accept the file type.

    Raises: NotReadError (the file cannot be converted), OSError.
    """
    for magic, media_type in MEDIA_TYPES:
        if data.startswith(magic) or (media_type == PDF and magic in data[:PDF_WINDOW]):
            return Document(data, media_type)
    try:
        return Document(await tools.reader.as_pdf(path), PDF)
    except UnreadableDocument as error:
        raise NotReadError(
            REFUSED, f"it does not accept this type of file, which cannot be converted to PDF: {str(error).rstrip('.')}"
        ) from None


@dataclass(frozen=True, slots=True)
class Wanted(Generic[T]):
    """What a model is to read: the prompt, its version for the records of cost, and the schema of the answer."""

    prompt: str
    version: str
    schema: type[T]


INVOICE = Wanted(PROMPT, PROMPT_VERSION, WireInvoice)


async def ask_about(
    tools: Tools,
    call: StepCall[Any],
    document_id: str,
    document: Document,
    page_count: int,
    wanted: Wanted[T],
    *,
    model: str,
    hints: Hints,
    timeout_seconds: float,
) -> tuple[T, str]:
    """Return the model's answer and its name, with one request; the cost is stored even if the answer is unusable.

    Raises: AskAgainError and the other errors of `PASSING` (worth another attempt), NotReadError.
    """
    question = _question(document, wanted, model, hints, timeout_seconds)
    most = most_tokens(question, document_tokens=PAGE_TOKENS * max(page_count, 1))
    lost = Use(
        *(call.tenant_id, call.run_id, call.step_id, call.attempt, model, "lost", most),
        prompt_version=wanted.version,
        document_id=document_id,
        key_id=call.key_id,
    )
    if hints.after_death:
        await keep_use(tools, lost)
    try:
        answer = await ask_and_count(tools, question, lost, partial(_outcome, wanted.schema))
    except RequestRefusedError as error:
        raise NotReadError(REFUSED, str(error)) from None
    return _useful(answer, wanted.schema, hints), answer.model


def _question(document: Document, wanted: Wanted[T], model: str, hints: Hints, timeout_seconds: float) -> Question:
    return Question(
        text=f"{REPAIR_PROMPT}\n{wanted.prompt}" if hints.repair else wanted.prompt,
        model=model,
        document=document,
        schema=wanted.schema,
        max_output_tokens=2 * OUTPUT_TOKENS if hints.larger else OUTPUT_TOKENS,
        thinking=ThinkingLevel.LOW,
        timeout_seconds=timeout_seconds,
    )


def _outcome(schema: type[BaseModel], answer: Answer) -> str:
    if answer.refused:
        return "refused"
    if answer.cut:
        return "cut"
    return "read" if isinstance(answer.parsed, schema) else "garbled"


def _useful(answer: Answer, schema: type[T], hints: Hints) -> T:
    match _outcome(schema, answer):
        case "refused":
            raise NotReadError(REFUSED, f"it {answer.refused}")
        case "cut" if hints.larger:
            raise NotReadError(GARBLED, f"its answer does not fit into {2 * OUTPUT_TOKENS} tokens")
        case "cut":
            message = f"Gemini's answer does not fit into {OUTPUT_TOKENS} tokens; the next attempt allows twice as many"
            raise AskAgainError(message, Hints(hints.repair, larger=True))
        case "garbled" if hints.repair:
            raise NotReadError(GARBLED, "two answers did not follow the schema")
        case "garbled":
            message = "Gemini's answer does not follow the requested schema; the next attempt points that out"
            raise AskAgainError(message, Hints(repair=True, larger=hints.larger))
    assert isinstance(answer.parsed, schema), "else it is garbled"
    return answer.parsed


CHARACTERS_A_TOKEN = 4
"""Approximate number of characters that the API counts as one token."""

MOST_OUTPUT_TOKENS = 65_536
"""Longest answer of a model without a limit."""


async def ask_and_count(tools: Tools, question: Question, lost: Use, outcome_of: Callable[[Answer], str]) -> Answer:
    """Return the model's answer; its cost is stored even if it is unusable. Raises: as `adapters.gemini.ask.ask`.

    If the answer is lost, `lost` is stored with `most_tokens`: otherwise an outage would be free and unlimited.
    """
    began = time.monotonic()
    try:
        answer = await ask(tools.outside.gemini, question)
    except BaseException as error:  # includes cancellation
        if is_lost(error):
            await keep_use(tools, lost)
        raise
    tools.metrics.answer_seconds.labels(question.model).observe(time.monotonic() - began)
    await keep_use(tools, replace(lost, model=answer.model, outcome=outcome_of(answer), tokens=answer.tokens))
    return answer


def most_tokens(question: Question, *, document_tokens: int = 0) -> Tokens:
    """Return the most that the call may have cost, estimating the prompt's tokens."""
    prompt = (len(question.text) + len(question.instructions or "")) // CHARACTERS_A_TOKEN
    return Tokens(prompt + document_tokens, question.max_output_tokens or MOST_OUTPUT_TOKENS)
