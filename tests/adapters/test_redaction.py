"""What redaction finds of a secret, in every form that a service or a log may repeat."""

import base64
import html
import json
import logging
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import pytest

from docrail.adapters.redaction import REDACTED, Redaction, record, redacted_logs, redaction, start_recording

TOKEN = "tok_live/\"aB+c'd<9>Zq& \\z7"
UMLAUTS = "Schlüssel-Wörter-€"


def escaped(value: str) -> Iterator[str]:
    yield from (value, value.upper(), value.lower(), value.swapcase(), value[::-1])
    yield from (json.dumps(value), json.dumps(value, ensure_ascii=False), json.dumps(json.dumps(value)))
    yield from (repr(value), repr(repr(value)), repr(value.encode()))
    yield from (quote(value), quote(value, safe=""), quote_plus(value), quote(quote(value, safe="")))
    yield "".join(f"%{octet:02x}" for octet in value.encode())
    yield from (html.escape(value), html.escape(html.escape(value)))
    for form in ("&#{0};", "&#x{0:X};", "&#x{0:04x};", "\\u{0:04x}", "\\u{{{0:x}}}"):
        yield "".join(form.format(ord(character)) for character in value)
    yield f"{value[:8]}\r\n  {value[8:]}"
    yield json.dumps(f"{value[:8]}\n{value[8:]}")
    yield "\n".join(value)


def encoded(value: str) -> Iterator[str]:
    data = value.encode()
    yield from (data.hex(), data.hex().upper(), data.hex(":"), data.hex(" "), repr([hex(octet) for octet in data]))
    for before in ("", "u:", "Bearer ", "user-name:"):
        for after in ("", "@", "  "):
            whole = (before + value + after).encode()
            yield base64.b64encode(whole).decode()
            yield base64.urlsafe_b64encode(whole).decode()
            yield base64.encodebytes(whole).decode()
            yield quote(base64.b64encode(whole).decode(), safe="")
            yield json.dumps(base64.encodebytes(whole).decode()).replace("/", "\\/")


def shown(text: str, *values: str) -> str:
    return Redaction(frozenset(values)).text(text)


@pytest.mark.parametrize("value", [TOKEN, UMLAUTS, "hush-hush", "4711-0815-4711", "AKIA0123456789ABCDEF"])
def test_every_form_is_found(value: str) -> None:
    for form in (*escaped(value), *encoded(value)):
        found = shown(f"you sent <{form}> to us", value)
        assert REDACTED in found, form
        assert len(found) < len(f"you sent <{REDACTED}> to us") + 30, (form, found)  # "user-name:" in base64


def test_other_text_stays() -> None:
    text = json.dumps({"a": 'x\\n "y" 100%25 &amp; é €', "b": ["hush", "HUSH-", 12.5]})
    assert shown(text, "hush-hush", TOKEN, UMLAUTS) == text


def test_a_short_value_is_no_secret() -> None:
    assert shown("abcde", "abcde") == "abcde"
    assert shown("abcdef", "abcdef") == REDACTED


def test_what_a_value_decodes_to_its_lines_and_its_password_are_secrets_too() -> None:
    basic = base64.b64encode(b"docrail:open sesame").decode()
    assert shown(f"{basic} docrail:open sesame, open%20sesame", basic) == f"{REDACTED} {REDACTED}, {REDACTED}"
    assert shown("first-key and second-key", "first-key\nsecond-key") == f"{REDACTED} and {REDACTED}"
    signing = base64.b64encode(b"a signing key").decode()
    assert shown(f"whsec_{signing} {signing} a signing key", f"whsec_{signing}") == " ".join([REDACTED] * 3)


def test_a_long_value_is_found_as_one() -> None:
    value = base64.b64encode(bytes(range(256)) * 8).decode()
    assert shown(f"<{value}>", value) == f"<{REDACTED}>"
    assert shown(f"<{quote(value, safe='')}>", value) == f"<{REDACTED}>"


def test_json_is_redacted_in_names_texts_and_numbers() -> None:
    own = Redaction(frozenset({"12345678", "hush-hush"}))
    given = {"hush-hush": [1, 12345678, 0.5, None, True, {"a": "<hush-hush>"}]}
    assert own.json(given) == {REDACTED: [1, REDACTED, 0.5, None, True, {"a": f"<{REDACTED}>"}]}


@pytest.mark.parametrize("cut", range(1, 9))
def test_the_beginning_of_a_cut_text_holds_no_beginning_of_a_secret(cut: int) -> None:
    own = Redaction(frozenset({"hush-hush"}))
    text = "x" * 500 + quote("hush-hush")[:cut]
    assert own.beginning(text) == "x" * (500 + cut - 72)
    assert Redaction().beginning("cut") == "cut"


@pytest.mark.parametrize("piece", ["\\", "%25", "&amp;", "h ", "hush-hush"[:-1] + "~", "\\u0068", "= "])
def test_a_hostile_text_costs_time_in_proportion_to_its_length(piece: str) -> None:
    assert REDACTED not in shown(piece * (200_000 // len(piece)), "hush-hush")


def test_nothing_shows_the_values() -> None:
    assert "hush" not in repr(Redaction(frozenset({"hush-hush"})))


async def test_logs_of_an_activity_are_redacted_with_their_traces(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("acme")
    with redacted_logs():
        start_recording()
        record("hush-hush")
        log.warning("sending %s", "hush-hush")
        try:
            _ = dict[str, str]()["hush-hush"]
        except KeyError:
            log.exception("it failed with %r", b"hush-hush")
    assert redaction() == Redaction(frozenset({"hush-hush"}))
    assert "hush" not in caplog.text
    assert f"sending {REDACTED}" in caplog.text
    assert f"KeyError: '{REDACTED}'" in caplog.text
