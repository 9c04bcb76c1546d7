"""Serialise large answers once, in a thread: the framework would process them three times on the event loop."""

import asyncio
from functools import cache
from typing import Any

from fastapi import Response
from pydantic import TypeAdapter


async def json_response(model: Any, shown: Any) -> Response:
    """Return the response that shows an instance of `model`, the route's response model."""
    return Response(await asyncio.to_thread(_adapter(model).dump_json, shown), media_type="application/json")


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)
