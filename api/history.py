"""Routes of a document's history: what happened to it, and all its readings."""

from docrail.api.auth import MayRead
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.services.errors import NotFound
from docrail.services.history import service as history
from docrail.services.history.models import DocumentHistory, DocumentReadings

router = PrefixRouter(prefix="/v1/documents", tags=["documents"])


@router.get("/{document_id}/history", responses=problems(NotFound))
async def show_history(document_id: str, who: MayRead, app: AppDep) -> DocumentHistory:
    """Show what happened to a document, oldest first: upload, readings, corrections, decisions, exports."""
    return await history.show_history(app, who, document_id)


@router.get("/{document_id}/readings", responses=problems(NotFound))
async def show_readings(document_id: str, who: MayRead, app: AppDep) -> DocumentReadings:
    """Show every reading of a document, and where they differ."""
    return await history.show_readings(app, who, document_id)
