"""Routes for answers posted to callback URLs: the only routes to runs that need no key."""

from typing import Annotated

from fastapi import Body, Path, Request
from pydantic import BaseModel

from docrail.api.errors import JSON_TYPE, problems_without_key
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.dag.values.json_values import Json
from docrail.services.callback_urls import MAX_TOKEN_LENGTH
from docrail.services.errors import AlreadyAnswered, CallbackOver, NotFound, UnsupportedType
from docrail.services.runs import callbacks

router = PrefixRouter(prefix="/v1/callbacks", tags=["callbacks"])


class AnsweredOut(BaseModel):
    """The answer was accepted."""

    status: str = "answered"


@router.post("/{token}", responses=problems_without_key(NotFound, AlreadyAnswered, CallbackOver))
async def receive_callback(
    token: Annotated[str, Path(max_length=MAX_TOKEN_LENGTH, description="the token in the URL that was sent")],
    answer: Annotated[Json, Body(examples=[{"decision": "process"}])],
    app: AppDep,
    request: Request,
) -> AnsweredOut:
    """Answer the step that waits for this URL. The URL works once; repeating the same answer is accepted."""
    if isinstance(answer, bytes):  # what the framework makes of a body that is not sent as JSON
        raise UnsupportedType(request.headers.get("content-type", ""), JSON_TYPE)
    await callbacks.receive_callback(app, token, answer)
    return AnsweredOut()
