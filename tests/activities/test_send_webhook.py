"""`send_webhook` and `notify` against a receiver on loopback, which checks signatures as receivers do."""

import base64
import datetime as dt
import logging
from pathlib import Path

import pytest
from pydantic import ValidationError
from standardwebhooks import Webhook, WebhookVerificationError

from docrail.activities.handlers import notify, send_webhook
from docrail.adapters.http.errors import RequestRefusedError, TryAgainLaterError
from docrail.adapters.http.webhooks import sign
from docrail.adapters.secrets import MissingSecretError, RefusedSecretError
from docrail.dag.values.json_values import Json
from tests.activities.outside import run, tools_with
from tests.loopback import Asked, Reply, loopback, reply_json

SECRET = "whsec_" + base64.b64encode(b"a key of thirty-two bytes, or so").decode()


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "customer").write_text(f"{SECRET}\n")
    (tmp_path / "acme" / "token").write_text("hush-hush\n")
    for name in ("customer", "token"):
        (tmp_path / "acme" / f"{name}.hosts").write_text("127.0.0.1")
    return tmp_path


def verified(asked: Asked, key: str = SECRET) -> Json:
    """Return the message if its signature is right. Raises: WebhookVerificationError."""
    return Webhook(key).verify(asked.body, dict(asked.headers))


async def test_a_receiver_can_verify_the_message(secrets: Path) -> None:
    async with loopback(reply_json({"taken": True})) as receiver:
        config = {"url": f"{receiver.url}/review", "body": {"amount": 6500, "name": "ü"}, "secret": "secret://customer"}
        output = await run(send_webhook.HANDLER, config, tools_with(secrets))
    [asked] = receiver.asked
    assert (asked.method, asked.target) == ("POST", "/review")
    assert asked.headers["content-type"] == "application/json"
    assert verified(asked) == {"amount": 6500, "name": "ü"}
    assert output == {
        "webhook_id": asked.headers["webhook-id"],
        "status": 200,
        "signed": True,
        "result": {"taken": True},
    }


async def test_a_message_that_was_changed_does_not_verify(secrets: Path) -> None:
    async with loopback() as receiver:
        config = {"url": receiver.url, "body": {"amount": 1}, "secret": "secret://customer"}
        await run(send_webhook.HANDLER, config, tools_with(secrets))
    [asked] = receiver.asked
    with pytest.raises(WebhookVerificationError):
        verified(Asked("POST", "/", asked.headers, b'{"amount":1000}'))


async def test_every_attempt_has_the_same_id_and_another_message_another(secrets: Path) -> None:
    async with loopback() as receiver:
        for attempt, body, step_id in ((1, {"a": 1}, "s"), (2, {"a": 1}, "s"), (1, {"a": 2}, "s"), (1, {"a": 1}, "t")):
            config = {"url": receiver.url, "body": body}
            await run(send_webhook.HANDLER, config, tools_with(secrets), attempt=attempt, step_id=step_id)
    first, again, edited, other_step = (asked.headers["webhook-id"] for asked in receiver.asked)
    assert first == again
    assert len({first, edited, other_step}) == 3


async def test_without_a_secret_of_its_own_the_tenants_key_signs_if_there_is_one(secrets: Path) -> None:
    async with loopback() as receiver:
        config = {"url": receiver.url, "payload": {"a": 1}}  # an alias of `body`
        unsigned = await run(send_webhook.HANDLER, config, tools_with(secrets))
        (secrets / "acme" / "webhooks").write_text("any words will do")
        signed = await run(send_webhook.HANDLER, config, tools_with(secrets))
    assert (unsigned["signed"], signed["signed"]) == (False, True)
    assert "webhook-signature" not in receiver.asked[0].headers
    assert Webhook(b"any words will do").verify(receiver.asked[1].body, dict(receiver.asked[1].headers)) == {"a": 1}


async def test_while_keys_change_the_old_and_the_new_one_verify(secrets: Path) -> None:
    (secrets / "acme" / "customer").write_text(f"new-key\n{SECRET}\n")
    async with loopback() as receiver:
        config = {"url": receiver.url, "body": 1, "secret": "secret://customer"}
        await run(send_webhook.HANDLER, config, tools_with(secrets))
    [asked] = receiver.asked
    assert verified(asked) == Webhook(b"new-key").verify(asked.body, dict(asked.headers)) == 1


async def test_a_secret_that_is_not_there_sends_nothing(secrets: Path) -> None:
    async with loopback() as receiver:
        config = {"url": receiver.url, "secret": "secret://nobody"}
        with pytest.raises(MissingSecretError):
            await run(send_webhook.HANDLER, config, tools_with(secrets))
    assert receiver.asked == []


