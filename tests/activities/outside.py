"""Short ways to run a handler with tools that reach servers on loopback and secrets in a folder."""

from pathlib import Path
from typing import cast

import asyncpg

from docrail.adapters.gemini.access import GeminiAccess
from docrail.adapters.http.addresses import AllowedHosts
from docrail.adapters.http.client import HttpClient
from docrail.adapters.secrets import SecretStore
from docrail.dag.language.secret_names import secrets_in
from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall
from docrail.services.metrics import Metrics
from docrail.services.tools import Outside, Tools


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
