"""Define the records of model usage and its cost."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from docrail.invoices.llm.prices import Tokens


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


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """One paid answer about a document."""

    used_at: dt.datetime
    model: str
    prompt_version: str
    attempt: int
    outcome: str
    input_tokens: int
    output_tokens: int
    thinking_tokens: int
    cost: Decimal
    currency: str
    priced_as: str


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
