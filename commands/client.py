"""How commands speak to the HTTP API: errors become one line a person understands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from dag.values import Json

TIMEOUT_SECONDS = 30.0
"""The API answers in milliseconds, or after at most ten seconds that no worker answered."""
POLL_SECONDS = 0.2


class ApiError(Exception):
    """The API refused; the message is its problem, in words."""


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of the API at `url`. Raises ApiError where it cannot be reached."""
    async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
        try:
            yield client
        except httpx.TransportError as error:
            hint = "is it running? `docrail up` starts it; --api says where it is"
            raise ApiError(f"no answer from the API at {url} ({type(error).__name__}): {hint}") from error


def answer(response: httpx.Response) -> Json:
    """Return a successful response's JSON. Raises ApiError with the API's problem."""
    if response.is_success:
        return response.json()
    try:
        problem = response.json()
    except ValueError:
        raise ApiError(f"the API answered {response.status_code}: {response.text[:200]}") from None
    lines = [f"{problem.get('title', 'refused')}: {problem.get('detail', '')}".rstrip(": ")]
    for found in problem.get("problems", ()):
        where = found.get("path") or found.get("field") or ""
        lines.append(f"  {where}: {found.get('message', found)}" if where else f"  {found.get('message', found)}")
    raise ApiError("\n".join(lines))


async def follow(client: httpx.AsyncClient, run_id: str) -> AsyncIterator[dict[str, Json]]:
    """Yield the run's report each time it changed, the last one being that of its end."""
    shown: Json = None
    while True:
        report = answer(await client.get(f"/v1/runs/{run_id}"))
        if report != shown:
            yield report
        shown = report
        if report["status"] in ENDED:
            return
        await asyncio.sleep(POLL_SECONDS)


ENDED = frozenset({"completed", "failed", "aborted", "cancelled"})
