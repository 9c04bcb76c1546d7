"""Read the fields of a schema from one document with Gemini, next to the labels on its pages.

The reading is the step's output and is not stored: a definition that wants it once for equal bytes gives the step a
`cache`. Gemini is asked once per attempt, because each attempt uses the rate limit once.
"""

from pathlib import Path
from typing import Any

from docrail.handlers import StepCall
from docrail.invoices.by_schema.reading import FieldsReading, judged, together
from docrail.invoices.by_schema.schema import FieldsSchema
from docrail.invoices.by_schema.wire import answer_model, prompt_of, prompt_version, reading_of
from docrail.invoices.llm.page_check import LONGEST_QUOTE
from docrail.invoices.llm.wire import quotes_of
from docrail.invoices.problems import UnreadableDocument
from docrail.services.documents.models import Document
from docrail.services.extraction.gemini import (
    BUDGET,
    PASSING,
    UNAVAILABLE,
    Hints,
    NotReadError,
    Wanted,
    ask_about,
    document_to_send,
    may_wait,
)
from docrail.services.extraction.local import read_fields_locally
from docrail.services.tools import Tools
from docrail.services.usage.service import BudgetUsedError, check_budget


async def read_fields_with_gemini(
    tools: Tools, call: StepCall[Any], document: Document, schema: FieldsSchema, *, model: str, timeout_seconds: float
) -> FieldsReading:
    """Return the reading of Gemini and of the labels as one; that of the labels, and why, if Gemini does not read it.

    Raises: the errors of `PASSING` while the step has retries; UnreadableDocument, OSError.
    """
    async with tools.blobs.at_hand(document.sha256) as path:
        local = await read_fields_locally(tools, path, schema)
        try:
            answered = await _answered(tools, call, document, path, schema, local, model, timeout_seconds)
        except BudgetUsedError as error:
            return _left(tools, local, NotReadError(BUDGET, str(error)))
        except PASSING as error:
            if may_wait(call, getattr(error, "retry_after_seconds", None) or 0.0):
                raise
            return _left(tools, local, NotReadError(UNAVAILABLE, str(error)))
        except NotReadError as error:
            return _left(tools, local, error)
    return together(schema, answered, local)


async def _answered(
    tools: Tools,
    call: StepCall[Any],
    document: Document,
    path: Path,
    schema: FieldsSchema,
    local: FieldsReading,
    model: str,
    timeout_seconds: float,
) -> FieldsReading:
    """Return Gemini's reading, checked against the pages."""
    await check_budget(tools, call.tenant_id, call.key_id)
    to_send = await document_to_send(tools, await tools.blobs.get(document.sha256), path)
    wanted = Wanted(prompt_of(schema), prompt_version(schema), answer_model(schema))
    is_repeated = call.attempt > 1  # the last answer may have been garbled or cut: no lease passes on which it was
    answer, _ = await ask_about(
        *(tools, call, document.document_id, to_send, local.page_count, wanted),
        model=model,
        hints=Hints(repair=is_repeated, larger=is_repeated),
        timeout_seconds=timeout_seconds,
    )
    reading = reading_of(schema, answer)
    quotes = {name: quote[:LONGEST_QUOTE] for name, quote in quotes_of(answer).items()}
    try:
        return judged(await tools.reader.check_fields(path, schema, reading, quotes))
    except (UnreadableDocument, OSError) as error:
        problem = f"the values from Gemini could not be checked against the pages: {error}"
        return judged(reading.model_copy(update={"problems": (problem,)}))


def _left(tools: Tools, local: FieldsReading, error: NotReadError) -> FieldsReading:
    tools.metrics.fallbacks.labels(error.problem.code).inc()
    return local.model_copy(update={"problems": (*local.problems, error.problem.message)})
