"""The settings: what they are called, and that a wrong one is refused by its name."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from settings import Settings


def test_every_setting_says_what_it_is() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_a_setting_is_an_environment_variable_with_our_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_DATA_DIR", "/srv/docrail")
    monkeypatch.setenv("DATA_DIR", "elsewhere")
    assert Settings().data_dir == Path("/srv/docrail")


def test_a_setting_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_API_PORT", "70000")
    with pytest.raises(ValidationError, match="api_port"):
        Settings()
