"""Define the records of the audit log."""

import datetime as dt
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, computed_field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.dag.values.json_values import Json
from docrail.services.model_config import SHOWN


@dataclass(frozen=True, slots=True)
class Act:
    """An action by a person or by Docrail. `detail` holds its parameters and reason.

    `state` is a digest of the item's decision after the act, so that a change to the item itself is found.
    """

    actor: str
    act: str
    review_id: str | None
    document_id: str | None
    detail: dict[str, Json]
    state: str | None = None


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
    state: Annotated[
        str | None,
        Field(description="digest of the review item's decision after the act; null if the act changes no decision"),
    ]
    hash: str


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which events are listed; None: any."""

    actor: str | None = None
    act: str | None = None
    subject: str | None = None
    """Id of a review item or a document."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class ChainCheck:
    """The result of verifying the chain."""

    events: int
    """Number of valid events."""
    head: str
    """Hash of the last event: kept elsewhere, it proves later that nothing was rewritten."""
    broken_at: int | None = None
    """The first event that does not fit; null also if only the `head` of an earlier check is missing, or a review item
    is not as its events left it."""
    problem: str = ""
    """Empty if nothing is wrong."""

    @computed_field(description="Whether the chain of hashes is unbroken.")  # type: ignore[prop-decorator]
    @property
    def intact(self) -> bool:
        """Return whether there is no problem."""
        return not self.problem
