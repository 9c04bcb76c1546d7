"""Define executions, operator actions and cached outputs."""

import datetime as dt
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from docrail.dag.values.json_values import Json
from docrail.services.fields import Hidden


@dataclass(frozen=True, slots=True)
class Execution:
    """A submitted definition; `run_id` and `triggered_at` are None until it is triggered."""

    tenant_id: str
    execution_id: str
    definition_id: str
    version: int
    created_at: dt.datetime
    run_id: str | None
    triggered_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """A person's action on a step or, if `step_id` is null, on its run."""

    action_id: Hidden[int]
    run_id: Hidden[str]
    step_id: str | None
    action: Annotated[
        str,
        Field(
            examples=["retry_run"],
            description="to the run pause, resume, abort or retry_run; about a step retry, skip, output, abort or "
            "dismiss",
        ),
    ]
    details: Annotated[
        dict[str, Json],
        Field(
            description="what was given by hand, and why; `outcome` if no worker answered: it may not have been done"
        ),
    ]
    acted_by: str
    acted_at: dt.datetime


@dataclass(frozen=True, slots=True)
class CachedOutput:
    """A cached output; `output` may be null, which is a valid output."""

    output: Json
