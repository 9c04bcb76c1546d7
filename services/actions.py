"""Say which actions a caller may take on something, each with the reason if not.

The actions check again; what is refused here is refused there.
"""

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.services.access.models import Principal, Scope
from docrail.services.model_config import SHOWN


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Action:
    """An action, and whether the caller may take it now."""

    name: Annotated[str, Field(examples=["pause"])]
    """On a run `pause`, `resume`, `cancel`, `abort`, `retry`, `rerun` (from a step, or with other inputs) or `undo`; on
    a step `answer`, `retry`, `edit` (retry it with another config), `skip`, `output` (complete it with an output) or
    `rerun` (although it completed); on a definition `start`, `publish` or
    `roll_back`; on a version of it `promote` or `canary`."""
    allowed: bool
    """Whether the caller may take it now."""
    reason: str
    """Why not; empty if it is allowed."""


def permitted(who: Principal, needed: Scope, name: str, refusal: str) -> Action:
    """Return the action: allowed if `refusal` is empty and the caller has the scope."""
    if needed not in who.scopes:
        refusal = f"this needs the scope '{needed}'"
    return Action(name, not refusal, refusal)
