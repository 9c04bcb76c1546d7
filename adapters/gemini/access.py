"""How to reach the Gemini API, and within which budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from docrail.invoices.llm.prices import PriceTable, shipped_prices

if TYPE_CHECKING:  # every handler's file names `Tools`, and whoever checks a definition needs the models in them only
    from decimal import Decimal


@dataclass(frozen=True, slots=True)
class GeminiAccess:
    """How to reach the Gemini API. `base_url` is another server that speaks its language; None is Google's own."""

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    default_model: str = "gemini-3.8-flash"
    prices: PriceTable = field(default_factory=shipped_prices)
    budget_per_day: Decimal | None = None
    """Of all tenants, in the table's currency; None: no limit."""
    budget_per_tenant: Decimal | None = None
    """Of each of them a day; None: no limit of its own."""
