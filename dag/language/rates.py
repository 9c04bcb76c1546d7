"""Read and write the rates of limited resources: `10/s`, `300/min` and lists of `TAG=RATE`."""

import json
import math
import re
from collections.abc import Mapping

from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import ID_PATTERN

DEFAULT_LIMITS = "gemini_api=10/s, database=50/s"
"""The default resources with their rates: the fleet's limits unless its settings differ."""

SHIPPED_TAG = "gemini_api"
"""The resource of the shipped definitions. A fleet always has it, or these definitions would be refused."""

HIGHEST_RATE = 100_000.0
"""Uses per second above which a limit has no effect, since Temporal cannot start work that fast."""

_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:/\s*(s|min))?")
_SECONDS = {None: 1.0, "s": 1.0, "min": 60.0}
_EXPECTED = "expected uses per second from 0, such as 10/s, or per minute, such as 300/min"


def parse_rate(value: Json) -> float:
    """Return uses per second for `10`, `10/s` or `600/min`. With a rate of zero nothing starts. Raises ValueError."""
    if isinstance(value, str):
        found = _RATE.fullmatch(value.strip())
        rate = math.nan if found is None else float(found[1]) / _SECONDS[found[2]]
    else:
        rate = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 <= rate <= HIGHEST_RATE:
        raise ValueError(f"{value!r} is not a rate: {_EXPECTED}")
    return rate


def rate_text(per_second: float) -> str:
    """Return a rate as text: `10/s`, or `7.5/min` for less than one use per second."""
    return f"{per_second * 60:g}/min" if 0 < per_second < 1 else f"{per_second:g}/s"


def fleet_limits(value: Json) -> dict[str, float]:
    """Return uses per second by tag as `parse_limits` does, with the shipped tag's default if it is not named."""
    named = parse_limits(value)
    return named if SHIPPED_TAG in named else {SHIPPED_TAG: parse_limits(DEFAULT_LIMITS)[SHIPPED_TAG], **named}


def parse_limits(value: Json) -> dict[str, float]:
    """Return uses per second by tag, from `gemini_api=10/s, database=50/s` or a JSON object. Raises ValueError."""
    limits: dict[str, float] = {}
    for tag, rate in _pairs(value):
        if not re.fullmatch(ID_PATTERN, tag):
            raise ValueError(f"{tag!r} is not a resource tag: expected letters, digits and _, beginning with a letter")
        if tag in limits:
            raise ValueError(f"the resource tag {tag!r} has two rates: expected one")
        try:
            limits[tag] = parse_rate(rate)
        except ValueError as error:
            raise ValueError(f"{tag}: {error}") from None
    return limits


def _pairs(value: Json) -> list[tuple[str, Json]]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError(f"not JSON: {error}") from None
    if isinstance(value, Mapping):
        return [(str(tag), rate) for tag, rate in value.items()]
    if not isinstance(value, str):
        raise ValueError(f"expected TAG=RATE, TAG=RATE, as in {DEFAULT_LIMITS!r}")  # noqa: TRY004 - pydantic wants it
    pairs: list[tuple[str, Json]] = []
    for entry in filter(None, (part.strip() for part in value.split(","))):
        tag, equals, rate = entry.partition("=")
        if not equals:
            raise ValueError(f"{entry!r} has no rate: expected TAG=RATE, as in {DEFAULT_LIMITS!r}")
        pairs.append((tag.strip(), rate))
    return pairs
