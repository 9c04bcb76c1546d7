"""Callback URLs are valid once, for one step, for a limited time; repeating the same answer succeeds."""

import asyncio
import time
from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr

from docrail.dag.values.json_values import MAX_VALUE_BYTES, Json
from docrail.services.callback_urls import CallbackKeys, Claim
from tests.api.customer import KEY, asked, outgoing, post, start, token_of, unique, until_waiting
from tests.api.service import Service, serve, settings_for, work
from tests.loopback import Loopback, Reply, loopback
from tests.stack import Servers, eventually

DECISION = {"type": "object", "required": ["decision"], "properties": {"decision": {"type": "string"}}}
QUICK = {"max_retries": 0}


@pytest.fixture(scope="module")
async def served(embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with outgoing(embedded.temporal_address, dsn, tmp_path_factory.mktemp("callbacks")) as service:
        yield service


@pytest.fixture
async def customer() -> AsyncIterator[Loopback]:
    async with loopback() as server:
        yield server


def asking(customer: Loopback, *, before: list[Json] | None = None, **wait: Json) -> dict[str, Json]:
    """Return a definition that sends the customer a URL, and waits for the answer after the steps `before`."""
    ask = {
        "id": "ask",
        "handler": "send_webhook",
        "config": {"url": customer.url, "body": {"reply_to": "{{ run.callbacks.reply }}"}},
    }
    reply = {"id": "reply", "depends_on": ["ask"], "wait": {"for": "webhook", "accept": DECISION, **wait}}
    if before:
        reply["depends_on"] = [*(step["id"] for step in before)]
    outputs = {"decision": "{{ reply.decision }}"}
    return {"id": unique("asking"), "steps": [ask, *(before or []), reply], "outputs": outputs}


async def ask(served: Service, customer: Loopback, **wait: Json) -> tuple[str, str]:
    """Start a run, and return its id and the URL that the customer got."""
    run_id = await start(served, asking(customer, **wait))
    url: str = (await asked(customer))["reply_to"]
    await until_waiting(served, run_id)
    return run_id, url


def outcome_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json().get("type", response.json().get("status"))


async def test_a_url_is_good_once_and_for_the_same_answer_again(served: Service, customer: Loopback) -> None:
    run_id, url = await ask(served, customer)
    assert outcome_of(await post(url, {"decision": "yes"})) == (200, "answered")
    assert (await served.ended(run_id))["outputs"] == {"decision": "yes"}
    assert outcome_of(await post(url, {"decision": "yes"})) == (200, "answered")
    assert (await post(url, {"decision": "no"})).status_code in (409, 410)


async def test_a_second_answer_while_the_run_continues_is_late(served: Service, customer: Loopback) -> None:
    definition = asking(customer)
    definition["steps"].append({"id": "more", "depends_on": ["reply"], "wait": {"for": "signal"}})
    run_id = await start(served, definition)
    url = (await asked(customer))["reply_to"]
    await post(url, {"decision": "yes"})
    late = await post(url, {"decision": "no"})
    assert outcome_of(late) == (409, "/problems/already-answered")
    assert "yes" not in late.text
    assert outcome_of(await post(url, {"decision": "yes"})) == (200, "answered")
    await served.http.post(f"/v1/runs/{run_id}/waits/more", json={"answer": 1})


async def test_of_many_answers_at_once_exactly_one_counts(served: Service, customer: Loopback) -> None:
    run_id, url = await ask(served, customer)
    answers = await asyncio.gather(*(post(url, {"decision": f"no {number}"}) for number in range(8)))
    [winner] = [number for number, answer in enumerate(answers) if answer.status_code == 200]
    assert {answer.status_code for answer in answers} <= {200, 409, 410}
    assert (await served.ended(run_id))["outputs"] == {"decision": f"no {winner}"}


async def test_an_answer_that_does_not_fit_is_refused_and_the_url_stays_good(
    served: Service, customer: Loopback
) -> None:
    _, url = await ask(served, customer)
    refused = await post(url, {"verdict": "yes"})
    assert outcome_of(refused) == (422, "/problems/invalid-input")
    assert [(problem["path"], problem["message"]) for problem in refused.json()["problems"]] == [
        ("answer.decision", "is required")
    ]
    assert outcome_of(await post(url, {"decision": "yes"})) == (200, "answered")


async def test_an_answer_may_come_before_the_run_waits(served: Service, customer: Loopback) -> None:
    gate = {"id": "gate", "depends_on": ["ask"], "wait": {"for": "signal"}}
    run_id = await start(served, asking(customer, before=[gate]))
    url = (await asked(customer))["reply_to"]
    assert outcome_of(await post(url, {"decision": "early"})) == (200, "answered")
    assert outcome_of(await post(url, {"decision": "early"})) == (200, "answered")
    await served.http.post(f"/v1/runs/{run_id}/waits/gate", json={"answer": 1})
    assert (await served.ended(run_id))["outputs"] == {"decision": "early"}


async def test_after_its_run_was_aborted_a_url_is_over(served: Service, customer: Loopback) -> None:
    run_id, url = await ask(served, customer)
    await served.http.post(f"/v1/runs/{run_id}/abort")
    await served.ended(run_id)
    assert outcome_of(await post(url, {"decision": "yes"})) == (410, "/problems/callback-over")


async def test_a_url_of_a_deleted_run_is_over(served: Service) -> None:
    token = CallbackKeys((KEY,)).sign(Claim("default", "asking.gone", "reply", int(time.time()) + 60))
    assert outcome_of(await served.http.post(f"/v1/callbacks/{token}", json={})) == (410, "/problems/callback-over")


async def test_a_url_whose_time_is_up_is_over(served: Service) -> None:
    token = CallbackKeys((KEY,)).sign(Claim("default", "asking.gone", "reply", int(time.time()) - 1))
    over = await served.http.post(f"/v1/callbacks/{token}", json={})
    assert (over.status_code, over.json()["detail"]) == (410, "this callback URL is no longer valid: it has expired")


async def test_an_unsigned_token_is_unknown_and_not_repeated(served: Service, customer: Loopback) -> None:
    run_id, url = await ask(served, customer)
    said, _, signature = token_of(url).partition(".")
    other = CallbackKeys(("f" * 32,)).sign(Claim("default", run_id, "reply", int(time.time()) + 60))
    longer = f"{said}AAAA.{signature}"
    for token in (other, longer, said, f"{said}.", f".{signature}", f"{said}.{signature[:-4]}", "x" * 4096, "ä.ö"):
        unknown = await served.http.post(f"/v1/callbacks/{token}", json={"decision": "yes"})
        assert outcome_of(unknown) == (404, "/problems/not-found")
        assert token not in unknown.text or len(token) <= 8
    assert outcome_of(await post(url, {"decision": "yes"})) == (200, "answered")


async def test_only_posts_of_json_that_is_not_too_large_are_taken(served: Service, customer: Loopback) -> None:
    _, url = await ask(served, customer)
    async with httpx.AsyncClient(trust_env=False) as client:
        for method in ("GET", "PUT", "DELETE"):
            assert (await client.request(method, url)).status_code == 405
        as_json = {"Content-Type": "application/json"}
        assert (await client.post(url, content=b"{", headers=as_json)).status_code == 422
        assert (await client.post(url, content=b'{"decision": NaN}', headers=as_json)).status_code == 422
        assert (await client.post(url, content=b" " * (2 * MAX_VALUE_BYTES + 1), headers=as_json)).status_code == 413
    assert (await post(url, {"decision": "x" * MAX_VALUE_BYTES})).status_code == 422
    assert outcome_of(await post(url, {"decision": "yes"})) == (200, "answered")


async def test_a_document_cannot_ask_for_a_url(served: Service, customer: Loopback) -> None:
    """Text from outside that looks like a placeholder stays unchanged."""
    definition = asking(customer)
    definition["inputs"] = {"text": {"type": "string"}}
    definition["steps"][0]["config"]["body"]["text"] = "{{ inputs.text }}"
    text = f"callback://{'0' * 32}/reply callback://reply {{{{ run.callbacks.reply }}}}"
    await start(served, definition, text=text)
    assert (await asked(customer))["text"] == text


async def test_no_history_and_no_report_holds_a_url(served: Service, customer: Loopback) -> None:
    """Even if a step returns its input."""
    definition = asking(customer)
    config = {"value": ["see {{ run.callbacks.reply }}"]}
    definition["steps"].insert(0, {"id": "again", "handler": "echo", "config": config})
    run_id = await start(served, definition)
    url = (await asked(customer))["reply_to"]
    await post(url, {"decision": "yes"})
    ended = await served.ended(run_id)
    assert ended["steps"]["again"]["output"]["value"][0].startswith("see callback://")
    handle = served.app.temporal.get_workflow_handle(f"default/{run_id.replace('.', '/', 1)}")
    assert token_of(url) not in (await handle.fetch_history()).to_json() + str(ended)


async def test_urls_of_steps_whose_names_begin_alike_are_not_mixed_up(served: Service, customer: Loopback) -> None:
    definition = asking(customer)
    definition["steps"].append({"id": "reply2", "depends_on": ["ask"], "wait": {"for": "webhook"}})
    definition["steps"][0]["config"]["body"]["other"] = "{{ run.callbacks.reply2 }}"
    run_id = await start(served, definition)
    urls = await asked(customer)
    await post(urls["other"], {"of": "reply2"})
    await post(urls["reply_to"], {"decision": "of reply"})
    steps = (await served.ended(run_id))["steps"]
    assert (steps["reply"]["output"], steps["reply2"]["output"]) == ({"decision": "of reply"}, {"of": "reply2"})


async def test_a_nested_run_sends_the_url_of_the_run_around_it_and_its_own(served: Service, customer: Loopback) -> None:
    inner = asking(customer)
    inner["inputs"] = {"outer": {"type": "string", "required": True}}
    inner["steps"][0]["config"]["body"]["outer"] = "{{ inputs.outer }}"
    published = await served.http.post("/v1/definitions", json={"definition": inner})
    assert published.is_success, published.text
    nested = {"id": inner["id"], "inputs": {"outer": "{{ run.callbacks.theirs }}"}}
    steps = [{"id": "inside", "workflow": nested}, {"id": "theirs", "wait": {"for": "webhook"}}]
    run_id = await start(served, {"id": unique("outer"), "steps": steps})
    urls = await asked(customer)
    assert outcome_of(await post(urls["outer"], {"from": "outside"})) == (200, "answered")
    assert outcome_of(await post(urls["reply_to"], {"decision": "yes"})) == (200, "answered")
    ended = (await served.ended(run_id))["steps"]
    assert ended["theirs"]["output"] == {"from": "outside"}
    assert ended["inside"]["output"] == {"decision": "yes"}


async def test_a_replaced_key_is_accepted_until_it_is_removed(
    served: Service, customer: Loopback, embedded: Servers
) -> None:
    _, url = await ask(served, customer)
    new = "n" * 32
    for keys, status in ((new, 404), (f"{new}, {KEY}", 200)):
        settings = served.settings.model_copy(update={"callback_key": SecretStr(keys)})
        async with serve(settings) as rotated:
            path = f"/v1/callbacks/{token_of(url)}"
            assert (await rotated.http.post(path, json={"decision": "yes"})).status_code == status


async def test_every_attempt_at_a_message_sends_the_same_url_under_the_same_id(served: Service) -> None:
    """Receivers recognise a repetition by its id; another body under the same id would confuse them."""
    async with loopback(Reply(503), Reply()) as customer:
        definition = asking(customer)
        definition["steps"][0]["retry_config"] = {"initial_delay": 0.05, "jitter": 0}
        await start(served, definition)
        await asked(customer, 2)
        first, second = customer.asked
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


async def test_without_an_address_or_a_key_the_step_says_what_is_missing(
    embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory, customer: Loopback
) -> None:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("unset"))
    settings = settings.model_copy(update={"allowed_hosts": ("127.0.0.1",)})
    async with serve(settings) as service:
        for more, missing in (
            ({}, "DOCRAIL_PUBLIC_URL"),
            ({"public_url": "https://docrail.example"}, "DOCRAIL_CALLBACK_KEY"),
        ):
            async with work(settings.model_copy(update=more)):
                definition = asking(customer)
                definition["steps"][0]["total_timeout_seconds"] = 1
                ended = await service.ended(await start(service, definition))
            assert ended["status"] == "failed"
            assert missing in ended["steps"]["ask"]["error"]["message"]
    assert customer.asked == []


async def test_while_no_worker_is_there_the_customer_is_asked_to_come_again(
    embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory, customer: Loopback
) -> None:
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("away"))
    settings = settings.model_copy(update={"allowed_hosts": ("127.0.0.1",), "callback_key": SecretStr(KEY)})
    async with serve(settings) as service:
        public = settings.model_copy(update={"public_url": str(service.http.base_url)})
        async with work(public):
            run_id, url = await ask(service, customer)
        away = await post(url, {"decision": "yes"})
        assert (away.status_code, away.json()["service"], away.headers["retry-after"]) == (503, "worker", "2")
        async with work(public):

            async def is_taken() -> bool:
                return (await post(url, {"decision": "yes"})).status_code == 200

            await eventually(is_taken, "the answer to be taken")
            assert (await service.ended(run_id))["status"] == "completed"
