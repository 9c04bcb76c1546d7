"""Handler `extract_invoice`: read a stored document, once per content, and store the reading."""

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall
from docrail.invoices.llm.prompt import PROMPT_VERSION
from docrail.services.documents.models import reading_version
from docrail.services.extraction.local import find_reading, is_for_gemini, load_stored, read_or_leave_to_gemini
from docrail.services.extraction.models import Extraction, extraction_of
from docrail.services.lake.reference import InvoiceRef
from docrail.services.tools import Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """The document."""

    document_id: str = Field(description="an uploaded document")
    fresh: bool = Field(
        default=False, description="read it again, once for this run; stored readings are kept, and not used"
    )


async def run(call: StepCall[Config], tools: Tools) -> Extraction:
    """Return the local readers' extraction of the document, or Gemini's if it has read these bytes before.

    Repeated or concurrent runs for the same bytes all return the reading that was stored first.
    Raises: NotStored, DocumentDecidedError, UnreadableDocument (never retried); OSError (retried).
    """
    config, access = call.config, tools.outside.gemini
    document = await load_stored(tools, call.tenant_id, config.document_id, fresh=config.fresh)
    reading = None
    if access.api_key and not config.fresh:
        version = reading_version(access.default_model, PROMPT_VERSION)
        reading = await find_reading(tools, call.tenant_id, document.sha256, version)
    wants_gemini = False
    if reading is None:
        reading = await read_or_leave_to_gemini(tools, call, document.sha256, fresh=config.fresh)
        wants_gemini = is_for_gemini(tools, reading)
    reference = InvoiceRef(document_id=config.document_id, sha256=document.sha256, reader_version=reading.version)
    return extraction_of(reference, reading.invoice, cache_hit=reading.cached, wants_gemini=wants_gemini)


HANDLER = Handler("extract_invoice", Config, Extraction, run, aliases=("extract", "parse_document", "ParseDocument"))
