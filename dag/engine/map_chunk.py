"""Track one chunk of a long list: which of its items begin, which are stopped, and how each ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from docrail.dag.engine.state import MOST_EARLIER, ItemEnd, StepError
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import LONGEST_MESSAGE, shortened, size_of

NEVER_BEGAN = ItemEnd(StepStatus.PENDING)

MAX_ENDS_BYTES = 1_900_000
"""Limit for how all items of a chunk ended, in bytes of JSON: Temporal accepts 2 MiB as a workflow's result. Outputs
take far less."""

MUCH = 8
"""Report at once when 1/8 of a chunk's slots came free. Without a threshold, a wide chunk would report each item."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How many items of a chunk still run, all having begun, and how many completed or failed."""

    running: int
    completed: int
    failed: int


class ChunkRun:
    """Run a chunk's items, identified by their number in the chunk, `width` at a time, in order.

    `stop_after`: number of failures allowed; one more stops the rest. None: every item runs.
    """

    def __init__(self, count: int, width: int, stop_after: int | None) -> None:
        self.ends = [NEVER_BEGAN] * count
        self.is_paused = False
        """Whether nothing new begins; running items continue."""
        self._width = self._reported = width
        self._stop_after = stop_after
        self._next = 0
        self._running: dict[int, None] = {}
        self._failed = 0
        self._is_stopping = False

    @property
    def is_over(self) -> bool:
        """Whether nothing runs and nothing will."""
        return not self._running and (self._is_stopping or self._next >= len(self.ends))

    @property
    def may_begin(self) -> bool:
        """Whether one more item may begin now."""
        is_held = self.is_paused or self._is_stopping
        return not is_held and self._next < len(self.ends) and len(self._running) < self._width

    @property
    def has_thinned(self) -> bool:
        """Whether slots came free that no item of this chunk will use, and this was not reported yet."""
        has_begun = self._next >= len(self.ends) and not self._is_stopping
        return has_begun and 0 < len(self._running) < self._reported

    @property
    def has_thinned_much(self) -> bool:
        """Whether enough slots came free to report it at once."""
        return self.has_thinned and self._reported - len(self._running) >= max(self._reported // MUCH, 1)

    def report(self) -> Progress:
        """Return the progress to report, and remember it as reported."""
        self._reported = len(self._running)
        completed = sum(ended.status is StepStatus.COMPLETED for ended in self.ends)
        return Progress(self._reported, completed, self._failed)

    def widen(self, width: int) -> None:
        """Let `width` items run at once from now on; a smaller width changes nothing."""
        self._width = self._reported = max(width, self._width)

    def begin(self) -> Iterator[int]:
        """Yield the items that begin now."""
        while self.may_begin:
            number, self._next = self._next, self._next + 1
            self._running[number] = None
            yield number

    def end(self, number: int, ended: ItemEnd) -> list[int]:
        """Record how an item ended; return the items to stop because of it."""
        del self._running[number]
        self.ends[number] = ended
        self._failed += ended.status is StepStatus.FAILED
        is_too_much = self._stop_after is not None and self._failed > self._stop_after
        return self.stop() if is_too_much and not self._is_stopping else []

    def stop(self) -> list[int]:
        """Begin nothing more; return the running items, which are to be stopped."""
        self._is_stopping = True
        return list(self._running)


def for_report(ends: Sequence[ItemEnd]) -> tuple[ItemEnd, ...]:
    """Return `ends` with the last MOST_EARLIER errors of earlier attempts, which is all that a step keeps.

    The error messages are shortened until all ends together fit one message.
    """
    whole = shown = _with_few_earlier(ends)
    most = LONGEST_MESSAGE
    while most > 1 and size_of(shown) > MAX_ENDS_BYTES:
        shown, most = tuple(_with_short_error(ended, most) for ended in whole), most // 2
    return shown


def _with_few_earlier(ends: Sequence[ItemEnd]) -> tuple[ItemEnd, ...]:
    kept, left = list(ends), MOST_EARLIER
    for number in reversed(range(len(kept))):
        if earlier := kept[number].earlier:
            kept[number] = replace(kept[number], earlier=earlier[-left:] if left else ())
            left = max(left - len(earlier), 0)
    return tuple(kept)


def _with_short_error(ended: ItemEnd, most: int) -> ItemEnd:
    if ended.error is None:
        return ended
    return replace(ended, error=StepError(ended.error.type, shortened(ended.error.message, most)))
