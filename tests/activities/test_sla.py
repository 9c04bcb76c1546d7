"""SLA events are recorded and sent once: by any worker, however often it looks, and after an outage."""

import asyncio
import dataclasses
import datetime as dt
import uuid
from pathlib import Path

import asyncpg
import pytest
from temporalio.testing import ActivityEnvironment

from docrail.activities.internal.sla import sla_activity
from docrail.adapters.http.addresses import AllowedHosts
from docrail.adapters.http.client import HttpClient
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.services.access.models import WATCH
from docrail.services.audit.repository import list_events, verify_chain
from docrail.services.lake.files import Lake
from docrail.services.metrics import Metrics
from docrail.services.reviews.models import Appearance, Decision, Question, Review
from docrail.services.reviews.repository.decisions import record_decision, reopen_review
from docrail.services.reviews.repository.items import load_review
from docrail.services.tools import Outside, Tools
from docrail.workflows.contract.names import NOTIFY_SLA
from tests.loopback import Loopback, Reply, loopback
from tests.postgres import upload
from tests.review_items import upsert_review

HOUR = dt.timedelta(hours=1)


@pytest.fixture
def tools(pool: asyncpg.Pool, tmp_path: Path) -> Tools:
    return Tools(pool, BlobStore(tmp_path), ValueStore(tmp_path), Lake(tmp_path), DocumentReader(), Metrics())


def notifying(tools: Tools, server: Loopback) -> Tools:
    http = HttpClient(AllowedHosts.parse(["127.0.0.1"]))
    return dataclasses.replace(tools, outside=Outside(http, notify_url=f"{server.url}/alerts"))


async def item(tools: Tools, *, used: float, hours: float = 10, vendor: str = "M") -> Review:
    """Open an item of a tenant of its own that has used this share of its SLA."""
    tenant, now = f"sla_{uuid.uuid4().hex[:12]}", dt.datetime.now(dt.UTC)
    document = await upload(tools.db, tenant_id=tenant)
    sla_from = now - used * hours * HOUR
    question = Question("invoice.test", Appearance(10, {}, [], {"vendor": vendor}), sla_from + hours * HOUR, sla_from)
    return await upsert_review(tools.db, tenant, document.document_id, question)


async def look(tools: Tools) -> None:
    await ActivityEnvironment().run(sla_activity(tools))


async def pass_time(tools: Tools, review: Review, hours: float) -> None:
    """Have everything about the item be so long ago."""
    for moved in ("reviews SET sla_from = sla_from - $2::interval, due_at", "sla_events SET due_at"):
        sql = f"UPDATE {moved} = due_at - $2::interval WHERE review_id = $1"
        await tools.db.execute(sql, review.review_id, hours * HOUR)


async def percents(tools: Tools, review: Review) -> list[int]:
    events = await list_events(tools.db, review.tenant_id)
    assert {(event.act, event.actor, event.review_id) for event in events} <= {("sla", WATCH, review.review_id)}
    return [event.detail["percent"] for event in events]


async def reported(server: Loopback, review: Review) -> list[int]:
    bodies = [asked.json() for asked in server.asked]
    return [body["details"]["percent"] for body in bodies if body["details"]["review_id"] == review.review_id]


def test_it_has_the_name_that_the_workflow_calls(tools: Tools) -> None:
    assert sla_activity(tools).__name__ == NOTIFY_SLA


@pytest.mark.parametrize(("used", "expected"), [(0.49, []), (0.51, [50]), (0.81, [50, 80]), (1.2, [50, 80, 100])])
async def test_each_share_is_recorded_once(tools: Tools, used: float, expected: list[int]) -> None:
    review = await item(tools, used=used)
    await look(tools)
    await look(tools)
    assert await percents(tools, review) == expected


async def test_shares_are_recorded_and_reported_one_after_the_other(tools: Tools) -> None:
    review = await item(tools, used=0.49)
    async with loopback() as server:
        for hours, expected in (
            (0, []),
            (0.2, [50]),
            (2, [50]),
            (1, [50, 80]),
            (3, [50, 80, 100]),
            (20, [50, 80, 100]),
        ):
            await pass_time(tools, review, hours)
            await look(notifying(tools, server))
            assert await percents(tools, review) == expected
            assert await reported(server, review) == expected


async def test_several_that_look_at_once_record_it_once(tools: Tools) -> None:
    review = await item(tools, used=0.6)
    await asyncio.gather(*(look(tools) for _ in range(6)))
    assert await percents(tools, review) == [50]
    assert (await verify_chain(tools.db, review.tenant_id)).broken_at is None


