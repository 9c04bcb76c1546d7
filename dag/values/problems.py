"""Define a problem of a definition: its position in the author's text, and how it is printed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from pydantic import ConfigDict

Path = tuple[str | int, ...]
"""Keys and indices from the root of a JSON value to one of its parts."""

Place = tuple[int, int]
"""Line and column, both from 1; columns count characters."""

Severity = Literal["error", "warning"]

ALL_REQUIRED = ConfigDict(json_schema_serialization_defaults_required=True)
"""Settings of a model whose JSON always has every field, defaults included."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to change. `code` is stable; `path` is a JSON path in the author's spelling; `$` is the root.

    `line` and `column`, from 1, are given for text.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ALL_REQUIRED
    code: str
    message: str
    path: str
    line: int | None = None
    column: int | None = None
    suggestion: str | None = None
    """What to write instead, if one thing is likely meant."""
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class Places:
    """The position of each part of a value in its text: of the part itself, and of the key before it."""

    values: Mapping[Path, Place] = field(default_factory=dict)
    keys: Mapping[Path, Place] = field(default_factory=dict)

    def find(self, path: Path, *, at_key: bool = False) -> Place | None:
        """Return the position of `path`, or of the nearest enclosing part if it is not in the text."""
        if at_key and path in self.keys:
            return self.keys[path]
        while path not in self.values:
            if not path:
                return None
            path = path[:-1]
        return self.values[path]


def path_text(path: Path) -> str:
    """Return `path` as a JSON path: `steps[2].depends_on[0]`, `config['a b']`, `$` for the root."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif is_id(key):
            text += f".{key}" if text else key
        else:
            text += f"[{key!r}]"
    return text or "$"


def render(problem: Problem, file: str = "definition") -> str:
    """Return the problem as a compiler prints it: `file:line:column: error code: message (did you mean 'x'?)`."""
    place = f":{problem.line}:{problem.column}" if problem.line is not None else f": {problem.path}"
    hint = f" (did you mean '{problem.suggestion}'?)" if problem.suggestion else ""
    return f"{file}{place}: {problem.severity} {problem.code}: {problem.message}{hint}"


def is_id(text: str) -> bool:
    """Return whether `text` has the form of an id."""
    return re.fullmatch(ID_PATTERN, text) is not None


ID_PATTERN = r"^[A-Za-z][A-Za-z0-9_]*$"
"""An id has the form of a name, because it is one in expressions."""
