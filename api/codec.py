"""Routes of Temporal's remote codec protocol: its web UI and CLI show encrypted histories through them.

A page of the UI has another origin than the API. For these routes, and for that origin only, it counts as a page of the
API itself, so that the browser lets it read the answers and the session's cookie is accepted.
"""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from docrail.api.auth import MayOperateRuns
from docrail.api.errors import problems
from docrail.api.parameters import AppDep
from docrail.api.prefix_router import PrefixRouter
from docrail.dag.values.json_values import Json
from docrail.services.fleet import payloads as temporal_payloads
from docrail.services.fleet.payloads import EncodedPayload

CODEC_PATH = "/v1/codec"
MOST_PAYLOADS = 1000
"""Of one request. An event of a history has a few."""

_HELLO: Json = {"metadata": {"encoding": "anNvbi9wbGFpbg=="}, "data": "ImhlbGxvIg=="}

router = PrefixRouter(prefix=CODEC_PATH, tags=["codec"])


class PayloadsIn(BaseModel):
    """Payloads, as in Temporal's remote codec protocol."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"payloads": [_HELLO]}]})

    payloads: Annotated[list[EncodedPayload], Field(max_length=MOST_PAYLOADS, description="in any order")]


class PayloadsOut(BaseModel):
    """The same number of payloads, in the same order."""

    payloads: list[EncodedPayload] = Field(description="as they are now encoded")


@router.post("/decode", responses=problems())
async def decode_payloads(body: PayloadsIn, who: MayOperateRuns, app: AppDep) -> PayloadsOut:
    """Decrypt payloads of your tenant; others come back as they are, as payloads without encryption do."""
    return PayloadsOut(payloads=await temporal_payloads.decode_payloads(app, who, body.payloads))


@router.post("/encode", responses=problems())
async def encode_payloads(body: PayloadsIn, _: MayOperateRuns, app: AppDep) -> PayloadsOut:
    """Encrypt payloads with the first of DOCRAIL_PAYLOAD_KEYS; without keys they come back as they are."""
    return PayloadsOut(payloads=await temporal_payloads.encode_payloads(app, body.payloads))


class TemporalUi:
    """ASGI middleware that admits pages of Temporal's web UI to the codec's routes. It must be the outermost."""

    def __init__(self, app: ASGIApp, ui_url: str) -> None:
        self._app = app
        self._origins = _origins(ui_url)
        self._cors = CORSMiddleware(
            self._as_own_page,
            allow_origins=self._origins,
            allow_methods=("POST",),
            allow_headers=("authorization", "content-type", "x-namespace"),
            allow_credentials=True,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        is_codec = scope["type"] == "http" and scope["path"].startswith(f"{CODEC_PATH}/")
        await (self._cors if is_codec else self._app)(scope, receive, send)

    async def _as_own_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        own = {**scope, "headers": [*scope["headers"]]}
        headers = MutableHeaders(scope=own)
        if headers.get("origin") in self._origins:
            del headers["origin"]
            headers["sec-fetch-site"] = "same-origin"
        await self._app(own, receive, send)


def _origins(url: str) -> frozenset[str]:
    """Return the origin of a URL; this machine has two names."""
    parsed = urlsplit(url)
    own = f"{parsed.scheme}://{parsed.netloc.rpartition('@')[2]}"
    return frozenset({own, own.replace("//127.0.0.1", "//localhost"), own.replace("//localhost", "//127.0.0.1")})
