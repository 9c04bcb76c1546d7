"""Resolve which version of a definition a name means: aliases, the canary's share, and how changes are undone."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from docrail.dag.values.problems import ALL_REQUIRED, ID_PATTERN

STABLE = "stable"
"""The alias that new runs use. Every definition has it from its first version on."""
CANARY = "canary"
"""The alias of a version that gets a share of the new runs of `stable`."""
MAX_VERSION = 2**31 - 1
"""Largest value of PostgreSQL's integer."""

ALIAS_PATTERN = r"^(?!v[0-9]+$)[a-z][a-z0-9_-]{0,31}$"
_ALIAS = re.compile(ALIAS_PATTERN)
"""Excludes names that look like a version: `invoice@v4` and `invoice@4` are versions."""
_VERSION = re.compile(r"v?([1-9][0-9]{0,9})")

ALIAS_RULE = (
    "must be a lowercase letter, then at most 31 of a-z, 0-9, _ and -, and must not look like a version, as v4 does"
)


@dataclass(frozen=True, slots=True)
class Ref:
    """Reference to a definition: `invoice` (for new runs), `invoice@4` (a version) or `invoice@pilot` (an alias)."""

    definition_id: str
    version: int | None = None
    alias: str | None = None

    def __str__(self) -> str:
        chosen = self.alias if self.version is None else str(self.version)
        return self.definition_id if chosen is None else f"{self.definition_id}@{chosen}"


@dataclass(frozen=True, slots=True)
class Target:
    """The version that an alias points to."""

    __pydantic_config__: ClassVar[ConfigDict] = ALL_REQUIRED
    version: int
    percent: Annotated[
        int | None,
        Field(ge=0, le=100, description="of new runs, chosen by their key; the canary's alone, which needs it"),
    ] = None

    def __str__(self) -> str:
        return str(self.version) if self.percent is None else f"{self.version} ({self.percent} %)"


Aliases = Mapping[str, Target]


class MoveKind(StrEnum):
    """Why an alias was moved."""

    PUBLISH = "publish"
    SET = "set"
    REMOVE = "remove"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class Move:
    """A move of one alias, with its targets before and after; null means that the alias does not exist."""

    alias: str
    before: Target | None
    after: Target | None


def is_alias(text: str) -> bool:
    """Return whether `text` can be the name of an alias."""
    return _ALIAS.fullmatch(text) is not None


def parse_ref(text: str) -> Ref | None:
    """Return the reference in `ID`, `ID@VERSION` or `ID@ALIAS`, None for anything else."""
    definition_id, at, chosen = text.partition("@")
    if not re.fullmatch(ID_PATTERN, definition_id):  # not `is_id`, which accepts a trailing line break
        return None
    if not at:
        return Ref(definition_id)
    if found := _VERSION.fullmatch(chosen):
        return Ref(definition_id, int(found[1])) if int(found[1]) <= MAX_VERSION else None
    return Ref(definition_id, alias=chosen) if is_alias(chosen) else None


def in_canary(definition_id: str, key: str, percent: int) -> bool:
    """Return whether the run or document `key` is among `percent` of all.

    The same key always gives the same answer, and a larger share includes every key of a smaller one.
    """
    found = hashlib.sha256(f"{definition_id}/{key}".encode()).digest()
    return int.from_bytes(found[:8]) % 100 < percent


def version_for(definition_id: str, aliases: Aliases, key: str) -> int | None:
    """Return the version that a new run of the definition gets under `key`; None if no alias determines it."""
    canary, stable = aliases.get(CANARY), aliases.get(STABLE)
    if canary is not None and in_canary(definition_id, key, canary.percent or 0):
        return canary.version
    return None if stable is None else stable.version


def move_alias(aliases: Aliases, alias: str, after: Target | None) -> tuple[Move, ...]:
    """Return the moves that make `alias` name `after` (None removes it); none if it does already.

    A canary is compared with the version that `stable` names. Moving `stable` therefore removes the canary.
    """
    if aliases.get(alias) == after:
        return ()
    move = Move(alias, aliases.get(alias), after)
    if alias == STABLE and CANARY in aliases:
        return (move, Move(CANARY, aliases[CANARY], None))
    return (move,)


def undo(aliases: Aliases, history: Iterable[tuple[MoveKind, int]]) -> tuple[Move, ...]:
    """Return the moves that undo the last change for new runs; none if there is no earlier version.

    A canary is newer than the stable version, so it is removed first. `history` lists the versions that `stable` was
    moved to, and why, oldest first. Repeated undoing goes further back, and never to a version that was undone.
    """
    if CANARY in aliases:
        return move_alias(aliases, CANARY, None)
    versions = _in_force(history)
    return move_alias(aliases, STABLE, Target(versions[-2])) if len(versions) > 1 else ()


def moved(aliases: Aliases, moves: Iterable[Move]) -> dict[str, Target]:
    """Return the aliases after the moves."""
    after = dict(aliases)
    for move in moves:
        after.pop(move.alias, None)
        if move.after is not None:
            after[move.alias] = move.after
    return dict(sorted(after.items()))


def _in_force(history: Iterable[tuple[MoveKind, int]]) -> list[int]:
    """Return the versions that `stable` named and that were not undone, oldest first."""
    versions: list[int] = []
    for kind, version in history:
        if kind is MoveKind.ROLLBACK:
            while versions and versions[-1] != version:
                versions.pop()
        if not versions or versions[-1] != version:
            versions.append(version)
    return versions
