"""Show documents."""

import re

from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.documents.models import Document
from docrail.services.documents.repository.documents import load_document
from docrail.services.errors import NotFound

DOCUMENT_ID_PATTERN = r"^doc_[0-9a-z]{26}$"


async def show_document(app: App, principal: Principal, document_id: str) -> Document:
    """Return the tenant's document. Raises: NotFound."""
    document = None
    if re.fullmatch(DOCUMENT_ID_PATTERN, document_id):
        document = await load_document(app.db, principal.tenant_id, document_id)
    if document is None:
        raise NotFound("document", document_id)
    return document
