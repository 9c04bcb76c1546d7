# the only thing formatted into a statement is a constant list of columns
"""Definitions as they are published, listed and compared."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from docrail.adapters.postgres.pool import StorageError
from docrail.dag.language.difference import DefinitionDiff
from docrail.dag.language.version_refs import Aliases, Move, MoveKind
from docrail.dag.values.json_values import Json, digest
from docrail.dag.values.problems import Problem

DefinitionBody = str | dict[str, Json]
"""A whole definition: the author's YAML or JSON text, or a JSON object."""


DefinitionRef = str | dict[str, Json]
"""Which definition: `ID`, `ID@VERSION` or `ID@ALIAS` of a published one, or a whole one as a JSON object."""


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """One published version. `body` is the normalised definition, `source` the author's own text.

    Raises DamagedDefinition instead of holding a body that is not what was published.
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
    """A stored version, what the validator warned about, and what the definition's aliases name now."""

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
    """The newest version of each definition, the aliases by id, and what to ask for to get more; None at the end."""

    definitions: list[DefinitionLine]
    aliases: Mapping[str, Aliases]
    after: str | None


@dataclass(frozen=True, slots=True)
class VersionPage:
    """Some versions of a definition, newest first, its aliases, and what to ask for to get more; None at the end."""

    versions: list[DefinitionLine]
    aliases: Aliases
    after: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one version differs from another."""

    old: StoredDefinition
    new: StoredDefinition
    diff: DefinitionDiff


class DamagedDefinition(StorageError):  # noqa: N818  # a statement about the definition
    """A stored body is not what was published: somebody or something changed the row. Nothing may run it."""

    def __init__(self, definition_id: str, version: int, expected: str, found: str) -> None:
        super().__init__(
            f"version {version} of the definition {definition_id!r} is not what was published: its body has the digest "
            f"{found[:12]}…, expected {expected[:12]}…; restore the row from a backup"
        )
        self.definition_id = definition_id
        self.version = version


@dataclass(frozen=True, slots=True)
class RecordedMove:
    """One move of an alias, as it was recorded: never changed, never removed."""

    move_id: int
    move: Move
    kind: MoveKind
    moved_by: str
    moved_at: dt.datetime
    reason: str
