"""Validate, publish and load definitions. A published version never changes; equal content is the same version."""

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import asyncpg

from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.postgres.tenants import of_tenant
from docrail.dag.engine.plan import plan_of
from docrail.dag.explain.graph import Graph, graph_of
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.difference import diff
from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.version_refs import STABLE, parse_ref
from docrail.dag.validation.definition_schema import definition_schema
from docrail.dag.validation.lint.nested import ALL_PUBLISHED, Unpublished
from docrail.dag.values.json_values import Json, digest
from docrail.dag.values.problems import Problem
from docrail.handlers import Handler
from docrail.services.access.models import DEFAULT_TENANT, Principal, system_principal
from docrail.services.access.service import list_tenants
from docrail.services.app import App, Registry
from docrail.services.definitions import repository
from docrail.services.definitions.aliases import promote
from docrail.services.definitions.checks import CheckedDefinition, check_body
from docrail.services.definitions.checks import run_tests as run_checked_tests
from docrail.services.definitions.models import (
    Comparison,
    DefinitionBody,
    DefinitionPlan,
    DefinitionRef,
    DefinitionValidation,
    Published,
    StoredDefinition,
    TestedDefinition,
)
from docrail.services.definitions.resolving import Resolver, checked_ref, intact, load_known_ids
from docrail.services.errors import FailedTests, InvalidDefinition, InvalidInput, Outdated

SHIPPED = Path(__file__).resolve().parents[2] / "definitions"
"""Folder of the definitions shipped with Docrail, next to the packages."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Release:
    """The resources for publishing a release's definitions before an API runs."""

    db: asyncpg.Pool
    catalogue: Mapping[str, Handler]
    resource_limits: Mapping[str, float]
    step_defaults: Mapping[str, Json]
    processes: None = None


async def find_problems(
    app: Registry,
    principal: Principal,
    body: DefinitionBody,
    *,
    is_planned: bool = False,
    drawn_open: Sequence[str] | None = None,
) -> CheckedDefinition:
    """Return the definition in its normal form, None if there is an error, and all problems found.

    Raises: TooCostly, Busy, Unavailable.
    """
    checked = await check_body(app, body, ALL_PUBLISHED, is_planned=is_planned, drawn_open=drawn_open)
    unpublished = checked.nested and await repository.load_unpublished(app.db, principal.tenant_id, set(checked.nested))
    if not unpublished:
        return checked
    missing = Unpublished(unpublished, await load_known_ids(app, principal))
    return await check_body(app, body, missing, is_planned=is_planned, drawn_open=drawn_open)


async def validate_definition(
    app: Registry, principal: Principal, body: DefinitionBody, *, drawn_open: Sequence[str] | None = None
) -> DefinitionValidation:
    """Return whether the definition is valid, and all problems found. Nothing is stored.

    `drawn_open`: the groups of steps that are open in its drawing; None: it is not drawn. Raises: as `find_problems`.
    """
    checked = await find_problems(app, principal, body, drawn_open=drawn_open)
    graph = None if checked.graph is None else Graph(**checked.graph)
    id_ = None if checked.body is None else checked.body["id"]
    return DefinitionValidation(checked.body is not None, checked.problems, id_, graph)


async def plan_definition(app: Registry, principal: Principal, body: DefinitionBody) -> DefinitionPlan:
    """Return how the definition would run. Nothing is stored. Raises: InvalidDefinition, as `find_problems`."""
    checked = await find_problems(app, principal, body, is_planned=True)
    return DefinitionPlan(_valid(checked), **checked.plan, warnings=checked.problems)


async def list_ids(app: App, tenant_id: str, named: str, *, limit: int) -> list[str]:
    """Return the first ids of the tenant's definitions, and `named` if it is one of them."""
    lines = await repository.list_definitions(app.db, tenant_id, limit=limit)
    exact = await repository.list_versions(app.db, tenant_id, named, limit=1)
    return [line.definition_id for line in (*lines, *exact)]


async def check(app: Registry, principal: Principal, body: DefinitionBody) -> tuple[dict[str, Json], list[Problem]]:
    """Return the definition in its normal form, and its warnings. Raises: InvalidDefinition, as `find_problems`."""
    checked = await find_problems(app, principal, body)
    return _valid(checked), checked.problems


