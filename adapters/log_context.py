"""Know which run, step and document the code is busy with, for its log lines: each entry point enters it once."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

ID_NAMES = ("run_id", "step_id", "document_id", "review_id", "batch_id", "export_id", "definition_id")
"""The ids that a line may have, besides its tenant's."""

LONGEST_ID = 300
"""Characters of the longest valid id; a path may contain anything."""

_ids: ContextVar[Mapping[str, str] | None] = ContextVar("docrail_log_ids", default=None)


def present_ids() -> Mapping[str, str]:
    """Return the ids of what the code is busy with."""
    return _ids.get() or {}


@contextmanager
def busy_with(ids: Mapping[str, object]) -> Iterator[None]:
    """Run the block for what these ids name, and for nothing else. Other names are left out."""
    token = _ids.set(_known(ids))
    try:
        yield
    finally:
        _ids.reset(token)


def become_busy_with(ids: Mapping[str, object]) -> None:
    """Continue for what these ids name, until the surrounding block ends."""
    _ids.set(_known(ids))


def _known(ids: Mapping[str, object]) -> dict[str, str]:
    known = {}
    for name in ID_NAMES:
        value = ids.get(name)
        if isinstance(value, str) and len(value) <= LONGEST_ID:
            known[name] = value
    return known
