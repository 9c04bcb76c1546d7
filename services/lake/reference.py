"""Pass an invoice from one step to the next by reference, so that no document enters a run's history."""

import datetime as dt
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from docrail.invoices.model import InvoiceData
from docrail.services.documents.models import ReadingKey, WantedReading, each_once
from docrail.services.lake import service as lake_versions
from docrail.services.lake.models import LakeVersion
from docrail.services.tools import Tools


class InvoiceRef(BaseModel):
    """Reference to a stored reading, and to the document that it is saved as."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document_id: str = Field(description="the document that the invoice belongs to")
    sha256: str = Field(description="of the document's bytes, hex")
    reader_version: str = Field(description="what read them")


async def load_versions(
    tools: Tools, tenant_id: str, references: Sequence[InvoiceRef], user: str
) -> list[tuple[InvoiceData, LakeVersion]]:
    """Return each document as read by the reading that its reference names, and its version in the lake.

    Corrections and a decision, if there is one, are applied as they are for reviewers. Users that save the same
    documents at about the same time, such as one for each format, save the same state; one that asks again gets the
    current one. Raises: NotStored if the tenant does not have one of the documents, or no such reading of it;
    ValueError if one is named twice.
    """
    wanted = tuple(WantedReading(each.document_id, ReadingKey(each.sha256, each.reader_version)) for each in references)

    async def look() -> dict[str, tuple[InvoiceData, LakeVersion]]:
        today = dt.datetime.now(dt.UTC).date()
        return await lake_versions.load_versions(tools.db, tenant_id, wanted, today=today)

    each_once([each.document_id for each in wanted])
    versions = await tools.coalescer.get((tenant_id, wanted), user, look)
    return [versions[each.document_id] for each in wanted]
