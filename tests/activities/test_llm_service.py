"""`llm_service` with the real SDK, against a server on loopback that answers as Gemini does."""

import pytest

from activities.errors import (
    AnswerUnusableError,
    OutgoingTimeoutError,
    RequestRefusedError,
    TryAgainLaterError,
    UnreachableError,
)
from activities.gemini import NotConfiguredError
from activities.handlers.llm_service import HANDLER
from activities.tools import GeminiAccess
from dag.values import Json
from tests import gemini
from tests.activities.outside import run, tools_with
from tests.loopback import Loopback, Reply, loopback

RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


async def ask(server: Loopback, **config: Json) -> Json:
    access = GeminiAccess(gemini.KEY, server.url, "gemini-default")
    return await run(HANDLER, {"prompt": "Summarise it", **config}, tools_with(gemini=access))


async def test_the_models_text_comes_back_with_its_cost() -> None:
    async with loopback(gemini.wrote("It is an invoice.")) as server:
        output = await ask(server)
    assert output == {
        "result": "It is an invoice.",
        "cut": False,
        "model": "gemini-test-001",
        "input_tokens": 7,
        "output_tokens": 11,
    }
    [asked] = server.asked
    assert asked.target.endswith("/models/gemini-default:generateContent")
    assert asked.headers["x-goog-api-key"] == gemini.KEY
    assert asked.json()["contents"] == [{"parts": [{"text": "Summarise it"}], "role": "user"}]


async def test_what_a_step_says_reaches_the_model() -> None:
    async with loopback(gemini.wrote("Ja.")) as server:
        await ask(server, model="gemini-other", system="Answer in German", temperature=0, max_output_tokens=100)
    [asked] = server.asked
    assert asked.target.endswith("/models/gemini-other:generateContent")
    assert asked.json()["systemInstruction"]["parts"] == [{"text": "Answer in German"}]
    assert asked.json()["generationConfig"] == {"temperature": 0, "maxOutputTokens": 100}


async def test_without_a_key_it_says_what_to_set() -> None:
    with pytest.raises(NotConfiguredError, match="set DOCRAIL_GEMINI_API_KEY"):
        await run(HANDLER, {"prompt": "?"}, tools_with())


async def test_a_text_that_was_cut_says_so() -> None:
    async with loopback(gemini.wrote("It is an", finish_reason="MAX_TOKENS")) as server:
        assert (await ask(server))["cut"] is True


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (gemini.blocked(), "refused the prompt: PROHIBITED_CONTENT"),
        (gemini.wrote("", finish_reason="SAFETY"), "stopped for SAFETY"),
        (gemini.wrote("half of", finish_reason="RECITATION"), "stopped for RECITATION"),
        (gemini.wrote("", finish_reason="MAX_TOKENS"), "max_output_tokens left no room"),
        (gemini.wrote(""), "wrote no text"),
    ],
)
async def test_a_model_that_does_not_answer_is_not_asked_again(reply: Reply, told: str) -> None:
    async with loopback(reply) as server:
        with pytest.raises(AnswerUnusableError, match=told):
            await ask(server)


@pytest.mark.parametrize("status", [400, 403, 404, 413])
async def test_a_wrong_request_is_not_sent_again(status: int) -> None:
    async with loopback(gemini.refused(status, "API key not valid")) as server:
        with pytest.raises(RequestRefusedError, match=f"Gemini answered {status} .*: API key not valid"):
            await ask(server)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_a_busy_model_is_asked_later_and_the_sdk_does_not_retry(status: int) -> None:
    async with loopback(gemini.refused(status, "busy", Retry_After="21")) as server:
        with pytest.raises(TryAgainLaterError) as told:
            await ask(server)
    assert told.value.retry_after_seconds == 21
    assert len(server.asked) == 1


async def test_the_delay_in_an_errors_details_counts_too() -> None:
    async with loopback(gemini.refused(429, "quota", {"@type": "x"}, RETRY_INFO)) as server:
        with pytest.raises(TryAgainLaterError) as told:
            await ask(server)
    assert told.value.retry_after_seconds == 34


async def test_a_body_that_is_no_json_may_be_whole_the_next_time() -> None:
    async with loopback(gemini.not_json()) as server:
        with pytest.raises(TryAgainLaterError, match="a body that is no JSON"):
            await ask(server)


async def test_a_slow_model_times_out() -> None:
    async with loopback(Reply(holds=True)) as server:
        with pytest.raises(OutgoingTimeoutError, match=r"within 0\.2 s"):
            await ask(server, timeout_seconds=0.2)


async def test_a_model_that_is_away_is_unreachable() -> None:
    async with loopback() as server:
        pass
    with pytest.raises(UnreachableError, match="Gemini cannot be reached"):
        await ask(server)
