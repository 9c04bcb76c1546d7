"""What an answer costs: the table's newest price by the day, thinking as output, and never nothing."""

import datetime as dt
from decimal import Decimal

import pytest
from pydantic import ValidationError

from docrail.invoices.llm.prices import Price, PriceTable, Tokens, shipped_prices

MILLION = Tokens(1_000_000, 1_000_000, 1_000_000)
IN_2026, IN_2027 = dt.date(2026, 12, 31), dt.date(2027, 1, 1)


def price(model: str, since: str, cost: int) -> Price:
    return Price(model=model, since=dt.date.fromisoformat(since), input=Decimal(cost), output=Decimal(10 * cost))


TABLE = PriceTable(
    read_on=IN_2026,
    per_million_tokens=(
        price("*", "2026-01-01", 9),
        price("flash", "2026-01-01", 1),
        price("flash", "2027-01-01", 2),
        price("flash-lite", "2026-06-01", 3),
    ),
)


@pytest.mark.parametrize(
    ("model", "on", "input_cost", "priced_as"),
    [
        ("flash", IN_2026, 1, "flash"),
        ("flash", IN_2027, 2, "flash"),
        ("flash-001", IN_2027, 2, "flash"),
        ("flash-lite-002", IN_2026, 3, "flash-lite"),
        ("flash-lite", dt.date(2020, 1, 1), 3, "flash-lite"),
        ("flashy", IN_2026, 9, "*"),
        ("", IN_2026, 9, "*"),
    ],
)
def test_the_longest_name_that_fits_prices_a_model(model: str, on: dt.date, input_cost: int, priced_as: str) -> None:
    cost = TABLE.cost(model, Tokens(input=1_000_000), on)
    assert (cost.amount, cost.priced_as) == (Decimal(input_cost), priced_as)


def test_thinking_costs_as_output_does() -> None:
    assert TABLE.cost("flash", MILLION, IN_2026).amount == 1 + 10 + 10


def test_a_part_of_a_token_price_is_rounded_to_millionths() -> None:
    assert TABLE.cost("flash", Tokens(1, 0, 0), IN_2026).amount == Decimal("0.000001")
    assert TABLE.cost("flash", Tokens(), IN_2026).amount == 0


def test_a_table_prices_every_model() -> None:
    with pytest.raises(ValidationError, match="expected an entry of model"):
        PriceTable(read_on=IN_2026, per_million_tokens=(price("flash", "2026-01-01", 1),))


def test_the_shipped_prices_know_our_model_and_its_next_price() -> None:
    model = "gemini-3.8-flash"
    costs = [shipped_prices().cost(model, MILLION, on).amount for on in (IN_2026, IN_2027)]
    assert costs == [Decimal("8.25"), Decimal("16.50")]


def test_an_unknown_model_costs_at_least_as_much_as_any() -> None:
    table = shipped_prices()
    unknown = table.cost("unheard-of", MILLION, IN_2027).amount
    assert all(table.cost(price.model, MILLION, IN_2027).amount <= unknown for price in table.per_million_tokens)
