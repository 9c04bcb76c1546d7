"""Define how definitions are published, listed and compared."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from docrail.adapters.postgres.pool import StorageError
from docrail.dag.explain.graph import Graph
from docrail.dag.language.difference import Change, StepDiff
from docrail.dag.language.routing import NAMES
from docrail.dag.language.version_refs import MAX_VERSION, Aliases, Move, MoveKind
from docrail.dag.values.json_values import Json, digest
from docrail.dag.values.problems import ALL_REQUIRED, Problem
from docrail.services.actions import Action
from docrail.services.errors import FailedTest
from docrail.services.model_config import WHOLE, Hidden

DefinitionBody = str | dict[str, Json]
"""A whole definition: the author's YAML or JSON text, or a JSON object."""

DEFAULT_DEFINITION = "invoice"
"""Definition of documents that name none and match no rule."""

WITHOUT_VERSION: dict[str, Json] = {
    "not": {"required": ["version"], "properties": {"definition": {"type": "object"}, "version": {"type": "integer"}}}
}
"""A whole definition has no version yet."""

DefinitionRef = str | dict[str, Json]
"""A reference to a definition: `ID`, `ID@VERSION` or `ID@ALIAS` of a published one, or a whole one as a JSON object."""

AliasTargets = Annotated[
    Aliases,
    Field(
        description="by name: `stable` is what new runs get, `canary` what a share of them gets instead",
        examples=[{"stable": {"version": 3}, "canary": {"version": 4, "percent": 10}}],
    ),
]

VersionNumber = Annotated[int, Field(strict=True, ge=1, le=MAX_VERSION), WHOLE]


@dataclass(frozen=True, slots=True)
class DefinitionVersion:
    """The identity of a published version. Publishing the same content again gives the same version."""

    tenant_id: Hidden[str]
    definition_id: str
    version: int
    digest: Annotated[str, Field(description="sha256 of the definition's canonical JSON, every default resolved")]
    created_at: dt.datetime
    published_by: Annotated[str, Field(description="whoever published this content first")]
    reason: Annotated[str, Field(description="why; may be empty")]


@dataclass(frozen=True, slots=True)
class StoredDefinition(DefinitionVersion):
    """A published version: the definition with every default resolved, and its author's text."""

    body: dict[str, Json]
    source: str

    def __post_init__(self) -> None:
        """Check that the body is what was published. Raises: DamagedDefinition."""
        found = digest(self.body)
        if found != self.digest:
            raise DamagedDefinition(self.definition_id, self.version, self.digest, found)


@dataclass(frozen=True, slots=True)
class Published(DefinitionVersion):
    """A published version, the current aliases, and the validator's warnings."""

    aliases: AliasTargets
    warnings: list[Problem]
    stored: Hidden[StoredDefinition]


@dataclass(frozen=True, slots=True)
class ListedDefinition(DefinitionVersion):
    """The newest version of a definition, the definition's aliases, and its last change."""

    aliases: AliasTargets
    title: Annotated[str, Field(description="of the version that new runs get; may be empty")]
    changed_at: Annotated[dt.datetime, Field(description="when a version was published or an alias moved last")]
    changed_by: Annotated[str, Field(description="who did so")]


@dataclass(frozen=True, slots=True)
class DefinitionPage:
    """The newest version of each definition, by id."""

    definitions: list[ListedDefinition]
    after: str | None


class DefinitionAction(StrEnum):
    """What a person may do with a definition, or with a version of it."""

    START = "start"
    """Start a run."""
    PUBLISH = "publish"
    """Publish another version."""
    ROLL_BACK = "roll_back"
    """Undo the last change of what new runs get."""
    PROMOTE = "promote"
    """Let all new runs get this version."""
    CANARY = "canary"
    """Let a share of new runs get this version."""


@dataclass(frozen=True, slots=True)
class ListedVersion(DefinitionVersion):
    """A version, and what the caller may do with it."""

    actions: Annotated[list[Action], Field(description="`promote` and `canary`, each with the reason if not allowed")]