def _valid(checked: CheckedDefinition) -> dict[str, Json]:
    if checked.body is None:
        raise InvalidDefinition(checked.problems)
    return checked.body


async def publish(
    app: Registry,
    principal: Principal,
    body: DefinitionBody,
    *,
    promoted: bool = True,
    reason: str = "",
    run_tests: bool = False,
    based_on: int | None = None,
) -> Published:
    """Store a valid definition as its next version; content that was published before keeps its version.

    `promoted` points `stable` to it, so that new runs use it; a definition's first version always is promoted.
    `run_tests` publishes only if its own tests pass. `based_on` is the newest version that the author has seen, 0 for
    none. Raises: InvalidDefinition, FailedTests, Outdated (there is a newer version than `based_on`), Damaged.
    """
    normal, warnings = await check(app, principal, body)
    if run_tests:
        await _require_passed(app, body)
    source = body if isinstance(body, str) else await asyncio.to_thread(json.dumps, body, indent=2)
    with intact(), _newest():
        stored = await repository.publish(
            app.db,
            principal.tenant_id,
            normal,
            digest(normal),
            source,
            by=principal.name,
            reason=reason,
            based_on=based_on,
        )
    aliases = await promote(
        app, principal, stored.definition_id, stored.version, only_first=not promoted, reason=reason
    )
    identity = (stored.tenant_id, stored.definition_id, stored.version, stored.digest, stored.created_at)
    return Published(*identity, stored.published_by, stored.reason, aliases, warnings, stored)


async def run_tests(app: Registry, principal: Principal, body: DefinitionBody) -> TestedDefinition:
    """Run the definition's own tests. Nothing is stored. Raises: InvalidDefinition, as `find_problems`."""
    await check(app, principal, body)
    return TestedDefinition(await run_checked_tests(app, body))


async def _require_passed(app: Registry, body: DefinitionBody) -> None:
    results = await run_checked_tests(app, body)
    failed = [result for result in results if not result.passed]
    if failed:
        raise FailedTests(len(failed), len(results), [problem for result in failed for problem in result.problems])


async def load(app: App, principal: Principal, ref: str, version: int | None = None) -> StoredDefinition:
    """Return the version that `ID`, `ID@VERSION` or `ID@ALIAS` names; an id alone means `stable`.

    Raises: NotFound, InvalidInput, Damaged.
    """
    return await Resolver(app, principal).load(checked_ref(ref, version), key=None)


async def draw(app: App, principal: Principal, ref: str, version: int | None, wanted: Sequence[str]) -> Graph:
    """Return the drawing of a version with the `wanted` groups of steps open. Raises: as `load`."""
    stored = await load(app, principal, ref, version)
    return await asyncio.to_thread(lambda: graph_of(plan_of(stored.body), wanted))


async def resolve(
    app: App, principal: Principal, ref: DefinitionRef, version: int | None = None, *, key: str
) -> StoredDefinition:
    """Return the version for a new run under `key`: its document's id, or else the run's key.

    An id alone gives `stable` or, for the canary's share of keys, the canary; the same key always gets the same choice.
    A definition passed whole is published first; only its first version moves an alias.

    Raises: NotFound, InvalidDefinition, InvalidInput, Damaged.
    """
    if isinstance(ref, str):
        return await Resolver(app, principal).load(checked_ref(ref, version), key=key)
    if version is not None:
        raise InvalidInput([InputProblem("version", "a whole definition has no version yet")])
    return (await publish(app, principal, ref, promoted=False)).stored


def names_version(ref: DefinitionRef, version: int | None = None) -> bool:
    """Check whether `ref` always means the same version: it has a number, or is a whole definition."""
    parsed = parse_ref(ref) if isinstance(ref, str) else None
    return not isinstance(ref, str) or version is not None or (parsed is not None and parsed.version is not None)


async def compare(app: App, principal: Principal, definition_id: str, old: str, new: str | None) -> Comparison:
    """Return the differences between `old` and `new`, by default the newest version; each is a version or an alias.

    Raises: NotFound, InvalidInput, Damaged.
    """
    before = await load(app, principal, f"{definition_id}@{old}")
    if new is None:
        [newest] = await repository.list_versions(app.db, principal.tenant_id, definition_id, limit=1)
        new = str(newest.version)
    after = await load(app, principal, f"{definition_id}@{new}")
    found = diff(_normal(before), _normal(after))
    return Comparison(
        definition_id=definition_id,
        from_version=before.version,
        to_version=after.version,
        added=found.added,
        removed=found.removed,
        changed=found.changed,
        reordered=found.reordered,
        fields=found.fields,
    )


