"""A token with any change is refused; a placeholder is replaced by a URL."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.handlers import replaced
from docrail.services.callback_urls import (
    BadTokenError,
    CallbackKeys,
    CallbackUrls,
    Claim,
    NoCallbacksError,
    parse_keys,
)
from docrail.workflows.contract.messages import AttemptRequest, Callback

OLD, NEW = "o" * 32, "n" * 32
CLAIM = Claim("acme", "asking.4711~inner~ä", "reply", 1_800_000_000)
KEYS = CallbackKeys((OLD,))
ASK = Callback(placeholder="callback://1/reply", run_id="asking.4711", step_id="reply", timeout_seconds=60)


def call(*callbacks: Callback) -> AttemptRequest:
    return AttemptRequest(
        tenant_id="acme", run_id="asking.4711", step_id="ask", config={}, jitter=0, callbacks=callbacks
    )


def test_a_token_says_what_was_signed() -> None:
    assert KEYS.read(KEYS.sign(CLAIM)) == CLAIM


def test_it_is_one_part_of_a_path() -> None:
    assert set(KEYS.sign(CLAIM)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


@given(st.data())
def test_a_token_that_was_changed_anywhere_is_refused(data: st.DataObject) -> None:
    token = KEYS.sign(CLAIM)
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from("ABCXYZabcxyz0189-_.=+/ \nä").filter(lambda text: text != token[place]))
    changed = token[:place] + other + token[place + 1 :]
    with pytest.raises(BadTokenError):
        KEYS.read(changed)


@given(st.text(max_size=60))
def test_no_text_is_taken_for_a_token(text: str) -> None:
    with pytest.raises(BadTokenError):
        KEYS.read(text)


def test_another_claim_under_the_same_signature_is_refused() -> None:
    _, _, signature = KEYS.sign(CLAIM).partition(".")
    said = base64.urlsafe_b64encode(json.dumps(["globex", "asking.1", "reply", 2_000_000_000]).encode()).decode()
    with pytest.raises(BadTokenError):
        KEYS.read(f"{said.rstrip('=')}.{signature}")


def test_the_first_key_signs_and_each_is_accepted() -> None:
    both = CallbackKeys((NEW, OLD))
    assert both.read(KEYS.sign(CLAIM)) == CLAIM
    assert CallbackKeys((NEW,)).read(both.sign(CLAIM)) == CLAIM
    with pytest.raises(BadTokenError):
        KEYS.read(both.sign(CLAIM))


def test_without_keys_nothing_is_signed_and_nothing_accepted() -> None:
    with pytest.raises(NoCallbacksError, match="DOCRAIL_CALLBACK_KEY"):
        CallbackKeys().sign(CLAIM)
    with pytest.raises(BadTokenError):
        CallbackKeys().read(KEYS.sign(CLAIM))


def test_keys_are_not_shown() -> None:
    assert OLD not in repr(CallbackUrls("https://docrail.example", KEYS))


@pytest.mark.parametrize(("text", "keys"), [("", ()), (f"{NEW}, {OLD},", (NEW, OLD))])
def test_a_setting_lists_keys(text: str, keys: tuple[str, ...]) -> None:
    assert parse_keys(text) == keys


def test_a_short_key_is_refused_without_telling_it() -> None:
    with pytest.raises(ValueError, match="key 2 has fewer than 32 characters") as refused:
        parse_keys(f"{NEW},hunter2")
    assert "hunter2" not in str(refused.value)


def test_a_url_is_good_for_as_long_as_its_step_waits_and_a_week() -> None:
    [url] = CallbackUrls("https://docrail.example/base/", KEYS).of(call(ASK), asked_at=1000).values()
    base, _, token = url.rpartition("/")
    assert base == "https://docrail.example/base/v1/callbacks"
    assert KEYS.read(token) == Claim("acme", "asking.4711", "reply", 1000 + 60 + 7 * 86_400)


def test_a_step_that_waits_without_an_end_has_a_url_for_a_year() -> None:
    forever = ASK.model_copy(update={"timeout_seconds": None})
    [url] = CallbackUrls("https://docrail.example", KEYS).of(call(forever), asked_at=0).values()
    assert KEYS.read(url.rpartition("/")[2]).expires_at == 366 * 86_400


def test_a_placeholder_that_begins_another_is_replaced_after_it() -> None:
    longer = ASK.model_copy(update={"placeholder": "callback://1/reply2", "step_id": "reply2"})
    urls = CallbackUrls("https://docrail.example", KEYS).of(call(ASK, longer), asked_at=0)
    assert list(urls) == ["callback://1/reply2", "callback://1/reply"]
    assert replaced("callback://1/reply2", urls) == urls["callback://1/reply2"]


def test_texts_are_replaced_at_any_depth_and_nothing_else_is_changed() -> None:
    value = {"a": ["x1", {"x1": 5}], "b": None, "c": 1.5, "d": "no"}
    assert replaced(value, {"x1": "y"}) == {"a": ["y", {"y": 5}], "b": None, "c": 1.5, "d": "no"}
