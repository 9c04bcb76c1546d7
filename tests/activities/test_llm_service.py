"""`llm_service` with the real SDK, against a fake Gemini on loopback."""

import uuid
from decimal import Decimal

import asyncpg
import pytest

from docrail.activities.handlers.llm_service import HANDLER
from docrail.adapters.gemini.access import GeminiAccess
from docrail.adapters.gemini.ask import NotConfiguredError
from docrail.adapters.http.errors import (
    AnswerUnusableError,
    OutgoingTimeoutError,
    RequestRefusedError,
    TryAgainLaterError,
    UnreachableError,
)
from docrail.adapters.postgres.pool import open_pool
from docrail.dag.values.json_values import Json
from docrail.embedded.fake_gemini.replies import Reply, blocked, not_json, refused, wrote
from docrail.embedded.fake_gemini.server import FakeGemini
from docrail.services.metrics import Metrics
from docrail.services.usage.repository import load_model_totals
from docrail.services.usage.service import BudgetUsedError
from tests.activities.outside import run, tools_with
from tests.gemini import KEY, MODEL, access, gemini

RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


@pytest.fixture
def ask(pool: asyncpg.Pool) -> "Asking":
    return Asking(pool)


class Asking:
    """Asks a fake, with a database in which what it costs is counted."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self.pool = pool
        self.metrics = Metrics()

    async def __call__(self, server: FakeGemini, **config: Json) -> Json:
        tools = tools_with(gemini=access(server), db=self.pool, metrics=self.metrics)
        return await run(HANDLER, {"prompt": "Summarise it", **config}, tools)


async def test_the_models_text_comes_back_with_its_cost(ask: Asking) -> None:
    async with gemini(wrote("It is an invoice.", thinking_tokens=5)) as server:
        output = await ask(server)
    assert output == {
        "result": "It is an invoice.",
        "cut": False,
        "model": "gemini-test-001",
        "input_tokens": 7,
        "output_tokens": 11,
        "thinking_tokens": 5,
    }
    [asked] = server.asked
    assert asked.model == MODEL
    assert asked.headers["x-goog-api-key"] == KEY
    assert asked.json()["contents"] == [{"parts": [{"text": "Summarise it"}], "role": "user"}]


async def test_the_steps_prompt_reaches_the_model(ask: Asking) -> None:
    async with gemini(wrote("Ja.")) as server:
        await ask(server, model="gemini-other", system="Answer in German", temperature=0, max_output_tokens=100)
    [asked] = server.asked
    assert asked.model == "gemini-other"
    assert asked.json()["systemInstruction"]["parts"] == [{"text": "Answer in German"}]
    assert asked.json()["generationConfig"] == {"temperature": 0, "maxOutputTokens": 100}


async def test_without_a_key_it_says_what_to_set(pool: asyncpg.Pool) -> None:
    with pytest.raises(NotConfiguredError, match="set DOCRAIL_GEMINI_API_KEY"):
        await run(HANDLER, {"prompt": "?"}, tools_with(db=pool))


async def test_a_text_that_was_cut_says_so(ask: Asking) -> None:
    async with gemini(wrote("It is an", finish_reason="MAX_TOKENS")) as server:
        assert (await ask(server))["cut"] is True


@pytest.mark.parametrize(
    ("reply", "reported"),
    [
        (blocked(), "refused the prompt: PROHIBITED_CONTENT"),
        (wrote("", finish_reason="SAFETY"), "stopped for SAFETY"),
        (wrote("half of", finish_reason="RECITATION"), "stopped for RECITATION"),
        (wrote("", finish_reason="MAX_TOKENS"), "max_output_tokens left no room"),
        (wrote(""), "wrote no text"),
    ],
)
async def test_a_model_that_does_not_answer_is_not_asked_again(ask: Asking, reply: Reply, reported: str) -> None:
    async with gemini(reply) as server:
        with pytest.raises(AnswerUnusableError, match=reported):
            await ask(server)


@pytest.mark.parametrize("status", [400, 403, 404, 413])
async def test_a_wrong_request_is_not_sent_again(ask: Asking, status: int) -> None:
    async with gemini(refused(status, "API key not valid")) as server:
        with pytest.raises(RequestRefusedError, match=f"Gemini answered {status} .*: API key not valid"):
            await ask(server)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_a_busy_model_is_asked_later_and_the_sdk_does_not_retry(ask: Asking, status: int) -> None:
    async with gemini(refused(status, "busy", retry_after="21")) as server:
        with pytest.raises(TryAgainLaterError) as reported:
            await ask(server)
    assert reported.value.retry_after_seconds == 21
    assert len(server.asked) == 1


async def test_the_delay_in_an_errors_details_counts_too(ask: Asking) -> None:
    async with gemini(refused(429, "quota", {"@type": "x"}, RETRY_INFO)) as server:
        with pytest.raises(TryAgainLaterError) as reported:
            await ask(server)
    assert reported.value.retry_after_seconds == 35


async def test_a_body_that_is_no_json_may_be_whole_the_next_time(ask: Asking) -> None:
    async with gemini(not_json()) as server:
        with pytest.raises(TryAgainLaterError, match="a body that is not JSON"):
            await ask(server)


async def test_a_slow_model_times_out(ask: Asking) -> None:
    async with gemini("slow:60") as server:
        with pytest.raises(OutgoingTimeoutError, match=r"within 0\.2 s"):
            await ask(server, timeout_seconds=0.2)


@pytest.mark.parametrize("away", [True, False])
async def test_an_unavailable_model_or_one_that_hangs_up_is_unreachable(ask: Asking, away: bool) -> None:
    async with gemini("hangs-up") as server:
        if not away:
            with pytest.raises(UnreachableError, match="Gemini cannot be reached"):
                await ask(server)
    if away:
        with pytest.raises(UnreachableError, match="Gemini cannot be reached"):
            await ask(server)


@pytest.mark.parametrize("lost", ["hangs-up", "slow:60", not_json()], ids=["hangs-up", "slow", "not-json"])
async def test_a_call_whose_answer_is_lost_is_counted_as_dear_as_it_may_have_been(
    ask: Asking, lost: str | Reply
) -> None:
    model = f"gemini-3.8-flash-{uuid.uuid4().hex}"
    async with gemini(lost) as server:
        with pytest.raises((UnreachableError, OutgoingTimeoutError, TryAgainLaterError)):
            await ask(server, model=model, prompt="x" * 4_000, max_output_tokens=300, timeout_seconds=0.2)
    [total] = [total for total in await load_model_totals(ask.pool) if total.model == model]
    assert (total.outcome, total.answers, total.input_tokens, total.output_tokens) == ("lost", 1, 1_000, 300)
    assert total.cost > 0


async def test_a_call_that_was_refused_is_not_counted(ask: Asking) -> None:
    model = f"gemini-3.8-flash-{uuid.uuid4().hex}"
    async with gemini(refused(403, "no")) as server:
        with pytest.raises(RequestRefusedError):
            await ask(server, model=model)
    assert [total for total in await load_model_totals(ask.pool) if total.model == model] == []


async def test_tokens_and_cost_are_counted_also_of_what_is_of_no_use(ask: Asking) -> None:
    model = "gemini-3.8-flash-counted"
    async with gemini(wrote("", finish_reason="SAFETY", model=model, input_tokens=1_000_000)) as server:
        with pytest.raises(AnswerUnusableError):
            await ask(server)
    [total] = [total for total in await load_model_totals(ask.pool) if total.model == model]
    assert (total.outcome, total.answers, total.input_tokens) == ("refused", 1, 1_000_000)
    assert total.cost > 0
    sample = ask.metrics.registry.get_sample_value
    assert sample("docrail_model_tokens_total", {"model": model, "kind": "input"}) == 1_000_000
    assert Decimal(str(sample("docrail_model_cost_total", {"model": model}))) == total.cost


async def test_once_the_days_budget_is_used_up_it_waits_for_the_next_day(ask: Asking) -> None:
    async with gemini(wrote("dear", input_tokens=4_000_000)) as server:
        await ask(server)
        poor = GeminiAccess(KEY, server.url, MODEL, budget_per_day=Decimal("0.01"))
        with pytest.raises(BudgetUsedError, match=r"today's budget for Gemini, 0\.01 USD, is used up") as reported:
            await run(HANDLER, {"prompt": "?"}, tools_with(gemini=poor, db=ask.pool, metrics=ask.metrics))
    assert len(server.asked) == 1
    assert 0 < (reported.value.retry_after_seconds or 0) <= 86_400


async def test_an_answer_that_cannot_be_counted_is_reported_all_the_same(
    dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    away = await open_pool(dsn)
    await away.close()
    async with gemini(wrote("It is an invoice.")) as server:
        output = await Asking(away)(server)
    assert output["result"] == "It is an invoice."
    assert "for an answer of gemini-test-001 could not be counted for step step of invoice.1" in caplog.text
