"""Provide a run's document context: expressions read it, lists find the run by it, reviews use it."""

from collections.abc import Mapping

from docrail.dag.values.json_values import Json
from docrail.services.app import App
from docrail.services.documents.models import Document
from docrail.services.documents.repository.documents import load_document

DOCUMENT_INPUT = "document_id"
"""The input that names a run's document if the run was not started by an upload."""


def context_of(document: Document) -> dict[str, Json]:
    """Return the value that expressions read as `document`."""
    return {
        "document_id": document.document_id,
        "file_name": document.file_name,
        "media_type": document.media_type,
        "sha256": document.sha256,
        "size_bytes": document.size_bytes,
        "source": document.source,
    }


def subject_of(inputs: Mapping[str, Json], key: str) -> str:
    """Return the key for canary selection: the document that a run's inputs name, or else the run's key.

    So every run about one document gets the same version, whoever starts it.
    """
    document_id = inputs.get(DOCUMENT_INPUT)
    return document_id if isinstance(document_id, str) and document_id else key


async def context_named(app: App, tenant_id: str, inputs: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return the context of the tenant's document named in `inputs`; None if there is none."""
    document_id = inputs.get(DOCUMENT_INPUT)
    if not isinstance(document_id, str) or "\0" in document_id:  # PostgreSQL refuses NUL
        return None
    document = await load_document(app.db, tenant_id, document_id)
    return None if document is None else context_of(document)
