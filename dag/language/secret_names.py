"""Which secrets a definition names: `secret://name` as its author wrote it, never as a value filled it in."""

import re
from collections.abc import Iterator

from docrail.dag.values.json_values import Json

SECRET_REFERENCE = re.compile(r"secret://([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?![A-Za-z0-9_-])")


def secrets_in(config: Json) -> tuple[str, ...]:
    """Return the names of the secrets that the texts in `config` refer to, in order, each once.

    Of a config as it was written these are the author's; of a resolved one they may be anybody's.
    """
    return tuple(dict.fromkeys(_names(config)))


def _names(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield from SECRET_REFERENCE.findall(value)
        return
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _names(part)