@pytest.mark.parametrize("filled", [{"headers": {"X-Note": "secret://token"}}, {"secret": "secret://token"}])
async def test_a_name_that_a_template_filled_in_sends_nothing(secrets: Path, filled: dict[str, Json]) -> None:
    async with loopback() as receiver:
        with pytest.raises(RefusedSecretError, match="refers to the secret 'token'"):
            await run(send_webhook.HANDLER, {"url": receiver.url, **filled}, tools_with(secrets), named=("customer",))
    assert receiver.asked == []


async def test_headers_carry_secrets_and_the_answer_does_not(secrets: Path) -> None:
    async with loopback(Reply(body=b"you said hush-hush")) as receiver:
        config = {"url": receiver.url, "headers": {"Authorization": "Bearer secret://token"}}
        output = await run(send_webhook.HANDLER, config, tools_with(secrets))
    assert receiver.asked[0].headers["authorization"] == "Bearer hush-hush"
    assert output["result"] == "you said [secret]"


async def test_a_receiver_that_is_busy_is_asked_later(secrets: Path) -> None:
    async with loopback(Reply(429, headers={"Retry-After": "30"})) as receiver:
        with pytest.raises(TryAgainLaterError) as reported:
            await run(send_webhook.HANDLER, {"url": receiver.url}, tools_with(secrets))
    assert reported.value.retry_after_seconds == 30


async def test_a_receiver_that_refuses_is_not_asked_again(secrets: Path) -> None:
    async with loopback(Reply(410, b"gone, hush-hush")) as receiver:
        config = {"url": receiver.url, "headers": {"X-Key": "secret://token"}}
        with pytest.raises(RequestRefusedError, match=r"answered 410 Gone: gone, \[secret\]"):
            await run(send_webhook.HANDLER, config, tools_with(secrets))


@pytest.mark.parametrize(
    ("reply", "result"),
    [
        (Reply(204), None),
        (Reply(body=b"thanks"), "thanks"),
        (Reply(body=b"x" * 20_000), None),
        (Reply(body=b"{", headers={"Content-Type": "application/json"}), "{"),
    ],
)
async def test_the_receivers_answer_is_optional(secrets: Path, reply: Reply, result: Json) -> None:
    async with loopback(reply) as receiver:
        output = await run(send_webhook.HANDLER, {"url": receiver.url}, tools_with(secrets))
    assert output["result"] == result


@pytest.mark.parametrize(
    "config",
    [
        {"url": "file:///etc/passwd"},
        {"url": "https://a.example", "secret": "customer"},
        {"url": "https://a.example", "body": {"key": "secret://token"}},
        {"url": "https://a.example?key=secret://token"},
        {"url": "https://a.example", "body": 1, "payload": 2},
        {"url": "https://a.example", "timeout_seconds": 301},
    ],
)
def test_a_config_that_can_never_be_right_is_refused_at_submit(config: Json) -> None:
    with pytest.raises(ValidationError):
        send_webhook.Config.model_validate(config)


@pytest.mark.parametrize("key", ["whsec_", "whsec_a"])
def test_a_key_that_cannot_sign_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="begins with whsec_") as reported:
        sign("msg_1", "{}", [key], at=dt.datetime.now(dt.UTC))
    assert key not in str(reported.value).replace("whsec_,", "")


def test_the_signature_is_that_of_the_specification() -> None:
    """The example of the Standard Webhooks specification."""
    at = dt.datetime.fromtimestamp(1614265330, dt.UTC)
    headers = sign(
        "msg_p5jXN8AQM9LWM0D4loKWxJek", '{"test": 2432232314}', ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], at=at
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


async def test_a_notification_is_posted_where_the_operator_says(secrets: Path) -> None:
    async with loopback() as receiver:
        config = {"message": "3 parked", "title": "Inbox", "level": "warning", "details": {"count": 3}}
        output = await run(notify.HANDLER, config, tools_with(secrets, notify_url=receiver.url))
    reported = receiver.asked[0].json()
    assert reported["text"] == "[warning] Inbox: 3 parked"
    assert (reported["details"], reported["run_id"], reported["step_id"]) == ({"count": 3}, "invoice.1", "step")
    assert output == {"sent_to": "webhook", "notification_id": receiver.asked[0].headers["webhook-id"]}


async def test_every_attempt_of_a_notification_has_the_same_id() -> None:
    sent = [await run(notify.HANDLER, {"message": "done"}, tools_with(), attempt=attempt) for attempt in (1, 2)]
    assert sent[0]["notification_id"] == sent[1]["notification_id"]


async def test_without_an_address_a_notification_stands_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        output = await run(notify.HANDLER, {"message": "done"}, tools_with())
    assert output["sent_to"] == "log"
    assert "[info] done (invoice.1)" in caplog.text
