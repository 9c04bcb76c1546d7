"""Check, publish and find definitions. A published version never changes; equal content is the same version."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from dag.definition import Definition, is_id
from dag.problems import Problem
from dag.validate import validate
from dag.values import Json, digest
from operations.app import App
from operations.errors import InputProblem, InvalidDefinition, InvalidInput, NotFound
from operations.principal import DEFAULT_TENANT, Principal, system_principal
from operations.source import check_definition
from storage import definitions as stored_definitions
from storage.definitions import StoredDefinition

SHIPPED = Path(__file__).resolve().parent.parent / "definitions"
"""The folder of the definitions that come with Docrail, beside our packages wherever they are installed."""

DefinitionBody = str | dict[str, Json]
"""A whole definition: the author's YAML or JSON text, or a JSON object."""

DefinitionRef = str | dict[str, Json]
"""Which definition: the id of a published one, or a whole one as a JSON object."""


@dataclass(frozen=True, slots=True)
class Published:
    """A stored version, and what the validator warned about."""

    stored: StoredDefinition
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class DefinitionPage:
    """The newest version of each definition, and what to ask for to get the ones after them; None at the end."""

    definitions: list[StoredDefinition]
    after: str | None


async def find_problems(app: App, body: DefinitionBody) -> tuple[Definition | None, list[Problem]]:
    """Return the definition, None if there is an error, and everything to tell about it."""
    # In a thread: a definition near the size limits takes long enough to be felt by every other request.
    if isinstance(body, str):
        return await asyncio.to_thread(check_definition, body, app.catalogue)
    return await asyncio.to_thread(validate, body, None, app.catalogue)


async def check(app: App, body: DefinitionBody) -> tuple[Definition, tuple[Problem, ...]]:
    """Return the definition and its warnings. Raises: InvalidDefinition."""
    definition, problems = await find_problems(app, body)
    if definition is None:
        raise InvalidDefinition(problems)
    return definition, tuple(problems)


async def publish(app: App, principal: Principal, body: DefinitionBody) -> Published:
    """Store a valid definition as its next version; content that was published before keeps its version.

    Raises: InvalidDefinition.
    """
    definition, warnings = await check(app, body)
    normal = definition.model_dump(mode="json")
    source = body if isinstance(body, str) else json.dumps(body, indent=2)
    stored = await stored_definitions.publish(app.db, principal.tenant_id, normal, digest(normal), source)
    return Published(stored, warnings)


async def load(app: App, principal: Principal, definition_id: str, version: int | None = None) -> StoredDefinition:
    """Return that version of the tenant's definition, by default the newest. Raises: NotFound."""
    stored = None
    if is_id(definition_id):
        stored = await stored_definitions.load_definition(app.db, principal.tenant_id, definition_id, version)
    if stored is None:
        raise NotFound("definition", definition_id if version is None else f"{definition_id} version {version}")
    return stored


async def list_definitions(
    app: App, principal: Principal, *, limit: int = 100, after: str | None = None
) -> DefinitionPage:
    """Return a page of the tenant's definitions by id. Raises: InvalidInput."""
    if after is not None and not is_id(after):
        raise InvalidInput([InputProblem("after", "is not a definition's id")])
    found = await stored_definitions.list_definitions(app.db, principal.tenant_id, limit=limit + 1, after=after)
    return DefinitionPage(found[:limit], found[limit - 1].definition_id if len(found) > limit else None)


async def resolve(app: App, principal: Principal, ref: DefinitionRef, version: int | None = None) -> StoredDefinition:
    """Return the stored version that `ref` means; a definition given whole is published first.

    Raises: NotFound, InvalidDefinition, InvalidInput.
    """
    if isinstance(ref, str):
        return await load(app, principal, ref, version)
    if version is not None:
        raise InvalidInput([InputProblem("version", "a definition that is given whole has no version yet")])
    return (await publish(app, principal, ref)).stored


async def publish_shipped(app: App) -> list[StoredDefinition]:
    """Publish the definitions that come with Docrail for the default tenant. Doing it again changes nothing."""
    owner = system_principal(DEFAULT_TENANT)
    texts = [await asyncio.to_thread(path.read_text, "utf-8") for path in shipped_files()]
    return [(await publish(app, owner, text)).stored for text in texts]


def shipped_files() -> list[Path]:
    """Return the files of the definitions that come with Docrail, by name. A file's stem is its definition's id."""
    return sorted(SHIPPED.glob("*.yaml"))
