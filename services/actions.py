"""Say which actions a caller may take on something, each with the reason if not.

The actions check again; what is refused here is refused there.
"""

from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.services.access.models import Principal, Scope
from docrail.services.model_config import SHOWN


class RefusalCode(StrEnum):
    """Why an action is not allowed now. The console has a text for each."""

    NEEDS_SCOPE = "needs_scope"
    RUN_DELETED = "run_deleted"
    RUN_STATUS = "run_status"
    RUN_STOPPING = "run_stopping"
    NESTED = "nested"
    NOTHING_TO_UNDO = "nothing_to_undo"
    NO_ANSWER = "no_answer"
    STEP_STATUS = "step_status"
    STEP_KEPT = "step_kept"
    STEP_KIND = "step_kind"
    NO_OTHER_VERSION = "no_other_version"
    ALREADY_STABLE = "already_stable"


class Refusal(NamedTuple):
    """Why an action is not allowed now: for programs, and for people."""

    code: RefusalCode
    message: str


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
    reason_code: RefusalCode | None
    """The same for programs; null if it is allowed."""


def permitted(who: Principal, needed: Scope, name: str, refusal: Refusal | None = None) -> Action:
    """Return the action: allowed if nothing refuses it and the caller has the scope."""
    if needed not in who.scopes:
        refusal = Refusal(RefusalCode.NEEDS_SCOPE, f"this needs the scope '{needed}'")
    code, message = refusal or (None, "")
    return Action(name, refusal is None, message, code)
