"""Define the records of the audit log."""

import datetime as dt
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from docrail.dag.values.json_values import Json


@dataclass(frozen=True, slots=True)
class Act:
    """An action by a person or by Docrail. `detail` holds its parameters and reason."""

    actor: str
    act: str
    review_id: str | None
    document_id: str | None
    detail: dict[str, Json]


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """A recorded act. `hash` covers it and all events before it."""

    sequence: int
    happened_at: dt.datetime
    actor: str
    act: Annotated[str, Field(examples=["corrected"])]
    review_id: str | None
    document_id: str | None
    detail: dict[str, Json]
    hash: str