async def test_the_band_rises_with_the_share(tools: Tools) -> None:
    bands = []
    for used in (0.5, 0.8, 1.0):
        review = await item(tools, used=used + 0.01)
        bands.append(review.band)
    assert bands == [0, 1, 2]


async def test_people_are_reported_once_of_the_last_share(tools: Tools) -> None:
    review = await item(tools, used=0.85)
    async with loopback() as server:
        for _ in range(3):
            await look(notifying(tools, server))
        assert await reported(server, review) == [80]
        body = next(each.json() for each in server.asked if review.review_id in each.json()["message"])
    assert (body["title"], body["level"], body["run_id"]) == ("SLA", "warning", "invoice.test")
    assert "has used 80 % of its time" in body["text"]
    assert body["text"].endswith(" (M)")


async def test_a_sender_writes_no_markup_into_a_chat(tools: Tools) -> None:
    vendor = "<https://evil.example|Approve here> <!channel> A&B"
    review = await item(tools, used=0.85, vendor=vendor)
    async with loopback() as server:
        await look(notifying(tools, server))
        body = next(each.json() for each in server.asked if review.review_id in each.json()["message"])
    assert body["text"].endswith(" (&lt;https://evil.example|Approve here&gt; &lt;!channel&gt; A&amp;B)")
    assert body["details"]["summary"]["vendor"] == vendor


async def test_a_receiver_that_is_away_is_reported_later_with_the_same_id(tools: Tools) -> None:
    review = await item(tools, used=1.01)
    async with loopback(Reply(status=503)) as server:
        await look(notifying(tools, server))
        refused = list(server.asked)
    async with loopback() as server:
        await look(notifying(tools, server))
        assert await reported(server, review) == [100]
        assert {asked.headers["webhook-id"] for asked in refused} <= {a.headers["webhook-id"] for a in server.asked}


async def test_a_worker_that_may_not_call_the_receiver_leaves_it_to_another(tools: Tools) -> None:
    review = await item(tools, used=1.01)
    async with loopback() as server:
        await look(dataclasses.replace(tools, outside=Outside(notify_url=f"{server.url}/alerts")))
        assert await reported(server, review) == []
        await look(notifying(tools, server))
        assert await reported(server, review) == [100]


async def test_the_sla_of_a_postponed_item_goes_on(tools: Tools) -> None:
    review = await item(tools, used=0.85)
    await tools.db.execute(
        "UPDATE reviews SET postponed_until = now() + interval '9 days' WHERE review_id = $1", review.review_id
    )
    async with loopback() as server:
        await look(notifying(tools, server))
        assert await reported(server, review) == [80]
    assert await percents(tools, review) == [50, 80]


async def test_of_a_reopened_item_is_reported_what_was_used_since_and_nothing_twice(tools: Tools) -> None:
    review = await item(tools, used=0.6)
    await look(tools)
    decision = Decision("approved", {"approved": True, "reason": ""}, "ann", None)
    await record_decision(tools.db, review.tenant_id, review.review_id, decision)
    await pass_time(tools, review, 3)
    await look(tools)
    assert await percents(tools, review) == [50]
    await reopen_review(tools.db, review.tenant_id, review.review_id)
    for _ in range(2):
        await look(tools)
    assert await percents(tools, review) == [50, 80]


async def test_events_recorded_by_a_killed_worker_are_reported_by_the_next_one(tools: Tools) -> None:
    review = await item(tools, used=1.2)
    await look(tools)  # without a receiver, like a worker that dies before it notifies
    await tools.db.execute("UPDATE sla_events SET notified_at = NULL WHERE review_id = $1", review.review_id)
    async with loopback() as server:
        for _ in range(2):
            await look(notifying(tools, server))
        assert await reported(server, review) == [100]


async def test_a_decided_item_is_no_matter_any_more(tools: Tools) -> None:
    review = await item(tools, used=0.85)
    await tools.db.execute(
        "UPDATE reviews SET status = 'approved', closed_at = now() WHERE review_id = $1", review.review_id
    )
    async with loopback() as server:
        await look(notifying(tools, server))
        assert await reported(server, review) == []
    assert await percents(tools, review) == []
    decided = await load_review(tools.db, review.tenant_id, review.review_id)
    assert decided
    assert decided.parts["sla"] == pytest.approx(0.85, abs=0.01)
