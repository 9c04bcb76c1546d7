"""How one step hands an invoice to the next: by name, so that no document enters a run's history."""

import datetime as dt

from pydantic import BaseModel, ConfigDict, Field

from activities.tools import Tools
from invoices.model import InvoiceData
from storage import lake_versions
from storage.lake_versions import LakeVersion


class InvoiceRef(BaseModel):
    """Names a stored extraction, and the document it stands for here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document_id: str = Field(description="the document that the invoice stands for")
    sha256: str = Field(description="of the document's bytes, hex")
    reader_version: str = Field(description="what read them")


async def load_version(tools: Tools, tenant_id: str, reference: InvoiceRef) -> tuple[InvoiceData, LakeVersion]:
    """Return the document as it is known now, as reviewers see it, and the version under which the lake keeps that.

    Steps that save the document in several forms at once get the same. Raises: NotStored.
    """

    async def look() -> tuple[InvoiceData, LakeVersion]:
        today = dt.datetime.now(dt.UTC).date()
        return await lake_versions.load_version(tools.db, tenant_id, reference.document_id, today=today)

    return await tools.gathering.ask((tenant_id, reference.document_id), look)
