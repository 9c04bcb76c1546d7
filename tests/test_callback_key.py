"""The keys that a stack keeps in its data folder: of callback URLs, if the settings have none, and of webhooks."""

import datetime as dt
import stat
from pathlib import Path

import pytest
from pydantic import ValidationError
from standardwebhooks import Webhook

from docrail.adapters.http.webhooks import DEFAULT_SECRET, sign
from docrail.adapters.secrets import SecretStore
from docrail.embedded.claims import DataFolderError, keep_key, make_webhook_secret
from docrail.services.access.models import DEFAULT_TENANT
from docrail.settings import Settings


def test_a_folder_keeps_one_key_that_only_its_owner_may_read(tmp_path: Path) -> None:
    key = keep_key(tmp_path)
    assert len(key) == 64
    assert keep_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "callback.key").stat().st_mode) == 0o600


def test_a_crash_while_the_key_was_made_leaves_none(tmp_path: Path) -> None:
    (tmp_path / "callback.new").write_text("half")
    assert len(keep_key(tmp_path)) == 64


def test_keys_of_the_settings_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_CALLBACK_KEY", f"{'n' * 32},{'o' * 32}")
    settings = Settings()
    assert settings.callback_keys.keys == ("n" * 32, "o" * 32)
    assert "n" * 32 not in repr(settings) + repr(settings.callback_keys)


def test_an_address_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_PUBLIC_URL", "docrail.example")
    with pytest.raises(ValidationError, match="expected http:// or https://"):
        Settings()


async def test_a_webhook_secret_is_made_once_where_workers_look_for_it_and_receivers_verify_with_it(
    tmp_path: Path,
) -> None:
    made = make_webhook_secret(tmp_path)
    assert made is not None
    assert (stat.S_IMODE(made.stat().st_mode), stat.S_IMODE(made.parent.stat().st_mode)) == (0o600, 0o700)
    assert make_webhook_secret(tmp_path) is None
    key = await SecretStore(Settings(data_dir=tmp_path).secrets_folder).find(DEFAULT_TENANT, DEFAULT_SECRET)
    assert key == made.read_text().strip()
    headers = sign("msg_1", '{"a":1}', [key], at=dt.datetime.now(dt.UTC))
    assert Webhook(key).verify('{"a":1}', headers) == {"a": 1}


def test_an_operators_own_webhook_secret_is_left_alone_and_so_is_an_empty_one(tmp_path: Path) -> None:
    own = tmp_path / "secrets" / "default" / "webhooks"
    own.parent.mkdir(parents=True)
    own.touch()
    assert make_webhook_secret(tmp_path) is None
    assert own.read_text() == ""


def test_secrets_that_cannot_be_written_are_reported_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "secrets").touch()
    with pytest.raises(DataFolderError, match=r"secrets/default: .+; expected a folder"):
        make_webhook_secret(tmp_path)
