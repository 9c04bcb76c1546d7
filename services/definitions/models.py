# the only thing formatted into a statement is a constant list of columns
"""Define how definitions are published, listed and compared."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from docrail.adapters.postgres.pool import StorageError
from docrail.dag.language.difference import DefinitionDiff
from docrail.dag.language.version_refs import MAX_VERSION, Aliases, Move, MoveKind
from docrail.dag.values.json_values import Json, digest
from docrail.dag.values.problems import Problem

DefinitionBody = str | dict[str, Json]
"""A whole definition: the author's YAML or JSON text, or a JSON object."""


DefinitionRef = str | dict[str, Json]
"""A reference to a definition: `ID`, `ID@VERSION` or `ID@ALIAS` of a published one, or a whole one as a JSON object."""


VersionNumber = Annotated[int, Field(strict=True, ge=1, le=MAX_VERSION)]


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """One published version. `body` is the normalised definition, `source` the author's own text.

    Raises DamagedDefinition if the body is not what was published.
    """

    tenant_id: str
    definition_id: str
    version: int
    digest: str
    created_at: dt.datetime
    body: dict[str, Json]
    source: str

    def __post_init__(self) -> None:
        found = digest(self.body)
        if found != self.digest:
            raise DamagedDefinition(self.definition_id, self.version, self.digest, found)


@dataclass(frozen=True, slots=True)
class Published:
    """A stored version, the validator's warnings, and the definition's current aliases."""

    stored: StoredDefinition
    warnings: tuple[Problem, ...]
    aliases: Aliases


@dataclass(frozen=True, slots=True)
class DefinitionLine:
    """A published version's identity."""

    tenant_id: str
    definition_id: str
    version: int
    digest: str
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class DefinitionPage:
    """The newest version of each definition, the aliases by id, and the value to request the next page with.

    None at the end.
    """

    definitions: list[DefinitionLine]
    aliases: Mapping[str, Aliases]
    after: str | None


@dataclass(frozen=True, slots=True)
class VersionPage:
    """Some versions of a definition, newest first, its aliases, and the value to request the next page with.

    None at the end.
    """

    versions: list[DefinitionLine]
    aliases: Aliases
    after: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two versions."""

    old: StoredDefinition
    new: StoredDefinition
    diff: DefinitionDiff


class DamagedDefinition(StorageError):  # noqa: N818  # a statement about the definition
    """The stored body is not what was published: the row was changed. It must not run."""

    def __init__(self, definition_id: str, version: int, expected: str, found: str) -> None:
        super().__init__(
            f"version {version} of the definition {definition_id!r} is not what was published: its body has the digest "
            f"{found[:12]}…, expected {expected[:12]}…; restore the row from a backup"
        )
        self.definition_id = definition_id
        self.version = version


@dataclass(frozen=True, slots=True)
class RecordedMove:
    """One recorded move of an alias; it is never changed or removed."""

    move_id: int
    move: Move
    kind: MoveKind
    moved_by: str
    moved_at: dt.datetime
    reason: str
