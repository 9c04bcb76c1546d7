"""Find the secrets that a definition names: `secret://name` as its author wrote it, never in a resolved value."""

import re

from docrail.dag.values.json_parts import walk
from docrail.dag.values.json_values import Json

SECRET_REFERENCE = re.compile(r"secret://([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?![A-Za-z0-9_-])")


def secrets_in(config: Json) -> tuple[str, ...]:
    """Return the names of the secrets that the texts in `config` refer to, in order, each once.

    Pass the config as written: a resolved one may contain names that its author did not write.
    """
    texts = (part for _, part in walk(config) if isinstance(part, str))
    return tuple(dict.fromkeys(name for text in texts for name in SECRET_REFERENCE.findall(text)))
