"""`docrail limit list` against a running API: show, set, reset, and what it says when something is wrong."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.service import Service, serve, settings_for
from tests.cli.process import Ended, docrail
from tests.postgres import migrated_database
from tests.stack import Servers


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("limits"))
        async with serve(settings) as served:
            yield served


async def limits(service: Service, *arguments: str) -> Ended:
    return await docrail("limit", *arguments, DOCRAIL_API_URL=str(service.http.base_url))


async def test_a_limit_is_set_shown_and_reset(service: Service) -> None:
    changed = await limits(service, "set", "gemini_api", "300/min", "--reason", "quota was halved")
    assert (changed.code, changed.err) == (0, "")
    shown = [line for line in (await limits(service, "list")).out.splitlines() if "/s" in line]
    assert [line.split()[:3] for line in shown] == [["gemini_api", "5/s", "10/s"], ["database", "50/s", "50/s"]]
    assert "by operator tester: quota was halved" in shown[0]
    assert shown[0] in changed.out
    found = json.loads((await limits(service, "reset", "gemini_api", "--json")).out)
    assert (found["per_second"], found["changed_by"]) == (10, None)


async def test_a_refusal_of_the_api_is_reported(service: Service) -> None:
    refused = await limits(service, "set", "gemini", "5")
    assert refused.code == 1
    assert refused.err == "docrail: Not found: there is no resource tag 'gemini'\n"


async def test_a_rate_that_is_none_is_wrong_usage(service: Service) -> None:
    refused = await limits(service, "set", "gemini_api", "fast")
    assert refused.code == 2
    assert "'fast' is not a rate: expected uses per second" in " ".join(refused.err.split())


async def test_validate_knows_the_tags_of_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "tagged.yaml"
    file.write_text("id: tagged\nsteps: [{id: a, handler: noop, resource_tag: printer}]\n")
    refused = await docrail("validate", str(file))
    assert refused.code == 1
    assert "there is no resource tag 'printer'; there are database, gemini_api" in refused.out
    assert (await docrail("validate", str(file), DOCRAIL_RESOURCE_LIMITS="printer=1/s")).code == 0
    assert (await docrail("validate", str(file), "--resource-limits", "printer")).code == 2
