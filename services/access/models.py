"""Define principals and scopes. Every service takes a Principal and reads the tenant from it alone."""

from dataclasses import dataclass
from enum import StrEnum

DEFAULT_TENANT = "default"


class Scope(StrEnum):
    """A permission of a principal. Each route requires exactly one."""

    SUBMIT = "submit"
    READ = "read"
    REVIEW = "review"
    OPERATE = "operate"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller. `name` is for the audit log and logs."""

    tenant_id: str
    name: str
    scopes: frozenset[Scope]


ANONYMOUS = Principal(DEFAULT_TENANT, "anonymous", frozenset(Scope))
"""The caller of an API without keys: all scopes, in the default tenant only."""


NAME_YOURSELF = "set DOCRAIL_AS=NAME to name yourself to an API of `docrail up`"


NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$"
"""Names that a caller may choose."""


def person(name: str) -> str:
    """Return a name in canonical form: `Ann  Lee` and `ann lee` are one person."""
    return " ".join(name.split()).casefold()


def system_principal(tenant_id: str) -> Principal:
    """Return the principal for work that Docrail does on its own in a tenant's name."""
    return Principal(tenant_id, "docrail", frozenset(Scope))


WATCH = "sla-watch"
"""Name of the SLA watch in the audit log."""
