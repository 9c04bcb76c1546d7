"""Compute the cost of a model's answer from a dated price table and the billed tokens."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

ANY_MODEL = "*"
"""The table's entry for models that it does not list."""
PER = Decimal(1_000_000)
PLACES = Decimal("0.000001")
"""Precision of a cost: the price of one token is a millionth of the listed one, so smaller parts are noise."""

Money = Annotated[Decimal, Field(ge=0, le=100_000)]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens used by one answer. The API bills thinking tokens as output."""

    input: int = 0
    output: int = 0
    thinking: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost, and the name of the price entry used: `*` is a conservative estimate."""

    amount: Decimal
    priced_as: str


class Price(BaseModel):
    """Price of a million tokens from a date on. `model` matches that model and names that extend it after a hyphen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    since: dt.date
    input: Money
    output: Money


class PriceTable(BaseModel):
    """Price table loaded from JSON. `read_on` is the day the provider's price page was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    read_on: dt.date
    currency: str = "USD"
    per_million_tokens: tuple[Price, ...]

    @model_validator(mode="after")
    def _names_every_model(self) -> "PriceTable":
        if not any(price.model == ANY_MODEL for price in self.per_million_tokens):
            raise ValueError(f"expected an entry of model {ANY_MODEL!r}, for models that the table does not name")
        return self

    def cost(self, model: str, tokens: Tokens, on: dt.date) -> Cost:
        """Return the cost of `tokens` on a day: the longest matching name, at its latest price by then."""
        price = self._price(model, on)
        total = price.input * tokens.input + price.output * (tokens.output + tokens.thinking)
        return Cost((total / PER).quantize(PLACES), price.model)

    def _price(self, model: str, on: dt.date) -> Price:
        fitting = [price for price in self.per_million_tokens if _fits(price.model, model)]
        begun = [price for price in fitting if price.since <= on]
        # Before an entry's first day its first price applies, so a wrong clock makes nothing free.
        if not begun:
            return min(fitting, key=lambda price: (-len(price.model), price.since))
        return max(begun, key=lambda price: (len(price.model), price.since))


def _fits(name: str, model: str) -> bool:
    return name in (ANY_MODEL, model) or model.startswith(f"{name}-")


@cache
def shipped_prices() -> PriceTable:
    """Return the table in prices.json, which an operator may replace."""
    return read_prices(Path(__file__).with_name("prices.json"))


def read_prices(path: Path) -> PriceTable:
    """Load a price table from a JSON file. Raises: OSError, ValueError (not a price table)."""
    return PriceTable.model_validate_json(path.read_bytes())
