"""Define principals, scopes, keys and sessions. Every service takes a Principal and reads the tenant from it alone."""

import datetime as dt
import getpass
import re
from dataclasses import dataclass
from enum import StrEnum

from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.services.model_config import SHOWN

DEFAULT_TENANT = "default"
"""The tenant of local mode, and that of the operator: only its principals change what all tenants share."""


class Scope(StrEnum):
    """A permission of a principal. Each route requires one; what starts runs by itself requires two."""

    SUBMIT = "submit"
    READ = "read"
    REVIEW = "review"
    OPERATE = "operate"
    ADMIN = "admin"


class Method(StrEnum):
    """How a principal was authenticated."""

    KEY = "key"
    """With an API key."""
    TOKEN = "token"  # noqa: S105 - a name
    """With a token of an identity provider."""
    SESSION = "session"
    """With the cookie of a browser session."""
    LOCAL = "local"
    """Without credentials, in local mode."""
    INTERNAL = "internal"
    """Not by a request: Docrail itself, or a command on the server's machine."""


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller. `name` is for the audit log and logs."""

    tenant_id: str
    name: str
    scopes: frozenset[Scope]
    method: Method = Method.INTERNAL
    key_id: str | None = None
    """The API key that authenticated the request, or opened its session."""
    known_to: str | None = None
    """Whoever got the secret of that key over HTTP, as its creator does; None: it was made on the server's machine."""

    @property
    def people(self) -> frozenset[str]:
        """Return the names that the caller counts as where two people must act: whoever knows a key can use it."""
        return frozenset({self.name, self.known_to or self.name})


@dataclass(frozen=True, slots=True)
class TenantKeys:
    """A tenant, and how many valid keys it has."""

    tenant: str
    keys: int
    last_used_at: dt.datetime | None


TENANT_PATTERN = "^[a-z0-9][a-z0-9_-]{0,62}$"
NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$"
"""Names of people and systems."""

WATCH = "sla-watch"
"""Name of the SLA watch in the audit log."""
PASSED_BY = "straight-through"
"""Recorded as the decider of a document that passed without a person."""
CALLBACK = "callback"
"""Recorded as the person who answered through a callback URL: only the knowledge of the URL is certain."""


def person(name: str) -> str:
    """Return a name in canonical form: `Ann  Lee` and `ann lee` are one person."""
    return " ".join(name.split()).casefold()


def system_principal(tenant_id: str) -> Principal:
    """Return the principal for work that Docrail does on its own in a tenant's name."""
    return Principal(tenant_id, "docrail", frozenset(Scope))


RESERVED = frozenset({system_principal("").name, WATCH, PASSED_BY, CALLBACK, "policy", "timeout", "deadline"})
"""Names of Docrail's own acts: a caller with one of them could impersonate it."""


def local_name() -> str:
    """Return the name of the operating system's user, as far as it is a valid one."""
    try:
        name = person(re.sub(r"[^A-Za-z0-9 ._@-]", "-", getpass.getuser()).lstrip(" ._@-")[:64])
    except (KeyError, OSError):  # the user id has no entry
        name = ""
    return "local" if name in {"", *RESERVED} else name


def local_principal() -> Principal:
    """Return the caller without credentials in local mode: the person at this machine, who may do everything."""
    return Principal(DEFAULT_TENANT, local_name(), frozenset(Scope), Method.LOCAL)


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Me:
    """The caller, as Docrail sees them."""

    name: str
    """The name that the audit log records."""
    tenant: str
    """Whose documents and runs the caller works with."""
    scopes: list[Scope]
    """What the caller may do."""
    authenticated_by: Method
    """`key`, `token`, `session`, or `local` for a request without credentials in local mode."""
    key_id: str | None
    """Id of the API key that authenticated the request or opened its session; null if there is none."""
    operator: bool
    """Whether the tenant is that of the operators, who see and change what all tenants share."""


def describe_principal(who: Principal) -> Me:
    """Return the principal as `GET /v1/me` shows it."""
    scopes = [scope for scope in Scope if scope in who.scopes]
    return Me(who.name, who.tenant_id, scopes, who.method, who.key_id, who.tenant_id == DEFAULT_TENANT)


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Key:
    """An API key. Its secret is not stored."""

    key_id: str
    """Public id, the middle part of the key."""
    tenant: str
    """The tenant whose documents and runs its holder works with."""
    name: str
    """The person or system that uses the key, as recorded in the audit log."""
    scopes: list[Scope]
    """What its holder may do."""
    created_by: str
    """Who created it."""
    known_to: str | None
    """Who got its present secret over HTTP: where two people must act, that person and the key's holder are one. Null
    if it was made on the server's machine."""
    created_at: dt.datetime
    """When it was created."""
    expires_at: dt.datetime | None
    """When it stops working; null if never."""
    rotated_at: dt.datetime | None
    """When it got its present secret by rotation; null if never."""
    previous_until: dt.datetime | None
    """Until when the secret before the last rotation is accepted too; null without one."""
    revoked_at: dt.datetime | None
    """When it was revoked; null if it was not."""
    revoked_by: str | None
    """Who revoked it; null if no one did."""
    last_used_at: dt.datetime | None
    """Last use, to the minute; null if never."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class NewKey:
    """A key with a new secret, which is shown once."""

    key: str
    """The key itself: keep it, it is not shown again."""
    details: Key
    """What is stored about it."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Session:
    """A browser session."""

    session_id: str
    """Public id of the session."""
    tenant: str
    """The tenant of the person."""
    name: str
    """The person who signed in."""
    scopes: list[Scope]
    """What the person may do."""
    key_id: str | None
    """The API key that opened it; null if an identity provider did."""
    issuer: str | None
    """The identity provider that authenticated the person; null for an API key."""
    created_at: dt.datetime
    """When the person signed in."""
    last_seen_at: dt.datetime
    """Last request, to the minute."""
    expires_at: dt.datetime
    """When it ends at the latest."""
    revoked_at: dt.datetime | None
    """When it was ended; null if it was not."""
