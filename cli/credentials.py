"""Which key a command sends: the one that is given, or that of `docrail up --require-keys` on this machine."""

import json
import os
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated

import httpx
import typer

KEY_VARIABLE = "DOCRAIL_API_KEY"
DATA_VARIABLE, DATA_FOLDER = "DOCRAIL_DATA_DIR", "var"
LOCAL_KEY = "api-key.json"
"""In the data folder: the key of `docrail up --require-keys`, and the address of the API that it is for."""

ApiKey = Annotated[
    str | None,
    typer.Option("--key", help="The API key to send.", envvar=KEY_VARIABLE, show_envvar=False, metavar="KEY"),
]

given_key: ContextVar[str | None] = ContextVar("given_key", default=None)
"""The key of the option --key, which every command that calls the API has."""


def key_for(api: httpx.URL) -> str:
    """Return the key to send to the API: the given one, else the local one if it is for this address, else none."""
    given = given_key.get() or os.environ.get(KEY_VARIABLE, "")
    return given.strip() or _local_key(api)


def _local_key(api: httpx.URL) -> str:
    """Return the data folder's key if it was made for exactly this address: it is never sent to another host."""
    file = Path(os.environ.get(DATA_VARIABLE) or DATA_FOLDER).expanduser() / LOCAL_KEY
    try:
        kept = json.loads(file.read_text("utf-8"))
        known, key = httpx.URL(kept["api_url"]), str(kept["key"])
    except (OSError, ValueError, KeyError, TypeError, httpx.InvalidURL):
        return ""
    return key if _origin(known) == _origin(api) else ""


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    default = {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, url.port or default
