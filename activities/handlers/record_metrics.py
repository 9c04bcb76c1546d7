"""Handler `record_metrics`: count a document for Prometheus, at most once however often a run is retried."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from docrail.adapters.postgres.pool import NotStored, transaction
from docrail.handlers import Handler, StepCall
from docrail.services.document_outcomes import Outcome
from docrail.services.documents.models import each_once
from docrail.services.documents.service import claim_metrics, load_documents
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
    return (await run_all([call], tools))[0]


async def run_all(calls: Sequence[StepCall[Config]], tools: Tools) -> list[Output]:
    """Count the documents of calls of one tenant. Raises: as `run`."""
    tenant_id = calls[0].tenant_id
    ids = each_once([call.config.document_id for call in calls])
    outcomes = {each: _OUTCOMES[call.config.status] for each, call in zip(ids, calls, strict=True)}
    async with transaction(tools.db) as tx:  # of all or none
        claims = await claim_metrics(tx, tenant_id, outcomes)
        earlier = [document_id for document_id in outcomes if document_id not in claims]
        stored = await load_documents(tx, tenant_id, earlier) if earlier else {}
        if missing := [document_id for document_id in earlier if document_id not in stored]:
            raise NotStored("document", missing[0], tenant_id)
    for document_id, claim in claims.items():
        tools.metrics.record_document(outcomes[document_id], claim.seconds, claim.confidence)
    return [Output(recorded=call.config.document_id in claims) for call in calls]


HANDLER = Handler("record_metrics", Config, Output, run, is_light=True, run_all=run_all)
