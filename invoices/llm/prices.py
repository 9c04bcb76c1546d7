"""Says what a model's answer costs: a dated price table, and tokens counted as the API's bill counts them."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

ANY_MODEL = "*"
"""The table's entry for models that it does not name."""
PER = Decimal(1_000_000)
PLACES = Decimal("0.000001")
"""A token costs a millionth of the price, so smaller parts of a call's cost are noise."""

Money = Annotated[Decimal, Field(ge=0, le=100_000)]


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one answer used. The API bills thinking as output."""

    input: int = 0
    output: int = 0
    thinking: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """What it cost, and the table's entry by which: `*` is a guess, on the dear side."""

    amount: Decimal
    priced_as: str


class Price(BaseModel):
    """What a million tokens of a model cost from a day on. A model's name fits what begins with it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    since: dt.date
    input: Money
    output: Money


class PriceTable(BaseModel):
    """Prices as data: `read_on` is the day somebody looked at the provider's page."""

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
        """Return what `tokens` of `model` cost on a day: by the longest name that fits, at its newest price by then."""
        price = self._price(model, on)
        total = price.input * tokens.input + price.output * (tokens.output + tokens.thinking)
        return Cost((total / PER).quantize(PLACES), price.model)

    def _price(self, model: str, on: dt.date) -> Price:
        fitting = [price for price in self.per_million_tokens if _fits(price.model, model)]
        begun = [price for price in fitting if price.since <= on]
        # Before an entry's first day its first price counts: a clock that is wrong makes nothing free.
        if not begun:
            return min(fitting, key=lambda price: (-len(price.model), price.since))
        return max(begun, key=lambda price: (len(price.model), price.since))


def _fits(name: str, model: str) -> bool:
    return name in (ANY_MODEL, model) or model.startswith(f"{name}-")


@cache
def shipped_prices() -> PriceTable:
    """Return the table in prices.json, which an operator may replace by their own."""
    return read_prices(Path(__file__).with_name("prices.json"))


def read_prices(path: Path) -> PriceTable:
    """Return the table in a JSON file. Raises: OSError, ValueError (no table of prices)."""
    return PriceTable.model_validate_json(path.read_bytes())
