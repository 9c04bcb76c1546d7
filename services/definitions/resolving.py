"""Find the version of a definition that a reference means."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from docrail.dag.language.inputs import InputProblem
from docrail.dag.language.version_refs import STABLE, Aliases, Ref, parse_ref, version_for
from docrail.dag.values.suggestions import closest
from docrail.services.access.models import Principal
from docrail.services.app import App, Registry
from docrail.services.definitions import repository
from docrail.services.definitions.models import DamagedDefinition, StoredDefinition
from docrail.services.errors import Damaged, InvalidInput, NotFound

MOST_SUGGESTED = 500
"""Number of definitions searched for "did you mean": more than anyone maintains by hand."""

log = logging.getLogger(__name__)


class Resolver:
    """Resolves for many keys, within one operation: the aliases of a definition and each version are loaded once."""

    def __init__(self, app: App, principal: Principal) -> None:
        self._app, self._principal = app, principal
        self._aliases: dict[str, Aliases] = {}
        self._versions: dict[Ref, StoredDefinition] = {}

    async def resolve(self, ref: str, *, key: str) -> StoredDefinition:
        """Return the version for a new run under `key`, as `service.resolve` does. Raises: NotFound, Damaged."""
        return await self.load(checked_ref(ref, None), key=key)

    async def load(self, ref: Ref, *, key: str | None) -> StoredDefinition:
        """Return the version that `ref` means: with a key as for a new run, without one `stable`."""
        name, version = ref.definition_id, ref.version
        db, tenant_id = self._app.db, self._principal.tenant_id
        if version is None:
            if name not in self._aliases:
                self._aliases[name] = (await repository.load_aliases(db, tenant_id, [name]))[name]
            version = _version_of(ref, self._aliases[name], key)
        meant = Ref(name, version)
        if meant not in self._versions:
            with intact():
                found = await repository.load_definition(db, tenant_id, name, version)
            if found is None:
                raise await _not_found(self._app, self._principal, ref)
            self._versions[meant] = found
        return self._versions[meant]


async def load_known_ids(app: Registry, principal: Principal) -> list[str]:
    """Return the first MOST_SUGGESTED ids that the tenant has published, for suggestions."""
    found = await repository.list_definitions(app.db, principal.tenant_id, limit=MOST_SUGGESTED)
    return [line.definition_id for line in found]


def checked_ref(text: str, version: int | None) -> Ref:
    """Return the reference, with the version that is given apart from it. Raises: NotFound, InvalidInput."""
    ref = parse_ref(text)
    if ref is None:
        raise NotFound("definition", text)
    if version is None:
        return ref
    if ref != Ref(ref.definition_id):
        raise InvalidInput([InputProblem("version", f"is also in {text!r}: give it once")])
    return Ref(ref.definition_id, version)


async def _not_found(app: App, principal: Principal, ref: Ref) -> NotFound:
    """Return the refusal of an unknown id or version, listing the existing ids or versions."""
    lines = await repository.list_versions(app.db, principal.tenant_id, ref.definition_id)
    if ref.version is not None and lines:
        versions = [f"version {line.version}" for line in lines]
        return NotFound("definition", f"{ref.definition_id} version {ref.version}", "", known=versions)
    return NotFound("definition", str(ref), closest(ref.definition_id, await load_known_ids(app, principal)))


def _version_of(ref: Ref, aliases: Aliases, key: str | None) -> int | None:
    """Return the version that an alias, or an id alone, names; None means the newest. Raises: NotFound.

    Definitions without `stable` exist only if an older release published them after the tables were created.
    """
    if ref.alias is not None and aliases:
        if ref.alias not in aliases:
            raise NotFound("alias", str(ref), known=[f"{ref.definition_id}@{alias}" for alias in aliases])
        return aliases[ref.alias].version
    if ref.alias is None and key is not None:
        return version_for(ref.definition_id, aliases, key)
    return aliases[STABLE].version if STABLE in aliases else None


@contextmanager
def intact() -> Iterator[None]:
    """Translate a damaged stored body into a refusal. Raises: Damaged."""
    try:
        yield
    except DamagedDefinition as error:
        log.error("%s", error)  # noqa: TRY400 - the traceback adds nothing
        raise Damaged(str(error)) from error
