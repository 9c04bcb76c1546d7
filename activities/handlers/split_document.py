"""Handler `split_document`: make each invoice of a file of several a document of its own."""

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall
from docrail.services.extraction.parts import split
from docrail.services.lake.reference import InvoiceRef
from docrail.services.tools import Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """The reading that names the parts."""

    invoice: InvoiceRef = Field(description="the `invoice_ref` of the step that read the file")


class Output(BaseModel):
    """The documents."""

    documents: list[str] = Field(
        description="in the order of the pages; each has a run of its own, which starts within two minutes"
    )


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Cut the pages and store the documents; every attempt returns the same ones.

    Raises: NotStored, UnreadableDocument (never retried); OSError (retried).
    """
    return Output(documents=await split(tools, call.tenant_id, call.config.invoice))


HANDLER = Handler("split_document", Config, Output, run)
