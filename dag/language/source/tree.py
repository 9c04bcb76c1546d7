"""Build a JSON value from a reader's events, with the position of every part, and report what is not valid JSON."""

from dataclasses import dataclass
from typing import Any

from docrail.dag.values.findings import MAX_PROBLEMS
from docrail.dag.values.json_rules import MAX_DEPTH
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path, Place, Places, Problem, path_text

MAX_PARTS = 300_000
"""Values per text: far more than the largest accepted definition has."""

MAX_DIGITS = 40
"""A longer integer is read as a float, since Python refuses to parse thousands of digits; neither is accepted later."""


class SourceError(Exception):
    """The text cannot be read any further. Carries the problem."""

    def __init__(self, code: str, message: str, place: Place | None) -> None:
        super().__init__(message)
        line, column = place or (None, None)
        self.problem = Problem(code, message, "$", line, column)


@dataclass(slots=True)
class _Open:
    """An object or a list that is being read. `key` is the field whose value comes next."""

    container: Any
    path: Path
    key: str | None = None


class TreeBuilder:
    """Accept scalars and the start and end of objects and lists in text order. Never recurses."""

    def __init__(self) -> None:
        self.value: Json = None
        self.problems: list[Problem] = []
        self._values: dict[Path, Place] = {}
        self._keys: dict[Path, Place] = {}
        self._open: list[_Open] = []

    @property
    def places(self) -> Places:
        """Return the position of each part."""
        return Places(self._values, self._keys)

    @property
    def expects_key(self) -> bool:
        """Return whether a field's name comes next."""
        return bool(self._open) and isinstance(self._open[-1].container, dict) and self._open[-1].key is None

    def key(self, name: str, place: Place) -> None:
        """Add a field's name."""
        around = self._open[-1]
        path = (*around.path, name)
        if name in around.container:
            first = self._keys[path][0]
            self.report("duplicate-key", f"'{name}' is given twice in this object, first on line {first}", path, place)
        self._keys[path] = place
        around.key = name

    def begin(self, container: dict[str, Json] | list[Json], place: Place) -> None:
        """Start an object or a list; what follows goes into `container` until `end`."""
        if self.expects_key:
            raise SourceError(
                "key-not-text",
                "a field's name must be a text, not an object or a list; {{ }} needs quotes",
                place,
            )
        if len(self._open) > MAX_DEPTH:
            raise SourceError("too-deep", f"nested deeper than {MAX_DEPTH} levels", place)
        self._open.append(_Open(container, self.add(container, place)))

    def end(self) -> None:
        """End the innermost object or list."""
        self._open.pop()

    def report(self, code: str, message: str, path: Path, place: Place, suggestion: str | None = None) -> None:
        """Report a problem that does not prevent reading the rest."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(code, message, path_text(path), *place, suggestion))

    @property
    def path(self) -> Path:
        """Return the path of the next value."""
        if not self._open:
            return ()
        around = self._open[-1]
        if isinstance(around.container, list):
            return (*around.path, len(around.container))
        return around.path if around.key is None else (*around.path, around.key)

    def add(self, value: Json, place: Place) -> Path:
        """Add a scalar, or an object or a list that has been started; return its path."""
        path = self.path
        if not self._open:
            self.value = value
        elif isinstance(self._open[-1].container, list):
            self._open[-1].container.append(value)
        else:
            self._open[-1].container[self._open[-1].key] = value
            self._open[-1].key = None
        self._values[path] = place
        if len(self._values) > MAX_PARTS:
            raise SourceError("too-many-values", f"more than {MAX_PARTS} values", place)
        return path


def number(text: str) -> int | float:
    """Return the number that JSON's grammar writes as `text`."""
    is_whole = text.lstrip("-").isdecimal() and len(text) < MAX_DIGITS
    return int(text) if is_whole else float(text)
