"""Routes of model usage: the paid answers about a document, and their cost."""

import datetime as dt
from decimal import Decimal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from docrail.api.auth import MayRead
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.services.errors import NotFound
from docrail.services.usage import service as model_uses

router = APIRouter(prefix="/v1/documents", tags=["documents"])


class ModelUseOut(BaseModel):
    """One paid answer of a model, usable or not."""

    model_config = ConfigDict(from_attributes=True)

    used_at: dt.datetime
    model: str = Field(description="as it calls itself", examples=["gemini-3.8-flash-001"])
    prompt_version: str
    attempt: int = Field(description="which attempt of the step asked")
    outcome: str = Field(description="`read`, or why it was of no use: `garbled`, `cut`, `refused`, `lost` (a guess)")
    input_tokens: int
    output_tokens: int
    thinking_tokens: int = Field(description="paid for as output")
    cost: Decimal
    currency: str
    priced_as: str = Field(description="the price table's entry; `*`: the model is not in it, and the cost a guess")


@router.get("/{document_id}/model-uses", responses=problems(NotFound))
async def list_model_uses(document_id: str, who: MayRead, app: AppDep) -> list[ModelUseOut]:
    """List the model answers about the document, in order. Readings from the cache cost nothing."""
    return [ModelUseOut.model_validate(use) for use in await model_uses.list_document_uses(app, who, document_id)]
