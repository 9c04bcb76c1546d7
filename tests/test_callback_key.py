"""The key of callback URLs: one that a stack keeps in its data folder, or those of the settings."""

import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from embedded.claims import keep_key
from settings import Settings


def test_a_folder_keeps_one_key_that_nobody_else_may_read(tmp_path: Path) -> None:
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
