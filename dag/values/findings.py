"""Collect the problems that checks report, with their positions and in text order."""

from collections.abc import Iterable

from docrail.dag.values.problems import Path, Place, Places, Problem, Severity, path_text
from docrail.dag.values.suggestions import Suggestions
from docrail.dag.values.wording import known_names

MAX_PROBLEMS = 100
"""Problems reported at once; a text with more is not the one its author meant to send."""

_UNPLACED: Place = (0, 0)


class Findings:
    """Collects problems.

    `renames` maps a field to the author's spelling, an alias or a typo. `wrapped` is the path of the author's text in
    the document: `steps`, if it is a bare list of steps. `reported` has handlers of steps that became another kind,
    whose problems are reported there. `commands` has the names of commands by step number, to name steps without
    an id.
    """

    def __init__(self, places: Places | None = None) -> None:
        self.suggestions = Suggestions()
        self.renames: dict[Path, str] = {}
        self.wrapped: Path = ()
        self.reported: set[Path] = set()
        self.commands: dict[int, str] = {}
        self._places = places or Places()
        self._found: dict[tuple[str, Path], tuple[Place, Problem]] = {}
        self._errors = 0
        self._lint: set[tuple[str, Path]] = set()

    def error(
        self, code: str, path: Path, message: str, suggestion: str | None = None, *, at_key: bool = False
    ) -> None:
        """Report a mistake. `at_key` places it at the field's name instead of its value."""
        self._errors += 1
        self._add(code, path, message, suggestion, at_key=at_key, severity="error")

    def unknown(
        self,
        code: str,
        path: Path,
        message: str,
        name: str,
        known: Iterable[str],
        *,
        at_key: bool = False,
        if_none: str = "",
    ) -> str | None:
        """Report an unknown name with the known one that was probably meant, and return it; if none, list them all.

        `if_none` ends the message if there are no known names.
        """
        names = frozenset(known)
        meant = self.suggestions.closest(name, names)
        listed = "" if meant else known_names(names) or (if_none if not names else "")
        self.error(code, path, message + listed, meant, at_key=at_key)
        return meant

    def warning(
        self, code: str, path: Path, message: str, suggestion: str | None = None, *, at_key: bool = False
    ) -> None:
        """Report something that is allowed but probably not intended."""
        self._add(code, path, message, suggestion, at_key=at_key, severity="warning")

    def lint(self, code: str, path: Path, message: str) -> None:
        """Report a warning that may be a consequence of a mistake elsewhere; it is dropped if there is an error."""
        self._lint.add((code, self.author_path(path)))
        self.warning(code, path, message)

    @property
    def has_errors(self) -> bool:
        """Return whether an error was reported."""
        return self._errors > 0

    def author_path(self, path: Path) -> Path:
        """Return `path` in the author's spelling."""
        for length in range(1, len(path) + 1):
            alias = self.renames.get(path[:length])
            if alias is not None:
                path = (*path[: length - 1], alias, *path[length:])
        depth = len(self.wrapped)
        return path[depth:] if path[:depth] == self.wrapped else path

    def line_of(self, path: Path) -> int | None:
        """Return the line of `path`."""
        place = self._places.find(self.author_path(path))
        return None if place is None else place[0]

    def problems(self) -> list[Problem]:
        """Return the problems in text order; beyond MAX_PROBLEMS only their number."""
        found = [entry for entry in self._found.items() if not (self.has_errors and entry[0] in self._lint)]
        ordered = sorted(found, key=lambda entry: (entry[1][0], _order(entry[0][1])))
        problems = [problem for _, (_, problem) in ordered]
        hidden = len(problems) - MAX_PROBLEMS
        if hidden <= 0:
            return problems
        # Errors first: an error hidden after a hundred warnings would look like success.
        shown = sorted(problems, key=lambda problem: problem.severity)[:MAX_PROBLEMS]
        rest = Problem("too-many-problems", f"{hidden} more problems are not shown", "$", severity="warning")
        return [*shown, rest]

    def _add(
        self, code: str, path: Path, message: str, suggestion: str | None, *, at_key: bool, severity: Severity
    ) -> None:
        written = self.author_path(path)
        place = self._places.find(written, at_key=at_key)
        line, column = place or (None, None)
        problem = Problem(code, message, path_text(written), line, column, suggestion, severity)
        self._found.setdefault((code, written), (place or _UNPLACED, problem))


def _order(path: Path) -> tuple[tuple[int, str], ...]:
    return tuple((key, "") if isinstance(key, int) else (-1, key) for key in path)
