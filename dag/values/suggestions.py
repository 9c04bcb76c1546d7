"""Suggest the known name closest to an unknown one, as in "did you mean 'save_json'?"."""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_WORD = 64
"""The length of the longest id: a longer word is not a typo."""

COMPARISONS = 10_000
"""Comparisons per validation: a text full of unknown names must not cost names times names."""


class Suggestions:
    """Finds the closest known name within a budget of comparisons; equal calls give equal answers."""

    def __init__(self, comparisons: int = COMPARISONS) -> None:
        self._left = comparisons
        self._known: dict[tuple[str, frozenset[str]], str | None] = {}

    def closest(self, word: str, candidates: Iterable[str]) -> str | None:
        """Return the candidate most like `word`, None if none is similar."""
        names = frozenset(candidates)
        key = (word, names)
        if key not in self._known:
            if len(word) > LONGEST_WORD or len(names) > self._left:
                return None
            self._left -= len(names)
            # Case and - for _ are the most common slips, so they are ignored.
            by_shape = {_shape(name): name for name in sorted(names, reverse=True)}
            matches = get_close_matches(_shape(word), list(by_shape), n=1)
            self._known[key] = by_shape[matches[0]] if matches else None
        return self._known[key]


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most like `word`, None if none is similar or there are too many candidates."""
    return Suggestions().closest(word, candidates)


def _shape(name: str) -> str:
    return name.lower().replace("-", "_")
