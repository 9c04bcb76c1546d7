"""Who asks, and what they may do. Every operation takes a Principal and takes the tenant from it alone."""

from dataclasses import dataclass
from enum import StrEnum

DEFAULT_TENANT = "default"


class Scope(StrEnum):
    """What a principal may do. A route demands exactly one."""

    SUBMIT = "submit"
    READ = "read"
    REVIEW = "review"
    OPERATE = "operate"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller. `name` is for audit and logs."""

    tenant_id: str
    name: str
    scopes: frozenset[Scope]


ANONYMOUS = Principal(DEFAULT_TENANT, "anonymous", frozenset(Scope))
"""Whoever calls an API that has no keys: everything, in the default tenant only."""


NAME_YOURSELF = "with DOCRAIL_AS=NAME, commands tell an API of `docrail up` who you are"


def person(name: str) -> str:
    """Return a name in the one way of writing that tells people apart: `Ann  Lee` and `ann lee` are one person."""
    return " ".join(name.split()).casefold()


def system_principal(tenant_id: str) -> Principal:
    """Return Docrail itself, acting in a tenant's name: for work that no caller waits for."""
    return Principal(tenant_id, "docrail", frozenset(Scope))


WATCH = "sla-watch"
"""Who acts, in the audit."""
