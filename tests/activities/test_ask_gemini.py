"""`ask_gemini` with the real SDK against the fake: what becomes of each answer, and of none."""

import dataclasses
import secrets
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from docrail.adapters.gemini.access import GeminiAccess
from docrail.adapters.http.errors import OutgoingTimeoutError, TryAgainLaterError, UnreachableError
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.sandbox.server import ReadingLimits
from docrail.embedded.fake_gemini.replies import Reply, blocked, not_json, refused, wrote
from docrail.invoices.facts import Evidence, Severity, Source
from docrail.invoices.llm.prices import Tokens
from docrail.invoices.llm.prompt import PROMPT_VERSION, REPAIR_PROMPT
from docrail.invoices.llm.wire import WireField
from docrail.invoices.model import FIELD_NAMES, InvoiceData
from docrail.services.documents.repository.readings import load_best_extraction, save_extraction
from docrail.services.extraction import gemini as gemini_once
from docrail.services.extraction.gemini import OUTPUT_TOKENS, AskAgainError
from docrail.services.quotas.models import Quota
from docrail.services.quotas.repository import set_quota
from docrail.services.tools import Tools
from docrail.services.usage.repository import (
    load_document_uses,
    load_key_spent_today,
    load_spent_today,
    load_tenant_spent_today,
)
from docrail.services.usage.service import BudgetUsedError, check_budget
from tests.activities.asking import ask, count, extract, free, invoice_of, pdf, reaching, stored
from tests.activities.ubl import ubl_invoice
from tests.gemini import MODEL, gemini
from tests.postgres import OTHER_TENANT, TENANT, new_document_id