async def schema(app: App) -> dict[str, Json]:
    """Return the JSON Schema of a definition, including the available handlers."""
    return await asyncio.to_thread(_schema, tuple(app.catalogue.values()))


@lru_cache(maxsize=1)
def _schema(handlers: tuple[Handler, ...]) -> dict[str, Json]:
    """Return the schema with these handlers, kept for the next request: it takes a tenth of a second."""
    return definition_schema({handler.name: handler for handler in handlers})


async def publish_shipped(app: Registry, tenant_id: str = DEFAULT_TENANT) -> list[StoredDefinition]:
    """Publish the definitions shipped with Docrail for a tenant. Safe to repeat.

    `stable` follows a new release only if a release moved it last: once a person has moved it, it stays.
    """
    owner = system_principal(tenant_id)
    texts = [await asyncio.to_thread(path.read_text, "utf-8") for path in shipped_files()]
    with of_tenant(tenant_id):
        return [await _publish_shipped(app, owner, text) for text in texts]


async def list_missing(app: App, tenant_id: str = DEFAULT_TENANT) -> list[str]:
    """Return the ids of shipped definitions that are not published for the tenant."""
    with of_tenant(tenant_id):
        return [
            path.stem
            for path in shipped_files()
            if not await repository.list_versions(app.db, tenant_id, path.stem, limit=1)
        ]


async def prepare_tenant(app: App, tenant_id: str) -> None:
    """Publish the shipped definitions that a tenant lacks: if it has no keys, no command has done so.

    Each process checks a tenant once.
    """
    if tenant_id in app.prepared_tenants:
        return
    if tenant_id != DEFAULT_TENANT and await list_missing(app, tenant_id):
        await publish_shipped(app, tenant_id)
    app.prepared_tenants.add(tenant_id)


async def publish_release(
    database_url: str,
    catalogue: Mapping[str, Handler],
    resource_limits: Mapping[str, float],
    step_defaults: Mapping[str, Json],
) -> list[StoredDefinition]:
    """Publish the shipped definitions for the default tenant and every tenant with keys or people.

    Raises: as asyncpg does, InvalidDefinition.
    """
    pool = await open_pool(database_url, min_size=1, max_size=1)
    try:
        tenants = dict.fromkeys((DEFAULT_TENANT, *await list_tenants(pool)))
        release = _Release(pool, catalogue, resource_limits, step_defaults)
        return [stored for tenant in tenants for stored in await publish_shipped(release, tenant)]
    finally:
        await pool.close()


def shipped_files() -> list[Path]:
    """Return the files of the definitions shipped with Docrail, by name. A file's stem is its definition's id."""
    return sorted(SHIPPED.glob("*.yaml"))


async def _publish_shipped(app: Registry, owner: Principal, text: str) -> StoredDefinition:
    published = await publish(app, owner, text, promoted=False)
    stored, stable = published.stored, published.aliases.get(STABLE)
    if stable is None or stable.version == stored.version:
        return stored
    mover = await repository.load_last_mover(app.db, owner.tenant_id, stored.definition_id)
    if mover != owner.name:
        log.info(
            "this release's %s is version %d; %s moved stable to version %d, where it stays",
            *(stored.definition_id, stored.version, mover, stable.version),
        )
    elif stored.version > stable.version:  # during an upgrade an older release next to a newer one moves nothing back
        await promote(app, owner, stored.definition_id, stored.version, only_first=False, reason="a new release")
    return stored


@contextmanager
def _newest() -> Iterator[None]:
    """Translate a newer version than the author has seen into a refusal. Raises: Outdated."""
    try:
        yield
    except repository.NewerVersion as error:
        what = f"the definition {error.definition_id!r}"
        raise Outdated(what, error.based_on, error.newest, counted="version") from error


def _normal(stored: StoredDefinition) -> dict[str, Json]:
    """Return the stored body as this release writes it, so that newly added fields are no difference."""
    return to_json(Definition.model_validate(stored.body))
