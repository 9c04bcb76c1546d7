"""The fake Gemini: what its scripts and mixes say, and that it speaks HTTP as the API does."""

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.embedded.fake_gemini.replies import Reply
from docrail.embedded.fake_gemini.scenarios import (
    MEANINGS,
    Mix,
    PlayedScenario,
    Scenario,
    ScenarioError,
    parse_mix,
    parse_script,
)
from tests.cli.process import docrail, running
from tests.gemini import KEY, gemini, most_within

ASKED: Json = {"contents": [{"parts": [{"text": "Hello"}]}]}
TARGET = "/v1/models/gemini-x:generateContent"


def names(chooser: object, count: int) -> list[str]:
    assert hasattr(chooser, "next")
    return [str(chooser.next()) for _ in range(count)]


def test_every_scenario_says_what_it_means() -> None:
    assert set(MEANINGS) == set(Scenario)


def test_a_script_is_played_in_turn_and_stays_with_its_last() -> None:
    assert names(parse_script("429:2*3, 503,ok"), 7) == ["429:2", "429:2", "429:2", "503", "ok", "ok", "ok"]


def test_a_mix_draws_the_same_for_the_same_seed_in_its_shares() -> None:
    drawn = names(parse_mix("429=0.2,slow:3=0.1", seed=7), 2000)
    assert drawn == names(parse_mix("429=0.2,slow:3=0.1", seed=7), 2000)
    assert drawn != names(parse_mix("429=0.2,slow:3=0.1", seed=8), 2000)
    shares = {name: drawn.count(name) / len(drawn) for name in set(drawn)}
    assert shares == {
        name: pytest.approx(share, abs=0.03) for name, share in {"429": 0.2, "slow:3": 0.1, "ok": 0.7}.items()
    }


@pytest.mark.parametrize("text", ["", "oki", "ok:", "ok*0", "429:x", "ok;503", "ok*9999999"])
def test_a_script_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="expected NAME, NAME:NUMBER or NAME\\*TIMES, of ok, 429, 503"):
        parse_script(text)


@pytest.mark.parametrize("text", ["429", "429=x", "429=1.5", "429=0.6,503=0.6", "429=-1", "lost=0.1"])
def test_a_mix_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="expected"):
        parse_mix(text, seed=1)


def test_only_some_scenarios_wait() -> None:
    printed = [PlayedScenario(Scenario.SLOW), PlayedScenario(Scenario.SLOW, 0.5), PlayedScenario(Scenario.TOO_MANY, 5)]
    assert [each.delay_seconds for each in printed] == [2.0, 0.5, 0.0]
    assert isinstance(Mix([], seed=1).next(), PlayedScenario)


def test_an_answer_is_cut_only_where_less_is_allowed_than_it_needs() -> None:
    printed = PlayedScenario(Scenario.MAX_TOKENS, 20_000)
    assert isinstance(printed.reply(allowed_tokens=19_999), Reply)
    assert printed.reply(allowed_tokens=20_000) is None


async def test_it_answers_a_question_and_remembers_it() -> None:
    async with gemini(says="Hello, too") as fake, httpx.AsyncClient(base_url=fake.url, trust_env=False) as http:
        answer = await http.post(TARGET, json=ASKED, headers={"x-goog-api-key": KEY})
    assert answer.json()["candidates"][0]["content"]["parts"] == [{"text": "Hello, too"}]
    [asked] = fake.asked
    assert (asked.model, asked.prompt, asked.document) == ("gemini-x", "Hello", None)


@pytest.mark.parametrize(
    ("target", "key", "status"), [("/v1/models", KEY, 404), (TARGET, "", 403), ("/v1/models/m:embed", KEY, 404)]
)
async def test_unknown_requests_are_refused_as_by_the_api(target: str, key: str, status: int) -> None:
    async with gemini() as fake, httpx.AsyncClient(base_url=fake.url, trust_env=False) as http:
        answer = await http.post(target, json=ASKED, headers={"x-goog-api-key": key} if key else {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, status)


async def test_clients_waiting_for_a_slow_answer_are_released_at_shutdown() -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=0.3) as http, gemini("slow:3600") as fake:
        with pytest.raises(httpx.ReadTimeout):
            await http.post(fake.url + TARGET, json=ASKED, headers={"x-goog-api-key": KEY})
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("arrivals", "most"), [([], 0), ([1.0], 1), ([0, 0.5, 0.99, 1.0], 3), ([0, 5, 5.1, 5.2, 9], 3)]
)
def test_the_most_within_a_second_are_counted_in_any_window(arrivals: list[float], most: int) -> None:
    assert most_within(arrivals, 1.0) == most


async def test_the_command_serves_until_it_is_stopped() -> None:
    async with running("server", "fake-gemini", "--port", "0", "--scenario", "429:7,ok", "--says", "Moin") as command:
        await command.wait_for("DOCRAIL_GEMINI_API_KEY=any")
        url = command.said.partition("DOCRAIL_GEMINI_BASE_URL=")[2].split()[0]
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            first = await http.post(TARGET, json=ASKED, headers={"x-goog-api-key": "any"})
            second = await http.post(TARGET, json=ASKED, headers={"x-goog-api-key": "any"})
        await command.wait_for("2  gemini-x  ")
        assert await command.end() == 0
    assert (first.status_code, first.headers["retry-after"]) == (429, "7")
    assert "Moin" in second.text


async def test_the_command_teaches_its_scenarios_and_refuses_others() -> None:
    printed = await docrail("server", "fake-gemini", "--help")
    assert all(scenario in printed.out for scenario in Scenario)
    assert "DOCRAIL_GEMINI_BASE_URL=http://127.0.0.1:9200" in printed.out
    refused = await docrail("server", "fake-gemini", "--scenario", "chaos")
    assert refused.code == 2
    assert "'chaos' is not a scenario" in refused.err
