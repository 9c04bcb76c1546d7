"""Admit the people that an identity provider knows.

A person is the provider's `sub`, which never changes. Names do: if a person could take another name at the provider,
they could approve a document twice. So the first name that is seen with a `sub` is kept, and belongs to no one else.
"""

import contextlib
import datetime as dt
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg

from docrail.adapters.oidc.access import SignIn
from docrail.adapters.oidc.errors import IssuerUnavailableError, TokenRefusedError
from docrail.adapters.postgres.tenants import of_tenant
from docrail.dag.values.json_values import Json
from docrail.services.access import repository
from docrail.services.access.models import Method, Principal
from docrail.services.access.oidc import SUBJECT, ClaimMapping, person_of
from docrail.services.errors import Claimed, NotAdmitted, Unauthenticated, Unavailable

if TYPE_CHECKING:  # joserfc: an API without an identity provider does not need its memory
    from docrail.adapters.oidc.issuer import Issuer

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """Admits the people that an issuer knows, as far as the mapping gives them scopes."""

    issuer: "Issuer"
    mapping: ClaimMapping
    session_lifetime: dt.timedelta
    """How long a session keeps the roles of its sign-in: what the provider takes away later, counts after that time."""

    async def verify(self, db: asyncpg.Pool, token: str) -> Principal:
        """Return the principal of an access token. Raises: Unauthenticated, NotAdmitted, Unavailable."""
        with _refusals("bearer token"):
            claims = await self.issuer.verify_access_token(token)
        return await self._admit(db, claims, Method.TOKEN)

    async def begin(self, sign_in: SignIn, redirect_uri: str) -> str:
        """Return the address of the sign-in page. Raises: Unavailable."""
        with _refusals("sign-in"):
            return await self.issuer.sign_in_url(sign_in, redirect_uri)

    async def complete(self, db: asyncpg.Pool, code: str, sign_in: SignIn, redirect_uri: str) -> Principal:
        """Return whoever has signed in. Raises: Unauthenticated, NotAdmitted, Unavailable."""
        with _refusals("sign-in"):
            claims = await self.issuer.redeem(code, sign_in, redirect_uri)
        return await self._admit(db, claims, Method.SESSION)

    async def _admit(self, db: asyncpg.Pool, claims: Mapping[str, Json], method: Method) -> Principal:
        try:
            person = person_of(claims, self.mapping)
        except ValueError as error:
            log.warning("the issuer's person %r is not admitted: %s", claims[SUBJECT][:255], error)
            raise NotAdmitted from None
        with of_tenant(person.tenant_id):
            name = await repository.bind_name(db, person.tenant_id, person.issuer, person.subject, person.name)
        if name is None:
            log.warning("%r is not admitted: the name %r belongs to another sub", person.subject, person.name)
            raise NotAdmitted(Claimed(person.tenant_id, person.name))
        return Principal(person.tenant_id, name, person.scopes, method)


@contextlib.contextmanager
def _refusals(what: str) -> Iterator[None]:
    """Refuse what the issuer refuses. The reason goes to the log: it would help whoever forges tokens."""
    try:
        yield
    except TokenRefusedError as error:
        log.warning("refused a %s: %s", what, error)
        raise Unauthenticated(f"the {what} is not valid: the server's log has the reason") from None
    except IssuerUnavailableError:  # logged when it was asked
        raise Unavailable("the identity provider", "the server's log has the reason") from None
