# the only thing formatted into a statement is the constant list of columns
"""Define executions, operator actions and cached outputs."""

import datetime as dt
from dataclasses import dataclass

from docrail.dag.values.json_values import Json


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
    """One action by a person. `step_id` None: on the whole run; `details` holds the values given by hand."""

    action_id: int
    run_id: str
    step_id: str | None
    action: str
    details: dict[str, Json]
    acted_by: str
    acted_at: dt.datetime


@dataclass(frozen=True, slots=True)
class CachedOutput:
    """A cached output; `output` may be null, which is a valid output."""

    output: Json
