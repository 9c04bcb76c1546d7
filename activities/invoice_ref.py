"""How one step hands an invoice to the next: by name, so that no document enters a run's history."""

import datetime as dt

from pydantic import BaseModel, ConfigDict, Field

from invoices.model import InvoiceData
from storage.db import Database
from storage.judged import load_judged


class InvoiceRef(BaseModel):
    """Names a stored extraction, and the document it stands for here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document_id: str = Field(description="the document that the invoice stands for")
    sha256: str = Field(description="of the document's bytes, hex")
    reader_version: str = Field(description="what read them")


async def load_invoice(db: Database, tenant_id: str, reference: InvoiceRef) -> InvoiceData:
    """Return the document as it is known now: with corrections, history and calibration, as reviewers see it.

    Raises: NotStored if the tenant has no such document, or it was not read yet.
    """
    return await load_judged(db, tenant_id, reference.document_id, today=dt.datetime.now(dt.UTC).date())
