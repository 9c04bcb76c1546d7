"""Checks that a definition does not say what only a run may: what stands for a stored value."""

from dag.checks.findings import Findings
from dag.problems import Path
from dag.stored import STORED
from dag.values import Json

_MESSAGE = f"the key '{STORED}' is kept for what stands for a large value in a run; write {{{{ STEP }}}} to pass one on"


def check_reserved_keys(document: Json, findings: Findings) -> None:
    """Report each key of `document`, as its author wrote it, that stands for a stored value.

    Tests may say it: what they give is read as the outside gives it, and no run sees it.
    """
    pending: list[tuple[Path, Json]] = [((), document)]
    while pending:
        path, part = pending.pop()
        if isinstance(part, dict):
            if STORED in part:
                findings.error("reserved-key", (*path, STORED), _MESSAGE, STORED.removeprefix("$"), at_key=True)
            pending.extend(((*path, key), item) for key, item in part.items() if path or key != "tests")
        elif isinstance(part, list):
            pending.extend(((*path, place), item) for place, item in enumerate(part))
