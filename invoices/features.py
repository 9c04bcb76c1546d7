"""Choose between candidates by weighted features, so that the weights stand in one list and a choice explains itself.

Each heuristic is a constant list of features next to the code that finds its candidates. Preferences that are an order
rather than a sum (which source is exact, where a currency is looked for first) are ordered tuples there.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Feature(Generic[T]):
    """A property that speaks for a candidate, or against it if the weight is negative."""

    name: str
    weight: float
    applies: Callable[[T], float]
    """Return whether it applies, or how much: a share of the page, a count."""


def score(features: Sequence[Feature[T]], candidate: T) -> float:
    """Return the sum of the weights of the features that apply."""
    return sum([feature.weight * feature.applies(candidate) for feature in features])


def reasons(features: Sequence[Feature[T]], candidate: T) -> dict[str, float]:
    """Return the features that apply to a candidate, by name, with their points; these add up to its score."""
    points = {feature.name: feature.weight * feature.applies(candidate) for feature in features}
    return {name: each for name, each in points.items() if each}


def leaders(
    features: Sequence[Feature[T]], candidates: Iterable[T], *, above: float = float("-inf"), within: float = 0.0
) -> list[T]:
    """Return the candidates with the highest score, several if it is a tie; empty if none has more than `above`.

    With `within`, also those that have at most that much less.
    """
    scored = [(score(features, candidate), candidate) for candidate in candidates]
    most = max((points for points, _ in scored), default=above)
    return [candidate for points, candidate in scored if points >= most - within and most > above]
