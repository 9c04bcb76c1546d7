"""Who calls, and whether they may: every route but health and metrics has one of these in its signature."""

import re
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request

from docrail.dag.language.inputs import InputProblem
from docrail.services.access.models import ANONYMOUS, WATCH, Principal, Scope, person, system_principal
from docrail.services.errors import Forbidden, InvalidInput
from docrail.services.reviews.models import PASSED_BY

NAME_HEADER = "X-Docrail-As"
NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$"
OWN_NAMES = frozenset({system_principal("").name, PASSED_BY, WATCH})
"""Under which Docrail acts by itself: who had one could pass for it."""


async def current_principal(request: Request) -> Principal:
    """Return who calls. There are no keys yet, so everybody is the default tenant's anonymous.

    Where names are trusted, everybody is whom they say they are: it gives them no right that they had not before.
    Raises: InvalidInput (a name that cannot be one, or where none are trusted).
    """
    name = request.headers.get(NAME_HEADER)
    if name is None:
        return ANONYMOUS
    if not request.app.state.trust_names:
        told = "is taken only where DOCRAIL_TRUST_NAMES is set, as `docrail up` does on its own machine"
        raise InvalidInput([InputProblem(f"header.{NAME_HEADER}", told)])
    if not re.fullmatch(NAME_PATTERN, name):
        told = f"must be 1 to 64 letters, digits, spaces and . _ @ -, found {name[:80]!r}"
        raise InvalidInput([InputProblem(f"header.{NAME_HEADER}", told)])
    if (known := person(name)) in OWN_NAMES:
        told = f"is a name under which Docrail acts by itself, expected a person's, found {name!r}"
        raise InvalidInput([InputProblem(f"header.{NAME_HEADER}", told)])
    return replace(ANONYMOUS, name=known)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A dependency that lets a principal with `scope` pass."""

    scope: Scope

    async def __call__(self, who: Annotated[Principal, Depends(current_principal)]) -> Principal:
        """Return who calls. Raises: Forbidden."""
        if self.scope not in who.scopes:
            raise Forbidden(self.scope)
        return who


def requires(scope: Scope) -> Requirement:
    """Return the dependency for a route that needs `scope`."""
    return Requirement(scope)


MaySubmit = Annotated[Principal, Depends(requires(Scope.SUBMIT))]
MayRead = Annotated[Principal, Depends(requires(Scope.READ))]
MayReview = Annotated[Principal, Depends(requires(Scope.REVIEW))]
MayOperateRuns = Annotated[Principal, Depends(requires(Scope.OPERATE))]
MayAdminister = Annotated[Principal, Depends(requires(Scope.ADMIN))]
