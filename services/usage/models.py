"""What models were used for, and what that cost."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from docrail.invoices.llm.prices import Tokens


@dataclass(frozen=True, slots=True)
class Use:
    """One answer of a model: for which attempt of which step, and what it came to."""

    tenant_id: str
    run_id: str
    step_id: str
    attempt: int
    model: str
    outcome: str
    """`read`, `wrote`, or why it was of no use: `garbled`, `cut`, `refused`, `lost` (tokens are a guess)."""
    tokens: Tokens
    prompt_version: str = ""
    document_id: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """One answer about a document, as it was paid for."""

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
    """What a model came to since the first document, of all tenants, by outcome."""

    model: str
    outcome: str
    answers: int
    input_tokens: int
    output_tokens: int
    thinking_tokens: int
    cost: Decimal
