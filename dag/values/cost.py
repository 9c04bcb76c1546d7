"""Bound the cost of evaluating templates, in units of work, so that the limit is the same on every worker."""

from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json

MAX_WORK = 300_000
"""Units of work of one template, all its expressions together. A unit takes about a microsecond, on a slow and busy
machine up to six, and Temporal allows a worker two seconds for a turn of a run, in which several steps may begin."""

BYTES_PER_STEP = 64
"""Bytes that are compared or produced in the time of one unit (measured on lists of numbers)."""

MAX_MADE_BYTES = 6 * MAX_VALUE_BYTES
"""Bytes that one template may produce: as much as the largest list takes (map_items.py). It is far more than a config
may have, but small enough to measure."""

_CONTAINERS = (dict, list, tuple)


class ExpressionError(Exception):
    """An expression cannot be compiled or evaluated. `message` explains it in the author's terms."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def within(self, place: str) -> "ExpressionError":
        """Return the error with its place before it."""
        return ExpressionError(f"{place}: {self.message}")


class Work:
    """The remaining work budget of one template. Values must not change meanwhile."""

    def __init__(self) -> None:
        self._steps = MAX_WORK
        self._bytes = MAX_MADE_BYTES
        self._sizes: dict[int, tuple[Json, int]] = {}

    @property
    def spent(self) -> int:
        """Work used so far, including a refused request."""
        return MAX_WORK - self._steps

    def spend(self, steps: int) -> None:
        """Charge work that is about to be done. Raises: ExpressionError."""
        self._steps -= steps
        if self._steps < 0:
            raise ExpressionError("takes too much work: give it less data, or let a handler do it")

    def spend_bytes(self, size: int) -> None:
        """Charge `size` bytes that are about to be compared or produced. Raises: ExpressionError."""
        self.spend(1 + size // BYTES_PER_STEP)

    def make(self, value: Json) -> None:
        """Charge a value that becomes part of the template's value. Raises: ExpressionError."""
        self._bytes -= self.size(value)
        if self._bytes < 0:
            raise ExpressionError(f"takes more than {MAX_MADE_BYTES} bytes as JSON; pass a reference instead")

    def size(self, value: Json) -> int:
        """Return a lower estimate of `value`'s size in bytes of JSON. Raises: ExpressionError."""
        if isinstance(value, str):
            return 1 + len(value)
        if not isinstance(value, _CONTAINERS):
            return 1
        known = self._sizes.get(id(value))
        if known is None:
            known = self._sizes[id(value)] = (value, self._measure(value))  # kept, so its id stays unique
        return known[1]

    def _measure(self, value: Json) -> int:
        """Return the size of a list or object.

        A loop without calls: in Python 3.11 a call that crosses from one chunk of the stack into the next has memory
        made and freed for it, and takes ten times as long.
        """
        size, steps, left = 0, 0, [value]
        while left:
            part = left.pop()
            size += 1
            if isinstance(part, str):
                size += len(part)
            elif isinstance(part, _CONTAINERS):
                steps += 1 + len(part) // 4
                if steps > self._steps:
                    break
                left += part
                if isinstance(part, dict):
                    left += part.values()
        self.spend(steps)
        return size


def length_of(value: Json) -> int:
    """Return how many parts a value has, 0 if it has none."""
    return len(value) if isinstance(value, str | dict | list | tuple) else 0
