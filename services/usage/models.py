"""Define the records of model usage and its cost."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import Field

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
