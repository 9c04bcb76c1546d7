"""Handler `record_metrics`: count a document for Prometheus, at most once however often a run is retried."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

from docrail.adapters.postgres.pool import NotStored
from docrail.handlers import Handler, StepCall
from docrail.services.document_outcomes import Outcome
from docrail.services.documents.service import claim_metrics, load_document
from docrail.services.tools import Tools

_OUTCOMES: Mapping[str, Outcome] = {"completed": "success", "failed": "failed"}


class Config(BaseModel, extra="forbid", frozen=True):
    """The document, and the outcome of reading it."""

    document_id: str = Field(description="the document to count")
    status: Literal["completed", "failed"] = Field(description="the status of the extraction: `steps.extract.status`")


class Output(BaseModel):
    """Whether the document was counted."""

    recorded: bool = Field(description="false if the document had been counted before")


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Count the document unless it was counted before.

    The totals are updated with the claim, and this worker's own counter after it: a worker killed in between leaves
    one document uncounted there, as it loses all its counters anyway, and no document is ever counted twice.
    Raises: NotStored.
    """
    document_id, outcome = call.config.document_id, _OUTCOMES[call.config.status]
    claim = await claim_metrics(tools.db, call.tenant_id, document_id, outcome)
    if claim:
        tools.metrics.record_document(outcome, claim.seconds, claim.confidence)
    elif await load_document(tools.db, call.tenant_id, document_id) is None:
        raise NotStored("document", document_id, call.tenant_id)
    return Output(recorded=claim is not None)


HANDLER = Handler("record_metrics", Config, Output, run, is_light=True)