@dataclass(frozen=True, slots=True)
class VersionPage:
    """A definition's versions, newest first, its aliases, and what the caller may do with it."""

    versions: list[ListedVersion]
    aliases: AliasTargets
    after: int | None
    actions: Annotated[
        list[Action], Field(description="`start`, `publish` and `roll_back`, each with the reason if not allowed")
    ]
    undo: Annotated[list[Move], Field(description="what `roll_back` would move; empty if there is nothing to undo")]


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of the version that new runs get, and the last move of an alias."""

    title: str
    moved_by: str | None
    moved_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Dependant:
    """A step of another definition that runs this one."""

    definition_id: str
    version: int
    aliases: Annotated[list[str], Field(description="the aliases that name this version of the other definition")]
    step_id: str
    nested_version: Annotated[
        int | None, Field(description="the version that the step runs; null: the one that new runs get")
    ]


@dataclass(frozen=True, slots=True)
class Dependants:
    """The steps that run a definition, in versions that an alias names."""

    dependants: Annotated[list[Dependant], Field(description="by definition, its newest version first")]
    complete: Annotated[bool, Field(description="false if there are more than are listed")]


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether a definition is valid, and all problems found."""

    valid: bool
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class DefinitionValidation(Validation):
    """Whether a definition is valid, all problems found, its id and its drawing."""

    id: Annotated[str | None, Field(description="null if there are errors")]
    graph: Annotated[Graph | None, Field(description="its drawing; null if it was not wanted or there are errors")]


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of one of a definition's tests."""

    name: str
    passed: Annotated[bool, Field(description="whether everything is as expected")]
    problems: Annotated[tuple[FailedTest, ...], Field(description="what it expected and found; empty if it passed")]


@dataclass(frozen=True, slots=True)
class TestedDefinition:
    """The results of a definition's tests, in their order."""

    __test__ = False  # pytest would collect the class by its name
    tests: Annotated[list[TrialResult], Field(description="one for each test")]


@dataclass(frozen=True, slots=True)
class DefinitionPlan:
    """How a definition runs: parallel steps by layer, the longest chain, a Mermaid flowchart, and all defaults."""

    definition: dict[str, Json]
    layers: list[list[str]]
    critical_path: list[str]
    mermaid: str
    warnings: list[Problem]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences from `from_version` to `to_version`: steps, and in `fields` everything else."""

    definition_id: str
    from_version: int
    to_version: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[StepDiff, ...]
    reordered: Annotated[bool, Field(description="whether steps that both have stand in another order")]
    fields: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class DefinitionAliases:
    """The aliases of a definition."""

    definition_id: str
    aliases: AliasTargets


@dataclass(frozen=True, slots=True)
class Undone(DefinitionAliases):
    """The moves of a rollback, and the aliases afterwards."""

    moves: list[Move]


@dataclass(frozen=True, slots=True)
class RecordedMove(Move):
    """A recorded move: who, when and why."""

    move_id: int
    kind: MoveKind
    moved_by: str
    moved_at: dt.datetime
    reason: str


@dataclass(frozen=True, slots=True)
class MovePage:
    """Moves, newest first."""

    moves: list[RecordedMove]
    after: int | None


@dataclass(frozen=True, slots=True)
class StoredRules:
    """The rules in force. `revision` counts how often they were set; 0 means never, and there are none."""

    __pydantic_config__: ClassVar[ConfigDict] = ALL_REQUIRED
    revision: int = 0
    rules: list[dict[str, Json]] = field(default_factory=list)
    source: Annotated[str, Field(description="as their author wrote them")] = ""
    set_by: str | None = None
    set_at: dt.datetime | None = None
    names: Annotated[tuple[str, ...], Field(description="what `when` may read")] = NAMES
    default: Annotated[str, Field(description="what a document takes that no rule is for")] = DEFAULT_DEFINITION


@dataclass(frozen=True, slots=True)
class RulesSet(StoredRules):
    """The rules in force, and the validator's warnings."""

    __pydantic_config__: ClassVar[ConfigDict] = ALL_REQUIRED
    warnings: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ChosenRoute:
    """The definition for a document, and the number, from 0, of the rule that chose it; null for the default."""

    definition: str
    rule: int | None
    faults: Annotated[
        Mapping[int, str], Field(description="rules that could not be evaluated and were passed over, and why")
    ]


class DamagedDefinition(StorageError):  # noqa: N818  # a statement about the definition
    """The stored body is not what was published: the row was changed. It must not run."""

    def __init__(self, definition_id: str, version: int, expected: str, found: str) -> None:
        super().__init__(
            f"version {version} of the definition {definition_id!r} is not what was published: its body has the digest "
            f"{found[:12]}…, expected {expected[:12]}…; restore the row from a backup"
        )
        self.definition_id = definition_id
        self.version = version
