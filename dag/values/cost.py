"""What evaluating templates may cost: counted in steps, so that it ends at the same place on every worker."""

from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json

MAX_WORK = 500_000
"""Steps that one template may take, all expressions in it together. A step takes about a microsecond, and Temporal
gives a worker two seconds for a turn of a run, in which several steps may begin."""

BYTES_PER_STEP = 64
"""Of values that are compared, or texts that are made, in the time of one step (measured on lists of numbers)."""

MAX_MADE_BYTES = 6 * MAX_VALUE_BYTES
"""Of all that one template puts together. As much as the largest list takes (dag.engine.map_items), and far more than a
config may have, but so that its size can still be told."""


class ExpressionError(Exception):
    """An expression cannot be compiled or evaluated. `message` says what was found, in the author's terms."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def within(self, place: str) -> "ExpressionError":
        """Return the error with its place before it."""
        return ExpressionError(f"{place}: {self.message}")


class Work:
    """What one template may still spend. Values must not change meanwhile."""

    def __init__(self) -> None:
        self._steps = MAX_WORK
        self._bytes = MAX_MADE_BYTES
        self._sizes: dict[int, tuple[Json, int]] = {}

    @property
    def spent(self) -> int:
        """Steps that were taken so far, or asked for in vain."""
        return MAX_WORK - self._steps

    def spend(self, steps: int) -> None:
        """Count work that is about to be done. Raises: ExpressionError."""
        self._steps -= steps
        if self._steps < 0:
            raise ExpressionError("takes too much work: give it less at once, or let a handler do it")

    def spend_bytes(self, size: int) -> None:
        """Count `size` bytes that are about to be compared or made. Raises: ExpressionError."""
        self.spend(1 + size // BYTES_PER_STEP)

    def make(self, value: Json) -> None:
        """Count a value that becomes part of the template's. Raises: ExpressionError."""
        self._bytes -= self.size(value)
        if self._bytes < 0:
            raise ExpressionError(f"takes more than {MAX_MADE_BYTES} bytes as JSON; pass a reference instead")

    def size(self, value: Json) -> int:
        """Return about how many bytes `value` takes as JSON, never more than it does. Raises: ExpressionError."""
        if isinstance(value, str):
            return 1 + len(value)
        if not isinstance(value, dict | list | tuple):
            return 1
        known = self._sizes.get(id(value))
        if known is None:
            self.spend(1 + len(value) // 4)
            parts = (*value, *value.values()) if isinstance(value, dict) else value
            known = self._sizes[id(value)] = (value, 1 + sum(map(self.size, parts)))  # kept, so that its id is its own
        return known[1]


def length_of(value: Json) -> int:
    """Return how many parts a value has, 0 if it has none."""
    return len(value) if isinstance(value, str | dict | list | tuple) else 0
