"""Define how the Gemini API is reached, and its budgets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from docrail.invoices.llm.prices import PriceTable, shipped_prices

# for type checkers only: every handler's file imports `Tools`, and validating a definition needs only its models
if TYPE_CHECKING:
    from decimal import Decimal


@dataclass(frozen=True, slots=True)
class GeminiAccess:
    """Access to the Gemini API. `base_url`: another server with the same API; None means Google's."""

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    default_model: str = "gemini-3.8-flash"
    prices: PriceTable = field(default_factory=shipped_prices)
    budget_per_day: Decimal | None = None
    """Budget of all tenants per day, in the table's currency; None: no limit."""
    budget_per_tenant: Decimal | None = None
    """Budget of each tenant per day; None: no separate limit."""
