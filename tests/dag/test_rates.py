"""Rates as people write them: 10/s, 300/min, lists of TAG=RATE."""

import re

import pytest

from docrail.dag.language.rates import DEFAULT_LIMITS, HIGHEST_RATE, parse_limits, parse_rate, rate_text
from docrail.dag.values.json_values import Json


@pytest.mark.parametrize(
    ("written", "per_second"),
    [("10", 10), ("10/s", 10), (" 2.5 /s", 2.5), ("300/min", 5), ("6 / min", 0.1), ("0", 0), (7, 7), (0.5, 0.5)],
)
def test_a_rate_is_uses_a_second(written: Json, per_second: float) -> None:
    assert parse_rate(written) == pytest.approx(per_second)


@pytest.mark.parametrize(
    "written",
    ["", "ten", "-1", "10/h", "1e3", "10/s/s", "inf", "nan", -1, HIGHEST_RATE * 2, True, None, [10], float("nan")],
)
def test_anything_else_is_refused_with_what_is_expected(written: Json) -> None:
    with pytest.raises(ValueError, match="is not a rate: expected uses per second from 0, such as 10/s"):
        parse_rate(written)


@pytest.mark.parametrize("text", ["10/s", "0/s", "2.5/s", "30/min", "1/s", "7.5/min"])
def test_a_rate_is_written_as_it_is_read(text: str) -> None:
    assert rate_text(parse_rate(text)) == text


@pytest.mark.parametrize(
    ("written", "limits"),
    [
        (DEFAULT_LIMITS, {"gemini_api": 10, "database": 50}),
        ("a=1,b=60/min,", {"a": 1, "b": 1}),
        ("", {}),
        ('{"a": 1, "b": "60/min"}', {"a": 1, "b": 1}),
        ({"a": 1.5}, {"a": 1.5}),
    ],
)
def test_limits_are_rates_by_tag(written: Json, limits: dict[str, float]) -> None:
    assert parse_limits(written) == limits


@pytest.mark.parametrize(
    ("written", "reported"),
    [
        ("gemini_api", "'gemini_api' has no rate: expected TAG=RATE, as in 'gemini_api=10/s, database=50/s'"),
        ("a=1, a=2", "the resource tag 'a' has two rates: expected one"),
        ("two words=1", "'two words' is not a resource tag: expected letters, digits and _, beginning with a letter"),
        ("a=x", "a: 'x' is not a rate"),
        ("{a: 1", "not JSON"),
        (7, "expected TAG=RATE, TAG=RATE"),
    ],
)
def test_wrong_limits_are_refused_with_what_is_wrong(written: Json, reported: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(reported)):
        parse_limits(written)
