"""Define the records of model usage and its cost."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.invoices.llm.prices import Tokens
from docrail.services.model_config import SHOWN


@dataclass(frozen=True, slots=True)
class Use:
    """One model answer: the step attempt that it was for, its outcome and its tokens."""

    tenant_id: str
    run_id: str
    step_id: str
    attempt: int
    model: str
    outcome: str
    """`read`, `wrote`, or why it was unusable: `garbled`, `cut`, `refused`, `lost` (the tokens are an estimate)."""
    tokens: Tokens
    prompt_version: str = ""
    document_id: str | None = None
    key_id: str | None = None
    """The API key that caused the run."""


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """One paid answer of a model about a document, usable or not."""

    used_at: dt.datetime
    model: Annotated[str, Field(description="as it calls itself", examples=["gemini-3.8-flash-001"])]
    prompt_version: str
    attempt: Annotated[int, Field(description="the attempt of the step that asked")]
    outcome: Annotated[
        str, Field(description="`read`, or why it is unusable: `garbled`, `cut`, `refused`, `lost` (an estimate)")
    ]
    input_tokens: int
    output_tokens: int
    thinking_tokens: Annotated[int, Field(description="paid for as output")]
    cost: Decimal
    currency: str
    priced_as: Annotated[
        str, Field(description="the price table's entry; `*`: the model is not in it, and the cost is an estimate")
    ]


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class Spending:
    """What models' answers have cost since midnight UTC, and what they may cost."""

    spent_today: Decimal
    """The cost so far."""
    budget_per_day: Decimal | None
    """The most that a day may cost; null for no limit."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class ModelDay:
    """The answers of one model on one day (UTC)."""

    day: dt.date
    """The day."""
    model: str
    """As it calls itself."""
    answers: int
    """All that were paid for."""
    unusable: int
    """Those of them that could not be used."""
    input_tokens: int
    """Tokens of requests."""
    output_tokens: int
    """Tokens of answers."""
    thinking_tokens: int
    """Tokens of thinking, paid for as output."""
    cost: Decimal
    """What they cost."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class ModelUsage:
    """What models' answers cost."""

    currency: str
    """Currency of the costs and budgets, that of the price table."""
    own: Spending
    """The caller's tenant."""
    all_tenants: Spending | None
    """All tenants together; null for a caller who is not of the operator's tenant."""
    days: list[ModelDay]
    """The last 31 days of the caller's tenant, latest first. Days and models without answers are left out."""


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class TenantSummary:
    """A tenant, and how much it works."""

    tenant: str
    """Its name."""
    keys: int
    """Valid API keys."""
    last_used_at: dt.datetime | None
    """Last use of one of its keys, to the minute; null if never."""
    documents: int
    """Documents that were processed, those that failed included."""
    failed: int
    """Documents that failed."""
    spent_today: Decimal
    """What models' answers have cost since midnight UTC."""


@dataclass(frozen=True, slots=True)
class ModelTotal:
    """A model's totals since the first document, over all tenants, by outcome."""

    model: str
    outcome: str
    answers: int
    input_tokens: int
    output_tokens: int
    thinking_tokens: int
    cost: Decimal
