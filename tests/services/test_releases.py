"""What a new release of Docrail does to `stable`: it follows the shipped definitions until a person moves it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docrail.adapters.postgres.tenants import of_tenant
from docrail.adapters.temporal.connection import find_connection
from docrail.api.app import open_app
from docrail.services.access.models import DEFAULT_TENANT, local_principal
from docrail.services.app import App
from docrail.services.definitions import service as definitions
from docrail.services.definitions.aliases import load_aliases, roll_back
from docrail.services.definitions.service import publish, publish_shipped
from docrail.settings import Settings
from tests.postgres import migrated_database
from tests.stack import Servers

TEXT = "id: shipped\ntitle: release {}\nsteps: [{{id: a, handler: noop}}]\n"


@pytest.fixture
async def app(embedded: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[App]:
    """Give an app whose release ships what `release` wrote, on a database of its own."""
    monkeypatch.setattr(definitions, "SHIPPED", tmp_path)
    async with migrated_database(embedded.dsn) as dsn:
        settings = Settings(database_url=dsn, data_dir=tmp_path, temporal_address=embedded.temporal_address)
        connection = find_connection(settings.temporal_address, settings.temporal_namespace, envconfig=False)
        async with open_app(settings, connection) as opened:
            yield opened


async def release(app: App, number: int) -> int:
    """Start with what that release ships and return the version that new runs get then."""
    (definitions.SHIPPED / "shipped.yaml").write_text(TEXT.format(number))
    await publish_shipped(app)
    return await stable(app)


async def stable(app: App) -> int:
    with of_tenant(DEFAULT_TENANT):
        return (await load_aliases(app, local_principal(), "shipped"))["stable"].version


async def test_stable_follows_releases(app: App) -> None:
    assert [await release(app, number) for number in (1, 1, 2, 2, 3)] == [1, 1, 2, 2, 3]


async def test_an_older_release_next_to_a_newer_one_moves_nothing_back(app: App) -> None:
    assert [await release(app, number) for number in (1, 2, 1, 2)] == [1, 2, 2, 2]


async def test_a_version_that_a_person_published_stays_when_a_release_comes(app: App) -> None:
    await release(app, 1)
    with of_tenant(DEFAULT_TENANT):
        await publish(app, local_principal(), TEXT.format("of our own"))
    assert [await release(app, number) for number in (1, 2, 3)] == [2, 2, 2]


async def test_a_rollback_by_a_person_stays_when_a_release_comes(app: App) -> None:
    for number in (1, 2):
        await release(app, number)
    with of_tenant(DEFAULT_TENANT):
        await roll_back(app, local_principal(), "shipped")
    assert [await release(app, number) for number in (2, 3)] == [1, 1]
