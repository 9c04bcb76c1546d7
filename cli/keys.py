"""`docrail key`: create, list, rotate and revoke API keys, in the database itself: that needs no key."""

import datetime as dt
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import asyncpg
import typer
from pydantic import TypeAdapter

from docrail.cli.catalogue import all_handlers
from docrail.cli.database import LOCAL, Url, small_pool
from docrail.cli.listing import ID, STATUS, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.stop import run_or_exit
from docrail.cli.terminal import expected_one_of, moment
from docrail.dag.values.json_values import Json
from docrail.services.access import service as access
from docrail.services.access.models import DEFAULT_TENANT, Key, NewKey, Principal, Scope, local_name
from docrail.services.definitions.service import publish_release

T = TypeVar("T")
UNITS = {"h": 1, "d": 24, "w": 24 * 7}
"""Hours of each unit of time."""
MOST_LISTED = 500

Tenant = Annotated[str, typer.Option(help="The tenant of the keys.", metavar="TENANT")]
KeyId = Annotated[str, typer.Argument(help="The key's id, its middle part.", metavar="KEY_ID")]


def create(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="The person or system that will use it.", metavar="NAME")],
    scope: Annotated[str, typer.Option(help="What it may do: submit,read,review,operate,admin.", metavar="SCOPES")],
    tenant: Tenant = DEFAULT_TENANT,
    expires: Annotated[
        str | None, typer.Option(help="When it stops working: in 12h, 90d, 8w. By default never.", metavar="TIME")
    ] = None,
    database: Url = LOCAL,
) -> Printout:
    """Create an API key.

    The key is printed once: only its hash is stored. A tenant begins to exist with its first key, and has the shipped
    definitions from then on.

    Example: docrail key create --name erp --scope submit,read --expires 90d
    """
    scopes, who = _scopes(scope), _admin(tenant)
    until = None if expires is None else dt.datetime.now(dt.UTC) + _time("--expires", expires)

    async def made(pool: asyncpg.Pool) -> tuple[NewKey, bool]:
        is_first = not (await access.list_keys(pool, who, limit=1))[0]
        return await access.create_key(pool, who, name, scopes, until), is_first

    new, is_first = _in_database(database, tenant, made)
    if is_first and tenant != DEFAULT_TENANT:  # `docrail server migrate` publishes those of the default tenant
        settings = context.obj()
        run_or_exit(lambda: publish_release(database, all_handlers(), settings.resource_limits, settings.step_defaults))
    return _shown(new)


def list_keys(tenant: Tenant = DEFAULT_TENANT, database: Url = LOCAL) -> Printout:
    """List a tenant's API keys, newest first, 500 at most.

    Example: docrail key list
    """
    keys, _ = _in_database(database, tenant, lambda pool: access.list_keys(pool, _admin(tenant), limit=MOST_LISTED))
    headings = {"key": ID, "name": ID, "scopes": TEXT, "created": ID, "expires": ID, "last used": ID, "state": STATUS}
    return Printout(_json(list[Key], keys), [Listing(headings, map(_row, _json(list[Key], keys)))])


def rotate(
    key_id: KeyId,
    overlap: Annotated[
        str, typer.Option(help="How long the present secret stays valid: 0h, 24h, 7d.", metavar="TIME")
    ] = "24h",
    tenant: Tenant = DEFAULT_TENANT,
    database: Url = LOCAL,
) -> Printout:
    """Give a key a new secret.

    The new key is printed once. The present one stays valid for a while, so that its users can change over.

    Example: docrail key rotate 0123456789abcdef --overlap 7d
    """
    lasting = _time("--overlap", overlap)
    return _shown(_in_database(database, tenant, lambda pool: access.rotate_key(pool, _admin(tenant), key_id, lasting)))


def revoke(key_id: KeyId, tenant: Tenant = DEFAULT_TENANT, database: Url = LOCAL) -> Printout:
    """Revoke a key at once, with the sessions that it opened.

    Example: docrail key revoke 0123456789abcdef
    """
    key = _in_database(database, tenant, lambda pool: access.revoke_key(pool, _admin(tenant), key_id))
    return Printout(_json(Key, key), [f"revoked {key.key_id} of {key.name}"])


def _in_database(database: str, tenant: str, act: Callable[[asyncpg.Pool], Awaitable[T]]) -> T:
    async def acted() -> T:
        async with small_pool(database, tenant) as pool:
            return await act(pool)

    return run_or_exit(acted)


def _admin(tenant: str) -> Principal:
    """Return the person at the server's machine, who may do everything in every tenant."""
    return Principal(tenant, local_name(), frozenset(Scope))


def _scopes(text: str) -> list[Scope]:
    known = [scope.value for scope in Scope]
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in known:
            raise typer.BadParameter(f"{word!r} is not a scope{expected_one_of(word, known)}", param_hint="--scope")
    return [Scope(word) for word in words]


def _time(option: str, text: str) -> dt.timedelta:
    found = re.fullmatch(r"(\d{1,5})([hdw])", text.strip())
    if found is None:
        raise typer.BadParameter(f"expected hours, days or weeks, as 12h, 90d or 8w, found {text!r}", param_hint=option)
    return dt.timedelta(hours=int(found[1]) * UNITS[found[2]])


def _shown(new: NewKey) -> Printout:
    return Printout(_json(NewKey, new), [new.key])


def _row(key: dict[str, Json]) -> list[str]:
    times = [moment(key[name], seconds=False) for name in ("created_at", "expires_at", "last_used_at")]
    return [key["key_id"], key["name"], ",".join(key["scopes"]), *times, _state(key)]


def _state(key: dict[str, Json]) -> str:
    if key["revoked_at"]:
        return "revoked"
    is_over = key["expires_at"] and dt.datetime.fromisoformat(key["expires_at"]) <= dt.datetime.now(dt.UTC)
    return "expired" if is_over else "ok"


def _json(kind: Any, value: object) -> Json:
    return TypeAdapter(kind).dump_python(value, mode="json")
