"""Handlers: what a step's `handler` may name, with the JSON Schema of what each takes and gives."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from api.auth import MayRead
from api.errors import problems
from api.parameters import AppDep
from dag.values import Json
from operations import handlers
from operations.errors import NotFound, WrongState

router = APIRouter(prefix="/v1/handlers", tags=["handlers"])


class HandlerOut(BaseModel):
    """A handler."""

    model_config = ConfigDict(from_attributes=True)

    name: str = Field(examples=["send_webhook"])
    aliases: list[str] = Field(description="other names that definitions may use; a run shows its own name")
    summary: str = Field(description="what it does, in a sentence")
    config_schema: dict[str, Json] = Field(description="JSON Schema of a step's `config`")
    output_schema: dict[str, Json] = Field(description="JSON Schema of what later steps read")


class BrokenHandlerOut(BaseModel):
    """A handler that cannot be used. Definitions that name it are refused."""

    model_config = ConfigDict(from_attributes=True)

    name: str = Field(description="the name that definitions would use", examples=["count_words"])
    file: str = Field(description="the file at fault", examples=["handlers/count_words.py"])
    line: int = Field(description="the line at fault, from 1")
    error: str = Field(description="what is wrong", examples=["ModuleNotFoundError: No module named 'nltk'"])


class HandlerListOut(BaseModel):
    """Every handler, by name."""

    handlers: list[HandlerOut]
    broken: list[BrokenHandlerOut] = Field(description="handlers outside the tree that cannot be used")


@router.get("", responses=problems())
async def list_handlers(_who: MayRead, app: AppDep) -> HandlerListOut:
    """List the handlers."""
    found = handlers.list_handlers(app.catalogue)
    return HandlerListOut(
        handlers=[HandlerOut.model_validate(handler) for handler in found],
        broken=[BrokenHandlerOut.model_validate(each) for each in app.catalogue.broken_handlers],
    )


@router.get("/{name}", responses=problems(NotFound, WrongState))
async def show_handler(name: str, _who: MayRead, app: AppDep) -> HandlerOut:
    """Show a handler, by its name or an alias of it."""
    return HandlerOut.model_validate(handlers.load_handler(app.catalogue, name))
