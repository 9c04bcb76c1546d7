"""What the audit log records."""

import datetime as dt
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from docrail.dag.values.json_values import Json


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody did. `detail` says with what, and why."""

    actor: str
    act: str
    review_id: str | None
    document_id: str | None
    detail: dict[str, Json]


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """An act. `hash` covers it and every event before it."""

    sequence: int
    happened_at: dt.datetime
    actor: str
    act: Annotated[str, Field(examples=["corrected"])]
    review_id: str | None
    document_id: str | None
    detail: dict[str, Json]
    hash: str
