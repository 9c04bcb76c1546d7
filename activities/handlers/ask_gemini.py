"""Handler `ask_gemini`: read a stored document with Gemini as well, and store the combined reading."""

from typing import Literal

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall
from docrail.invoices.llm.prompt import PROMPT_VERSION
from docrail.services.documents.models import reading_version
from docrail.services.extraction.local import find_reading, is_for_gemini, load_stored, read_or_leave_to_gemini
from docrail.services.extraction.models import Extraction, extraction_of
from docrail.services.lake.reference import InvoiceRef
from docrail.services.tools import Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """The document and the model."""

    document_id: str = Field(description="an uploaded document")
    model: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$",
        description="the model's name; default: DOCRAIL_GEMINI_MODEL",
    )
    fresh: bool = Field(
        default=False, description="ask again, once for this run; stored readings are kept, and not used"
    )
    timeout_seconds: float = Field(
        default=90.0, gt=0, le=600, allow_inf_nan=False, description="timeout of the request"
    )
    over_budget: Literal["read_locally", "wait"] = Field(
        default="read_locally",
        description="if the day's budget is used up: use the local readers, or wait for the next day, at midnight UTC, "
        "if the step has a retry and time left",
    )


async def run(call: StepCall[Config], tools: Tools) -> Extraction:
    """Return the combined reading of Gemini and the local readers; the local one if Gemini is unavailable.

    One request to Gemini per attempt, and one at a time for equal bytes, across documents and workers.
    Without a key, and for e-invoices, it is the local reading. A refusal, a second unusable answer, an exhausted
    budget and the end of the step's retries add a problem to the invoice, and do not fail the step.
    Raises: NotStored, DocumentDecidedError, UnreadableDocument (never retried); TryAgainLaterError, UnreachableError,
    OutgoingTimeoutError, BudgetUsedError, OSError (retried).
    """
    config = call.config
    document = await load_stored(tools, call.tenant_id, config.document_id, fresh=config.fresh)
    model = config.model or tools.outside.gemini.default_model
    version = reading_version(model, PROMPT_VERSION, fresh_run_id=call.run_id if config.fresh else None)
    reading = await find_reading(tools, call.tenant_id, document.sha256, version)
    tools.metrics.reading_lookups.labels("gemini", "miss" if reading is None else "hit").inc()
    if reading is None:
        reading = await read_or_leave_to_gemini(tools, call, document.sha256, fresh=config.fresh)
        if is_for_gemini(tools, reading):
            from docrail.services.extraction.gemini import Work, read_with_gemini  # noqa: PLC0415  # loads the SDK

            work = Work(
                *(call, tools, config.document_id, document.sha256, model, version, reading, config.timeout_seconds),
                may_wait_for_budget=config.over_budget == "wait",
            )
            reading = await read_with_gemini(work)
    reference = InvoiceRef(document_id=config.document_id, sha256=document.sha256, reader_version=reading.version)
    return extraction_of(reference, reading.invoice, cache_hit=reading.cached)


HANDLER = Handler("ask_gemini", Config, Extraction, run)
