"""List definitions, their versions and the steps that run them, with what the caller may do with each."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from docrail.dag.language.version_refs import STABLE, Aliases, Move, Target, undo
from docrail.dag.values.problems import is_id
from docrail.services.access.models import Principal, Scope
from docrail.services.actions import Action, Refusal, RefusalCode, permitted
from docrail.services.app import App
from docrail.services.definitions import repository
from docrail.services.definitions.aliases import load_aliases
from docrail.services.definitions.models import (
    DefinitionAction,
    DefinitionPage,
    DefinitionVersion,
    Dependants,
    Heading,
    ListedDefinition,
    ListedVersion,
    VersionPage,
)
from docrail.services.paging import not_a_page

MOST_DEPENDANTS = 200
"""Number of steps of other definitions that are listed: more than a person reads."""


async def list_definitions(
    app: App, principal: Principal, *, limit: int = 100, after: str | None = None
) -> DefinitionPage:
    """Return a page of the tenant's definitions, by id. Raises: InvalidInput."""
    if after is not None and not is_id(after):
        raise not_a_page()
    found = await repository.list_definitions(app.db, principal.tenant_id, limit=limit + 1, after=after)
    shown = found[:limit]
    ids = [line.definition_id for line in shown]
    aliases = await repository.load_aliases(app.db, principal.tenant_id, ids)
    headings = await repository.load_headings(app.db, principal.tenant_id, ids)
    listed = [_listed(line, aliases[line.definition_id], headings.get(line.definition_id)) for line in shown]
    return DefinitionPage(listed, shown[-1].definition_id if len(found) > limit else None)


def _listed(line: DefinitionVersion, aliases: Aliases, heading: Heading | None) -> ListedDefinition:
    changed_at, changed_by = _last_change(line, heading)
    title = "" if heading is None else heading.title
    return ListedDefinition(**asdict(line), aliases=aliases, title=title, changed_at=changed_at, changed_by=changed_by)


def _last_change(line: DefinitionVersion, heading: Heading | None) -> tuple[dt.datetime, str]:
    """Return when and by whom a version was published or an alias moved last; publishing moves one a moment later."""
    if heading is not None and heading.moved_at is not None and heading.moved_at >= line.created_at:
        return heading.moved_at, heading.moved_by or ""
    return line.created_at, line.published_by


async def list_versions(
    app: App, principal: Principal, definition_id: str, *, limit: int = 100, after: int | None = None
) -> VersionPage:
    """Return a page of a definition's versions, newest first. Raises: NotFound."""
    aliases = await load_aliases(app, principal, definition_id)
    found = await repository.list_versions(app.db, principal.tenant_id, definition_id, limit=limit + 1, before=after)
    moves = undo(aliases, await repository.load_stable_history(app.db, principal.tenant_id, definition_id))
    return VersionPage(
        versions=[
            ListedVersion(**asdict(line), actions=[*_version_actions(principal, aliases, line.version)])
            for line in found[:limit]
        ],
        aliases=aliases,
        after=found[limit - 1].version if len(found) > limit else None,
        actions=[*_definition_actions(principal, moves)],
        undo=list(moves),
    )


def _definition_actions(who: Principal, moves: Sequence[Move]) -> Iterator[Action]:
    yield permitted(who, Scope.SUBMIT, DefinitionAction.START)
    yield permitted(who, Scope.OPERATE, DefinitionAction.PUBLISH)
    nothing = None if moves else Refusal(RefusalCode.NO_OTHER_VERSION, "new runs never got another version")
    yield permitted(who, Scope.OPERATE, DefinitionAction.ROLL_BACK, nothing)


def _version_actions(who: Principal, aliases: Aliases, version: int) -> Iterator[Action]:
    is_stable = aliases.get(STABLE) == Target(version)
    refusal = Refusal(RefusalCode.ALREADY_STABLE, "new runs get this version already") if is_stable else None
    yield permitted(who, Scope.OPERATE, DefinitionAction.PROMOTE, refusal)
    yield permitted(who, Scope.OPERATE, DefinitionAction.CANARY, refusal)


async def list_dependants(app: App, principal: Principal, definition_id: str) -> Dependants:
    """Return the steps of other definitions that run this one, in versions that an alias names. Raises: NotFound."""
    await load_aliases(app, principal, definition_id)
    found = await repository.list_dependants(app.db, principal.tenant_id, definition_id, limit=MOST_DEPENDANTS + 1)
    return Dependants(found[:MOST_DEPENDANTS], complete=len(found) <= MOST_DEPENDANTS)
