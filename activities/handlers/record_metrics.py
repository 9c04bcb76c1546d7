"""Handler `record_metrics`: count a document for Prometheus, at most once however often a run is tried."""

from typing import Literal

from pydantic import BaseModel

from activities.registry import Call, Handler
from activities.tools import Tools
from storage.db import NotStored
from storage.documents import claim_metrics, load_document


class Config(BaseModel, extra="forbid", frozen=True):
    """`status` is how reading the document ended: `steps.extract.status`."""

    document_id: str
    status: Literal["completed", "failed"]


class Output(BaseModel):
    """False if the document was counted before."""

    recorded: bool


async def run(call: Call[Config], tools: Tools) -> Output:
    """Count the document if nobody did.

    The claim is committed before the counter moves: a worker killed in between leaves one document uncounted, as it
    loses all its counters anyway, and no document is ever counted twice.
    Raises: NotStored.
    """
    document_id, status = call.config.document_id, call.config.status
    claim = await claim_metrics(tools.db, call.tenant_id, document_id)
    if claim:
        if status == "completed":
            tools.metrics.record_document("success", claim.seconds, claim.confidence)
        else:  # equal bytes may have been read before; this document was not
            tools.metrics.record_document("failed", claim.seconds, None)
    elif await load_document(tools.db, call.tenant_id, document_id) is None:
        raise NotStored("document", document_id, call.tenant_id)
    return Output(recorded=claim is not None)


HANDLER = Handler("record_metrics", Config, Output, run, local=True)
