"""Equal bytes are asked about once, whoever wants them read at the same moment, and whoever dies over it."""

import asyncio
import time
from decimal import Decimal
from pathlib import Path

import asyncpg
import pytest

from docrail.invoices.llm.prompt import PROMPT_VERSION
from docrail.services.documents.models import Document, reading_version
from docrail.services.extraction import single_flight
from docrail.services.extraction.gemini import AskAgainError
from docrail.services.extraction.repository import Lease, claim_lease, leave_lease
from docrail.services.extraction.single_flight import BeingReadError
from docrail.services.tools import Tools
from docrail.services.usage.repository import load_document_uses, load_spent_today
from tests.activities.asking import ask, count, pdf, reaching, stored
from tests.gemini import MODEL, gemini
from tests.postgres import TENANT
from tests.stack import eventually


async def test_two_uploads_at_once_on_two_workers_make_one_call(
    keyless: Tools, pool: asyncpg.Pool, tmp_path: Path
) -> None:
    async with gemini("slow:0.7,ok", reader=keyless.reader) as fake, asyncio.timeout(60):
        workers = [reaching(keyless, fake) for _ in range(2)]
        data = pdf()
        documents = [await stored(keyless, data) for _ in workers]
        outputs = await asyncio.gather(
            *(
                ask(tools, document, run_id=f"invoice.{document.document_id}")
                for tools, document in zip(workers, documents, strict=True)
            )
        )
    assert len(fake.asked) == 1
    assert sorted(output["cache_hit"] for output in outputs) == [False, True]
    assert len({output["total"] for output in outputs}) == 1
    assert sum(waits(tools) for tools in workers) == 1
    assert (
        await pool.fetchval("SELECT count(*) FROM reading_leases WHERE work_key LIKE $1", f"{documents[0].sha256}%")
        == 0
    )


def waits(tools: Tools) -> float:
    return count(tools, "docrail_single_flight_waits_total")


async def held(tools: Tools, document: Document, seconds: float) -> Lease:
    """Give the work to another worker, which never returns."""
    lease = Lease(TENANT, f"{document.sha256}/{reading_version(MODEL, PROMPT_VERSION)}", "a worker that dies")
    assert (await claim_lease(tools.db, lease, seconds)).mine
    return lease


async def leases(tools: Tools, document: Document) -> int:
    query = "SELECT count(*) FROM reading_leases WHERE work_key LIKE $1"
    return int(await tools.db.fetchval(query, f"{document.sha256}%"))


async def test_the_work_of_one_who_died_is_taken_over(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake, asyncio.timeout(60):
        tools = reaching(keyless, fake)
        document = await stored(tools)
        lease = await held(tools, document, 20)
        asking = asyncio.create_task(ask(tools, document))
        await eventually(lambda: waits(tools) == 1, "the attempt to wait for another")
        await tools.db.execute("UPDATE reading_leases SET expires_at = now() WHERE work_key = $1", lease.work_key)
        output = await asking
    assert (output["reader"], len(fake.asked)) == ("gemini", 1)
    assert (waits(tools), await leases(tools, document)) == (1, 0)
    uses = await load_document_uses(tools.db, TENANT, document.document_id)
    assert [use.outcome for use in uses] == ["lost", "read"], "what a killed worker asked may be paid for"
    assert uses[0].cost > uses[1].cost > 0


async def test_a_call_that_takes_longer_than_a_lease_keeps_it(keyless: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_flight, "LEASE_SECONDS", 0.9)
    async with gemini("slow:3,ok", reader=keyless.reader) as fake, asyncio.timeout(60):
        tools = reaching(keyless, fake)
        document = await stored(tools)
        outputs = await asyncio.gather(ask(tools, document), ask(tools, document, run_id="invoice.other"))
    assert len(fake.asked) == 1
    assert {output["reader"] for output in outputs} == {"gemini"}


async def test_a_long_wait_ends_the_attempt_and_retries_later(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        begun = time.monotonic()
        await leave_lease(tools.db, await held(tools, document, 30), 100, {})
        with pytest.raises(BeingReadError, match="are being read for another document") as reported:
            await ask(tools, document)
        elapsed = time.monotonic() - begun
        last = await ask(tools, document, retry_within=None)
    assert 100 - elapsed - 1 <= (reported.value.retry_after_seconds or 0) <= 101, "what is left of the lease"
    assert (last["reader"], last["problems"][-1], fake.asked) == ("text", "gemini_unavailable", [])


async def test_an_attempt_does_not_wait_for_hours(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        await leave_lease(tools.db, await held(tools, document, 30), 7200, {})
        output = await ask(tools, document)
    assert (output["reader"], output["problems"][-1], fake.asked) == ("text", "gemini_unavailable", [])


async def test_a_cancelled_attempt_releases_the_lease(keyless: Tools) -> None:
    async with gemini("slow:3600", reader=keyless.reader) as fake, asyncio.timeout(60):
        tools = reaching(keyless, fake)
        document = await stored(tools)
        asking = asyncio.create_task(ask(tools, document))
        await eventually(lambda: bool(fake.asked), "Gemini to be asked")
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert await leases(tools, document) == 0
    [use] = await load_document_uses(tools.db, TENANT, document.document_id)
    assert use.outcome == "lost"


async def test_a_renewal_that_failed_is_tried_again_at_once(
    keyless: Tools, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(single_flight, "LEASE_SECONDS", 3.0)
    monkeypatch.setattr(single_flight, "POLL_SECONDS", 0.05)
    renewals: list[float] = []

    async def renew(*_: object) -> None:
        renewals.append(asyncio.get_running_loop().time())
        if len(renewals) == 1:
            raise ConnectionResetError("PostgreSQL starts anew")

    monkeypatch.setattr(single_flight, "renew_lease", renew)
    async with single_flight.renewing(keyless.db, Lease(TENANT, "work", "me")), asyncio.timeout(60):
        await eventually(lambda: len(renewals) > 1, "a second renewal")
    assert renewals[1] - renewals[0] < 0.9, "a third of a lease is a second"
    assert "could not be renewed" in caplog.text


async def test_the_budget_is_checked_again_after_a_wait(keyless: Tools) -> None:
    async with gemini("wrong-schema", reader=keyless.reader) as fake, asyncio.timeout(60):
        tools = reaching(keyless, fake, budget_per_day=await load_spent_today(keyless.db) + Decimal("0.000001"))
        document = await stored(tools)
        outcomes = await asyncio.gather(
            ask(tools, document), ask(tools, document, run_id="invoice.other"), return_exceptions=True
        )
    assert len(fake.asked) == 1
    assert sum(isinstance(outcome, AskAgainError) for outcome in outcomes) == 1
    [reported] = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    assert reported["problems"][-1] == "gemini_budget"
    assert await leases(tools, document) == 0
