"""Short ways to run a handler with tools that reach servers on loopback and secrets in a folder."""

from pathlib import Path
from typing import cast

import asyncpg

from activities.addresses import AllowedHosts
from activities.metrics import Metrics
from activities.outgoing import HttpClient
from activities.secret_store import SecretStore
from activities.tools import GeminiAccess, Outside, Tools
from dag.secret_names import secrets_in
from dag.values import Json
from docrail.handlers import Handler, StepCall


class OnlyOutside:
    """Tools of which only the way outside may be used, and what else is given."""

    def __init__(self, outside: Outside, db: asyncpg.Pool | None, metrics: Metrics | None) -> None:
        self.outside, self.db, self.metrics = outside, db, metrics


def tools_with(
    secrets: Path | None = None,
    *,
    gemini: GeminiAccess | None = None,
    notify_url: str | None = None,
    db: asyncpg.Pool | None = None,
    metrics: Metrics | None = None,
) -> Tools:
    """Return tools that may call 127.0.0.1."""
    http = HttpClient(AllowedHosts.parse(["127.0.0.1"]))
    outside = Outside(http, SecretStore(secrets), gemini or GeminiAccess(), notify_url)
    return cast("Tools", OnlyOutside(outside, db, metrics))


async def run(
    handler: Handler,
    config: Json,
    tools: Tools,
    *,
    attempt: int = 1,
    step_id: str = "step",
    named: tuple[str, ...] | None = None,
) -> Json:
    """Run the handler and return its output as JSON. `named`: the secrets of the config as written; None: as given."""
    secrets = secrets_in(config) if named is None else named
    call = StepCall("acme", "invoice.1", step_id, attempt, handler.config.model_validate(config), secrets=secrets)
    return (await handler.run(call, tools)).model_dump(mode="json")
