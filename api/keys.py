"""Routes of API keys: list, create, rotate, revoke."""

import datetime as dt
from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from docrail.api.auth import MayAdminister
from docrail.api.errors import problems
from docrail.api.parameters import After, AppDep, Limit, Moment
from docrail.api.prefix_router import PrefixRouter
from docrail.services.access import service
from docrail.services.access.models import NAME_PATTERN, Key, NewKey, Scope
from docrail.services.errors import NotFound, WrongState
from docrail.services.model_config import body

LONGEST_OVERLAP_HOURS = 30 * 24

router = PrefixRouter(prefix="/v1/keys", tags=["access"])


KeyId = Annotated[str, Path(max_length=64, pattern=r"^[^\x00]*$", description="Id of the key, its middle part.")]


class KeyIn(BaseModel):
    """A key to create in the caller's tenant."""

    model_config = body({"name": "erp", "scopes": ["submit", "read"], "expires_at": "2099-06-30T00:00:00Z"})

    name: str = Field(pattern=NAME_PATTERN)
    """The person or system that will use the key."""
    scopes: frozenset[Scope] = Field(min_length=1)
    """What its holder may do."""
    expires_at: Moment | None = None
    """When it stops working; null for never."""


class RotationIn(BaseModel):
    """How to rotate a key."""

    model_config = body({"overlap_hours": 24})

    overlap_hours: Annotated[float, Field(strict=True, ge=0, le=LONGEST_OVERLAP_HOURS, allow_inf_nan=False)] = 24
    """How long the present secret is accepted together with the new one; 0 ends it at once."""


class KeyListOut(BaseModel):
    """A page of keys."""

    keys: list[Key] = Field(description="the keys, newest first")
    after: str | None


@router.get("", responses=problems())
async def list_keys(who: MayAdminister, app: AppDep, limit: Limit = 100, after: After = None) -> KeyListOut:
    """List the tenant's API keys, revoked and expired ones included."""
    keys, next_page = await service.list_keys(app.db, who, limit=limit, after=after)
    return KeyListOut(keys=keys, after=next_page)


@router.post("", status_code=201, responses=problems())
async def create_key(wanted: KeyIn, who: MayAdminister, app: AppDep) -> NewKey:
    """Create an API key in the caller's tenant. The answer is the only one that shows the key."""
    return await service.create_key(app.db, who, wanted.name, wanted.scopes, wanted.expires_at)


@router.post("/{key_id}/rotate", responses=problems(NotFound, WrongState))
async def rotate_key(key_id: KeyId, who: MayAdminister, app: AppDep, wanted: RotationIn | None = None) -> NewKey:
    """Give a key a new secret. The present secret stays valid for a while, so that no client fails meanwhile."""
    overlap = dt.timedelta(hours=(wanted or RotationIn()).overlap_hours)
    return await service.rotate_key(app.db, who, key_id, overlap)


@router.delete("/{key_id}", responses=problems(NotFound))
async def revoke_key(key_id: KeyId, who: MayAdminister, app: AppDep) -> Key:
    """Revoke a key, and end the sessions that it opened. It is refused at once, by every process."""
    return await service.revoke_key(app.db, who, key_id)