async def test_gemini_and_the_local_readers_are_each_others_evidence(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        first = await extract(tools, document)
        output = await ask(tools, document)
    invoice = await invoice_of(tools, output)
    assert (first["wants_gemini"], first["reader"], output["reader"]) == (True, "text", "gemini")
    assert (invoice.model, invoice.prompt_version) == (f"{MODEL}-001", PROMPT_VERSION)
    assert invoice.readers == ("gemini", "text")
    assert (invoice.total.value, invoice.total.source) == (Decimal("717.97"), Source.GEMINI)
    assert {Evidence.ON_PAGE, Evidence.SECOND_SOURCE_AGREES} <= set(invoice.total.evidence)
    assert invoice.total.box is not None
    assert {candidate.source for candidate in invoice.total.candidates} >= {Source.GEMINI, Source.TEXT_LABEL}
    assert invoice.total.confidence > (await invoice_of(tools, first)).total.confidence - 0.05
    [asked] = fake.asked
    assert asked.document == await tools.blobs.get(document.sha256)
    config = asked.json()["generationConfig"]
    assert (config["maxOutputTokens"], config["responseMimeType"]) == (OUTPUT_TOKENS, "application/json")
    assert set(config["responseSchema"]["required"]) == {"document_type", *FIELD_NAMES}
    assert set(config["responseSchema"]["properties"]["total"]["properties"]) == set(WireField.model_fields)


async def test_the_cost_is_recorded_with_the_document(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake, default_model="gemini-3.8-flash")
        document = await stored(tools)
        await ask(tools, document)
    [use] = await load_document_uses(tools.db, TENANT, document.document_id)
    assert (use.model, use.prompt_version, use.outcome) == ("gemini-3.8-flash-001", PROMPT_VERSION, "read")
    assert use.priced_as == "gemini-3.8-flash"
    assert use.input_tokens > 0 < use.output_tokens
    assert use.thinking_tokens == 64
    tokens = Tokens(use.input_tokens, use.output_tokens, use.thinking_tokens)
    assert use.cost == tools.outside.gemini.prices.cost(use.model, tokens, use.used_at.date()).amount > 0


async def test_how_long_a_model_took_is_counted_for_answers_that_came(keyless: Tools) -> None:
    async with gemini("slow:0.6,503", reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        await ask(tools, await stored(tools))
        with pytest.raises(TryAgainLaterError):
            await ask(tools, await stored(tools))
    assert count(tools, "docrail_model_answer_seconds_count", model=MODEL) == 1
    assert count(tools, "docrail_model_answer_seconds_sum", model=MODEL) > 0.6


async def test_equal_bytes_are_asked_about_once_and_found_without_a_turn(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        data = pdf()
        first, second = await stored(tools, data), await stored(tools, data)
        assert (await ask(tools, first))["cache_hit"] is False
        assert (await ask(tools, second))["cache_hit"] is True
        found = await extract(tools, second)
    assert len(fake.asked) == 1
    assert (found["cache_hit"], found["wants_gemini"], found["reader"]) == (True, False, "gemini")
    assert count(tools, "docrail_extraction_cache_lookups_total", reader="gemini", result="hit") == 1


async def test_another_model_is_another_reading(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        await ask(tools, document)
        other = await ask(tools, document, model="gemini-other")
    assert other["cache_hit"] is False
    assert [asked.model for asked in fake.asked] == [MODEL, "gemini-other"]


async def test_fresh_readings_are_kept_next_to_the_others_and_preferred(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        await ask(tools, document)
        await extract(tools, document, run_id="again.1", fresh=True)
        anew = await ask(tools, document, run_id="again.1", fresh=True)
        retried = await ask(tools, document, run_id="again.1", fresh=True)
        usual = await ask(tools, document)
    assert (anew["cache_hit"], retried["cache_hit"], len(fake.asked)) == (False, True, 2)
    assert anew["invoice_ref"]["reader_version"] == f"{usual['invoice_ref']['reader_version']}@again.1"
    best = await load_best_extraction(tools.db, TENANT, document.sha256)
    assert best == await invoice_of(tools, anew)


async def test_an_e_invoice_is_never_asked_about(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools, ubl_invoice(new_document_id()))
        assert (await extract(tools, document))["wants_gemini"] is False
        assert (await ask(tools, document))["reader"] == "ubl"
    assert fake.asked == []


async def test_without_a_key_it_is_the_local_reading(keyless: Tools) -> None:
    document = await stored(keyless)
    first, output = await extract(keyless, document), await ask(keyless, document)
    assert output == {**first, "cache_hit": True}
    assert first["wants_gemini"] is False


@pytest.mark.parametrize(
    ("reported", "kind", "after", "outcomes"),
    [
        (refused(429, "quota", retry_after="7"), TryAgainLaterError, 7, []),
        (refused(408, "slow"), TryAgainLaterError, None, []),
        (refused(500, "oops"), TryAgainLaterError, None, []),
        (refused(503, "overloaded"), TryAgainLaterError, None, []),
        (not_json(), TryAgainLaterError, None, ["lost"]),
        ("hangs-up", UnreachableError, None, ["lost"]),
        ("slow:60", OutgoingTimeoutError, None, ["lost"]),
    ],
)
async def test_transient_errors_are_left_to_another_attempt(
    keyless: Tools, reported: str | Reply, kind: type[Exception], after: float | None, outcomes: list[str]
) -> None:
    async with gemini(reported, reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        with pytest.raises(kind) as raised:
            await ask(tools, document, timeout_seconds=0.5)
    assert getattr(raised.value, "retry_after_seconds", None) == after
    assert not isinstance(raised.value, ValueError)  # so the wrapper retries it
    assert len(fake.asked) == 1
    uses = await load_document_uses(tools.db, TENANT, document.document_id)
    assert [use.outcome for use in uses] == outcomes
    assert all(use.input_tokens > 0 < use.cost and use.output_tokens == OUTPUT_TOKENS for use in uses)


async def test_unsent_requests_are_not_counted(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
    with pytest.raises(UnreachableError):  # nothing listens there any more
        await ask(tools, document)
    assert await load_document_uses(tools.db, TENANT, document.document_id) == []


async def test_a_paid_answer_is_stored_again_and_again(keyless: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = iter([asyncpg.InterfaceError("closed"), ConnectionResetError("gone"), None])

    async def save(*given: Any) -> InvoiceData:
        error = next(fails)
        if error:
            raise error
        return await save_extraction(*given)

    monkeypatch.setattr(gemini_once, "save_extraction", save)
    monkeypatch.setattr(gemini_once, "SAVE_PAUSES_SECONDS", (0.01, 0.01))
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        output = await ask(tools, await stored(tools))
    assert (output["reader"], len(fake.asked), [*fails]) == ("gemini", 1, [])


async def test_an_answer_that_cannot_be_checked_is_kept_for_a_person(keyless: Tools) -> None:
    impatient = DocumentReader(limits=ReadingLimits(max_bytes=1000))
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        await extract(tools, document)
        output = await ask(dataclasses.replace(tools, reader=impatient), document)
    await impatient.close()
    invoice = await invoice_of(tools, output)
    [problem] = [problem for problem in invoice.problems if problem.code == "gemini_not_checked"]
    assert (problem.severity, len(fake.asked)) == (Severity.ERROR, 1)
    assert Evidence.ON_PAGE not in invoice.total.evidence
    assert invoice.total.value == Decimal("717.97")


@pytest.mark.parametrize(
    ("reported", "why"),
    [
        (refused(400, "bad"), "Gemini answered 400"),
        (refused(403, "no"), "Gemini answered 403"),
        (refused(404, "which"), "Gemini answered 404"),
        (refused(413, "large"), "Gemini answered 413"),
        (blocked(), "it refused the prompt: PROHIBITED_CONTENT"),
        (wrote("", finish_reason="SAFETY"), "it stopped for SAFETY"),
    ],
)
async def test_a_refusal_leaves_the_document_to_the_local_readers_and_a_person(
    keyless: Tools, reported: Reply, why: str
) -> None:
    async with gemini(reported, reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        output = await ask(tools, document)
    invoice = await invoice_of(tools, output)
    [problem] = [problem for problem in invoice.problems if problem.code == "gemini_refused"]
    assert (output["reader"], output["total"], problem.severity) == ("text", 717.97, Severity.ERROR)
    assert why in problem.message
    assert invoice.confidence <= 0.6
    assert len(fake.asked) == 1
    assert count(tools, "docrail_model_fallbacks_total", reason="gemini_refused") == 1
    assert await load_best_extraction(tools.db, TENANT, document.sha256) == invoice


async def test_a_refusal_is_no_answer_of_the_cache(keyless: Tools) -> None:
    async with gemini("safety,ok", reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        await ask(tools, document)
        same = await ask(tools, document, run_id="invoice.soon")
        assert (same["reader"], len(fake.asked)) == ("text", 1), "a refused request is not sent again for ten minutes"
        await tools.db.execute("DELETE FROM reading_leases WHERE work_key LIKE $1", f"{document.sha256}%")
        later = await ask(tools, document, run_id="invoice.later")
    assert later["reader"] == "gemini"
    assert "gemini_refused" not in later["problems"]


async def test_a_garbled_answer_is_repaired_by_one_other_question(keyless: Tools) -> None:
    async with gemini("wrong-schema,ok", reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        with pytest.raises(AskAgainError, match="the next attempt points that out"):
            await ask(tools, document)
        await free(tools, document)
        output = await ask(tools, document, attempt=2)
    assert output["reader"] == "gemini"
    assert [REPAIR_PROMPT in asked.prompt for asked in fake.asked] == [False, True]
    uses = await load_document_uses(tools.db, TENANT, document.document_id)
    assert [(use.attempt, use.outcome) for use in uses] == [(1, "garbled"), (2, "read")]


async def test_garbage_twice_is_left_to_the_local_readers(keyless: Tools) -> None:
    async with gemini("wrong-schema", reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        with pytest.raises(AskAgainError):
            await ask(tools, document)
        await free(tools, document)
        output = await ask(tools, document, attempt=2)
    assert (output["reader"], len(fake.asked)) == ("text", 2)
    assert "gemini_garbled" in output["problems"]


async def test_an_answer_that_is_cut_gets_twice_the_room_once(keyless: Tools) -> None:
    async with gemini(f"max-tokens:{2 * OUTPUT_TOKENS}*2,max-tokens", reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document, other = await stored(tools), await stored(tools)
        with pytest.raises(AskAgainError, match="twice as many"):
            await ask(tools, document)
        await free(tools, document)
        assert (await ask(tools, document, attempt=2))["reader"] == "gemini"
        with pytest.raises(AskAgainError):
            await ask(tools, other)
        await free(tools, other)
        assert "gemini_garbled" in (await ask(tools, other, attempt=2))["problems"]
    rooms = [asked.allowed_tokens for asked in fake.asked]
    assert rooms == [OUTPUT_TOKENS, 2 * OUTPUT_TOKENS] * 2


@pytest.mark.parametrize("retry_within", [None, 60.0])
async def test_once_the_retries_are_used_up_the_local_readers_serve(keyless: Tools, retry_within: float | None) -> None:
    """Used up, or asked to come back later than the step may take in all."""
    async with gemini("429:61", reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        output = await ask(tools, document, attempt=4, retry_within=retry_within)
    assert (output["reader"], output["problems"][-1]) == ("text", "gemini_unavailable")


@pytest.mark.parametrize(("asked", "waits"), [(900, True), (901, False), (86_400, False)])
async def test_a_document_is_not_put_off_for_hours(keyless: Tools, asked: int, waits: bool) -> None:
    """A quota of a day used to keep documents out of the queue for a day an attempt."""
    async with gemini(f"429:{asked}", reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools)
        if waits:
            with pytest.raises(TryAgainLaterError) as reported:
                await ask(tools, document)
            assert reported.value.retry_after_seconds == asked
            return
        output = await ask(tools, document)
    [problem] = [each for each in (await invoice_of(tools, output)).problems if each.code == "gemini_unavailable"]
    assert f"it refuses requests for {asked} s" in problem.message
    leases = "SELECT count(*) FROM reading_leases WHERE work_key LIKE $1"
    assert await tools.db.fetchval(leases, f"{document.sha256}%") == 0


async def test_a_used_up_budget_prevents_the_request(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        rich = reaching(keyless, fake)
        await ask(rich, await stored(rich))
        poor = reaching(keyless, fake, budget_per_day=await load_spent_today(keyless.db))
        document = await stored(poor)
        output = await ask(poor, document)
        invoice = await invoice_of(poor, output)
    assert (output["reader"], len(fake.asked)) == ("text", 1)
    [problem] = [problem for problem in invoice.problems if problem.code == "gemini_budget"]
    assert problem.severity is Severity.WARNING
    assert "DOCRAIL_GEMINI_BUDGET_PER_DAY" in problem.message


async def test_a_tenant_whose_share_is_used_up_leaves_the_rest_to_others(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        rich = reaching(keyless, fake)
        await ask(rich, await stored(rich))
        mine = await load_tenant_spent_today(keyless.db, TENANT)
        enough, poor = (reaching(keyless, fake, budget_per_tenant=mine + more) for more in (Decimal(1), Decimal(0)))
        served, refused = await ask(enough, await stored(enough)), await ask(poor, await stored(poor))
        [problem] = [each for each in (await invoice_of(poor, refused)).problems if each.code == "gemini_budget"]
        await check_budget(poor, OTHER_TENANT, None)
    assert (served["reader"], refused["reader"], len(fake.asked)) == ("gemini", "text", 2)
    assert "for one tenant, is used up" in problem.message
    assert "DOCRAIL_GEMINI_BUDGET_PER_TENANT" in problem.message


async def test_a_key_whose_budget_is_used_up_leaves_the_rest_to_the_tenants_other_keys(keyless: Tools) -> None:
    small, large = secrets.token_hex(8), secrets.token_hex(8)
    await set_quota(keyless.db, TENANT, small, Quota.BUDGET, 0.000001, changed_by="operator")
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        keys = (small, small, large, None)
        outputs = [await ask(tools, await stored(tools), key_id=key_id) for key_id in keys]
        [problem] = [each for each in (await invoice_of(tools, outputs[1])).problems if each.code == "gemini_budget"]
    assert ([output["reader"] for output in outputs], len(fake.asked)) == (["gemini", "text", "gemini", "gemini"], 3)
    assert f"0.000001 USD for the key {small}, is used up" in problem.message
    assert await load_key_spent_today(keyless.db, TENANT, small) > 0


async def test_a_step_waits_for_the_next_days_budget_while_it_has_retries(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        rich = reaching(keyless, fake)
        await ask(rich, await stored(rich))
        poor = reaching(keyless, fake, budget_per_day=Decimal("0.000001"))
        document = await stored(poor)
        with pytest.raises(BudgetUsedError) as reported:
            await ask(poor, document, over_budget="wait")
        assert 0 < (reported.value.retry_after_seconds or 0) <= 86_400
        last = await ask(poor, document, over_budget="wait", retry_within=None)
        richer = await ask(rich, document, over_budget="wait")
    assert (last["problems"][-1], last["reader"]) == ("gemini_budget", "text")
    assert (richer["reader"], len(fake.asked)) == ("gemini", 2)


def test_the_key_is_in_no_representation() -> None:
    assert "geheim" not in repr(GeminiAccess("geheim"))
