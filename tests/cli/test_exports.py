"""`docrail export` against a running API with a worker."""

import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.reviewing import Reviewer, waiting
from tests.api.service import Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail
from tests.postgres import migrated_database
from tests.stack import Servers


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("exports"))
        async with serve_with_worker(settings) as served:
            who = Reviewer(served.http, "default")
            item = await waiting(served, who)
            await who.post(f"/reviews/{item['review_id']}/approve", await who.verdict(item, why="right"))
            yield served


async def typed(service: Service, *arguments: str) -> Ended:
    return await docrail("export", *arguments, DOCRAIL_API_URL=str(service.http.base_url))


async def test_an_export_is_made_listed_and_fetched_again(service: Service, tmp_path: Path) -> None:
    first, again = tmp_path / "first.csv", tmp_path / "again.csv"
    style = ("--separator", ";", "--decimal", ",", "--no-bom", "--columns", "total, document_id", "--all")
    made = await typed(service, "create", *style, "--output", str(first))
    assert (made.code, made.err) == (0, "")
    assert made.out.startswith(f"wrote 1 documents to {first} (exp_")
    with first.open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file, delimiter=";"))["total"] == "119,00"
    listed = json.loads((await typed(service, "list", "--json")).out)
    assert (listed[0]["status"], listed[0]["documents"]) == ("ready", 1)
    fetched = await typed(service, "download", listed[0]["export_id"], str(again))
    assert fetched.code == 0
    assert again.read_bytes() == first.read_bytes()


async def test_a_wrong_column_is_refused_with_a_hint(service: Service) -> None:
    refused = await typed(service, "create", "--columns", "totl")
    assert refused.code == 1
    assert "did you mean 'total'?" in refused.err
