"""The settings file: a TOML file whose tables and names, joined by `_`, are the names of settings."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

VARIABLE = "DOCRAIL_SETTINGS_FILE"
"""The environment variable with the file's path."""


class SettingsFileError(Exception):
    """The settings file cannot be read."""


def settings_path() -> Path | None:
    """Return the path of the settings file; None without one. An empty variable counts as unset."""
    path = os.environ.get(VARIABLE)
    return Path(path).expanduser() if path else None


def read_settings_file(path: Path) -> dict[str, Any]:
    """Return the file's tables, as TOML has them. Raises: SettingsFileError."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsFileError(f"{VARIABLE}: {path}: {error.strerror}") from None
    except ValueError as error:  # neither TOML nor UTF-8
        raise SettingsFileError(f"{VARIABLE}: {path} is not a TOML file: {error}") from None


def flatten(tables: Mapping[str, Any], names: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each setting with its value: `[oidc] issuer` is `oidc_issuer`. A table may be a setting's value itself."""
    for key, value in tables.items():
        name = f"{prefix}{key}".lower()
        if isinstance(value, dict) and name not in names:
            yield from flatten(value, names, f"{name}_")
        else:
            yield name, value


def setting_text(name: str) -> str:
    """Return one setting as text, without loading all of them: from its variable, else from the file, else empty."""
    if (given := os.environ.get(f"DOCRAIL_{name.upper()}")) is not None:
        return given
    path = settings_path()
    value = dict(flatten(read_settings_file(path), {name: None})).get(name, "") if path else ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
