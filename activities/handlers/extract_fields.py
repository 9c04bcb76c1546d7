"""Handler `extract_fields`: read the fields that a JSON Schema names from a stored document, whatever its kind."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from docrail.handlers import Handler, StepCall
from docrail.invoices.by_schema.reading import notes_of, reasons_of
from docrail.invoices.by_schema.schema import FieldsSchema
from docrail.invoices.model import FieldValue
from docrail.services.extraction.local import load_stored, read_fields_locally
from docrail.services.tools import Tools


class Config(BaseModel):
    """The document, and the fields to read."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)

    document_id: str = Field(description="an uploaded document")
    fields: FieldsSchema = Field(
        alias="schema",
        description="JSON Schema of an object whose properties are single values; `title` and `x-labels` are the "
        "labels by which pages name them",
    )
    min_confidence: float = Field(
        default=0.8, ge=0.5, le=1, description="a value that is less sure than this needs a person"
    )
    use_gemini: bool = Field(default=True, description="whether Gemini reads it too, if there is a key")
    model: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$",
        description="the model's name; default: DOCRAIL_GEMINI_MODEL",
    )
    timeout_seconds: float = Field(
        default=90.0, gt=0, le=600, allow_inf_nan=False, description="timeout of the request"
    )


class Output(BaseModel):
    """The values, and what speaks for and against them."""

    document_id: str = Field(description="the document that was read")
    values: dict[str, Any] = Field(description="the value of each field, null if it was not found")
    fields: dict[str, FieldValue[Any]] = Field(
        description="each field with its value, confidence, source, page, box and evidence"
    )
    notes: dict[str, str] = Field(description="a remark on each field for a person's form")
    needs_person: bool = Field(description="whether a person must look at the values")
    reasons: list[str] = Field(description="why, in words; empty if nothing is in doubt")
    reader: str = Field(description="`text`, `ocr` or `gemini`; empty if the document has no text")
    page_count: int = Field(description="of the document")


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Return the fields as the labels on the pages name them, and as Gemini reads them if there is a key.

    If Gemini is unavailable, refuses, or the day's budget is used up, the labels serve, and a person looks.
    Raises: NotStored, UnreadableDocument (never retried); TryAgainLaterError, UnreachableError, OutgoingTimeoutError,
    OSError (retried).
    """
    config, access = call.config, tools.outside.gemini
    document = await load_stored(tools, call.tenant_id, config.document_id, fresh=False)
    if access.api_key and config.use_gemini:
        from docrail.services.extraction.fields import read_fields_with_gemini  # noqa: PLC0415  # loads the SDK

        model, seconds = config.model or access.default_model, config.timeout_seconds
        reading = await read_fields_with_gemini(
            tools, call, document, config.fields, model=model, timeout_seconds=seconds
        )
    else:
        async with tools.blobs.at_hand(document.sha256) as path:
            reading = await read_fields_locally(tools, path, config.fields)
    reasons = reasons_of(config.fields, reading, config.min_confidence)
    return Output(
        document_id=config.document_id,
        values=reading.values(),
        fields=reading.fields,
        notes=notes_of(reading),
        needs_person=bool(reasons),
        reasons=reasons,
        reader=reading.reader,
        page_count=reading.page_count,
    )


HANDLER = Handler("extract_fields", Config, Output, run)
