# the only thing formatted into a statement is the constant list of columns
"""Runs as other services and the API see them."""

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
    """One thing that a person did. `step_id` None: to the whole run; `details` holds what was given by hand."""

    action_id: int
    run_id: str
    step_id: str | None
    action: str
    details: dict[str, Json]
    acted_by: str
    acted_at: dt.datetime


@dataclass(frozen=True, slots=True)
class CachedOutput:
    """An output that was found; `output` may be null, which is an output too."""

    output: Json
