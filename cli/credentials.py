"""Which key a command sends: the one that is given, or that of `docrail up --require-keys` on this machine."""

from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # every command loads this module, and few of them call the API
    import httpx

KEY_VARIABLE = "DOCRAIL_API_KEY"
DATA_FOLDER = "var"

ApiKey = Annotated[
    str | None,
    typer.Option("--api-key", help="The API key to send.", envvar=KEY_VARIABLE, show_envvar=False, metavar="KEY"),
]
"""An option of every command that calls the API."""

given_key: ContextVar[str | None] = ContextVar("given_key", default=None)
"""The key of that option."""


def key_for(api: "httpx.URL") -> str:
    """Return the key to send to the API: the given one, else the local one if it is for this address, else none."""
    return (given_key.get() or "").strip() or _local_key(api)


def _local_key(api: "httpx.URL") -> str:
    """Return the data folder's key if it was made for exactly this address: it is sent to no other."""
    import httpx

    from docrail.adapters.settings_file import setting_text
    from docrail.embedded.claims import read_local_key

    kept = read_local_key(Path(setting_text("data_dir") or DATA_FOLDER).expanduser())
    return kept.key if kept.key and _origin(httpx.URL(kept.api_url)) == _origin(api) else ""


def _origin(url: "httpx.URL") -> tuple[str, str, int | None]:
    default = {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, url.port or default
