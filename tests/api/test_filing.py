"""The lake stores what people decide and correct, under the definition that saves a document before they see it."""

import datetime as dt
from typing import Any

import asyncpg
import pytest
from temporalio.testing import ActivityEnvironment

from docrail.activities.internal.filing import filing_activity
from docrail.dag.values.json_values import Json
from docrail.services.definitions.service import SHIPPED
from docrail.services.lake.files import Lake
from docrail.services.lake.parquet import LakeFileDamaged
from docrail.services.lake.service import load_version
from docrail.services.reviews.models import review_id_of
from docrail.worker import open_tools
from docrail.workflows.contract.names import FILE_REVIEWED
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.reviewing import Reviewer, reviewer, waiting
from tests.api.service import Service, run_background_tasks
from tests.api.test_corrections import correct
from tests.services.lakes import ask
from tests.stack import eventually


@pytest.fixture
async def ann(service: Service) -> Reviewer:
    """Return a person of a new tenant, in which the vendor is unknown and nothing was approved."""
    shipped = (SHIPPED / "invoice.yaml").read_text()
    who = reviewer(service)
    published = await service.http.post(
        "/v1/definitions", json={"definition": shipped}, headers={"X-Test-Tenant": who.tenant}
    )
    assert published.status_code == 201, published.text
    return who


async def saved(service: Service, who: Reviewer, number: str) -> Json:
    """Upload an invoice, and return its item once its run is over."""
    headers = who.headers | {"X-Test-Scopes": "submit read"}
    files = {"file": ("invoice.xml", e_invoice(number))}
    sent = await service.http.post("/v1/documents", files=files, headers=headers)
    assert sent.status_code == 202, sent.text
    run_id, document_id = sent.json()["run_id"], sent.json()["document_id"]

    async def has_ended() -> bool:
        return bool((await who.get(f"/runs/{run_id}"))["status"] == "completed")

    await eventually(has_ended, f"the end of {run_id}")
    return await who.get(f"/reviews/{review_id_of(who.tenant, document_id)}")


def lake_of(service: Service) -> Lake:
    return Lake(service.settings.open_store().sub("lake"))


def files_of(service: Service, who: Reviewer, item: Json) -> dict[str, bytes]:
    folder = lake_of(service).of(who.tenant)
    return {info.path: folder.read(info.path) for info in folder.files("") if item["document_id"] in info.path}


def in_lake(service: Service, who: Reviewer, item: Json) -> tuple[Any, ...]:
    where = f"WHERE document_id = '{item['document_id']}'"
    [row] = ask(lake_of(service), f"SELECT version, status, invoice_number FROM invoices {where}", [who.tenant])
    return row


async def is_filed(service: Service, who: Reviewer, item: Json, expected: tuple[Any, ...]) -> None:
    """Have filed what is to be filed, and wait until the document is in the lake as expected."""

    async def looks_so() -> bool:
        await run_background_tasks(service)
        return in_lake(service, who, item) == expected

    await eventually(looks_so, f"{expected} in the lake", timeout_seconds=60)


async def test_decisions_and_corrections_are_in_the_lake(service: Service, ann: Reviewer) -> None:
    number = unique("R")
    item = await saved(service, ann, number)
    assert in_lake(service, ann, item) == (1, "open", number)
    await correct(ann, item, "invoice_number", "R-2")
    await is_filed(service, ann, item, (2, "open", "R-2"))
    locked = f"SELECT value, status FROM fields WHERE locked AND document_id = '{item['document_id']}'"
    assert ask(lake_of(service), locked, [ann.tenant]) == [("R-2", "open")]
    await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    await is_filed(service, ann, item, (3, "approved", "R-2"))
    await ann.post(f"/reviews/{item['review_id']}/reopen", {"why": "a second look"})
    await is_filed(service, ann, item, (4, "open", "R-2"))
    await ann.post(f"/reviews/{item['review_id']}/reject", await ann.verdict(item, why="not ours"))
    await is_filed(service, ann, item, (5, "rejected", "R-2"))
    every = {f"json/{item['document_id']}.v{version}.json" for version in range(1, 6)}

    async def are_all_there() -> bool:  # the last is written after what the queries read
        return {path for path in files_of(service, ann, item) if path.endswith(".json")} == every

    await eventually(are_all_there, "a JSON file of each version")


async def test_a_save_that_was_not_recorded_is_repeated_with_the_same_result(service: Service, ann: Reviewer) -> None:
    number = unique("R")
    item = await saved(service, ann, number)
    await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    await is_filed(service, ann, item, (2, "approved", number))
    await eventually(lambda: _is_noted(service, item), "both files, and a note of it")
    files = files_of(service, ann, item)
    unnoted = "UPDATE reviews SET filed_revision = 0 WHERE review_id = $1"
    await service.app.db.execute(unnoted, item["review_id"])  # as by a worker that was killed in between
    await eventually(lambda: _is_noted(service, item), "the document to be filed again", timeout_seconds=60)
    assert files_of(service, ann, item) == files


async def test_a_document_that_cannot_be_written_holds_up_no_other(
    service: Service, ann: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docrail.activities.internal.filing.AT_ONCE", 1)
    items = sorted([await saved(service, ann, unique("R")) for _ in range(2)], key=lambda item: item["document_id"])
    first, second = items
    in_its_place = lake_of(service).of(ann.tenant).local_path(f"json/{first['document_id']}.v2.json")
    assert in_its_place
    in_its_place.mkdir()
    for item in items:
        await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    async with open_tools(service.settings) as tools:
        with pytest.raises(OSError, match=first["document_id"]):
            await ActivityEnvironment().run(filing_activity(tools))
    assert await _is_noted(service, second)
    assert not await _is_noted(service, first)
    in_its_place.rmdir()
    await eventually(lambda: _is_noted(service, first), "the first to be filed", timeout_seconds=60)


async def test_a_document_with_an_unexpected_error_holds_up_no_other(
    service: Service, ann: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = sorted([await saved(service, ann, unique("R")) for _ in range(2)], key=lambda i: i["document_id"])

    async def load(db: asyncpg.Pool, tenant_id: str, document_id: str, *, today: dt.date) -> Any:
        if document_id == first["document_id"]:
            raise LakeFileDamaged(document_id, "planted")
        return await load_version(db, tenant_id, document_id, today=today)

    for item in (first, second):
        await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    monkeypatch.setattr("docrail.activities.internal.filing.AT_ONCE", 1)
    monkeypatch.setattr("docrail.activities.internal.filing.load_version", load)
    async with open_tools(service.settings) as tools:
        with pytest.raises(LakeFileDamaged):
            await ActivityEnvironment().run(filing_activity(tools))
    noted = "SELECT filed_revision > 0 FROM reviews WHERE review_id = $1"
    assert [await service.app.db.fetchval(noted, item["review_id"]) for item in (first, second)] == [False, True]


async def test_a_decision_does_not_add_a_document_to_the_lake(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)  # of a definition that saves nothing
    await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    await eventually(lambda: _is_noted(service, item), "the decision to be passed by", timeout_seconds=60)
    assert files_of(service, ann, item) == {}


async def test_the_activity_has_the_name_that_the_workflow_calls(service: Service) -> None:
    async with open_tools(service.settings) as tools:
        assert filing_activity(tools).__name__ == FILE_REVIEWED


async def _is_noted(service: Service, item: Json) -> bool:
    await run_background_tasks(service)
    noted = "SELECT revision > 0 AND revision = filed_revision FROM reviews WHERE review_id = $1"
    return bool(await service.app.db.fetchval(noted, item["review_id"]))
