"""Asks Gemini about one document, and decides what its answer is good for: use it, ask again, or give it up."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.genai.types import ThinkingLevel

from activities.errors import OutgoingTimeoutError, RequestRefusedError, TryAgainLaterError, UnreachableError
from activities.gemini import Answer, Document, Question
from activities.gemini_counted import ask_and_count, most_tokens
from activities.model_costs import keep_use
from activities.tools import Tools
from dag.values import Json
from docrail.handlers import StepCall
from invoices.gemini import WireInvoice
from invoices.model import Problem, Severity
from invoices.problems import UnreadableDocument
from invoices.prompt import PROMPT, PROMPT_VERSION, REPAIR_PROMPT
from storage.model_usage import Use
from storage.reading_leases import Claim

OUTPUT_TOKENS = 16_384
"""Room for the answer and the thinking before it: an invoice of a hundred lines takes about 8,000."""
PAGE_TOKENS = 560
"""What the API counts for a page of a PDF at its usual resolution."""
AGAIN_AFTER_SECONDS = 1.0
REFUSED, GARBLED, UNAVAILABLE, BUDGET = "gemini_refused", "gemini_garbled", "gemini_unavailable", "gemini_budget"
PASSING = (TryAgainLaterError, UnreachableError, OutgoingTimeoutError)
"""What another attempt may be spared."""
PDF = "application/pdf"
MEDIA_TYPES = (
    (b"%PDF-", PDF),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "image/webp"),
)
"""What the API takes, by how it begins. A wrong name is a wrong request."""
PDF_WINDOW = 1024


@dataclass(frozen=True, slots=True)
class Hints:
    """How to ask, after what the last answer was. They travel from attempt to attempt in the lease's note."""

    repair: bool = False
    larger: bool = False
    after_death: bool = False
    """Whoever asked before died over it, so nobody counted what that may have cost."""

    @classmethod
    def of(cls, claim: Claim) -> "Hints":
        """Return the hints that a holder left."""
        return cls(bool(claim.note.get("repair")), bool(claim.note.get("larger")), claim.died)

    def to_json(self) -> dict[str, Json]:
        """Return the note that leaves them."""
        return {"repair": self.repair, "larger": self.larger}


class AskAgainError(TryAgainLaterError):
    """The answer was of no use, and another question may get a better one. One call an attempt: each is one turn."""

    def __init__(self, message: str, hints: Hints) -> None:
        Exception.__init__(self, message)
        self.status = 0
        self.retry_after_seconds = AGAIN_AFTER_SECONDS
        self.hints = hints


class NotReadError(Exception):
    """Gemini will not read this document; the local readers serve, and the problem says so to a person."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.problem = Problem(
            code=code,
            severity=Severity.WARNING if code == BUDGET else Severity.ERROR,
            message=f"Gemini did not read this document: {why}. The values are the local readers': please check them.",
        )


async def document_to_send(tools: Tools, data: bytes, path: Path) -> Document:
    """Return the bytes as they are, or a PDF of them (TIFF, GIF, BMP) where the API does not take such files.

    Raises: NotReadError (no pages can be made of it), OSError.
    """
    for magic, media_type in MEDIA_TYPES:
        if data.startswith(magic) or (media_type == PDF and magic in data[:PDF_WINDOW]):
            return Document(data, media_type)
    try:
        return Document(await tools.reader.as_pdf(path), PDF)
    except UnreadableDocument as error:
        raise NotReadError(REFUSED, f"it takes no such files, and no PDF can be made of this one: {error}") from None


async def ask_about(
    tools: Tools,
    call: StepCall[Any],
    document_id: str,
    document: Document,
    page_count: int,
    *,
    model: str,
    hints: Hints,
    timeout_seconds: float,
) -> tuple[WireInvoice, str]:
    """Return the model's answer and its own name, with one request; what it cost is kept whatever it is worth.

    Raises: AskAgainError and the other errors of `PASSING` (worth another attempt), NotReadError.
    """
    question = _question(document, model, hints, timeout_seconds)
    most = most_tokens(question, document_tokens=PAGE_TOKENS * max(page_count, 1))
    lost = Use(
        *(call.tenant_id, call.run_id, call.step_id, call.attempt, model, "lost", most),
        prompt_version=PROMPT_VERSION,
        document_id=document_id,
    )
    if hints.after_death:
        await keep_use(tools, lost)
    try:
        answer = await ask_and_count(tools, question, lost, _outcome)
    except RequestRefusedError as error:
        raise NotReadError(REFUSED, str(error)) from None
    return _useful(answer, hints), answer.model


def _question(document: Document, model: str, hints: Hints, timeout_seconds: float) -> Question:
    return Question(
        text=f"{REPAIR_PROMPT}\n{PROMPT}" if hints.repair else PROMPT,
        model=model,
        document=document,
        schema=WireInvoice,
        max_output_tokens=2 * OUTPUT_TOKENS if hints.larger else OUTPUT_TOKENS,
        thinking=ThinkingLevel.LOW,
        timeout_seconds=timeout_seconds,
    )


def _outcome(answer: Answer) -> str:
    if answer.refused:
        return "refused"
    if answer.cut:
        return "cut"
    return "read" if isinstance(answer.parsed, WireInvoice) else "garbled"


def _useful(answer: Answer, hints: Hints) -> WireInvoice:
    match _outcome(answer):
        case "refused":
            raise NotReadError(REFUSED, f"it {answer.refused}")
        case "cut" if hints.larger:
            raise NotReadError(GARBLED, f"its answer does not fit into {2 * OUTPUT_TOKENS} tokens")
        case "cut":
            told = f"Gemini's answer does not fit into {OUTPUT_TOKENS} tokens; the next attempt gives it twice that"
            raise AskAgainError(told, Hints(hints.repair, larger=True))
        case "garbled" if hints.repair:
            raise NotReadError(GARBLED, "its answers were not what was asked for, twice")
        case "garbled":
            told = "Gemini's answer is not of the schema that was asked for; the next attempt tells it so"
            raise AskAgainError(told, Hints(repair=True, larger=hints.larger))
    assert isinstance(answer.parsed, WireInvoice), "else it is garbled"
    return answer.parsed
