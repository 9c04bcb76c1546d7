"""`call_external_service` against a real server on loopback."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from docrail.activities.handlers.call_external_service import HANDLER, Config
from docrail.adapters.http.addresses import RefusedAddressError
from docrail.adapters.http.errors import AnswerUnusableError, RequestRefusedError, TryAgainLaterError
from docrail.adapters.secrets import RefusedSecretError
from docrail.dag.values.json_values import Json
from tests.activities.outside import run, tools_with
from tests.loopback import Reply, loopback, reply_json


async def test_json_comes_back_as_json() -> None:
    async with loopback(reply_json({"total": 12.5}, ETag='"v1"', Set_Cookie="a=b")) as service:
        output = await run(HANDLER, {"url": f"{service.url}/invoices"}, tools_with())
    assert output == {
        "status": 200,
        "headers": {"content-type": "application/json", "etag": '"v1"'},
        "result": {"total": 12.5},
    }
    assert (service.asked[0].method, service.asked[0].target, service.asked[0].body) == ("GET", "/invoices", b"")


async def test_other_things_come_back_as_text_and_nothing_as_null() -> None:
    async with loopback(Reply(body="grüß".encode()), Reply(204)) as service:
        assert (await run(HANDLER, {"url": service.url}, tools_with()))["result"] == "grüß"
        assert (await run(HANDLER, {"url": service.url}, tools_with()))["result"] is None


@pytest.mark.parametrize("word", ["body", "json", "payload"])
async def test_a_body_is_posted_as_json(word: str) -> None:
    async with loopback() as service:
        await run(HANDLER, {"url": service.url, word: {"name": "ü", "n": None}}, tools_with())
    [asked] = service.asked
    assert (asked.method, asked.json()) == ("POST", {"name": "ü", "n": None})
    assert asked.headers["content-type"] == "application/json"


async def test_a_query_is_added_to_that_of_the_url() -> None:
    async with loopback() as service:
        config = {"url": f"{service.url}/a?x=1", "query": {"y": "a&b", "z": [1, 2], "true": True}, "method": "DELETE"}
        await run(HANDLER, config, tools_with())
    assert service.asked[0].method == "DELETE"
    assert service.asked[0].query == {"x": ["1"], "y": ["a&b"], "z": ["1", "2"], "true": ["true"]}


async def test_every_attempt_has_the_same_idempotency_key() -> None:
    async with loopback() as service:
        for attempt in (1, 2):
            await run(HANDLER, {"url": service.url, "body": 1}, tools_with(), attempt=attempt)
        await run(HANDLER, {"url": service.url, "body": 1}, tools_with(), step_id="other")
        await run(HANDLER, {"url": service.url, "headers": {"idempotency-key": "mine"}}, tools_with())
    first, again, other, own = (asked.headers["idempotency-key"] for asked in service.asked)
    assert first == again != other
    assert own == "mine"


async def test_a_header_carries_a_secret_and_what_is_echoed_does_not(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "erp").write_text("hush-hush")
    (tmp_path / "acme" / "erp.hosts").write_text("127.0.0.1")
    headers = {"Authorization": "Bearer secret://erp"}
    async with loopback(reply_json({"you": "hush-hush"}, Link="<hush-hush>")) as service:
        output = await run(HANDLER, {"url": service.url, "headers": headers}, tools_with(tmp_path))
        assert service.asked[0].headers["authorization"] == "Bearer hush-hush"
        assert (output["result"], output["headers"]["link"]) == ({"you": "[secret]"}, "<[secret]>")
        (tmp_path / "acme" / "erp.hosts").write_text("erp.internal")
        with pytest.raises(RefusedSecretError):
            await run(HANDLER, {"url": service.url, "headers": headers}, tools_with(tmp_path))
    assert len(service.asked) == 1


async def test_a_secret_named_by_a_template_prevents_the_call(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "bank").write_text("hush-hush")
    async with loopback() as service:
        config = {"url": service.url, "headers": {"X-Note": "paid, see secret://bank"}}
        with pytest.raises(RefusedSecretError, match=r"headers\.X-Note refers to the secret 'bank'"):
            await run(HANDLER, config, tools_with(tmp_path), named=())
    assert service.asked == []


async def test_the_guard_stands_before_every_call() -> None:
    with pytest.raises(RefusedAddressError, match="a cloud's metadata service"):
        await run(HANDLER, {"url": "http://169.254.169.254/latest/meta-data"}, tools_with())


async def test_a_status_that_was_not_expected_is_an_error_of_its_kind() -> None:
    async with loopback(Reply(404, b"no such invoice"), Reply(503, headers={"Retry-After": "9"})) as service:
        with pytest.raises(RequestRefusedError, match="answered 404 Not Found: no such invoice"):
            await run(HANDLER, {"url": service.url}, tools_with())
        with pytest.raises(TryAgainLaterError, match="answered 503 Service Unavailable") as reported:
            await run(HANDLER, {"url": service.url}, tools_with())
    assert reported.value.retry_after_seconds == 9


async def test_a_status_that_was_expected_is_an_answer() -> None:
    async with loopback(Reply(404), Reply(200)) as service:
        config = {"url": service.url, "expected_statuses": [404]}
        assert (await run(HANDLER, config, tools_with()))["status"] == 404
        with pytest.raises(RequestRefusedError, match="answered 200 OK"):
            await run(HANDLER, config, tools_with())


async def test_an_answer_that_cannot_be_handed_on_is_refused() -> None:
    async with loopback(Reply(body=b"x" * 101), Reply(body=b"{", headers={"Content-Type": "text/json"})) as service:
        with pytest.raises(AnswerUnusableError, match=r"answered more than 100 bytes \(max_bytes\)"):
            await run(HANDLER, {"url": service.url, "max_bytes": 100}, tools_with())
        with pytest.raises(AnswerUnusableError, match="answered invalid JSON"):
            await run(HANDLER, {"url": service.url}, tools_with())


@pytest.mark.parametrize(
    "config",
    [
        {"url": "mock://customers/1"},
        {"url": "https://a.example", "method": "TRACE"},
        {"url": "https://a.example", "body": "secret://k"},
        {"url": "https://a.example", "query": {"key": "secret://k"}},
        {"url": "https://a.example", "expected_statuses": [99]},
        {"url": "https://a.example", "verify": False},
    ],
)
def test_a_config_that_can_never_be_right_is_refused_at_submit(config: Json) -> None:
    with pytest.raises(ValidationError):
        Config.model_validate(config)
