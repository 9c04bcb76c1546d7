"""Authenticate callers and check their scopes: every route except health and metrics uses one of these dependencies."""

import re
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request

from docrail.adapters.postgres.tenants import enter_tenant
from docrail.dag.language.inputs import InputProblem
from docrail.services.access.models import ANONYMOUS, NAME_PATTERN, WATCH, Principal, Scope, person, system_principal
from docrail.services.errors import Forbidden, InvalidInput
from docrail.services.reviews.models import PASSED_BY

NAME_HEADER = "X-Docrail-As"
OWN_NAMES = frozenset({system_principal("").name, PASSED_BY, WATCH})
"""Names reserved for Docrail itself: a caller with one could impersonate it."""


async def current_principal(request: Request) -> Principal:
    """Return the caller. There are no keys yet, so every caller is the default tenant's anonymous principal.

    With trusted names, callers choose their name; this gives them no additional rights.
    Raises: InvalidInput (an invalid name, or names are not trusted).
    """
    name = request.headers.get(NAME_HEADER)
    if name is None:
        return ANONYMOUS
    if not request.app.state.trust_names:
        problem = "is accepted only if DOCRAIL_TRUST_NAMES is set, as `docrail up` does on its own machine"
        raise InvalidInput([InputProblem(f"header.{NAME_HEADER}", problem)])
    if not re.fullmatch(NAME_PATTERN, name):
        problem = f"must be 1 to 64 letters, digits, spaces and . _ @ -, found {name[:80]!r}"
        raise InvalidInput([InputProblem(f"header.{NAME_HEADER}", problem)])
    if (known := person(name)) in OWN_NAMES:
        problem = f"is reserved for Docrail itself, expected a person's name, found {name!r}"
        raise InvalidInput([InputProblem(f"header.{NAME_HEADER}", problem)])
    return replace(ANONYMOUS, name=known)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A dependency that admits principals with `scope` to their tenant: the rest of the request sees its rows only."""

    scope: Scope

    async def __call__(self, who: Annotated[Principal, Depends(current_principal)]) -> Principal:
        """Return the caller. Raises: Forbidden."""
        if self.scope not in who.scopes:
            raise Forbidden(self.scope)
        enter_tenant(who.tenant_id)
        return who


MaySubmit = Annotated[Principal, Depends(Requirement(Scope.SUBMIT))]
MayRead = Annotated[Principal, Depends(Requirement(Scope.READ))]
MayReview = Annotated[Principal, Depends(Requirement(Scope.REVIEW))]
MayOperateRuns = Annotated[Principal, Depends(Requirement(Scope.OPERATE))]
MayAdminister = Annotated[Principal, Depends(Requirement(Scope.ADMIN))]
