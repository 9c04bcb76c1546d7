"""Who calls, and whether they may: every route but health and metrics has one of these in its signature."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from operations.errors import Forbidden
from operations.principal import ANONYMOUS, Principal, Scope


async def current_principal() -> Principal:
    """Return who calls. There are no keys yet, so everybody is the default tenant's anonymous."""
    return ANONYMOUS


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
