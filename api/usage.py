"""Routes of model usage: the paid answers about a document, and their cost."""

from fastapi import APIRouter

from docrail.api.auth import MayRead
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.services.errors import NotFound
from docrail.services.usage import service as model_uses
from docrail.services.usage.models import DocumentUse

router = APIRouter(prefix="/v1/documents", tags=["documents"])


@router.get("/{document_id}/model-uses", responses=problems(NotFound))
async def list_model_uses(document_id: str, who: MayRead, app: AppDep) -> list[DocumentUse]:
    """List the model answers about the document, in order. Readings from the cache cost nothing."""
    return await model_uses.list_document_uses(app, who, document_id)
