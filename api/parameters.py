"""What several resources take: the app, pages of a list, an idempotency key."""

from typing import Annotated, cast

from fastapi import Depends, Header, Query, Request

from operations.app import App
from operations.errors import InputProblem, InvalidInput


async def app_of(request: Request) -> App:
    """Return the open resources that the lifespan made."""
    return cast("App", request.app.state.app)


AppDep = Annotated[App, Depends(app_of)]
Limit = Annotated[int, Query(ge=1, le=500, description="most items on the page")]
After = Annotated[
    str | None, Query(max_length=4096, description="the `after` of the page before; without it, the first page")
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="the same key again is the same run or document, however often it is sent",
        examples=["order-4711"],
    ),
]


def one_key(header: str | None, body: str | None) -> str | None:
    """Return the key given in either place. Raises: InvalidInput if both are given and differ."""
    if header is not None and body is not None and header != body:
        raise InvalidInput([InputProblem("key", "differs from the header Idempotency-Key")])
    return body if header is None else header
