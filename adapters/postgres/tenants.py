"""Decide which tenant's rows a connection may read and write: the gate that no statement can skip (ADR 33).

Row-level security compares every row's tenant with the session's, which the pool sets when a connection is taken. The
tenant is that of the code that takes it: an entry point (request, activity, command) enters it once. Outside of every
tenant nothing is visible and nothing can be written.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

TENANT_ROLE = "docrail_app"
"""Role of every session: no superuser, owns nothing, and sees one tenant's rows."""
FLEET_ROLE = "docrail_fleet"
"""Role of work for all tenants: as TENANT_ROLE, but sees every tenant's rows."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a session may read and write."""

    role: str
    tenant_id: str


NO_ROWS = Rows(TENANT_ROLE, "")
ALL_ROWS = Rows(FLEET_ROLE, "")

_current: ContextVar[Rows | None] = ContextVar("docrail_rows", default=None)


def visible_rows() -> Rows | None:
    """Return the rows that code running here may see; None outside of every scope."""
    return _current.get()


def rows_of(tenant_id: str) -> Rows:
    """Return the rows of one tenant. Raises: ValueError if it has no name."""
    if not tenant_id:
        raise ValueError("expected a tenant's name, found an empty text")
    return Rows(TENANT_ROLE, tenant_id)


def enter_tenant(tenant_id: str) -> None:
    """Continue as one tenant, until the surrounding scope ends."""
    _current.set(rows_of(tenant_id))


def enter_no_tenant() -> None:
    """Continue outside of every tenant, until the surrounding scope ends or a tenant is entered."""
    _current.set(NO_ROWS)


@contextmanager
def of_tenant(tenant_id: str) -> Iterator[None]:
    """Run the block as one tenant."""
    with _scope(rows_of(tenant_id)):
        yield


@contextmanager
def all_tenants() -> Iterator[None]:
    """Run the block for all tenants. `tests/security/test_gate.py` lists the places that may."""
    with _scope(ALL_ROWS):
        yield


@contextmanager
def no_tenant() -> Iterator[None]:
    """Run the block outside of every tenant, until it enters one: nothing carries over from the code around it."""
    with _scope(NO_ROWS):
        yield


@contextmanager
def _scope(rows: Rows) -> Iterator[None]:
    token = _current.set(rows)
    try:
        yield
    finally:
        _current.reset(token)
