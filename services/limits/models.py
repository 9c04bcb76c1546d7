"""Define the limit of a resource tag."""

import datetime as dt
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from docrail.dag.language.rates import HIGHEST_RATE

PerSecond = Annotated[
    float,
    Field(
        strict=True,
        ge=0,
        le=HIGHEST_RATE,
        allow_inf_nan=False,
        description="uses a second of the whole fleet; 0 stops the steps that need it",
    ),
]


@dataclass(frozen=True, slots=True)
class TagLimit:
    """A limited resource. Author, time and reason of a change are kept until it is reset."""

    tag: Annotated[str, Field(examples=["gemini_api"])]
    task_queue: str
    per_second: PerSecond
    initial_per_second: Annotated[PerSecond, Field(description="the limit of the settings, in uses a second")]
    changed_by: str | None
    changed_at: dt.datetime | None
    reason: str | None
    waiting: Annotated[
        int | None,
        Field(description="attempts of all tenants that wait for their turn, about; null for all but the operator's"),
    ]
    workers: Annotated[int, Field(description="processes that take its steps; without one, the steps wait")]
