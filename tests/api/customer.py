"""A stack whose worker may call this machine, and helpers for tests in which customers and people answer."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from docrail.dag.values.json_values import Json
from docrail.services.definitions.service import publish_shipped
from tests.api.service import Service, serve, settings_for, work
from tests.loopback import Loopback
from tests.stack import eventually

KEY = "0123456789abcdef0123456789abcdef"
SAMPLES = Path(__file__).parent.parent.parent / "samples"


@asynccontextmanager
async def outgoing(temporal_address: str, dsn: str, folder: Path) -> AsyncIterator[Service]:
    """Yield an API and a worker that may call 127.0.0.1 and create callback URLs."""
    settings = settings_for(temporal_address, dsn, folder)
    settings = settings.model_copy(update={"allowed_hosts": ("127.0.0.1",), "callback_key": SecretStr(KEY)})
    async with serve(settings) as served:
        public = settings.model_copy(update={"public_url": str(served.http.base_url)})
        async with work(public):
            await publish_shipped(served.app)
            yield served


async def upload(served: Service, name: str) -> str:
    """Upload a sample and return the document's id."""
    sent = await served.http.post("/v1/documents", files={"file": (name, (SAMPLES / name).read_bytes())})
    assert sent.status_code == 202, sent.text
    return cast(str, sent.json()["document_id"])


async def start(served: Service, definition: str | dict[str, Json], **inputs: Json) -> str:
    """Start a run and return its id."""
    order = {"definition": definition, "inputs": inputs}
    started = await served.http.post("/v1/runs", json=order)
    assert started.status_code == 202, started.text
    return cast(str, started.json()["run_id"])


async def asked(server: Loopback, times: int = 1) -> Json:
    """Wait until the server has received this many requests, and return the last body."""
    await eventually(lambda: len(server.asked) >= times, "the customer to be asked")
    return server.asked[times - 1].json()


async def until_waiting(served: Service, run_id: str) -> None:
    async def is_waiting() -> bool:
        return bool((await served.http.get(f"/v1/runs/{run_id}")).json()["status"] == "waiting")

    await eventually(is_waiting, f"{run_id} to wait")


async def post(url: str, answer: Json) -> httpx.Response:
    """Post an answer as a customer does, without a key."""
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        return await client.post(url, json=answer)


def token_of(url: str) -> str:
    return urlsplit(url).path.rpartition("/")[2]


def unique(definition_id: str) -> str:
    return f"{definition_id}_{uuid.uuid4().hex[:12]}"


async def open_item(served: Service, **wanted: str) -> Json:
    """Wait for a review item and return it in full."""
    found: list[Json] = []

    async def is_there() -> bool:
        page = (await served.http.get("/v1/reviews", params={"kind": "step", "limit": "500"})).json()["reviews"]
        found[:] = [item for item in page if wanted.items() <= item.items()]
        return bool(found)

    await eventually(is_there, f"an open item of {wanted}")
    return (await served.http.get(f"/v1/reviews/{found[0]['review_id']}")).json()
