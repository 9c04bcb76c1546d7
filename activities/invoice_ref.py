"""How one step hands an invoice to the next: by name, so that no document enters a run's history."""

from pydantic import BaseModel, ConfigDict, Field

from invoices.model import InvoiceData
from storage.db import Database, NotStored
from storage.extractions import load_extraction


class InvoiceRef(BaseModel):
    """Names a stored extraction, and the document it stands for here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document_id: str = Field(description="the document that the invoice stands for")
    sha256: str = Field(description="of the document's bytes, hex")
    reader_version: str = Field(description="what read them")


async def load_invoice(db: Database, tenant_id: str, reference: InvoiceRef) -> InvoiceData:
    """Return the invoice under its document's id. Raises: NotStored if the tenant has no such extraction."""
    invoice = await load_extraction(db, tenant_id, reference.sha256, reference.reader_version)
    if invoice is None:
        raise NotStored("extraction", f"{reference.sha256} by reader {reference.reader_version}", tenant_id)
    return invoice.for_document(reference.document_id)
