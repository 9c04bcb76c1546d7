"""Pass an invoice from one step to the next by reference, so that no document enters a run's history."""

import datetime as dt

from pydantic import BaseModel, ConfigDict, Field

from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import ReadingKey
from docrail.services.lake import service as lake_versions
from docrail.services.lake.models import LakeVersion
from docrail.services.tools import Tools


class InvoiceRef(BaseModel):
    """Reference to a stored reading, and to the document that it is saved as."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document_id: str = Field(description="the document that the invoice belongs to")
    sha256: str = Field(description="of the document's bytes, hex")
    reader_version: str = Field(description="what read them")


async def load_version(tools: Tools, tenant_id: str, reference: InvoiceRef) -> tuple[InvoiceData, LakeVersion]:
    """Return the document as read by the reading that `reference` names, and its version in the lake.

    Corrections and a decision, if there is one, are applied as they are for reviewers. Steps that save the document in
    several formats at once share one result. Raises: NotStored if the tenant has no such document or reading.
    """
    reading = ReadingKey(reference.sha256, reference.reader_version)

    async def look() -> tuple[InvoiceData, LakeVersion]:
        today = dt.datetime.now(dt.UTC).date()
        return await lake_versions.load_version(
            tools.db, tenant_id, reference.document_id, today=today, reading=reading
        )

    return await tools.coalescer.get((tenant_id, reference.document_id, reading), look)
