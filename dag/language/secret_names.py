"""Find the secrets that a definition names: `secret://name` as its author wrote it, never in a resolved value."""

import re
from collections.abc import Iterator

from docrail.dag.values.json_values import Json

SECRET_REFERENCE = re.compile(r"secret://([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?![A-Za-z0-9_-])")


def secrets_in(config: Json) -> tuple[str, ...]:
    """Return the names of the secrets that the texts in `config` refer to, in order, each once.

    Pass the config as written: a resolved one may contain names that its author did not write.
    """
    return tuple(dict.fromkeys(_names(config)))


def _names(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield from SECRET_REFERENCE.findall(value)
        return
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _names(part)
